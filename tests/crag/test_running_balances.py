"""What came and went in a cash book, and its running balance, which is no sum."""

from __future__ import annotations

from decimal import Decimal

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.running_balances import is_running_balance
from localcrag.crag.table_answers.table_questions import moved_question
from tests.crag.test_aggregation import passages, value

BOOK = [
    "date: 2026-04-01 · text: Brought forward · left: 400",
    "date: 2026-04-02 · text: Hire · in: 500 · left: 900",
    "date: 2026-04-03 · text: To the bank · out: 600 · left: 300",
    "date: 2026-04-05 · text: Hire · in: 700 · left: 1000",
    "date: 2026-04-08 · text: To the bank · out: 800 · left: 200",
    "date: 2026-04-09 · text: Stamps · out: 5 · left: 195",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much did we carry to the bank?", "1,400"),
        ("How much did we carry to the bank in April?", "1,400"),
        ("How much did we get by hire?", "1,200"),
        ("How much did the stamps cost?", None),
        ("How much did we carry to the post?", None),
        ("How much does the bank take?", None),
        ("How much did we not carry to the bank?", None),
    ],
)
def test_the_column_of_an_amount_is_known_by_its_rows(question: str, answer: str | None) -> None:
    form = moved_question(question)
    matches = list(document_matches(form, tables_of(passages(BOOK)), None)) if form else []
    found = aggregated(matches[0]) if matches else None
    assert (found.computation.value if found else None) == answer
    assert all(match.loose for match in matches)


def test_a_running_balance_is_not_added_up() -> None:
    assert value("What is the total left?", BOOK) is None
    numbers = [Decimal(n) for n in (4, 9, 3, 10, 2)]
    came, went = [[None, 5, None, 7, None], [None, None, 6, None, 8]]
    others = [[None if n is None else Decimal(n) for n in column] for column in (came, went)]
    assert is_running_balance("left", numbers, others)
    assert not is_running_balance("left", numbers, others[:1])
    assert is_running_balance("Balance", numbers, [])
