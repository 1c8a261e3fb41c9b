"""Formulas without a stored result are counted, and not shown as values."""

from __future__ import annotations

import io
import zipfile

import pytest
from openpyxl import Workbook

from localcrag.documents.extracted import Limits
from localcrag.documents.readers.xlsx import read_xlsx
from localcrag.errors import UnreadableError


def bill(rows: int = 2) -> bytes:
    book = Workbook()
    book.active.append(["Item", "Price", "Total"])
    for number in range(rows):
        book.active.append(["Oak", 3, f"=B{number + 2}*4"])
    return saved(book)


def saved(book: Workbook) -> bytes:
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def with_cell(data: bytes, cell: str) -> bytes:
    """A workbook whose formula in C2 is written in another way."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(file, "w") as made:
        for name in given.namelist():
            content = given.read(name)
            old = b'<c r="C2"><f>B2*4</f><v></v></c>'
            assert old in content or not name.endswith("sheet1.xml")
            made.writestr(name, content.replace(old, cell.encode()))
    return file.getvalue()


def text(data: bytes) -> str:
    return read_xlsx(data, Limits()).pages[0].text


def test_formulas_without_a_result_are_named_below_the_rows() -> None:
    assert text(bill()) == (
        "Sheet\n\nItem: Oak · Price: 3\nItem: Oak · Price: 3"
        "\n\nNot read: 2 formulas without a stored result, the first in cell C2."
    )


@pytest.mark.parametrize(
    ("cell", "found"),
    [
        ('<c r="C2"><f>B2*4</f><v>12</v></c>', "Total: 12"),
        ('<c r="C2" t="str"><f>""</f><v></v></c>', ""),
        ('<c r="C2"><f t="shared" si="0"/></c>', "1 formula without a stored result, the first in cell C2."),
        ('<c r="C2"><f t="shared" si="0"/><v>12</v></c>', "Total: 12"),
    ],
)
def test_results_that_are_stored(cell: str, found: str) -> None:
    shown = text(with_cell(bill(1), cell))
    assert found in shown
    assert ("Not read" in shown) is ("formula" in found)


def test_all_are_counted_in_a_long_sheet() -> None:
    assert "30,000 formulas" in text(bill(30_000))


def test_a_workbook_of_nothing_but_formulas_is_refused_with_the_reason() -> None:
    book = Workbook()
    book.active.append(["=1+1", "=2+2"])
    with pytest.raises(
        UnreadableError, match="nothing but 2 formulas without a stored result, the first in cell A1"
    ):
        read_xlsx(saved(book), Limits())
