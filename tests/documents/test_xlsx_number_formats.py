"""Numbers of a sheet as its number formats show them."""

from __future__ import annotations

import io
from datetime import datetime, time

import pytest
from openpyxl import Workbook

from localcrag.documents.extracted import Limits
from localcrag.documents.readers.xlsx import read_xlsx
from localcrag.documents.readers.xlsx_number_formats import formatted


@pytest.mark.parametrize(
    ("number", "number_format", "shown"),
    [
        (0.25, "0%", "25%"),
        (0.0755, "0.0%", "7.6%"),
        (1.5, "€#,##0.00", "€1.50"),
        (1250, "€#,##0.00", "€1250.00"),
        (1250, "€#,##0", "€1250"),
        (1250.5, "€#,##0", "€1250.50"),
        (142, "#,##0.00", "142.00"),
        (2601.5, "#,##0.00", "2601.50"),
        (1.23456, "0.00", "1.23456"),
        (7, "0.00E+00", "7"),
        (7000, "0.0,", "7000"),
        (-3.25, '"£"#,##0.00;[Red]-"£"#,##0.00', "-£3.25"),
        (320, '#,##0.00\\ "EUR"', "320.00 EUR"),
        (4.2, "[$USD-409] 0.00", "USD 4.20"),
        (12, "[$-409]0", "12"),
        (12, "General", "12"),
        (3, '0" pcs"', "3"),
    ],
)
def test_a_number_has_what_its_format_adds(number: float, number_format: str, shown: str) -> None:
    assert formatted(number, str(number), number_format) == shown


def test_a_sheet_is_read_with_its_formats() -> None:
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Item", "Share", "Sold", "Open"])
    sheet.append(["Bolt", 0.25, datetime(2024, 3, 6, 14), time(7, 30)])
    sheet["B2"].number_format = "0%"
    file = io.BytesIO()
    book.save(file)
    (page,) = read_xlsx(file.getvalue(), Limits()).pages
    assert page.text.endswith("Item: Bolt · Share: 25% · Sold: 2024-03-06 14:00 · Open: 07:30")
