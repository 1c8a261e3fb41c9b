"""The server of a bucket, and the keys for it, from the usual ``AWS_*`` variables of the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from localcrag.egress import is_loopback
from localcrag.errors import SettingsError
from localcrag.object_address import ObjectAddress
from localcrag.object_storage.request_signing import Credentials

_ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
_DEFAULT_REGION = "us-east-1"
_DEFAULT_PORTS = {"http": 80, "https": 443}
_TRUE_VALUES = ("1", "true", "yes", "on")


@dataclass(frozen=True, slots=True)
class ObjectEndpoint:
    """A server, and the path on it below which the objects of a bucket are.

    Attributes:
        base: scheme, host and port, such as ``https://s3.eu-central-1.amazonaws.com``.
        host: the name of the host alone.
        host_header: the host, with its port if that is an unusual one.
        path: ``/bucket``, or "" if the bucket is in the name of the host.
        region: the region that signatures name.
        credentials: the keys.
    """

    base: str
    host: str
    host_header: str
    path: str
    region: str
    credentials: Credentials

    @classmethod
    def of(cls, address: ObjectAddress, environ: Mapping[str, str] = os.environ) -> ObjectEndpoint:
        """The server of a bucket, as the environment names it: AWS itself if it names none.

        Raises SettingsError for an address that cannot be used, and if there are no keys.
        """
        region = _first(_REGION_VARIABLES, environ) or _DEFAULT_REGION
        path = f"/{address.bucket}"
        if not (named := _first(_ENDPOINT_VARIABLES, environ)):
            named = f"https://s3.{region}.amazonaws.com"
            if "." not in address.bucket:
                named, path = f"https://{address.bucket}.s3.{region}.amazonaws.com", ""
        try:
            parts = urlsplit(named)
            port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        except ValueError as error:
            raise _unusable(str(error)) from error
        if parts.username is not None or parts.password is not None:
            raise _unusable("it carries a user name or password")
        if not parts.hostname or not port or parts.query or parts.path.strip("/"):
            raise _unusable("it is not https://HOST or http://HOST:PORT")
        allowed = environ.get("AWS_ALLOW_HTTP", "").strip().lower() in _TRUE_VALUES
        if parts.scheme == "http" and not allowed and not is_loopback(parts.hostname):
            raise _unusable("http:// is not encrypted; AWS_ALLOW_HTTP=true allows it")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        header = host if port == _DEFAULT_PORTS[parts.scheme] else f"{host}:{port}"
        return cls(f"{parts.scheme}://{header}", parts.hostname, header, path, region, _keys(environ))


def _keys(environ: Mapping[str, str]) -> Credentials:
    found = [environ.get(f"AWS_{name}", "").strip() for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY")]
    token = environ.get("AWS_SESSION_TOKEN", "").strip()
    if not all(found):
        raise SettingsError(
            "there are no keys for the object storage",
            hint="export AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=…; no file of localcrag holds them",
        )
    if not all(text.isascii() and text.isprintable() and " " not in text for text in (*found, token)):
        raise SettingsError(
            "a key for the object storage is something else than a key", hint="give each alone, on one line"
        )
    return Credentials(found[0], found[1], token)


def _first(variables: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """The value of the first of these variables that has one."""
    return next((found for name in variables if (found := environ.get(name, "").strip())), "")


def _unusable(why: str) -> SettingsError:
    return SettingsError(
        f"the address of the object storage in AWS_ENDPOINT_URL cannot be used: {why}",
        hint="for example AWS_ENDPOINT_URL=https://s3.example.org, or http://127.0.0.1:9000",
    )
