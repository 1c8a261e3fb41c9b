"""The body of an OpenDocument as blocks: headings, paragraphs, lists, tables, notes and text boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.readers.opendocument_styles import Styles
from localcrag.documents.readers.opendocument_tables import sheet_rows
from localcrag.documents.readers.opendocument_words import (
    NOTE,
    PARAGRAPHS,
    SKIPPED,
    in_namespace,
    note_mark,
    notes_and_boxes,
    strings,
    words,
)
from localcrag.documents.table_pairs import document_lines
from localcrag.documents.table_rows import bounded_rows
from localcrag.types import BlockKind

if TYPE_CHECKING:
    from lxml.etree import _Element

_TEXT, _TABLE = in_namespace("text"), in_namespace("table")
_STYLE_NAME = f"{_TEXT}style-name"
_NOTE_TEXT = f"{_TEXT}note-body"
_TITLE_STYLES = frozenset({"Title"})
_CODE_STYLES = frozenset({"Preformatted_20_Text"})
_CAPTION_STYLES = frozenset({"Caption"})


class DocumentBody:
    """Writes the elements of a document to ``made``."""

    def __init__(self, made: BlockText, styles: Styles) -> None:
        self._made, self._styles = made, styles
        self._counts: dict[tuple[str, int], int] = {}
        self._code: list[str] = []

    def add(self, parent: _Element) -> None:
        """Append the blocks of the children of an element."""
        for child in parent:
            self.add_one(child)
        self._end_code()

    def add_one(self, element: _Element) -> None:
        """Append the blocks of an element."""
        if element.tag in SKIPPED:
            return
        if element.tag in PARAGRAPHS:
            self._paragraph(element)
            return
        self._end_code()
        if element.tag == f"{_TEXT}list":
            self._made.part()
            self._list(element, element.get(_STYLE_NAME, ""), 0)
        elif element.tag == f"{_TABLE}table":
            self._made.part()
            for line in document_lines(bounded_rows(sheet_rows(element))):
                self._made.add(BlockKind.ROW, line)
            for note in element.iter(NOTE):
                self._note(note)
        else:
            self.add(element)

    def _paragraph(self, element: _Element, depth: int = -1, marker: str = "") -> None:
        """Append a paragraph, then its notes and its text boxes; in a list item if ``depth`` is not -1."""
        style = element.get(_STYLE_NAME, "")
        if depth < 0 and self._styles.derives_from(style, _CODE_STYLES):
            self._code.append("".join(strings(element, lines=True)))
            return
        self._end_code()
        text = words(element)
        if element.tag == PARAGRAPHS[0]:
            level = element.get(f"{_TEXT}outline-level", "1")
            self._made.add(BlockKind.HEADING, text, level=max(1, int(level)))
        elif marker:
            self._made.add(BlockKind.ITEM, text, level=depth, marker=marker)
        elif self._styles.derives_from(style, _TITLE_STYLES):
            self._made.add(BlockKind.HEADING, text, level=1)
        else:
            caption = self._styles.derives_from(style, _CAPTION_STYLES)
            self._made.add(BlockKind.CAPTION if caption else BlockKind.PARAGRAPH, text)
        for inner in notes_and_boxes(element):
            if inner.tag == NOTE:
                self._note(inner)
            else:
                self.add_one(inner)

    def _note(self, note: _Element) -> None:
        body = note.find(_NOTE_TEXT)
        if body is not None:
            self._made.add(BlockKind.PARAGRAPH, f"{note_mark(note)} {words(body)}")

    def _list(self, element: _Element, style: str, depth: int) -> None:
        """Append the items of a list; only the first paragraph of an item has its marker."""
        key = style, depth
        continued = element.get(f"{_TEXT}continue-numbering") == "true" or element.get(
            f"{_TEXT}continue-list"
        )
        count = self._counts.get(key, 0) if continued else 0
        for item in element:
            start = item.get(f"{_TEXT}start-value", "")
            count = int(start) - 1 if start.isdecimal() and len(start) < 10 else count
            fresh = item.tag == f"{_TEXT}list-item"
            for child in item:
                if child.tag == f"{_TEXT}list":
                    self._list(child, child.get(_STYLE_NAME, style), depth + 1)
                elif child.tag == PARAGRAPHS[1]:
                    count += fresh
                    number = self._styles.number(style, depth, count)
                    self._paragraph(child, depth, (f"{number} " if number else BULLET) if fresh else "")
                    fresh = False
                else:
                    self.add_one(child)
        self._counts[key] = count

    def _end_code(self) -> None:
        if self._code:
            self._made.add(BlockKind.CODE, "\n".join(self._code))
            self._code.clear()
