"""DOCX, XLSX and PPTX files, made by the libraries that people make them with."""

from __future__ import annotations

import io
from collections.abc import Sequence
from datetime import date
from typing import Any

from benchmarks.reading.source_text import Piece, Source

_STYLES = {"item": "List Bullet", "number": "List Number"}


def docx(source: Source) -> bytes:
    """Headings, paragraphs, lists and tables in Word's own styles."""
    from docx import Document

    document = Document()
    document.core_properties.title = source.title
    document.core_properties.author = source.fields.get("author", "")
    for piece in source.pieces:
        if piece.kind == "heading":
            document.add_heading(piece.plain, piece.level)
        elif piece.kind == "table":
            table = document.add_table(rows=0, cols=len(piece.rows[0]), style="Table Grid")
            for row in piece.rows:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    cell.text = text
        else:
            document.add_paragraph(piece.plain, style=_STYLES.get(piece.kind))
    return _saved(document)


def xlsx(source: Source) -> bytes:
    """A sheet for each heading with the table below it; numbers and dates are stored as such."""
    from openpyxl import Workbook

    book = Workbook()
    book.remove(book.active)
    for piece in source.pieces:
        if piece.kind == "heading":
            sheet = book.create_sheet(piece.plain)
        for number, row in enumerate(piece.rows):
            sheet.append([_value(cell) if number else cell for cell in row])
    return _saved(book)


def _value(cell: str) -> str | float | date:
    """A cell as Excel stores it; a decimal with trailing zeros stays text, as a formatted cell shows it."""
    plain = cell.replace(",", "")
    if plain.isdigit():
        return cell if "," in cell else int(plain)
    try:
        return date.fromisoformat(cell)
    except ValueError:
        return cell


def pptx(source: Source) -> bytes:
    """A slide for each page: its heading is the title; items, tables and speaker's notes."""
    from pptx import Presentation
    from pptx.util import Inches

    deck: Any = Presentation()
    deck.core_properties.title = source.title
    for page in source.pages:
        tables = [piece.rows for piece in page if piece.kind == "table"]
        slide = deck.slides.add_slide(deck.slide_layouts[5 if tables else 1])
        slide.shapes.title.text = next(piece.plain for piece in page if piece.kind == "heading")
        if items := _listed(page):
            slide.placeholders[1].text_frame.text = items
        for rows in tables:
            size = len(rows), len(rows[0]), Inches(0.5), Inches(2), Inches(9), Inches(3)
            table = slide.shapes.add_table(*size).table
            for at, row in enumerate(rows):
                for across, text in enumerate(row):
                    table.cell(at, across).text = text
        if notes := _joined(page, "note"):
            slide.notes_slide.notes_text_frame.text = notes
    return _saved(deck)


def _listed(page: Sequence[Piece]) -> str:
    """The items of a page, those of a numbered list with their numbers, a line each."""
    lines, number = [], 0
    for piece in page:
        number = number + 1 if piece.kind == "number" else 0
        if piece.kind in _STYLES:
            lines.append(f"{number}. {piece.plain}" if number else piece.plain)
    return "\n".join(lines)


def _joined(page: Sequence[Piece], kind: str) -> str:
    return "\n".join(piece.plain for piece in page if piece.kind == kind)


def _saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()
