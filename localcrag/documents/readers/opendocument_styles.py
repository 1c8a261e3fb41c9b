"""The styles of an OpenDocument: what a paragraph derives from, and how the items of lists are numbered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localcrag.documents.readers.opendocument_words import in_namespace

if TYPE_CHECKING:
    from lxml.etree import _Element

_MAX_PARENTS = 20
"""Styles that may inherit from one another."""
_TEXT, _TABLE, _STYLE = in_namespace("text"), in_namespace("table"), in_namespace("style")
_NAME, _PARENT = f"{_STYLE}name", f"{_STYLE}parent-style-name"
_TABLE_STYLE = f"{_TABLE}style-name"
_LEVEL = f"{_TEXT}level"
_NUMBERED_LEVEL = f"{_TEXT}list-level-style-number"
_NUMBER_FORMAT, _NUMBER_SUFFIX = f"{_STYLE}num-format", f"{_STYLE}num-suffix"


class Styles:
    """The styles in the parts of a document, the most particular first."""

    def __init__(self, *parts: _Element) -> None:
        self._parents: dict[str, str] = {}
        self._hidden_tables: set[str] = set()
        self._numbers: dict[tuple[str, str], tuple[str, str]] = {}
        for part in reversed(parts):
            for style in part.iter(f"{_STYLE}style"):
                name = style.get(_NAME, "")
                self._parents[name] = style.get(_PARENT, "")
                properties = style.find(f"{_STYLE}table-properties")
                if properties is not None and properties.get(f"{_TABLE}display") == "false":
                    self._hidden_tables.add(name)
            for style in part.iter(f"{_TEXT}list-style"):
                for level in style.iter(_NUMBERED_LEVEL):
                    key = style.get(_NAME, ""), level.get(_LEVEL, "1")
                    self._numbers[key] = level.get(_NUMBER_FORMAT, ""), level.get(_NUMBER_SUFFIX, "")

    def derives_from(self, name: str, ancestors: frozenset[str]) -> bool:
        """Whether a paragraph style is one of ``ancestors`` or inherits from one."""
        for _ in range(_MAX_PARENTS):
            if name in ancestors or not name:
                return bool(name)
            name = self._parents.get(name, "")
        return False

    def hides_table(self, table: _Element) -> bool:
        """Whether a table is a hidden sheet."""
        return table.get(_TABLE_STYLE, "") in self._hidden_tables

    def number(self, list_style: str, depth: int, value: int) -> str:
        """The number of a list item as it is shown; "" if the items of that depth have none.

        ``depth`` counts from 0.
        """
        shape, suffix = self._numbers.get((list_style, str(depth + 1)), ("", ""))
        if not shape:
            return ""
        letters = shape in ("a", "A") and 0 < value <= 26
        return (chr(ord(shape) + value - 1) if letters else str(value)) + (suffix.strip() or ".")
