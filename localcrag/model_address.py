"""The address of a model server in place of the name of a language model, such as ``http://gpu-box:8080``.

If the server has several models, the one that is meant stands behind ``#``: ``http://gpu-box:8000#qwen3-8b``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from localcrag.errors import SettingsError, UsageError

_SCHEMES = ("http://", "https://")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_API_PATH = "/v1"
_EXAMPLE = "an address looks like http://gpu-box:8080, or http://gpu-box:8080#MODEL"


def is_model_address(language: str) -> bool:
    """Whether a language model is named by the address of a server, and not by a name or a file."""
    return language.lower().startswith(_SCHEMES)


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """A model server, and the model that is meant.

    Attributes:
        base: the address without ``/v1`` and without a slash at its end, such as ``http://gpu-box:8080``.
        place: host and port, such as ``gpu-box:8080``.
        model: the name of the model on the server; "" for its only one.
    """

    base: str
    place: str
    model: str

    @classmethod
    def parse(cls, language: str) -> ModelAddress:
        """The parts of an address. Raises SettingsError for one that cannot be used."""
        bare, _, model = language.strip().partition("#")
        try:
            parts = urlsplit(bare)
            port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        except ValueError as error:
            raise _unusable(bare, str(error)) from error
        if parts.username is not None or parts.password is not None:
            raise _unusable(f"{parts.scheme}://…@{parts.hostname}", "it carries a user name or password")
        if not parts.hostname or not port:
            raise _unusable(bare, "it names no host")
        if parts.query:
            raise _unusable(bare, "it has a query")
        base = f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/').removesuffix(_API_PATH)}"
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        return cls(base, f"{host}:{port}", model.strip())

    def is_named(self, servers: Collection[str]) -> bool:
        """Whether ``host:port`` stands in a list of them."""
        return self.place in {server.strip().lower() for server in servers}


def is_same_model(one: str, other: str) -> bool:
    """Whether two addresses mean the same model of one server; False if either is no usable address."""
    if not (is_model_address(one) and is_model_address(other)):
        return False
    try:
        return ModelAddress.parse(one) == ModelAddress.parse(other)
    except SettingsError:
        return False


def require_named(language: str | None, configured: str, servers: Collection[str]) -> None:
    """Refuse a model server that a question or a command names and the settings do not.

    Args:
        language: the language model that is asked for; None for that of the settings.
        configured: the language model of the settings.
        servers: the ``host:port``s of ``model.servers``.

    Raises UsageError, SettingsError.
    """
    if language is None or not is_model_address(language):
        return
    wanted = ModelAddress.parse(language)
    known = [ModelAddress.parse(configured).place] if is_model_address(configured) else []
    if not wanted.is_named([*servers, *known]):
        raise UsageError(
            f"the settings name no model server {wanted.place}",
            hint=f"localcrag config set model.servers {wanted.place}",
        )


def _unusable(address: str, why: str) -> SettingsError:
    return SettingsError(f"the address of the model server {address!r} cannot be used: {why}", hint=_EXAMPLE)
