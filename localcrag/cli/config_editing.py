"""Changes of the configuration file that keep its comments, its order and its layout."""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag._platform import replace_text
from localcrag.errors import SettingsError
from localcrag.settings import SettingValue, check_text

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

NEW_FILE_TEXT = "# Settings of localcrag; `localcrag docs settings` lists them all.\n"
"""The text of a configuration file that is made."""


def file_text(path: Path) -> str:
    """The text of the configuration file; "" if there is none. Raises SettingsError."""
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"cannot read {path}: {error}", hint="mend the file, or move it away") from error


def toml_text(value: SettingValue) -> str:
    """A value as the configuration file has it."""
    import tomlkit

    return tomlkit.item(value).as_string()


def with_setting(text: str, name: str, value: SettingValue, path: Path) -> str:
    """The text of the configuration file ``path`` with one setting at this value. Raises SettingsError."""
    import tomlkit

    document = _document(text or NEW_FILE_TEXT, path)
    section, _, key = name.rpartition(".")
    if section and section not in document:
        document.add(section, tomlkit.table())
    table = document[section] if section else document
    _require_table(table, section, path)
    table[key] = value
    return document.as_string()


def has_setting(text: str, name: str, path: Path) -> bool:
    """Whether the text of the configuration file ``path`` gives a setting a value. Raises SettingsError."""
    document = _document(text, path)
    section, _, key = name.rpartition(".")
    table = document.get(section, {}) if section else document
    _require_table(table, section, path)
    return key in table


def without_setting(text: str, name: str, path: Path) -> str:
    """The text of the configuration file ``path`` without a setting, which may be one that does not exist.

    Raises SettingsError if it is not in the file.
    """
    if not has_setting(text, name, path):
        raise SettingsError(f"{name} is not in {path}", hint="localcrag config shows what is in force")
    document = _document(text, path)
    section, _, key = name.rpartition(".")
    del (document[section] if section else document)[key]
    return document.as_string()


def write_checked(path: Path, text: str) -> None:
    """Write the configuration file in one step, if the text can be one.

    Raises SettingsError, and then the file is as it was.
    """
    check_text(text, path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_text(path, text)
    except OSError as error:
        raise SettingsError(
            f"cannot write {path}: {error.strerror or error}", hint="look at the permissions and the disk"
        ) from error


def _document(text: str, path: Path) -> TOMLDocument:
    """The parsed text of the configuration file. Raises SettingsError."""
    import tomlkit
    from tomlkit.exceptions import ParseError

    try:
        return tomlkit.parse(text)
    except ParseError as error:
        raise SettingsError(
            f"cannot read {path}: {error}", hint="mend it (localcrag config edit), or move it away"
        ) from error


def _require_table(table: object, section: str, path: Path) -> None:
    """Raise SettingsError if a section of the file is no table."""
    if not isinstance(table, MutableMapping):
        raise SettingsError(
            f"[{section}] in {path} must be a table",
            hint="write [section] on a line of its own, and its settings below",
        )
