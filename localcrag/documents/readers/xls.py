"""Reader of XLS, the format of Excel before 2007: pages and rows as those of XLSX.

xlrd reads the records. It is small, has no dependencies, and reads number formats, merged cells and comments.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from math import isfinite
from typing import TYPE_CHECKING

from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.xlsx import sheet_page, shown_value
from localcrag.documents.readers.xlsx_number_formats import formatted
from localcrag.documents.table_grid import GridRow, Merge, MergedCells, with_comments
from localcrag.errors import UnreadableError
from localcrag.types import Page

if TYPE_CHECKING:
    from xlrd.book import Book
    from xlrd.sheet import Cell, Sheet

_VISIBLE = 0


def read_xls(data: bytes, limits: Limits) -> ExtractedText:
    """Read the values last saved in each visible sheet (not the formulas), row by row.

    Raises UnreadableError: damaged, encrypted, no workbook, or more text than ``limits.text``.
    """
    import xlrd

    try:
        book = xlrd.open_workbook(
            file_contents=data, logfile=io.StringIO(), formatting_info=True, ragged_rows=True
        )
        pages = tuple(_pages(book, limits))
    except UnreadableError:
        raise
    except Exception as error:  # xlrd raises whatever a wrong offset or count in a record leads to
        if "encrypted" in str(error):
            raise UnreadableError(
                "encrypted XLS (needs a password)", hint="Save a copy without the password."
            ) from error
        raise UnreadableError("damaged XLS", hint="Save it as XLSX in a spreadsheet program.") from error
    return ExtractedText("", MEDIA_TYPES[DocumentFormat.XLS], pages)


def _pages(book: Book, limits: Limits) -> Iterator[Page]:
    for number, sheet in enumerate(book.sheets(), start=1):
        if sheet.visibility == _VISIBLE:
            page = sheet_page(number, sheet.name, _rows(book, sheet), limits)
            if page.blocks:
                yield page


def _rows(book: Book, sheet: Sheet) -> Iterator[GridRow]:
    """The rows with a filled cell; missing rows are counted."""
    merged = MergedCells(
        Merge(left, top + 1, right - left, bottom - top) for top, bottom, left, right in sheet.merged_cells
    )
    comments = {place: " ".join(note.text.split()) for place, note in sheet.cell_note_map.items()}
    for number in range(sheet.nrows):
        cells = [_cell_text(book, cell) for cell in sheet.row(number)]
        noted = {i: note for i in range(len(cells)) if (note := comments.get((number, i)))}
        if any(cells) or noted:
            yield with_comments(merged.laid(number + 1, cells), noted)


def _cell_text(book: Book, cell: Cell) -> str:
    """The value of a cell; a number as its format shows it, and nothing for an error."""
    import xlrd

    match cell.ctype:
        case xlrd.XL_CELL_NUMBER if isfinite(cell.value):
            number_format = book.format_map[book.xf_list[cell.xf_index].format_key].format_str
            return formatted(cell.value, shown_value(cell.value), number_format)
        case xlrd.XL_CELL_DATE:
            day = xlrd.xldate.xldate_as_datetime(cell.value, book.datemode)
            return shown_value(day.time() if cell.value < 1 else day)
        case xlrd.XL_CELL_BOOLEAN:
            return shown_value(bool(cell.value))
        case xlrd.XL_CELL_ERROR:
            return ""
        case _:
            return shown_value(cell.value)
