"""A row is to be checked if the question names none of its columns."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.sureness import SURE_STRIP
from localcrag.crag.doubts.untold_columns import (
    MAX_CELLS,
    is_doubted_without_column,
    is_wide_without_column,
)
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind
from tests.crag.values import structured


def test_a_wide_row_answers_what_its_columns_name() -> None:
    others = " · ".join(f"code {letter}: {letter * 2}" for letter in "abcdefghijklmnop"[:MAX_CELLS])
    wide = strips(structured((BlockKind.ROW, f"name: Lesotho · capital: Maseru · {others}")))
    narrow = strips(structured((BlockKind.ROW, "name: Lesotho · capital: Maseru")))
    assert is_wide_without_column("What are people from Lesotho called?", wide)
    assert not is_wide_without_column("What is the capital of Lesotho?", wide)
    assert not is_wide_without_column("What are people from Lesotho called?", narrow)
    assert not is_wide_without_column("What are people from Lesotho called?", [])
    joined = strips(structured((BlockKind.ROW, f"name: Tin · AtomicRadius: 217 · {others}")))
    assert not is_wide_without_column("Which radius does tin have?", joined)
    assert is_wide_without_column("How warm is tin?", joined)
    priced = strips(structured((BlockKind.ROW, f"name: Amare · sunbed_price: 69 · {others}")))
    assert not is_wide_without_column("What does a day at Amare cost?", priced)


@pytest.mark.parametrize(
    ("question", "is_doubted"),
    [
        ("How deep is the harbour of Valparaiso?", True),
        ("Which country is Valparaiso in?", False),
        ("Who built Valparaiso?", False),
        ("How many harbours are there in Chile?", True),
        ("How many berths does Valparaiso have?", False),
    ],
)
def test_a_row_that_is_not_sure_answers_what_its_columns_name(question: str, is_doubted: bool) -> None:
    row = "name: Valparaiso · country: Chile · region: south · port.berths: 8"
    (strip,) = strips(structured((BlockKind.ROW, row)))
    assert is_doubted_without_column(question, [strip]) is is_doubted
    assert not is_doubted_without_column(question, [replace(strip, score=SURE_STRIP)])
    assert not is_doubted_without_column(question, [])


def test_no_column_without_a_name_has_the_amount_that_is_asked_for() -> None:
    text = "column 1: 296 · column 2: Lynn · column 3: Sales · column 4: 294"
    (strip,) = strips(structured((BlockKind.ROW, text)))
    assert is_doubted_without_column("How much does Lynn earn?", [strip])
    assert not is_doubted_without_column("Where does Lynn work?", [strip])
    named = strips(structured((BlockKind.ROW, "id: 296 · name: Lynn · pay: 294 EUR")))
    assert not is_doubted_without_column("How much does Lynn earn?", named)


def test_a_number_with_what_it_counts_tells_how_many() -> None:
    (strip,) = strips(structured((BlockKind.ROW, "name: Valparaiso · country: Chile · room: 12 ships")))
    assert not is_doubted_without_column("How many vessels fit into Valparaiso?", [strip])


def test_how_old_something_is_stands_in_a_column_of_ages_or_days() -> None:
    for cells, is_doubted in (
        ("name: Tim Cook · rank: 46 · total_pay: 10.28", True),
        ("name: Tim Cook · rank: 46 · dob: 1960-11-01", False),
        ("name: Tim Cook · age_years: 64", False),
    ):
        rows = [replace(row, score=0.99) for row in strips(structured((BlockKind.ROW, cells)))]
        assert is_doubted_without_column("How old is Tim Cook?", rows) is is_doubted
        assert not is_doubted_without_column("Who is Tim Cook?", rows)
