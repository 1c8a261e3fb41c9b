"""Settings, of which a flag overrides the environment, the environment the file, and the file the defaults.

Each section is a frozen dataclass. A field's environment variable is ``LOCALCRAG_SECTION_FIELD``
(``LOCALCRAG_WEB_URL``), its place in the file ``field`` under ``[section]``. The file is
``config.toml`` in the configuration folder of the platform, or in ``LOCALCRAG_HOME``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import Any, get_type_hints

from localcrag import _platform
from localcrag.errors import SettingsError
from localcrag.model_address import ModelAddress, is_model_address, require_named
from localcrag.setting_values import converted
from localcrag.types import (
    CorrectionKind,
    GraderKind,
    Grounding,
    Layout,
    Mode,
    Policy,
    StripKind,
    WarmPolicy,
    WebPolicy,
)

PREFIX = "LOCALCRAG_"
"""The beginning of the names of all environment variables of localcrag."""
SettingValue = str | int | float | bool | list[str]
"""The value of a setting in a form that TOML has."""
UNSET = "(unset)"
"""The words of the documentation for a setting without a default."""


def _setting(default: Any, help: str, *, least: int | None = None, most: int | None = None) -> Any:
    """A field with its default, its help, and the least and the greatest number that it may hold."""
    return field(default=default, metadata={"help": help, "least": least, "most": most})


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The models in use, and the share of the machine that they may take."""

    language: str = _setting(
        "smollm2-135m-instruct",
        "language model: a name of `localcrag models list`, a GGUF file, or a server, `http://HOST:PORT`",
    )
    adapter: str = _setting(
        "auto",
        "LoRA adapter of the language model by name or GGUF file; `auto`: the one that came for it; `none`",
    )
    queries: str = _setting(
        "auto",
        "adapter that reads questions over tables, by name; `auto`: that of the largest base that is there; "
        "`none`: rules alone",
    )
    evaluator: str = _setting("localcrag-evaluator-v6", "reranker GGUF by name or file, or `none`")
    embedding: str = _setting(
        "all-MiniLM-L6-v2",
        "sentence-transformers model by name or folder, `multilingual`, or `static` to ingest fast at first",
    )
    context: int = _setting(4096, "context window of the language model, in tokens", least=1)
    threads: int = _setting(
        0, "CPU threads; 0: all processors up to four, half of them where there are more", least=0
    )
    gpu_layers: int = _setting(
        0, "layers to put on a GPU where llama.cpp was built for one; -1 means all", least=-1
    )
    servers: tuple[str, ...] = _setting(
        (), "`host:port`s of further model servers that `--model` may name, or that have a public address"
    )
    server_timeout: float = _setting(300.0, "seconds to wait for a whole reply of a model server", least=1)


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """The ways in which a question is answered: grading, corrections, evidence and the answer."""

    policy: Policy = _setting(Policy.CRAG, "rule that turns grades into an action")
    grader: GraderKind | None = _setting(
        None,
        "grader; unset: `fused` with the models that travel, else `evaluator`",
    )
    mode: Mode | None = _setting(
        None, "how to answer; unset: `write` if the model is fit for it, else `quote`"
    )
    passages: int = _setting(6, "passages graded per search", least=1)
    candidates: int = _setting(24, "passages retrieved for the evaluator to rerank", least=1)
    phrasings: int = _setting(3, "other phrasings tried in a local correction", least=0)
    corrections: tuple[CorrectionKind, ...] | None = _setting(
        None,
        "local corrections in order: rewrite, phrasings, hyde, neighbours; unset: what fits the model",
    )
    strips: StripKind | None = _setting(
        None, "what relevant passages are cut into; unset: `sentence` with an evaluator, else `none`"
    )
    layout: Layout = _setting(
        Layout.INDEPENDENT, "how passages lie before a chat model: a prompt each, or `joint` in one"
    )
    enough: int = _setting(
        3, "surely relevant passages after which a chat model grades no more; 0: it grades all", least=0
    )
    evidence: int = _setting(6, "strips kept as evidence", least=1)
    parts: bool = _setting(True, "split a question of several parts, and answer each")
    tables: bool = _setting(True, "compute how many, the most, and totals over the rows of a table")
    model_fields: bool = _setting(
        False, "let the language model choose values of a structured answer that no rule finds"
    )
    grounding: Grounding | None = _setting(
        None, "written sentences that their evidence does not bear out; unset: what fits the model"
    )
    contradictions: bool = _setting(True, "look for evidence that disagrees (with a chat model)")
    agent_steps: int = _setting(12, "most steps that --agent takes", least=1)
    agent_seconds: float = _setting(300.0, "longest time that --agent takes, in seconds", least=0)
    agent_tokens: int = _setting(60_000, "most tokens that --agent may cost", least=1)
    upper: float | None = _setting(
        None, "grade from which a passage is surely relevant; unset: the model's own", least=0, most=1
    )
    lower: float | None = _setting(
        None, "grade below which a passage is surely irrelevant; unset: the model's own", least=0, most=1
    )
    answer_tokens: int = _setting(384, "longest written answer, in tokens", least=1)

    def __post_init__(self) -> None:
        if self.upper is not None and self.lower is not None and self.lower > self.upper:
            raise SettingsError(
                f"loop.lower, {self.lower}, is more than loop.upper, {self.upper}",
                hint="set one of them alone, or the lower one lower",
            )


@dataclass(frozen=True, slots=True)
class WebSettings:
    """The web search, which is off by default."""

    url: str = _setting("", "address of your SearXNG; empty: no web search")
    policy: WebPolicy = _setting(WebPolicy.NEVER, "may a query leave: never, ask, auto")
    results: int = _setting(5, "results read per web search", least=1)
    timeout: float = _setting(15.0, "seconds to wait for SearXNG, and for a page", least=0)
    language: str = _setting("en", "language of the web search")
    allow_private: tuple[str, ...] = _setting((), "private `host:port`s whose pages may be fetched")


@dataclass(frozen=True, slots=True)
class IngestSettings:
    """The bounds of reading and splitting documents."""

    passage_tokens: int = _setting(250, "longest passage, in tokens of the embedding model", least=1)
    max_size_mb: int = _setting(64, "largest file read, in MiB", least=1)
    follow_links: bool = _setting(False, "read links that lead out of a folder, or to something hidden")


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The warm process, which keeps models and indexes loaded between commands."""

    warm: WarmPolicy = _setting(
        WarmPolicy.NEVER, "may a question start it: never, auto; one that runs is used"
    )
    idle: float = _setting(15.0, "minutes without a question after which it ends; 0 means never", least=0)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings; ``home`` is the folder of the knowledge bases, the models and the ledger."""

    home: Path
    kb: str = _setting("default", "knowledge base, where none is named; several in a list are asked as one")
    offline: bool = _setting(False, "refuse every connection that is not loopback, as `--offline` does")
    model: ModelSettings = ModelSettings()
    loop: LoopSettings = LoopSettings()
    web: WebSettings = WebSettings()
    ingest: IngestSettings = IngestSettings()
    serve: ServeSettings = ServeSettings()

    def with_values(self, section: str, **values: Any) -> Settings:
        """A copy in which the given fields of one section have new values.

        Parameters:
            section: the name of the section, for example ``loop``.
            values: the new values by the names of the fields; None leaves a field as it is.

        Raises SettingsError if the new values contradict each other, UsageError for a model server that
        these settings do not name.
        """
        changed = {name: value for name, value in values.items() if value is not None}
        if not changed:
            return self
        if section == "model":
            further = changed.get("servers", ())
            require_named(changed.get("language"), self.model.language, [*self.model.servers, *further])
        return replace(self, **{section: replace(getattr(self, section), **changed)})


SECTIONS: Mapping[str, type] = {
    "model": ModelSettings,
    "loop": LoopSettings,
    "web": WebSettings,
    "ingest": IngestSettings,
    "serve": ServeSettings,
}


def config_file(environ: Mapping[str, str] = os.environ) -> Path:
    """The path of the configuration file, whether the file exists or not."""
    if home := environ.get(PREFIX + "HOME"):
        return Path(home).expanduser() / "config.toml"
    return _platform.config_folder() / "config.toml"


def default_home(environ: Mapping[str, str] = os.environ) -> Path:
    """The folder of the knowledge bases, the models and the ledger if no other is named."""
    if home := environ.get(PREFIX + "HOME"):
        return Path(home).expanduser().absolute()
    return _platform.data_folder()


def load(*, home: Path | None = None, environ: Mapping[str, str] = os.environ) -> Settings:
    """Read the settings from the configuration file and the environment.

    Parameters:
        home: the folder of everything that localcrag keeps, with ``config.toml`` in it; by default
            ``LOCALCRAG_HOME`` or the folders of the platform.
        environ: the environment variables.

    Raises SettingsError for a file that is not TOML, an unknown section or field, or a value of
    the wrong type or beyond its bounds.
    """
    home = home.expanduser().absolute() if home else None
    path = home / "config.toml" if home else config_file(environ)
    top, table = _tables(_read(path), path)
    kb = environ.get(PREFIX + "KB") or top.get("kb", "default")
    offline = environ[PREFIX + "OFFLINE"] if environ.get(PREFIX + "OFFLINE") else top.get("offline", False)
    return Settings(
        home=home or default_home(environ).expanduser().absolute(),
        kb=kb_names(kb, "kb"),
        offline=converted(offline, bool, "offline"),
        **{name: _section(name, cls, table.get(name, {}), path, environ) for name, cls in SECTIONS.items()},
    )


def overlaid(settings: Settings, path: Path) -> Settings:
    """The settings, with the values of another file of the same form in place of their own.

    Raises SettingsError for a file that does not exist, and as :func:`load` does.
    """
    if not path.is_file():
        raise SettingsError(f"there is no file {path}", hint="give a file in the form of config.toml")
    top, table = _tables(_read(path), path)
    for key, value in top.items():
        settings = replace(settings, **{key: _top_value(key, value, path)})
    for name, values in table.items():
        settings = settings.with_values(name, **_values(name, SECTIONS[name], values, path))
    return settings


def describe() -> Iterator[tuple[str, str, str, str]]:
    """Every setting as (``section.field``, environment variable, default, help), for the documentation.

    ``kb`` and ``offline`` stand above the sections.
    """
    for item in fields(Settings):
        if item.metadata:
            yield item.name, f"{PREFIX}{item.name}".upper(), _shown(item.default), item.metadata["help"]
    for section, cls in SECTIONS.items():
        for item in fields(cls):
            yield (
                f"{section}.{item.name}",
                _variable(section, item),
                _shown(item.default),
                item.metadata["help"],
            )


def setting_value(key: str, text: str) -> SettingValue:
    """The value of a setting that a text says, in a form that TOML has.

    Parameters:
        key: its name as :func:`describe` has it, such as ``loop.passages`` or ``kb``.
        text: the value as in an environment variable: a list has commas.

    Raises SettingsError for a setting that does not exist, and for a wrong value.
    """
    section, _, name = key.rpartition(".")
    kind = SECTIONS.get(section) if section else Settings
    item = (
        next((item for item in fields(kind) if item.name == name and item.metadata), None) if kind else None
    )
    if kind is None or item is None:
        known = [known for known, *_ in describe()]
        near = " or ".join(get_close_matches(key, known, n=2)) or "one that `localcrag docs settings` lists"
        raise SettingsError(f"there is no setting {key!r}", hint=f"did you mean {near}?")
    value = _value(item, text, get_type_hints(kind)[name], key)
    if key == "model.language" and is_model_address(text):
        ModelAddress.parse(text)
    if isinstance(value, tuple):
        return [str(word) for word in value]
    return str(value) if isinstance(value, StrEnum) else value


def check_text(text: str, path: Path) -> None:
    """Raise SettingsError unless a text can be the configuration file ``path``."""
    top, table = _tables(_parsed(text, path), path)
    for key, value in top.items():
        _top_value(key, value, path)
    for name, cls in SECTIONS.items():
        _section(name, cls, table.get(name, {}), path, {})


def kb_names(value: object, where: str) -> str:
    """The value of the setting ``kb``: a name, or several in a list or with commas, as ``papers+mail``.

    Raises SettingsError.
    """
    listed = [word.strip() for word in value.split(",")] if isinstance(value, str) else value
    names = converted(listed, tuple[str, ...], where)
    if not names or not all(names):
        raise SettingsError(f"{where}: {value!r} is not the name of a knowledge base", hint='kb = "papers"')
    return "+".join(names)


def _top_value(key: str, value: object, path: Path) -> Any:
    """The value of a setting above the sections of a file. Raises SettingsError."""
    where = f"{key} in {path}"
    return kb_names(value, where) if key == "kb" else converted(value, get_type_hints(Settings)[key], where)


def _tables(table: dict[str, Any], path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The values above the sections of a file, and its sections; SettingsError for any other."""
    top: dict[str, Any] = {name: table.pop(name) for name in ("kb", "offline") if name in table}
    if unknown := set(table) - set(SECTIONS):
        raise SettingsError(
            f"unknown setting {sorted(unknown)[0]!r} in {path}", hint=f"sections: {', '.join(SECTIONS)}"
        )
    return top, table


def _read(path: Path) -> dict[str, Any]:
    """The table of a TOML file; empty if there is no such file."""
    try:
        return _parsed(path.read_text("utf-8"), path)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _parsed(text: str, path: Path) -> dict[str, Any]:
    """The table of the text of a TOML file. Raises SettingsError."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> SettingsError:
    return SettingsError(
        f"cannot read {path}: {error}", hint="mend it (localcrag config edit), or move it away"
    )


def _section(name: str, cls: type, table: object, path: Path, environ: Mapping[str, str]) -> Any:
    types, values = get_type_hints(cls), _values(name, cls, table, path)
    for item in fields(cls):
        variable = _variable(name, item)
        if environ.get(variable):
            values[item.name] = _value(item, environ[variable], types[item.name], variable)
    return cls(**values)


def _values(name: str, cls: type, table: object, path: Path) -> dict[str, Any]:
    """The values of one section of a file, by the names of the fields."""
    if not isinstance(table, dict):
        raise SettingsError(
            f"[{name}] in {path} must be a table",
            hint="write [section] on a line of its own, and its settings below",
        )
    known = {item.name: item for item in fields(cls)}
    if unknown := table.keys() - known:
        raise SettingsError(
            f"unknown setting {name}.{sorted(unknown)[0]} in {path}", hint=f"it knows: {', '.join(known)}"
        )
    types = get_type_hints(cls)
    return {
        key: _value(known[key], value, types[key], f"{name}.{key} in {path}") for key, value in table.items()
    }


def _variable(section: str, item: Field[Any]) -> str:
    return f"{PREFIX}{section}_{item.name}".upper()


def _value(item: Field[Any], value: object, kind: Any, where: str) -> Any:
    """A TOML value or an environment string as a value of the field's type and within its bounds.

    ``where`` names its place in the messages of errors. Raises SettingsError.
    """
    found, least, most = converted(value, kind, where), item.metadata["least"], item.metadata["most"]
    if least is not None and found < least:
        raise SettingsError(f"{where}: {found} is less than {least}", hint="give a number within the bounds")
    if most is not None and found > most:
        raise SettingsError(f"{where}: {found} is more than {most}", hint="give a number within the bounds")
    return found


def _shown(value: object) -> str:
    if value is None:
        return UNSET
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, tuple) else str(value)
