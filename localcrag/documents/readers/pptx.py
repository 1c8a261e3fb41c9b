"""Reader of PPTX: one page per slide, as Markdown."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from localcrag.documents import zip_guard
from localcrag.documents.extracted import ExtractedText, Limits, joined, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.errors import UnreadableError
from localcrag.types import Page

if TYPE_CHECKING:
    from pptx.shapes.base import BaseShape
    from pptx.slide import Slide
    from pptx.table import Table
    from pptx.text.text import TextFrame


def read_pptx(data: bytes, limits: Limits) -> ExtractedText:
    """Read the title, texts, tables and speaker notes of each slide.

    Raises UnreadableError: damaged, a zip bomb, or more text than ``limits.text``.
    """
    from lxml import etree
    from pptx import Presentation
    from pptx.exc import PythonPptxError

    with zip_guard.opened(data, "PPTX", limits):
        try:
            deck = Presentation(io.BytesIO(data))
            texts = ["\n\n".join(_slide(slide)) for slide in deck.slides]
            title = deck.core_properties.title or ""
        except (PythonPptxError, etree.LxmlError) as error:
            raise UnreadableError("damaged PPTX") from error
    joined(texts, limits)
    pages = tuple(Page(number, text) for number, text in enumerate(texts, start=1) if text.strip())
    return ExtractedText(title or _first_title(texts), MEDIA_TYPES[DocumentFormat.PPTX], pages)


def _first_title(texts: list[str]) -> str:
    first = texts[0].partition("\n")[0] if texts else ""
    return first.removeprefix("# ") if first.startswith("# ") else ""


def _slide(slide: Slide) -> Iterator[str]:
    title = slide.shapes.title
    if title is not None and title.text_frame.text.strip():
        yield f"# {one_line(title.text_frame.text)}"
    yield from _shapes(shape for shape in slide.shapes if title is None or shape.shape_id != title.shape_id)
    if slide.has_notes_slide:
        notes = slide.notes_slide.notes_text_frame
        if notes is not None and notes.text.strip():
            yield f"Notes: {notes.text}"


def _shapes(shapes: Iterable[BaseShape]) -> Iterator[str]:
    from pptx.shapes.graphfrm import GraphicFrame
    from pptx.shapes.group import GroupShape

    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _shapes(shape.shapes)
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield _table(shape.table)
        elif shape.has_text_frame:
            text = _paragraphs(shape.text_frame)  # type: ignore[attr-defined]
            if text:
                yield text


def _paragraphs(frame: TextFrame) -> str:
    """The text of a frame; several paragraphs become a list indented by level, as slides show them."""
    filled = [(paragraph.level, one_line(paragraph.text, 100_000)) for paragraph in frame.paragraphs]
    filled = [(level, text) for level, text in filled if text]
    if len(filled) <= 1:
        return "".join(text for _, text in filled)
    return "\n".join(f"{'  ' * level}- {text}" for level, text in filled)


def _table(table: Table) -> str:
    rows = [[one_line(cell.text, 100_000).replace("|", "\\|") for cell in row.cells] for row in table.rows]
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    if lines:
        lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)
