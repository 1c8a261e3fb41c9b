"""Questions over a table that name a column, a period, or the table itself in other words."""

from __future__ import annotations

import pytest

from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import recognised
from tests.crag.test_aggregation import passages, value

POINTS = [
    "Marks so far",
    "pair: 1 · report_1: 21 · report_2: 22 · report_3: 40 · quiz_3: 5",
    "pair: 2 · report_1: 25 · report_2: 20 · report_3: 46 · quiz_3: 3",
    "pair: 3 · report_1: 19 · report_2: 24 · report_3: 31 · quiz_3: 6",
]
MONEY = [
    "Money",
    "month: 2025-06 · rent: 385 · food: 242 · travel: 61",
    "month: 2025-07 · rent: 385 · food: 251 · travel: 402",
    "month: 2025-08 · rent: 385 · food: 228 · travel: 118",
]
TAX = [
    "Tax Q4 2025",
    "Month: October · Tax 21 %: 4,685.10 · To pay: 2,234.50 · Paid on: 2025-11-28",
    "Month: November · Tax 21 %: 2,982.00 · To pay: 1,380.10 · Paid on: 2025-12-30",
    "Month: December · Tax 21 %: 4,124.40 · To pay: 1,772.55 · Paid on: 2026-02-02",
]
TRIP = [
    "Claim Porto",
    "Item: Conference fee · Amount: 340.00",
    "Item: Flight to Porto and back · Amount: 268.40",
    "Item: Hotel · Amount: 412.00",
]
LICENCES = [
    "Licences",
    "Product: Engine · Vendor: Meshwell · Cost per year: 14,900",
    "Product: Office suite · Vendor: Quillware · Cost per year: 51,840",
    "Product: Diagrams · Vendor: Quillware · Cost per year: 640",
]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Which pair got the most points for the third report?", POINTS, "46"),
        ("Which pair has the most points in the second quiz?", POINTS, None),
        ("In which month did I spend most on travelling?", MONEY, "402"),
        ("In which month did I spend most on heating?", MONEY, None),
        ("tax that we had to pay for the last three months of 2025, total", TAX, "5,387.15"),
        ("tax that we had to pay for the first three months of 2025, total", TAX, None),
        ("tax that we had to pay for the last three months of 2024, total", TAX, None),
        ("What did the whole Porto trip add up to?", TRIP, "1,020.40"),
        ("What did the whole Lisbon trip add up to?", TRIP, None),
        ("What did the Porto trip add up to?", TRIP, None),
        ("most expensive software per year", LICENCES, "51,840"),
        ("most expensive software", LICENCES, None),
    ],
)
def test_what_is_named_otherwise_is_computed(question: str, rows: list[str], answer: str | None) -> None:
    assert value(question, rows) == answer


def _match(question: str, rows: list[str]) -> TableMatch:
    form = recognised(question)
    (table,) = tables_of(passages(rows))
    match = matched(form, table) if form else None
    assert match is not None
    return match


def test_a_word_that_the_table_does_not_have_makes_an_answer_to_be_checked() -> None:
    assert _match("Which pair got the most points for the third report?", POINTS).loose
    assert _match("What did the whole Porto trip add up to?", TRIP).loose
    assert _match("most expensive software per year", LICENCES).loose
    assert not _match("In which month did I spend most on travelling?", MONEY).loose
