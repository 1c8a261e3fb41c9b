"""Who is where on a day, by a roster with a column for each day."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.day_rosters import roster_question
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.types import Block, BlockKind
from tests.crag.test_aggregation import passages

ROSTER = [
    "Roster May 2026",
    "Name: Ada · Thu 14 (Ascension): on call · Fri 15: OM 8-16 · Sat 16: OM 8-14 · Sun 17: off",
    "Name: Ben · Thu 14 (Ascension): Q 9-18 · Fri 15: leave · Sat 16: Q 9-18 · Sun 17: Q 9-18",
    "Name: Cleo · Thu 14 (Ascension): off · Fri 15: OM 8-16 · Sat 16: OM 8-14 · Sun 17: off",
    "Name: Dan · Thu 14 (Ascension): off · Fri 15: school · Sat 16: off · Sun 17: off",
]


@pytest.mark.parametrize(
    ("question", "names", "is_loose"),
    [
        ("Who is working at Old Mill on Saturday 16 May?", "Ada; Cleo", True),
        ("Who works at the Quay on 16/05/2026?", "Ben", True),
        ("Who is working on Sunday 17 May?", "Ben", True),
        ("Who is on leave on Fri 15?", "Ben", False),
        ("Who is on call on Thursday, 14 May?", "Ada", False),
        ("Who is off on 14 May 2026?", "Cleo; Dan", False),
        ("Who is working at Old Mill on Saturday 16 January?", None, False),
        ("Who is working at Old Mill on Saturday 16 May 2027?", None, False),
        ("Who is working at New Mill on Saturday 16 May?", None, False),
        ("Who repaired the boat on Saturday 16 May?", None, False),
        ("Who is not working on Saturday 16 May?", None, False),
        ("Who is working at Old Mill on Monday 18 May?", None, False),
        ("What is done at Old Mill on Saturday 16 May?", None, False),
    ],
)
def test_who_is_where_on_a_day(question: str, names: str | None, is_loose: bool) -> None:
    form = roster_question(question)
    matches = list(form.matches(tables_of(passages(ROSTER)))) if form else []
    match = matches[0] if matches else None
    found = aggregated(match) if match else None
    assert (found.computation.value if found else None) == names
    assert not match or match.loose is is_loose


SHIFTS = [
    f"Name: {name} · 14 May: {a} · 15 May: {b} · 16 May: {c}"
    for name, a, b, c in (("Ada", "E", "L", "F"), ("Ben", "L", "F", "N"), ("Cleo", "F", "L", "E"))
]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Who has the late shift on 15 May?", "Ada; Cleo"),
        ("Who has nights on 16 May?", "Ben"),
        ("Who has the split shift on 15 May?", None),
        ("Who is working on 15 May?", None),
    ],
)
def test_the_codes_of_shifts_are_those_of_the_legend(question: str, names: str | None) -> None:
    (passage,) = passages(SHIFTS)
    legend = "E = early 6-14, L = late shift 14-22, N = night, F = free"
    text = f"{passage.text}\n{legend}"
    block = Block(BlockKind.PARAGRAPH, len(passage.text) + 1, len(text))
    whole = replace(passage, text=text, end=len(text), blocks=(*passage.blocks, block))
    form = roster_question(question)
    assert form is not None
    found = [aggregated(match) for match in form.matches(tables_of([whole]))]
    assert [each.computation.value for each in found if each] == ([names] if names else [])


def test_a_legend_in_another_passage_of_the_document_tells_what_codes_mean() -> None:
    rows = [f"Name: {name} · 2024-11-01: {a} · 2024-11-02: {b} · 2024-11-03: E" for name, a, b in (
        ("Ada", "N", "O"), ("Ben", "E", "N"), ("Cleo", "N", "A"))]  # fmt: skip
    text = "E = early 07:00–15:00, N = night 21:00–07:30, O = off, A = annual leave"
    (passage,) = passages(rows)
    block = Block(BlockKind.PARAGRAPH, 0, len(text))
    legend = replace(passage, id="legend", text=text, end=len(text), start=0, blocks=(block,))
    form = roster_question("Who has the night shift on 1 November 2024?")
    assert form is not None
    tables = tables_of(passages(rows))
    assert not list(form.matches(tables))
    (match,) = replace(form, beside=(legend,)).matches(tables)
    found = aggregated(match)
    assert found is not None and found.computation.value == "Ada; Cleo" and match.loose
