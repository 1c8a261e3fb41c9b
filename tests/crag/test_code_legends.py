"""Codes of a column that a legend or a data dictionary explains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.types import Block, BlockKind, Passage
from tests.crag.test_aggregation import passages

SAMPLES = [
    f"farm: F{n} · batch: B{n % 2} · flag: {flag}" for n, flag in enumerate(["X", "X", "R", "", "X", "R"])
]
DICTIONARY = "Column: flag · Meaning: X left out, R repeat, empty good"
LEGEND = "X = left out"


def _document(text: str, about: str, kind: BlockKind, source: str) -> Passage:
    whole = f"{about}\n{text}"
    blocks = (Block(BlockKind.PARAGRAPH, 0, len(about)), Block(kind, len(about) + 1, len(whole)))
    return Passage("d", "d", source, "d", "", None, 0, len(whole), whole, 0, blocks=blocks)


@pytest.mark.parametrize(
    ("question", "beside", "answer"),
    [
        ("How many farms are marked as left out?", (DICTIONARY, "For farms.csv", BlockKind.ROW, "/d"), "3"),
        ("How many farms are marked as repeat?", (DICTIONARY, "For farms.csv", BlockKind.ROW, "/d"), "2"),
        ("How many farms are marked as left out?", (DICTIONARY, "For x.csv", BlockKind.ROW, "/d"), None),
        ("How many farms are left in?", (DICTIONARY, "For farms.csv", BlockKind.ROW, "/d"), None),
        ("How many farms were left out?", (LEGEND, "", BlockKind.PARAGRAPH, "/farms.csv"), "3"),
        ("How many farms were left out?", (LEGEND, "", BlockKind.PARAGRAPH, "/d"), None),
    ],
)
def test_codes_are_counted_by_what_they_mean(
    question: str, beside: tuple[str, str, BlockKind, str], answer: str | None
) -> None:
    form = recognised(question)
    assert form is not None
    form = replace(form, beside=[_document(*beside)])
    matches = list(document_matches(form, tables_of(passages(SAMPLES)), None))
    found = aggregated(matches[0]) if matches else None
    assert (found.computation.value if found else None) == answer
    assert all(match.loose for match in matches)
