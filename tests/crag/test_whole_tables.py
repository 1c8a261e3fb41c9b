"""Small tables are shown as a whole if all their rows are asked for, or their columns compared."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.whole_tables import MAX_ROWS, with_whole_table
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import Passage, Strip
from tests.crag.test_row_lookup import table

FEES = table(
    "Fee: Rent · Amount (EUR): 120",
    "Fee: Water · Amount (EUR): 35",
    "Fee: Insurance · Amount (EUR): 18",
    "Fee: Locker · Amount (EUR): 10",
    heading="Allotment",
)
BIKES = table(
    "column 1: Price · Bakka Long: 4,200 · Tern-like GX: 3,900 · Urb Three: 3,100",
    "column 1: Motor · Bakka Long: 85 Nm · Tern-like GX: 65 Nm · Urb Three: 85 Nm",
    heading="Cargo bikes",
)


def picked(passage: Passage, *rows: int) -> list[Strip]:
    found = strips(passage)
    return [replace(found[row], score=0.7 - row / 100) for row in rows]


@pytest.mark.parametrize("rows", [(0,), (1, 2), (0, 1, 2)])
def test_all_rows_are_shown_if_all_are_asked_for(rows: tuple[int, ...]) -> None:
    shown = with_whole_table(picked(FEES, *rows), "Which fees do I have to pay?")
    assert [strip.text for strip in shown] == [strip.text for strip in strips(FEES)]
    assert {strip.score for strip in shown} == {0.7 - rows[0] / 100}


@pytest.mark.parametrize(
    "question",
    [
        "Which fee is due?",
        "Which fees are there for water?",
        "Which fees are above 20 EUR?",
        "Which plants are grown?",
    ],
)
def test_the_rows_that_were_found_are_shown_if_some_are_asked_for(question: str) -> None:
    found = picked(FEES, 1)
    assert with_whole_table(found, question) == found


def test_columns_that_are_compared_are_shown_in_all_rows() -> None:
    found = picked(BIKES, 1)
    for question in (
        "What is the difference between the Bakka Long and the Urb Three?",
        "How does the Urb Three differ from the Tern-like GX?",
    ):
        assert [s.text for s in with_whole_table(found, question)] == [s.text for s in strips(BIKES)]
    for question in (
        "What is the difference in the motor?",
        "What motors have the Bakka Long and the Urb Three?",
    ):
        assert with_whole_table(found, question) == found


def test_a_long_table_is_not() -> None:
    rows = table(*(f"Fee: Number {n} · Amount: {n}" for n in range(MAX_ROWS + 1)))
    found = picked(rows, 0)
    assert with_whole_table(found, "Which fees are there?") == found
    assert with_whole_table([], "Which fees are there?") == []


def test_other_evidence_stays_behind_the_table() -> None:
    [other] = [replace(each, score=0.4) for each in picked(table("Name: Jens · Key: 4"), 0)]
    other = replace(other, passage=replace(other.passage, id="/b.txt:0"))
    shown = with_whole_table([other, *picked(FEES, 0)], "Which fees are there?")
    assert len(shown) == 5
    assert shown[-1] == other
