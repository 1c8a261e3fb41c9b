"""Questions over a table in the words that people use, in English and German."""

from __future__ import annotations

import pytest

from localcrag.crag.table_answers.table_questions import recognised
from tests.crag.test_aggregation import value

CLAIMS = [
    "Travel claims 2024",
    "Employee: Ann · Date: 2024-04-02 · Type: Train · Amount: €10.50 · Receipt: yes",
    "Employee: Bo · Date: 2024-04-03 · Type: Taxi · Amount: €20.00 · Receipt: no",
    "Employee: Ann · Date: 2024-05-04 · Type: Hotel · Amount: €99.00 · Receipt: no",
    "Employee: Ann · Date: 2024-04-05 · Type: Train · Amount: €12.00 · Receipt: yes",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did Ann claim in total in April 2024?", "€22.50"),
        ("What did Ann spend in total?", "€121.50"),
        ("What has Ann claimed in total?", "€121.50"),
        ("What was claimed in total?", "€141.50"),
        ("How much did Bo claim?", "€20.00"),
        ("What did Ann donate in total?", None),
        ("What did Cy claim in total?", None),
        ("What did Ann claim?", None),
        ("How much is the claim of Ann?", None),
        ("Was hat Ann im April insgesamt abgerechnet?", "€22.50"),
        ("Wie viel hat Ann ausgegeben?", "€121.50"),
    ],
)
def test_what_someone_claimed_is_added_up(question: str, answer: str | None) -> None:
    assert value(question, CLAIMS) == answer


def test_a_question_of_one_word_is_none_over_a_table() -> None:
    assert recognised("What?") is None
