"""The lists of AsciiDoc: what begins an item, and how deep it stands by the markers of those around it."""

from __future__ import annotations

import re

ITEM = re.compile(
    r"[ \t]*(\*{1,5}|-|•|\.{1,5}|\d{1,4}\.|[A-Za-z]\.|[ivxIVX]{1,5}\)|<(?:\d{1,4}|\.)>)[ \t]+(?=\S)(.*)"
)
"""The item of a list: its marker and its text."""
TERM = re.compile(r"[ \t]*(?!//)(\S.*?)(:{2,4}|;;)(?:[ \t]+(\S.*))?$")
"""The term of a list of descriptions, what ends it, and the description if it stands on the same line."""
_TASK = re.compile(r"\[([ xX*])\][ \t]+(?=\S)")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def task(text: str) -> str:
    """The text of an item, with the box of a task as a sign: "☐ call the roofer"."""
    found = _TASK.match(text)
    return ("☐ " if found[1] == " " else "☑ ") + text[found.end() :] if found else text


class OpenLists:
    """The lists that are open, from the outermost one; a marker that none of them has begins a deeper one."""

    def __init__(self) -> None:
        self._counted: dict[str, int] = {}

    def __bool__(self) -> bool:
        return bool(self._counted)

    def begun(self, marker: str, start: int) -> tuple[int, str]:
        """Begin an item with that marker in the source.

        ``start`` is the number of the first item of a list that counts by itself. Returned are the depth of
        the item, from 0, and the marker that a reader sees, "" for a bullet.
        """
        kind = "1" if marker[0].isdigit() else "<" if marker[0] == "<" else marker
        kind = "a" if kind[0].isalpha() else kind
        if kind in self._counted:
            while next(reversed(self._counted)) != kind:
                self._counted.popitem()
        self._counted[kind] = number = self._counted.get(kind, max(start, 1) - 1) + 1
        return len(self._counted) - 1, _shown(marker, number)

    def end(self, *, is_attached: bool = False) -> None:
        """End all lists, unless what follows is attached to their last item."""
        if not is_attached:
            self._counted.clear()


def _shown(marker: str, number: int) -> str:
    """The marker that a reader sees: that of the source, or the number of the item."""
    if marker[0] == ".":
        is_letter = len(marker) % 2 == 0 and number <= len(_LETTERS)
        return f"{_LETTERS[number - 1] if is_letter else number}. "
    if marker[0] == "<":
        return f"{number if marker == '<.>' else marker[1:-1]}. "
    return f"{marker} " if marker[0].isalnum() else ""
