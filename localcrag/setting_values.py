"""Values of settings: a TOML value, or the text of a variable or of a command line, as a value of a type."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Literal, get_args, get_origin

from localcrag.errors import SettingsError


def converted(value: object, kind: Any, where: str) -> Any:
    """A TOML value or a text as a value of type ``kind``; ``where`` names its place in an error.

    Raises SettingsError.
    """
    if isinstance(kind, UnionType):
        kind = next(option for option in get_args(kind) if option is not NoneType)
    try:
        return _CONVERTERS.get(get_origin(kind) or kind, _other)(value, kind)
    except (ValueError, TypeError) as error:
        raise SettingsError(f"{where}: {value!r} is not {_expected(kind)}") from error


def _boolean(value: object, kind: Any) -> bool:
    if isinstance(value, bool):
        return value
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    if not isinstance(value, str) or value.lower() not in words:
        raise ValueError
    return words[value.lower()]


def _number(value: object, kind: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise TypeError
    if kind is int and isinstance(value, float):
        raise TypeError
    number = kind(value)
    if number != number:
        raise ValueError
    return number


def _strings(value: object, kind: Any) -> tuple[str, ...]:
    """A list, or a string with commas, as a tuple whose items are of the tuple's own type."""
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise TypeError
    return tuple(get_args(kind)[0](item.strip()) for item in items if item.strip())


def _other(value: object, kind: Any) -> Any:
    if not isinstance(value, str):
        raise TypeError
    return kind(value)


_CONVERTERS: Mapping[Any, Any] = {bool: _boolean, int: _number, float: _number, tuple: _strings}


def _expected(kind: Any) -> str:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return "one of " + ", ".join(kind)
    names: Mapping[Any, Literal["yes or no", "a whole number", "a number"]] = {
        bool: "yes or no",
        int: "a whole number",
        float: "a number",
    }
    if get_origin(kind) is tuple:
        item = get_args(kind)[0]
        return "a list of strings" if item is str else f"a list of: {', '.join(item)}"
    return names.get(kind, "a string")
