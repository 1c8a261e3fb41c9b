"""Reader of XLSX: one page per sheet, with the headers repeated in each row."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from datetime import datetime, time
from typing import TYPE_CHECKING

from localcrag.documents import zip_guard
from localcrag.documents.extracted import ExtractedText, Limits, joined
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.docx import core_title
from localcrag.documents.table_rows import with_headers
from localcrag.types import Page

if TYPE_CHECKING:
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet


def read_xlsx(data: bytes, limits: Limits) -> ExtractedText:
    """Read the values last saved in each visible sheet (not the formulas), row by row.

    Rows are streamed, so a sheet with a cell in its last row and column is not laid out in memory.
    Raises UnreadableError: damaged, a zip bomb, or more text than ``limits.text``.
    """
    with zip_guard.opened(data, "XLSX", limits) as container:
        title = core_title(container)
        book = _opened(data)
        try:
            pages = tuple(_pages(book, limits))
        finally:
            book.close()
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.XLSX], pages)


def _opened(data: bytes) -> Workbook:
    from openpyxl.reader.excel import load_workbook

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of styles and extensions, which say nothing
        book: Workbook = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    return book


def _pages(book: Workbook, limits: Limits) -> Iterator[Page]:
    for number, sheet in enumerate(book.worksheets, start=1):
        if sheet.sheet_state == "visible":
            sheet.reset_dimensions()  # else each missing row is filled up to the sheet's full width
            text = joined(with_headers(_rows(sheet)), limits)
            if text:
                yield Page(number, f"# {sheet.title}\n\n{text}")


def _rows(sheet: Worksheet) -> Iterator[list[str]]:
    for row in sheet.iter_rows(values_only=True):
        cells = [_shown(value) for value in row]
        if any(cells):
            yield cells


def _shown(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case float() if value.is_integer() and abs(value) < 1e15:
            return str(int(value))
        case datetime() if value.time() == time():
            return value.date().isoformat()
        case datetime():
            return value.isoformat(sep=" ")
        case _:
            return " ".join(str(value).split())
