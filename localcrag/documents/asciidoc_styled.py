"""The blocks of AsciiDoc, each appended as the attributes above it say: with a label, as code, as rows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.documents.asciidoc_header import INCLUDE
from localcrag.documents.asciidoc_style import BlockStyle
from localcrag.documents.asciidoc_tables import CellText, table_rows
from localcrag.documents.asciidoc_words import Definitions, picture_words, plain, without_tags
from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import one_line
from localcrag.documents.table_pairs import document_lines
from localcrag.types import BlockKind

_TITLE_OF_MACRO = re.compile(r'(?:^|,)\s*title="([^"]*)"')
_WITHOUT_WORDS = frozenset({"toc", "video", "audio"})
"""Macros that show nothing that can be read."""


class StyledBlocks:
    """Appends blocks to a text, and forgets their attributes.

    Attributes:
        style: the attributes of the next block.
        is_attached: whether the next block belongs to the item of a list above it.
    """

    def __init__(self, made: BlockText, known: Definitions) -> None:
        self._made, self._known = made, known
        self.style = BlockStyle()
        self.is_attached = False

    def add(self, kind: BlockKind, text: str, *, level: int = 0, keeps_style: bool = False) -> None:
        """Append a block, behind the label that its attributes give it: "NOTE: …"."""
        if kind is BlockKind.PARAGRAPH and text and self.style.label:
            text, self.style.label = f"{self.style.label}: {text}", ""
        elif not keeps_style:
            self.flush_label()
        self._made.add(kind, text, level=level)
        if not keeps_style:
            self.style.end()
            self.is_attached = False

    def flush_label(self) -> None:
        """Append the label of a block by itself if it begins with no paragraph."""
        label, self.style.label = self.style.label, ""
        self._made.add(BlockKind.PARAGRAPH, label and f"{label}:")

    def plain(self, text: str) -> str:
        """The words of a text."""
        return plain(text, self._known)

    def add_item(self, text: str, level: int, marker: str) -> None:
        """Append the item of a list."""
        self._made.add(BlockKind.ITEM, text, level=level, marker=marker)
        self.style.end()

    def add_code(self, lines: Sequence[str]) -> None:
        """Append code; a file that it includes is named in its place."""
        included = ((INCLUDE.match(line), line) for line in lines)
        text = "\n".join(found[1] if found else line for found, line in included)
        has_names = "attributes" in self.style.named.get("subs", "")
        self.add(BlockKind.CODE, self._known.replaced(text) if has_names else text)

    def add_passed(self, lines: Sequence[str]) -> None:
        """Append what is passed through: a formula, or HTML, which loses its tags."""
        text = "\n".join(lines)
        if self.style.is_code:
            self.add(BlockKind.CODE, text)
        else:
            self.add(BlockKind.PARAGRAPH, one_line(without_tags(text), len(text)))

    def add_verse(self, lines: Sequence[str]) -> None:
        """Append paragraphs whose lines stay lines."""
        for stanza in "\n".join(lines).split("\n\n"):
            self.add(BlockKind.PARAGRAPH, "\n".join(self.plain(line) for line in stanza.split("\n")))

    def add_macro(self, name: str, target: str, attributes: str) -> None:
        """Append the words of a macro that stands alone: those of a picture, or those of an unknown one."""
        if caption := _TITLE_OF_MACRO.search(attributes):
            self.add(BlockKind.CAPTION, self.plain(caption[1]), keeps_style=True)
        words = picture_words(attributes) or ("" if name == "image" else target)
        self.add(BlockKind.PARAGRAPH, "" if name in _WITHOUT_WORDS else self.plain(words))

    def add_table(self, fence: str, lines: Sequence[str], cell: CellText) -> None:
        """Append the rows of a table; ``cell`` gives the words of a cell."""
        self.flush_label()
        self._made.part()
        style = self.style
        for line in document_lines(table_rows(lines, fence, style.named, style.options, cell)):
            self._made.add(BlockKind.ROW, line)
        self.style.end()
        self.is_attached = False
