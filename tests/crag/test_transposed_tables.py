"""Tables whose columns are the things that are compared, and whose rows are their properties."""

from __future__ import annotations

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.state import ComputedAnswer
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_questions import recognised
from tests.crag.test_aggregation import passages

COMPARED = [
    "Supplier · Velox 300: Haldane Office · Prantl C4: Marrow & Sons · Omira 22: Tiller Print",
    "Price (EUR) · Velox 300: 2,480 · Prantl C4: 1,990 · Omira 22: 3,150",
    "Weight · Velox 300: 48 kg · Prantl C4: 39 kg · Omira 22: 71 kg",
    "Guarantee (years) · Velox 300: 2 · Prantl C4: 3 · Omira 22: –",
]


def computed(question: str, rows: list[str]) -> tuple[ComputedAnswer | None, bool]:
    """What is computed over the tables of a file, and whether that is to be checked."""
    form = recognised(question)
    match = next(iter(document_matches(form, tables_of(passages(rows)), None)), None) if form else None
    return (aggregated(match), match.loose) if match else (None, False)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("Which copier is the cheapest?", "Prantl C4 is the cheapest: Price (EUR) 1,990 [1]"),
        ("Which of the copiers is the lightest?", "Prantl C4 is the lightest: Weight 39 kg [1]"),
        ("Which copier has the highest weight?", "Omira 22 has the highest: Weight 71 kg [1]"),
        ("Which copier has the longest guarantee?", "Prantl C4 has the longest: Guarantee (years) 3 [1]"),
    ],
)
def test_the_thing_with_the_most_of_a_property_is_found_in_its_row(question: str, said: str) -> None:
    answer, _ = computed(question, COMPARED)
    assert answer is not None and answer.text.startswith(said)
    assert [strip.text for strip in answer.rows] == [row for row in COMPARED if row.split(" ·")[0] in said]
    assert (answer.computation.rows, answer.computation.table_rows) == (1, 4)


def test_what_is_left_out_are_columns() -> None:
    answer, _ = computed("Which copier has the longest guarantee?", COMPARED)
    assert answer is not None
    assert answer.text.endswith(
        "(Computed from the row Guarantee (years) of farms.csv; "
        "left out: 1 column without a value of Guarantee (years).)"
    )


def test_things_that_no_name_of_the_table_tells_of_are_to_be_checked() -> None:
    named = [row.replace("Supplier", "Supplier of the farm") for row in COMPARED]
    assert computed("Which copier is the cheapest?", named)[1]
    assert not computed("Which farm is the cheapest?", COMPARED)[1]


@pytest.mark.parametrize(
    "rows",
    [
        ["Model: Velox 300 · Price (EUR): 2,480", "Model: Prantl C4 · Price (EUR): 1,990"],
        ["Price · Velox 300: 2,480 €", "Price · Velox 300: 1,990 €"],
    ],
)
def test_a_table_of_one_thing_in_each_row_stays_as_it_is(rows: list[str]) -> None:
    answer, _ = computed("Which model is the cheapest?", rows)
    assert answer is None or "row Price" not in answer.text
