"""Sums and comparisons over the rows of a table in everyday words: "so far", "to be reordered"."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from localcrag.crag.answering.aggregation import aggregated, compute
from localcrag.crag.state import QuestionState
from localcrag.crag.table_answers.document_matches import document_matches, is_told_by_cells
from localcrag.crag.table_answers.parsed_tables import ParsedTable, joined_tables, tables_of
from localcrag.crag.table_answers.table_matching import matched, may_mean
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.crag.table_answers.united_tables import whole_table
from localcrag.events import result_of
from localcrag.types import Hit
from tests.crag.test_aggregation import passages, value

JACKETS = [
    "Life vests",
    "Size: S · Weight: 15-30 kg · Number: 14 · Taken out in 2026: 2 · Colour: red",
    "Size: M · Weight: 30-40 kg · Number: 18 · Taken out in 2026: 1 · Colour: blue",
    "Size: L · Weight: 40-70 kg · Number: 9 · Taken out in 2026: 0 · Colour: red",
]
STOCK = [
    "Code: 1 · Description: Tube · On hand: 22 · Minimum: 30 · Cost: 2.25 · Supplier: Velo",
    "Code: 2 · Description: Bell · On hand: 26 · Minimum: 10 · Cost: 2.90 · Supplier: Lind",
    "Code: 3 · Description: Tyre · On hand: 8 · Minimum: 8 · Cost: 9.80 · Supplier: Velo",
    "Code: 4 · Description: Chain · On hand: 3 · Minimum: 6 · Cost: 7.30 · Supplier: Lind",
]
JOBS = [
    "jobs-april",
    "job: 1 · in: 2026-04-01 · mechanic: Kofi · hours: 0.5 · out: 2026-04-02",
    "job: 2 · in: 2026-04-02 · mechanic: Lena · hours: 1.5 · out: 2026-04-04",
    "job: 3 · in: 2026-04-03 · mechanic: Kofi · hours: 2.0 · out: ",
]
SHARED = [*JOBS, "job: 4 · in: 2026-04-05 · mechanic: Kofi, Lena · hours: 9 · out: 2026-04-06"]
LATER = [*JOBS, "job: 4 · in: 2026-04-29 · mechanic: Kofi · hours: 9 · out: 2026-05-06"]
COMPLAINTS = [
    "complaints",
    "no: K-1 · date: 2025-12-03 · about: canoe · cost_eur: 12.00",
    "no: K-2 · date: 2026-01-19 · about: berth · cost_eur: 30.50",
    "no: K-3 · date: 2026-02-26 · about: gearbox · cost_eur: 8.00",
]
CHANGES = [
    "changes",
    "id: C-1 · date: 2026-01-08 · system: yew · minutes down: 6",
    "id: C-2 · date: 2026-01-13 · system: elm · minutes down: 95",
    "id: C-3 · date: 2026-02-01 · system: elm · minutes down: 7",
]
BUDGET = [
    "Budget",
    "No.: 1.1 · Item: Salary of the doctor · 2026: 40 · 2027: 2 · Total: 42",
    "No.: 1.2 · Item: Salary of the nurse · 2026: 20 · 2027: 30 · Total: 50",
    "No.: 1.3 · Item: Pumps and tubes · 2026: 30 · 2027: 5 · Total: 35",
]
LICENCES = [
    "Product: Office · In use: 70 · Bought: 72 · Price once: 900 · Cost per year: 51",
    "Product: Safe · In use: 12 · Bought: 10 · Price once: 100 · Cost per year: 64",
]
ROTA = [
    "boat-schedule",
    "day: 2026-10-03 · shift: am · desk: Ann Moss · boat: Cy Dahl · status: done",
    "day: 2026-11-07 · shift: am · desk: Bo Lind · boat: Ann Moss · status: lost (fog)",
    "day: 2026-11-08 · shift: pm · desk: Bo Lind · boat: Cy Dahl · status: done",
    "day: 2026-12-05 · shift: am · desk: Bo Lind · boat: Ann Moss · status: lost (fog)",
    "day: 2027-01-09 · shift: am · desk: Bo Lind · boat: Ann Moss · status: lost (fog)",
]
SPECIAL_LEAVE = [
    "Special leave",
    "Name: Ann · Date: 2025-04-11 · Days: 1 · Reason: moving house",
    "Name: Bo · Date: 2025-05-19 · Days: 10 · Reason: birth of a child",
    "Name: Cy · Date: 2024-06-05 · Days: 3 · Reason: accident",
]
MARKS = ["Programmes", "Code: S1 · Mark (1 best): 1.4", "Code: S2 · Mark (1 best): 2.1"]
POOL = ("Pool", "No.: 1 · Service: Day ticket · Fee: 4", "No.: 2 · Service: Season · Fee: 80")
HALLS = ("Halls", "No.: 3 · Service: Kitchen · Fee: 45", "No.: 4 · Service: Cellar · Fee: 110")


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("How many life vests do we own in all sizes together?", JACKETS, "41"),
        ("How many life vests do we own altogether?", JACKETS, "41"),
        ("How many red life vests are there?", JACKETS, "23"),
        ("How many life vests of all ages do we own?", JACKETS, None),
        ("How many sizes are there?", JACKETS, None),
        ("How many hours did Kofi book on jobs in April altogether?", JOBS, "2.5"),
        ("How many hours did Kofi book on jobs in May altogether?", JOBS, None),
        ("What is the total number of hours of Kofi in May?", JOBS, None),
        ("How many hours did Kofi book altogether?", SHARED, None),
        ("How many hours did Kofi book in April altogether?", LATER, None),
        ("How much have complaints cost us in 2026 so far?", COMPLAINTS, "38.50"),
        ("How much did the complaints cost altogether?", COMPLAINTS, "50.50"),
        ("What do the complaints of 2026 add up to?", COMPLAINTS, "38.50"),
        ("Which change has the most downtime?", ["changes-2026", *CHANGES[1:]], "95"),
        (
            "Which fee has the highest rent?",
            ["fees-2026", *(h.replace("Fee", "Rent") for h in HALLS[1:])],
            "110",
        ),
        ("What do the notes of 2026 add up to?", COMPLAINTS, None),
        ("How much canoe did we make altogether?", COMPLAINTS, None),
        ("Total downtime in minutes caused by the changes in January 2026?", CHANGES, "101"),
        ("The downtime of elm, total?", CHANGES, "102"),
        ("budget: which single line is the largest", BUDGET, "50"),
        ("Which item is the largest?", [row.replace("Total: 50", "Total: 51") for row in BUDGET], None),
        ("Which product is the most expensive per year?", LICENCES, "64"),
        ("Which product is the most expensive per month?", LICENCES, None),
        ("On how many days in November is Bo Lind down for the desk?", ROTA, "2"),
        ("On how many days in November is Bo Lind ill for the desk?", ROTA, None),
        ("How many days in the October to December plan were lost to fog?", ROTA, "2"),
        ("How many days were lost to fog between October and December 2026?", ROTA, "2"),
        ("How many days were lost to fog in October and December?", ROTA, None),
        ("How many days were lost to fog from November to January?", ROTA, None),
        ("How many days in the log were lost to fog?", ROTA, None),
        ("How often was Bo Lind down for the desk in November?", ROTA, "2"),
        ("Which code has the worst mark?", MARKS, "2.1"),
        ("Which code has the best mark?", MARKS, "1.4"),
        ("Which code has the best mark?", [row.replace("1 best", "6 = best") for row in MARKS], "2.1"),
        ("Which code has the best mark?", [row.replace("1 best", "5 worst") for row in MARKS], "1.4"),
        ("Which code has the best mark?", [row.replace("1 best", "of five") for row in MARKS], None),
        ("How many times was Ann Moss on the boat in November 2026?", ROTA, "1"),
        ("How often was Bo Lind down for the desk in November and December?", ROTA, None),
        ("How often is Bo Lind down for the desk?", ROTA, None),
        ("How often was the desk cleaned?", ROTA, None),
        ("How many days of special leave were taken in 2025 by everybody together?", SPECIAL_LEAVE, "11"),
        ("How many days of special leave were taken in 2025 by nurses together?", SPECIAL_LEAVE, None),
    ],
)
def test_sums_are_asked_for_in_many_words(question: str, rows: list[str], answer: str | None) -> None:
    assert value(question, rows) == answer


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Which articles are below the minimum?", STOCK, None),
        ("Which codes are below the minimum?", STOCK, "1 (Tube); 4 (Chain)"),
        ("Which Velo codes do I have to reorder, I mean the ones below the minimum?", STOCK, "1 (Tube)"),
        ("Which codes must be reordered?", STOCK, "1 (Tube); 4 (Chain)"),
        ("How many codes are below their minimum?", [row.replace("On hand", "Left") for row in STOCK], "2"),
        ("Which codes are below the maximum?", STOCK, None),
        ("Which products have in use more than bought?", LICENCES, "Safe"),
        (
            "How many entries are there with the supplier Velo?",
            [r.replace("On hand", "Age") for r in STOCK],
            "2",
        ),
    ],
)
def test_a_column_is_compared_with_another(question: str, rows: list[str], answer: str | None) -> None:
    assert value(question, rows) == answer


def _table(*rows: str) -> ParsedTable:
    (table,) = tables_of(passages(list(rows)))
    return table


@pytest.mark.parametrize(
    ("tables", "rows"),
    [
        ((POOL, HALLS), [4]),
        ((POOL, ("Pool 2025", *HALLS[1:])), []),
        ((POOL, ("Halls", *POOL[1:])), []),
        ((POOL, ("Halls", *(row.replace("Fee", "Rent") for row in HALLS[1:]))), []),
        ((POOL,), []),
    ],
)
def test_sheets_with_the_same_columns_are_one_table(tables: list[tuple[str, ...]], rows: list[int]) -> None:
    joined = joined_tables([_table(*table) for table in tables])
    assert [len(table.rows) for table in joined] == rows
    assert all(table.names == ("farms",) for table in joined)


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which services cost more than 40?", 4),
        ("Which services of the halls cost more than 40?", 2),
        ("Which pool service is the cheapest?", 2),
    ],
)
def test_a_question_over_rows_goes_over_the_tables_of_all_headings(question: str, rows: int) -> None:
    tables = [_table(*table) for table in (POOL, HALLS)]
    whole = [whole_table(question, table, tables) for table in tables]
    assert {len(table.rows) for table in whole} == {rows}
    assert (
        whole_table(
            question, tables[0], [tables[0], _table("Tools", "Tool: Saw · Fee: 3", "Tool: Axe · Fee: 2")]
        )
        == tables[0]
    )
    if rows == 2:
        named = "Halls" if "halls" in question else "Pool"
        assert {table.own_names[0] for table in whole} == {named}


def test_the_number_of_a_heading_tells_of_no_year() -> None:
    numbered = [_table(f"{n} {name}", *rows) for n, (name, *rows) in enumerate((POOL, HALLS), 1)]
    assert [len(table.rows) for table in joined_tables(numbered)] == [4]


ITEMS = ("Items", "No.: 1 · Item: Fee · Amount (EUR): 340", "No.: 2 · Item: Train · Amount (EUR): 20")
ALLOWANCE = (
    "Allowance",
    "Date: 2025-09-06 · Day: full · Amount: 21",
    "Date: 2025-09-07 · Day: half · Amount: 16",
)


@pytest.mark.parametrize(
    ("question", "is_other"),
    [
        ("What is the total amount?", True),
        ("What is the total amount of the allowance?", False),
        ("What is the total amount in September 2025?", False),
        ("How many days are there?", False),
    ],
)
def test_another_sheet_with_the_column_that_is_asked_for_may_be_meant(question: str, is_other: bool) -> None:
    form = recognised(question)
    assert form is not None
    match = matched(form, _table(*ALLOWANCE))
    assert match is not None and may_mean(match, _table(*ITEMS)) is is_other


@pytest.mark.parametrize(
    ("question", "is_told"),
    [
        ("How many days in November were lost to fog?", True),
        ("How many days were lost to fog?", False),
        ("How many reports of Bo Lind were lost to fog in November?", False),
    ],
)
def test_cells_of_two_columns_tell_which_table_is_meant(question: str, is_told: bool) -> None:
    form = recognised(question)
    rows = [*ROTA, ROTA[2].replace("11-07", "11-09")]
    assert form is not None
    (match,) = document_matches(form, tables_of(passages(rows)), None)
    assert is_told_by_cells(match) is is_told


def test_a_table_that_may_be_meant_and_has_no_row_hides_no_other() -> None:
    leave = ["Leave", "Name: Bodil Lind · Date: 2026-04-11", "Name: Cy Dahl · Date: 2026-05-11"]
    rota = ["rota", *(row.replace("Bo Lind", "Bodil") for row in ROTA[1:])]
    documents = [
        replace(passage, id=f"{name}{passage.id}", source=f"/{name}.csv", document=name)
        for name, rows in (("leave", leave), ("rota", rota))
        for passage in passages(rows)
    ]
    store = SimpleNamespace(passages=lambda documents_read, limit: documents)
    options = SimpleNamespace(passages=6, policy=None)
    state = SimpleNamespace(adapters=SimpleNamespace(store=store), options=options, documents={}, filter=None)
    state.question, state.doubtful, state.action = "", False, None
    form = recognised("How often did Bodil desk in November?")
    assert form is not None
    found = result_of(compute(cast(QuestionState, state), form, [Hit(each, 1.0) for each in documents]))
    assert found is not None and found.computation.value == "2"


def test_two_columns_are_compared_around_the_name_of_one() -> None:
    rows = [
        "tool-stock-2026-03",
        "item_no: T-1 · name: Saw · in_stock: 3 · minimum: 4 · bought: 2025-03",
        "item_no: T-2 · name: Axe · in_stock: 0 · minimum: 2 · bought: 2025-05",
        "item_no: T-3 · name: File · in_stock: 7 · minimum: 5 · bought: 2025-03",
        "item_no: T-4 · name: Rasp · in_stock: 5 · minimum: 5 · bought: 2025-09",
    ]
    assert value("How many items have fewer in stock than the minimum?", rows) == "2"
    assert value("How many items of the March stock list have fewer in stock than the minimum?", rows) == "2"
    assert value("Which items have more in stock than their minimum?", rows) == "T-3 (File)"
    assert value("How many items have fewer on paper than the minimum?", rows) is None
    assert value("How many items of the April stock list have fewer in stock than the minimum?", rows) is None
    assert value("How many items have fewer in stock than ordered?", rows) is None


WORK = [
    f"Date: 2025-{day} · Project: {what} · Task: {task} · Hours: {hours}"
    for day, what, task, hours in (
        ("02-04", "museum", "meeting", 3.5),
        ("02-07", "museum", "testing", 4),
        ("02-11", "website", "coding", 6.5),
        ("03-12", "museum", "review", 2),
    )
]


@pytest.mark.parametrize(
    ("question", "total"),
    [
        ("How many hours on the museum in February 2025?", "7.5"),
        ("How many hours did I work on the museum in February 2025?", "7.5"),
        ("How many hours were booked on the museum?", "9.5"),
        ("How many hours on the website in February 2025?", None),
    ],
)
def test_hours_of_a_log_are_added_up_and_to_be_checked(question: str, total: str | None) -> None:
    """One row may be what is meant, so it is to be checked; of a single day nothing is added up."""
    form, (table,) = recognised(question), tables_of(passages(WORK))
    match = matched(form, table) if form is not None else None
    if total is None:
        assert match is None
        return
    assert match is not None and match.loose
    found = aggregated(match)
    assert found is not None and found.computation.value == total


def test_a_unit_that_does_not_add_up_over_days_stays_open() -> None:
    """What was loaded at a time is no log: neither is it added up, nor are its rows counted for kilograms."""
    loads = (("02-04", "Quay", 3), ("02-07", "Quay", 4), ("02-11", "Mill", 6))
    rows = [f"Date: 2025-{day} · Place: {place} · Load: {load} kg" for day, place, load in loads]
    form = recognised("How many kg at the Quay in February 2025?")
    assert form is not None and matched(form, tables_of(passages(rows))[0]) is None


def test_rows_below_a_heading_are_not_counted_as_what_it_says() -> None:
    """ "How many dogs came in?" asks for no vaccines below "Dogs", and "how many vaccines" does."""
    rows = [f"Vaccine: {name} · Price: {price}" for name, price in (("DHP", 38), ("Rabies", 44))]
    table = replace(tables_of(passages(rows))[0], names=("Dogs", "farms"), own_names=("Dogs",))
    for question, is_told in (("How many dogs came in?", False), ("How many vaccines are there?", True)):
        form = recognised(question)
        assert form is not None and (matched(form, table) is not None) is is_told
