"""The headers of CSV files that look like rows, and cells that blanks part."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.readers.csv_rows import read_rows


def first_row(*lines: str) -> str:
    return read_rows("\n".join(lines), Limits()).text.split("\n")[0]


R_ROW = "mil: 1 · cost: 15 · note: major loss"
BOLT = "Name: Bolt, U. · Medal: GOLD · Time: 9.63"


@pytest.mark.parametrize(
    ("lines", "row"),
    [
        (('"","x"', '"Africa",11506', '"Asia",16988'), "Africa · x: 11506"),
        (('"","Content"', '"V1","Do you sing?"', '"V2","Do you row?"'), "V1 · Content: Do you sing?"),
        (('"weight","feed"', '"a",26.5,NA', '"b",27.6,5.2'), "a · weight: 26.5 · feed: NA"),
        (("Name,FIPS,1929,1931", "Ohio,39,1,2", "Utah,49,2,3"), "Name: Ohio · FIPS: 39 · 1929: 1 · 1931: 2"),
        (("type,0,2.5,4,5", "a,0,1,1,0", "b,0,2,3,1"), "type: a · 0: 0 · 2.5: 1 · 4: 1 · 5: 0"),
        (("Min T,Salt,Min T", "1,a,2", "3,b,4"), "Min T: 1 · Salt: a · Min T 2: 2"),
        (("price", "1.5", "2.5"), "price: 1.5"),
        (("Name,   Medal, Time", '"Bolt, U.",  "GOLD", 9.63', '"Blake, Y.","SILVER", 9.75'), BOLT),
        (("size, note", '1, "a" to "b"', '2, "c" to "d"'), 'size: 1 · note: "a" to "b"'),
        (("name,639-1", *(f"Tongue {n},{n}{n}" for n in "abcdefgh")), "name: Tongue a · 639-1: aa"),
        (("t sex  age", "35 0 1.5", "34 0 2"), "t: 35 · sex: 0 · age: 1.5"),
        (('"mil" "cost"  "note"', '"1" 1  15 "major loss"', '"2" 0 2 "gain"'), R_ROW),
        (('"country" "courts"', '"Peru" "0"', '"Cuba" "1"'), "country: Peru · courts: 0"),
    ],
)
def test_a_first_row_that_proves_to_be_a_header_names_the_columns(lines: tuple[str, ...], row: str) -> None:
    assert first_row(*lines) == row


@pytest.mark.parametrize(
    ("lines", "row"),
    [
        (
            ("Ohio,39,1,2", "Utah,49,2,3", "Iowa,19,2,3"),
            "column 1: Ohio · column 2: 39 · column 3: 1 · column 4: 2",
        ),
        (
            ("a,1,2,3,4", "b,2,3,4,5", "c,3,4,5,6"),
            "column 1: a · column 2: 1 · column 3: 2 · column 4: 3 · column 5: 4",
        ),
        (("5,a,b", "6,a,c", "NA,b,c"), "column 1: 5 · column 2: a · column 3: b"),
        (("x,5,x", "b,6,d"), "column 1: x · column 2: 5 · column 3: x"),
    ],
)
def test_a_first_row_of_values_is_a_row(lines: tuple[str, ...], row: str) -> None:
    assert first_row(*lines) == row
