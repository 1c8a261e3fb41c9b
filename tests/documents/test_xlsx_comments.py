"""Comments on the cells of a sheet are read with their cells."""

from __future__ import annotations

import io
import zipfile

from openpyxl import Workbook
from openpyxl.comments import Comment

from localcrag.documents.extracted import Limits
from localcrag.documents.readers.xlsx import read_xlsx

THREADED = (
    "[Threaded comment]\n\nYour version of Excel allows you to read this threaded comment.\n\n"
    "Comment:\n    Only\n    for members"
)


def book() -> bytes:
    made = Workbook()
    first, second = made.active, made.create_sheet("Later")
    for row in (["Item", "Fee"], ["Kayak", 12], ["Canoe", None]):
        first.append(row)
        second.append(row)
    first["B2"].comment = Comment("Raised in May\nby the board", "Ada")
    first["B3"].comment = Comment(THREADED, "Ada")
    file = io.BytesIO()
    made.save(file)
    return file.getvalue()


def texts(data: bytes) -> list[str]:
    return [page.text for page in read_xlsx(data, Limits()).pages]


def test_a_comment_stands_behind_the_value_of_its_cell_and_in_its_sheet_only() -> None:
    first, second = texts(book())
    assert "Item: Kayak · Fee: 12 (comment: Raised in May by the board)" in first
    assert "Item: Canoe · Fee: (comment: Only for members)" in first
    assert "comment" not in second


def test_damaged_comments_cost_no_cell() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book())) as given, zipfile.ZipFile(file, "w") as damaged:
        for name in given.namelist():
            content = given.read(name)
            damaged.writestr(name, content[: len(content) // 2] if "comments" in name else content)
    first, _ = texts(file.getvalue())
    assert "Item: Kayak · Fee: 12" in first and "comment" not in first


def test_comments_on_the_names_of_columns_are_notes_above_the_rows() -> None:
    made = Workbook()
    sheet = made.active
    for row in (["Model", "Series"], [1, "UNRATE"], [0, "PAYEMS"]):
        sheet.append(row)
    sheet["A1"].comment = Comment("0 = drop from model, 1 = include in estimation. " * 3, "Ada")
    file = io.BytesIO()
    made.save(file)
    (text,) = texts(file.getvalue())
    assert "Model: 0 = drop from model, 1 = include in estimation." in text
    assert "Model: 1 · Series: UNRATE\nModel: 0 · Series: PAYEMS" in text
