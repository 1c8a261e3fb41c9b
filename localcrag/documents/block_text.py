"""The text of a page, put together from blocks, with the place of each.

The stored text is what a person reads: no markup, a blank line between blocks, and more of them before a
heading, so that the splitter cuts there first. The items of a list and the rows of a table stand close.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.documents.extracted import MEBIBYTE, Limits, clean
from localcrag.errors import UnreadableError
from localcrag.types import Block, BlockKind, Page, WordBox

BULLET = "- "
"""The marker of an item of a list without numbers."""
_INDENT = "  "
_HEADING_GAPS = {1: "\n\n\n\n"}
_HEADING_GAP, _GAP, _CLOSE_GAP = "\n\n\n", "\n\n", "\n"
_CLOSE_KINDS = frozenset({BlockKind.ITEM, BlockKind.ROW})


def defined(term: str, text: str) -> str:
    """A term with its definition in one line; a question has its own mark between the two."""
    return f"{term}{'' if term.endswith('?') else ':'} {text}"


class BlockText:
    """Collects the blocks of one page.

    ``limits`` bounds the characters of the text.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self._most = (limits or Limits()).text
        self._pieces: list[str] = []
        self._blocks: list[Block] = []
        self._boxes: list[WordBox] = []
        self._length = 0
        self._apart = False

    def add(self, kind: BlockKind, text: str, *, level: int = 0, marker: str = "") -> None:
        """Append a block; a blank one is left out.

        Args:
            kind: what the block is.
            text: its text, which is cleaned as all stored text is.
            level: the level of a heading, from 1, the depth of a list item, from 0, the number of a row in
                its sheet, from 1, or of anything else the lists that it stands in.
            marker: what stands before the block and is no part of it, as :data:`BULLET`.

        Raises UnreadableError if the text becomes too long.
        """
        text = clean(text).strip("\n") if kind is BlockKind.CODE else clean(text).strip()
        if not text.strip():
            return
        in_list = kind is BlockKind.ITEM or bool(marker)
        before = self._gap(kind, level, in_list=in_list) + (_INDENT * level if in_list else "") + marker
        start = self._length + len(before)
        self._length = start + len(text)
        if self._length > self._most:
            limit = self._most // MEBIBYTE
            raise UnreadableError(f"its text expands to more than {limit} million characters")
        self._pieces += [before, text]
        self._blocks.append(Block(kind, start, self._length, level))
        self._apart = False

    def add_recognised(self, kind: BlockKind, text: str, boxes: Sequence[WordBox]) -> None:
        """Append a block that was recognised in a picture, with the boxes of its words.

        The text is clean already, and the characters of a box are counted in it. Raises UnreadableError if
        the text becomes too long.
        """
        self.add(kind, text)
        if text.strip():
            origin = self._blocks[-1].start
            self._boxes += [replace(box, start=origin + box.start, end=origin + box.end) for box in boxes]

    def part(self) -> None:
        """Keep the next item or row apart from the one before: it belongs to another list or table."""
        self._apart = True

    def add_page(self, page: Page, *, deeper: int = 0) -> None:
        """Append the blocks of another page, its headings ``deeper`` levels deeper, its rows unnumbered.

        Raises UnreadableError if the text becomes too long.
        """
        end = 0
        for block in page.blocks:
            before = page.text[end : block.start]
            end = block.end
            if before.count("\n") > 1:
                self.part()
            is_item, is_heading = block.kind is BlockKind.ITEM, block.kind is BlockKind.HEADING
            marker = before.rpartition("\n")[2].removeprefix(_INDENT * block.level) if is_item else ""
            level = block.level + deeper if is_heading else 0 if block.kind is BlockKind.ROW else block.level
            self.add(block.kind, page.text[block.start : end], level=level, marker=marker)

    def page(self, number: int | None = None) -> Page:
        """The page with all blocks so far."""
        return Page(number, "".join(self._pieces), tuple(self._blocks), tuple(self._boxes))

    def _gap(self, kind: BlockKind, level: int, *, in_list: bool) -> str:
        if not self._blocks:
            return ""
        if kind is BlockKind.HEADING:
            return _HEADING_GAPS.get(level, _HEADING_GAP)
        close = (in_list or kind in _CLOSE_KINDS) and self._blocks[-1].kind is kind and not self._apart
        return _CLOSE_GAP if close else _GAP
