"""The way through the lines of a source with light markup, which Org, AsciiDoc and Zim have in common."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from localcrag.documents.block_text import BlockText

_KEPT = re.compile("\0(\\d+)\0")


class SourceWalk:
    """Goes through the lines of a source and gathers a paragraph, or an item of a list, until it ends.

    What reads a source derives from it. ``_at`` is the number of the line that comes next, ``_paragraph`` the
    lines that were gathered, and ``_item`` the level and the marker of the item that they belong to.
    """

    def __init__(self, made: BlockText, lines: Sequence[str]) -> None:
        self._made, self._lines, self._at = made, lines, 0
        self._paragraph: list[str] = []
        self._item: tuple[int, str] | None = None
        self._never_ended = set[str]()

    def _taken(self, end: str, is_end: Callable[[str], object]) -> list[str] | None:
        """The lines up to the one that ends them, which is passed over; None if no line does.

        ``end`` names what is looked for, so that what never ends is looked for once.
        """
        if end in self._never_ended:
            return None
        for at in range(self._at, len(self._lines)):
            if is_end(self._lines[at]):
                first, self._at = self._at, at + 1
                return list(self._lines[first:at])
        self._never_ended.add(end)
        return None

    def _following(self, line: re.Pattern[str]) -> list[re.Match[str]]:
        """The matches of the lines that come next, as long as they match; they are passed over."""
        found = []
        while self._at < len(self._lines) and (match := line.match(self._lines[self._at])):
            found.append(match)
            self._at += 1
        return found


class KeptPieces:
    """Pieces of a text in which no marks are looked for; until all are taken out, signs stand for them.

    The text must have no NUL in it.
    """

    def __init__(self) -> None:
        self._pieces: list[str] = []

    def keep(self, text: str) -> str:
        """What stands for a text."""
        self._pieces.append(self.whole(text))
        return f"\0{len(self._pieces) - 1}\0"

    def whole(self, text: str) -> str:
        """A text with the pieces in their places."""
        return _KEPT.sub(lambda number: self._pieces[int(number[1])], text)
