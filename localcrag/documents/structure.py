"""The structure of a page: a text with markup becomes a plain text in blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter

from localcrag.documents.extracted import clean
from localcrag.documents.fixed_width_tables import with_rows
from localcrag.documents.formats import Markup
from localcrag.documents.markdown_blocks import markdown_page
from localcrag.documents.prose_blocks import prose_blocks
from localcrag.documents.rst_blocks import rst_page
from localcrag.documents.wrapped_words import with_whole_words
from localcrag.types import Block, BlockKind, Page

_RUN_OF_LINES = re.compile(r"[^\n]*\S(?:[^\n]*\n[^\n]*\S)*")
"""Lines without a blank one between them."""


def structured(page: Page, markup: Markup) -> Page:
    """A page as it is stored, in blocks; a page without any has text with that markup.

    Raises UnreadableError for a text that is nested too deeply.
    """
    if page.blocks:
        return page
    text = clean(page.text)
    match markup:
        case Markup.MARKDOWN:
            return markdown_page(text, page.number)
        case Markup.RST:
            return rst_page(text, page.number)
        case Markup.PROSE:
            return _prose_page(text, page.number)
        case Markup.LINES:
            runs = (match.span() for match in _RUN_OF_LINES.finditer(text))
            return Page(page.number, text, tuple(Block(BlockKind.CODE, *span) for span in runs))


def _prose_page(text: str, number: int | None) -> Page:
    """A plain text as a page; its tables are rows, broken words are whole, and the rest stays as it is."""
    text, rows = with_rows(with_whole_words(text))
    rest, end = [], 0
    for row in rows:
        rest += [text[end : row.start], " " * (row.end - row.start)]
        end = row.end
    blocks = prose_blocks("".join([*rest, text[end:]]))
    return Page(number, text, tuple(sorted((*blocks, *rows), key=attrgetter("start"))))


def first_heading(pages: Sequence[Page]) -> str:
    """The first heading of a document, which is its title if it names none; "" without any."""
    for page in pages:
        for block in page.blocks:
            if block.kind is BlockKind.HEADING:
                return page.text[block.start : block.end]
    return ""
