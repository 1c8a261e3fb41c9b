"""The row with a cell that the question spells, in the place of what does not have it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.rows.spelled_rows import is_spelled_in, with_spelled_row
from localcrag.types import BlockKind
from tests.crag.values import structured

COUNTRIES = ("country: Viet Nam · year: 2023 · gwh: 25696", "country: Yemen · year: 2023 · gwh: 12")
TABLE = structured(*((BlockKind.ROW, row) for row in COUNTRIES))
OTHER = structured((BlockKind.ROW, "technology: single-Si · year: 2023 · mean: 0.22"), start=900)
ASKED = "How many GWh did Viet Nam produce in 2023?"


def test_the_one_row_that_is_spelled_takes_the_place_of_one_that_is_not() -> None:
    named, unnamed = strips(TABLE)
    found = [replace(strip, score=0.1) for strip in strips(OTHER)]
    (row,) = with_spelled_row(found, ASKED, [OTHER, TABLE])
    assert (row.text, row.score) == (named.text, 0.1)
    assert with_spelled_row(found, "How many GWh are there in all?", [OTHER, TABLE]) == found
    assert with_spelled_row(found, "How much of Viet Nam or Yemen?", [OTHER, TABLE]) == found
    assert with_spelled_row([named, unnamed], ASKED, [TABLE]) == [named, unnamed]
    assert [strip.text for strip in with_spelled_row([], ASKED, [TABLE])] == [named.text]
    assert with_spelled_row([], "How much of Yemen?", [TABLE]) == []
    probable = [replace(strip, score=0.6) for strip in found]
    assert with_spelled_row(probable, ASKED, [OTHER, TABLE]) == probable


def test_of_several_names_the_longest_counts() -> None:
    journals = structured(
        (BlockKind.ROW, "title: Econometrica · price: 37 · field: Econometrics"),
        (BlockKind.ROW, "title: Journal of Applied Econometrics · price: 870 · field: Econometrics"),
        (BlockKind.ROW, "title: Econometric Theory · price: 400 · field: Econometrics"),
    )
    asked = "What does the Journal of Applied Econometrics cost?"
    assert [strip.text for strip in with_spelled_row([], asked, [journals])] == [strips(journals)[1].text]
    assert with_spelled_row([], "What does the field Econometrics cost?", [journals]) == []


@pytest.mark.parametrize(
    ("value", "question", "is_spelled"),
    [
        ("Viet Nam", ASKED, True),
        ("viet nam", ASKED, True),
        ("Viet Nam", ASKED.lower(), False),
        ("Viet", "Did the Vietcong win?", False),
        ("gǂq", "Where is gǂq made?", True),
        ("palatal", "What is palatal?", False),
        ("The", "Is The one?", False),
        ("How many", ASKED, False),
        ("2023", ASKED, False),
    ],
)
def test_a_name_is_spelled_as_it_stands(value: str, question: str, is_spelled: bool) -> None:
    assert is_spelled_in(value, question) is is_spelled
