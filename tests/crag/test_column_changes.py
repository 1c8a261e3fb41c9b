"""What changes most from one column of a table to another."""

from __future__ import annotations

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.column_changes import change_question
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.parsed_tables import tables_of
from tests.crag.test_aggregation import passages

FEES = [
    "fees",
    "Service: Library, reading card · 2025: 15.00 · 2026: 18.00",
    "Service: Library, reminder · 2025: 1.00 · 2026: 1.50",
    "Service: Parking permit · 2025: 30.00 · 2026: 48.00",
    "Service: Grave · 2025: 980.00 · 2026: 1,120.00",
    "Service: Lost tag · 2025: 0.00 · 2026: 8.50",
    *(f"Service: Form {letter} · 2025: 2.00 · 2026: 2.00" for letter in "ABCDEFG"),
]


@pytest.mark.parametrize(
    ("question", "value", "is_loose"),
    [
        ("Which fee rises most, in per cent, from 2025 to 2026?", "+60 %", False),
        ("Which fee has the biggest increase in percent between 2025 and 2026?", "+60 %", False),
        ("Which fee went up by the most from 2025 to 2026?", "+140.00", True),
        ("Which library fee rose most in per cent from 2025 to 2026?", "+50 %", True),
        ("Which town fee rises most, in per cent, from 2025 to 2026?", "+60 %", True),
        ("Which fee fell most, in per cent, from 2025 to 2026?", None, False),
        ("Which fee rises most, in per cent, from 2024 to 2026?", None, False),
        ("Which fee rises most?", None, False),
        ("Which tree rises most, in per cent, from 2025 to 2026?", None, False),
    ],
)
def test_what_changes_most(question: str, value: str | None, is_loose: bool) -> None:
    form = change_question(question)
    matches = list(document_matches(form, tables_of(passages(FEES)), None)) if form else []
    found = aggregated(matches[0]) if matches else None
    assert (found.computation.value if found else None) == value
    assert not matches or matches[0].loose is is_loose
