"""Words that stand nowhere in a table are left out where that is allowed; the answer is to be checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import recognised
from tests.crag.test_aggregation import passages

BATS = [
    "name: Noctule · roost: tree · sleep_total: 19.5 · sleep_rem: 2 · young: 1",
    "name: Serotine · roost: house · sleep_total: 19.9 · sleep_rem: 1.5 · young: 0",
    "name: Barbastelle · roost: tree · sleep_total: 18.2 · sleep_rem: 3 · young: 2",
]
SALES = [
    "Day: 2026-03-02 · Rep: Ida · Region: North · Units: 3 · Unit price: 4 · Total: 12",
    "Day: 2026-03-02 · Rep: Jon · Region: South · Units: 5 · Unit price: 2 · Total: 10",
    "Day: 2026-03-05 · Rep: Ida · Region: North · Units: 1 · Unit price: 6 · Total: 6",
    "Day: 2026-03-06 · Rep: Mae · Region: South · Units: 2 · Unit price: 8 · Total: 16",
]


def presumed(question: str, rows: list[str], *, is_lenient: bool = True) -> str | None:
    form, (table,) = recognised(question), tables_of(passages(rows))
    assert form is not None
    match = matched(replace(form, is_lenient=is_lenient), table)
    found = aggregated(match) if match is not None else None
    assert match is None or match.loose
    return found.computation.value if found is not None else None


DEATHS = [
    "Land: Norway · Deaths: 830 · Heart: 227 · Liver: 4.3",
    "Land: Spain · Deaths: 751 · Heart: 86 · Liver: 36.4",
    "Land: Malta · Deaths: 970 · Heart: 297 · Liver: 19",
]
CHECKS = [
    f"Kitchen: {name} · Check score: {score} · Year: {year}"
    for name, score, year in (
        ("Anchor", 98, 2024), ("Plain Cup", 100, 2025), ("Rosa made", 100, 2025), ("Quay", 98, 2026)
    )
]  # fmt: skip


@pytest.mark.parametrize(
    ("question", "rows", "value"),
    [
        ("Which land has the highest rate of liver disease deaths?", DEATHS, "36.4"),
        ("In how many lands of the table is the heart disease death rate above 200?", DEATHS, "2"),
        ("How many kitchen checks ended with a perfect score of 100?", CHECKS, "2"),
        ("How many kitchen checks were made in 2025?", CHECKS, "2"),
        ("How many species of the survey live in a tree?", BATS, "2"),
        ("Which mammal sleeps the most hours a day?", BATS, "19.9"),
        ("How many mammals have no young at all?", BATS, "1"),
        ("What is the total revenue that Ida made with pens?", SALES, "18"),
        ("Which sales rep brought in the most money overall?", SALES, "18"),
        ("Which market stall had the most units?", SALES, "5"),
    ],
)
def test_words_are_left_out_that_stand_nowhere(question: str, rows: list[str], value: str) -> None:
    assert presumed(question, rows) == value
    assert presumed(question, rows, is_lenient=False) is None


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("How many mammals of the survey are there in Wales?", BATS),
        ("How many species lived in a tree in 1998?", BATS),
        ("Which mammal of the north of England in the survey of that wet summer sleeps the most?", BATS),
        ("Which rep had the most complaints?", SALES),
        ("What is the average weight of the pens?", SALES),
    ],
)
def test_it_is_not_computed_if_nothing_tells_the_rows_or_a_number_is_left(
    question: str, rows: list[str]
) -> None:
    assert presumed(question, rows) is None


def test_rows_are_named_by_what_tells_them_apart_and_by_no_header_if_there_is_none() -> None:
    rows = [f"Group: soil · Substance: {name} · Factor: 2" for name in ("Lead oxide", "Tar", "Zinc")]
    (table,) = tables_of(passages([*rows, "Group: water · Substance: Lye · Factor: 3"]))
    form = recognised("How many substances are in the group soil?")
    match = matched(form, table) if form is not None else None
    found = aggregated(match) if match is not None else None
    assert found is not None and found.text.startswith("3 – Substance: Lead oxide [1], Tar [2], Zinc [3]")
    (table,) = tables_of(passages([row.removeprefix("name: ") for row in BATS]))
    form = recognised("How many rows have more than 19 sleep total?")
    match = matched(form, table) if form is not None else None
    found = aggregated(match) if match is not None else None
    assert found is not None and found.text.startswith("2 – Noctule [1], Serotine [2]")


def test_of_many_that_share_the_first_place_some_are_named_if_the_value_is_asked_for() -> None:
    (table,) = tables_of(passages([f"Shop: S{n} · Score: {9 if n < 9 else 10}" for n in range(12)]))
    for question, text in (
        ("What is the lowest score?", "and 4 more"),
        ("Which shop has the lowest score?", ""),
    ):
        form = recognised(question)
        match = matched(form, table) if form is not None else None
        found = aggregated(match) if match is not None else None
        assert (found is not None) is bool(text)
        assert found is None or found.text.split("\n\n")[0].endswith(text)
