"""Pages of the Zim desktop wiki as blocks of plain text: headings, items, tables, code, without Zim's marks.

What Zim writes above a page is left out, and so are pictures, of which a page holds no more than the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.document_fields import mail_day
from localcrag.documents.extracted import Limits
from localcrag.documents.source_walk import KeptPieces, SourceWalk
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_pairs import document_lines
from localcrag.types import BlockKind, Page

_FIELD = re.compile(r"([A-Za-z][\w-]{0,60}): ?(.*)")
_CREATED, _UNKNOWN = "creation-date", "Unknown"
_HEADING = re.compile(r"(={2,6}+)[ \t]+(\S.*)")
_MAX_SIGNS = 6
"""Signs of the highest heading; each one less is a level deeper."""
_RULE = re.compile(r"-{5,}$")
_ITEM = re.compile(r"([ \t]*)(?:([*•])|\[([ *x<>])\]|(\d{1,6}\.|[A-Za-z]\.))[ \t]+(?=\S)")
_BOXES = {" ": "☐ ", "*": "☑ ", "x": "☒ ", ">": "☐ → ", "<": "☐ ← "}
"""The signs of tasks that are open, done, not to be done, and moved to another day."""
_INDENT_CHARACTERS = 2
_CODE_FENCE = re.compile(r"[ \t]*'''$")
_OBJECT = re.compile(r"[ \t]*\{\{\{[ \t]*(\w[\w-]*):")
_OBJECT_END = re.compile(r"[ \t]*\}\}\}$")
_TABLE_LINE = re.compile(r"\|.*\|$")
_TABLE_RULE = re.compile(r"\|[ |:-]+\|$")
_BAR = re.compile(r"(?<!\\)\|")
_VERBATIM = re.compile(r"''(?!')((?:[^'\n]|'(?!'))++)''|\b[a-z][a-z+.-]{0,20}+://[^\s<>|\[\]{}]++")
"""What is kept as it stands: pieces between two signs, and addresses."""
_LINK = re.compile(r"\[\[(?!\[)([^\[\]|\n]*+)(?:\|([^\[\]\n]*+))?\]\]")
_PICTURE = re.compile(r"\{\{(?!\{)[^{}\n]*+\}\}")
_MARKS = tuple(
    re.compile(rf"{sign}{sign}(?!{sign})((?:[^{sign}\n]|{sign}(?!{sign}))++){sign}{sign}")
    for sign in (r"\*", "/", "_", "~")
)
_RAISED = re.compile(r"[_^]\{([^{}\n]++)\}")


def zim_page(text: str, limits: Limits | None = None) -> tuple[dict[str, object], Page]:
    """A page of Zim as its fields and a page of blocks.

    Raises UnreadableError if it becomes longer than the limits allow.
    """
    lines = [line.rstrip() for line in text.replace("\0", "").split("\n")]
    begin = next((number for number, line in enumerate(lines) if not _FIELD.match(line)), len(lines))
    named = {found[1].lower(): found[2].strip() for found in map(_FIELD.match, lines[:begin]) if found}
    created = named.get(_CREATED, _UNKNOWN)
    made = BlockText(limits)
    _Walk(made, lines[begin:]).all()
    fields: dict[str, object] = {} if created == _UNKNOWN else {"created": mail_day(created) or created}
    return fields, made.page()


class _Walk(SourceWalk):
    """Appends the blocks of the lines of a page, one after the other."""

    def all(self) -> None:
        """Append all blocks."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if not line:
                self._end()
            elif not self._begun(line):
                if self._item and not line[0].isspace():
                    self._end()
                self._paragraph.append(line)
        self._end()

    def _begun(self, line: str) -> bool:
        """Append, or begin, the block that begins with a line; whether one does."""
        if heading := _HEADING.match(line):
            self._end()
            level = _MAX_SIGNS + 1 - len(heading[1])
            self._made.add(BlockKind.HEADING, _plain(heading[2].rstrip("=").rstrip()), level=level)
        elif _CODE_FENCE.match(line) and (inside := self._taken("code", _CODE_FENCE.match)) is not None:
            self._end()
            self._made.add(BlockKind.CODE, dedent("\n".join(inside)))
        elif (found := _OBJECT.match(line)) and (
            inside := self._taken("object", _OBJECT_END.match)
        ) is not None:
            self._end()
            if found[1].lower() == "table":
                self._table(inside)
            else:
                self._made.add(BlockKind.CODE, dedent("\n".join(inside)))
        elif _TABLE_LINE.match(line):
            self._end()
            self._table([line, *(row.string for row in self._following(_TABLE_LINE))])
        elif item := _ITEM.match(line):
            self._end(is_list=True)
            level = len(item[1].expandtabs(_INDENT_CHARACTERS)) // _INDENT_CHARACTERS
            self._item = level, f"{item[4]} " if item[4] else BULLET
            self._paragraph = [(_BOXES[item[3]] if item[3] else "") + line[item.end() :]]
        else:
            return _RULE.match(line) is not None
        return True

    def _end(self, *, is_list: bool = False) -> None:
        """Append the paragraph or the item that was begun; ``is_list`` if an item is next.

        The lines of a paragraph stay lines, as Zim shows them so.
        """
        lines = [_plain(line) for line in self._paragraph]
        if self._item:
            level, marker = self._item
            self._made.add(BlockKind.ITEM, " ".join(lines), level=level, marker=marker)
        else:
            self._made.add(BlockKind.PARAGRAPH, "\n".join(filter(None, lines)))
            if is_list:
                self._made.part()
        self._paragraph, self._item = [], None

    def _table(self, lines: Sequence[str]) -> None:
        self._made.part()
        for line in document_lines(_rows(lines)):
            self._made.add(BlockKind.ROW, line)


def _rows(lines: Sequence[str]) -> Iterator[GridRow]:
    """The rows of a table; the one above its rule is its header if rows stand below it."""
    lines = [line.strip() for line in lines if line.strip()]
    is_headed = len(lines) > 2 and _TABLE_RULE.match(lines[1]) is not None
    for number, line in enumerate(lines):
        if not _TABLE_RULE.match(line):
            cells = (cell.replace("\\|", "|").replace("\\n", " ") for cell in _BAR.split(line.strip("|")))
            yield GridRow(number + 1, [_plain(cell) for cell in cells], is_head=is_headed and number == 0)


def _plain(text: str) -> str:
    """The words of a line, without the marks of links, pictures and emphasis."""
    kept = KeptPieces()
    text = _VERBATIM.sub(lambda found: kept.keep(found[1] or found[0]), text)
    text = _PICTURE.sub("", _LINK.sub(lambda link: link[2] or kept.keep(link[1].lstrip(":+")), text))
    for mark in _MARKS:
        text = mark.sub(r"\1", text)
    return kept.whole(_RAISED.sub(r"\1", text)).strip()
