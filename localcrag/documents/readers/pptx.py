"""Reader of PPTX: one page per slide."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from localcrag.documents import zip_guard
from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.file_properties import core_properties
from localcrag.documents.table_grid import GridRow, Merge, MergedCells
from localcrag.documents.table_pairs import document_lines
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page

if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.table import Table
    from pptx.text.text import TextFrame


def read_pptx(data: bytes, limits: Limits) -> ExtractedText:
    """Read the title, texts, tables and speaker notes of each slide.

    Raises UnreadableError: damaged, a zip bomb, or a slide with more text than ``limits.text``.
    """
    from lxml import etree
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    with zip_guard.opened(data, "PPTX", limits) as container:
        title, fields = core_properties(container)
        try:
            deck = Presentation(io.BytesIO(data))
            pages = [_page(number, slide, limits) for number, slide in enumerate(deck.slides, start=1)]
        except (PythonPptxError, etree.LxmlError) as error:
            raise UnreadableError("damaged PPTX") from error
    filled = tuple(page for page in pages if page.blocks)
    title = title or first_heading(filled)
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.PPTX], filled, meta=fields)


def first_heading(pages: Iterable[Page]) -> str:
    """The heading that the first page begins with; "" if there is none."""
    for page in pages:
        first = page.blocks[0]
        return page.text[first.start : first.end] if first.kind is BlockKind.HEADING else ""
    return ""


def _page(number: int, slide: Slide, limits: Limits) -> Page:
    made = BlockText(limits)
    title = slide.shapes.title
    if title is not None:
        made.add(BlockKind.HEADING, _words(title.text_frame.text), level=1)
    _add_shapes(made, (s for s in slide.shapes if title is None or s.shape_id != title.shape_id))
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        if notes is not None and notes.text.strip():
            made.add(BlockKind.PARAGRAPH, f"Notes: {notes.text}")
    return made.page(number)


def _add_shapes(made: BlockText, shapes: Iterable[BaseShape]) -> None:
    from pptx.shapes.graphfrm import GraphicFrame
    from pptx.shapes.group import GroupShape

    for shape in shapes:
        if isinstance(shape, GroupShape):
            _add_shapes(made, shape.shapes)
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            _add_table(made, shape.table)
        elif shape.has_text_frame:
            _add_paragraphs(made, shape.text_frame)  # type: ignore[attr-defined]


def _add_paragraphs(made: BlockText, frame: TextFrame) -> None:
    """Append the text of a frame; several paragraphs become a list indented by level, as slides show them."""
    filled = [(paragraph.level, text) for paragraph in frame.paragraphs if (text := _words(paragraph.text))]
    made.part()
    for level, text in filled:
        if len(filled) == 1:
            made.add(BlockKind.PARAGRAPH, text)
        else:
            made.add(BlockKind.ITEM, text, level=level, marker=BULLET)


def _add_table(made: BlockText, table: Table) -> None:
    made.part()
    for line in document_lines(_rows(table)):
        made.add(BlockKind.ROW, line)


def _rows(table: Table) -> Iterator[GridRow]:
    merged = MergedCells()
    for number, row in enumerate(table.rows, 1):
        cells = list(row.cells)
        for column, cell in enumerate(cells):
            if cell.is_merge_origin:
                merged.add(Merge(column, number, cell.span_width, cell.span_height))
        yield merged.laid(number, ["" if cell.is_spanned else _words(cell.text) for cell in cells])


def _words(text: str) -> str:
    return " ".join(text.split())
