"""Reader of XLSX: one page per sheet, with the headers repeated in each row."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, time
from itertools import chain
from math import isfinite, isnan
from typing import TYPE_CHECKING

from localcrag.documents import zip_guard
from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.file_properties import core_properties
from localcrag.documents.readers.xlsx_comments import comments_of
from localcrag.documents.readers.xlsx_formulas import unstored_note
from localcrag.documents.readers.xlsx_merges import merges_of
from localcrag.documents.readers.xlsx_number_formats import formatted
from localcrag.documents.table_grid import GridRow, MergedCells, with_comments
from localcrag.documents.table_rows import add_lines, bounded_rows, grid_lines
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell, MergedCell
    from openpyxl.cell.read_only import EmptyCell, ReadOnlyCell
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet


def read_xlsx(data: bytes, limits: Limits) -> ExtractedText:
    """Read the values last saved in each visible sheet (not the formulas), row by row.

    Rows are streamed, so a sheet with a cell in its last row and column is not laid out in memory.
    Raises UnreadableError: damaged, a zip bomb, or more text than ``limits.text``.
    """
    with zip_guard.opened(data, "XLSX", limits) as container:
        title, fields = core_properties(container)
        book = _opened(data)
        try:
            pages = tuple(_pages(book, container, limits))
            if not any(page.blocks for page in pages):
                _refuse_unstored(book, container)
        finally:
            book.close()
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.XLSX], pages, meta=fields)


def _opened(data: bytes) -> Workbook:
    from openpyxl.reader.excel import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of styles and extensions, which say nothing
        book: Workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    return book


def _pages(book: Workbook, container: zipfile.ZipFile, limits: Limits) -> Iterator[Page]:
    for number, sheet in enumerate(book.worksheets, start=1):
        if sheet.sheet_state == "visible":
            sheet.reset_dimensions()  # else each missing row is filled up to the sheet's full width
            rows = _rows(sheet, merges_of(container, sheet), comments_of(container, sheet))
            note = unstored_note(container, sheet)
            page = sheet_page(number, sheet.title, rows, limits, f"Not read: {note}." if note else "")
            if page.blocks:
                yield page


def _refuse_unstored(book: Workbook, container: zipfile.ZipFile) -> None:
    """Raise UnreadableError for a workbook of nothing but formulas without a stored result."""
    for sheet in book.worksheets:
        if sheet.sheet_state == "visible" and (note := unstored_note(container, sheet)):
            raise UnreadableError(
                f"nothing but {note}", hint="Open it in a spreadsheet program, and save it there."
            )


def sheet_page(number: int, name: str, rows: Iterable[GridRow], limits: Limits, note: str = "") -> Page:
    """A sheet as a page: its name as the heading, then its numbered rows with their headers, and a note.

    The title of a table is a heading below the name of the sheet, and a note around a table a paragraph.

    It has no blocks if there are no rows. Raises UnreadableError if there are too many cells, or more text
    than ``limits.text``.
    """
    made = BlockText(limits)
    lines = grid_lines(bounded_rows(rows))
    first = next(lines, None)
    if first is not None:
        made.add(BlockKind.HEADING, name, level=1)
        add_lines(made, chain([first], lines))
        made.add(BlockKind.PARAGRAPH, note)
    return made.page(number)


def _rows(
    sheet: Worksheet, merged: MergedCells, comments: Mapping[tuple[int, int], str]
) -> Iterator[GridRow]:
    """The rows with a filled cell, with the numbers that Excel shows; missing rows are counted.

    A comment stands behind the value of its cell.
    """
    for number, row in enumerate(sheet.iter_rows(), 1):
        cells = [_cell_text(cell) for cell in row]
        noted = {i: note for i in range(len(cells)) if (note := comments.get((number, i + 1)))}
        if any(cells) or noted:
            yield with_comments(merged.laid(number, cells), noted)


def _cell_text(cell: Cell | MergedCell | ReadOnlyCell | EmptyCell) -> str:
    """The value of a cell; a number as its format shows it."""
    value = cell.value
    shown = shown_value(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value):
        return formatted(value, shown, cell.number_format)
    return shown


def shown_value(value: object) -> str:
    """The value of a cell as text: numbers without needless decimals, days and times in ISO 8601.

    Of 0.9033999999999995 it is 0.9034, as a spreadsheet shows it. Bytes and what is no number have none.
    """
    match value:
        case None | bytes():
            return ""
        case float() if isnan(value):
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case float() if isfinite(value):
            return repr(float(f"{value:.15g}"))  # the digits that a spreadsheet keeps
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ", timespec="seconds" if value.second else "minutes")
        case time():
            return value.isoformat("seconds" if value.second else "minutes")
        case _:
            return " ".join(str(value).split())
