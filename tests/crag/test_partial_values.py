"""Sums and counts by what a table says in part only: a first name, a word within its cells, "this year"."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.crag.table_answers.united_tables import united
from localcrag.types import BlockKind
from tests.crag.test_aggregation import passages

PAID = [
    "payments-q1-2024",
    "paid_on: 2024-02-27 · name: Otto Brandt · code: W7 · title: Rovers v Town · fee_gbp: 44",
    "paid_on: 2024-02-27 · name: Iris Vane-Moor · code: W8 · title: Crossword 12 · fee_gbp: 55",
    "paid_on: 2024-03-31 · name: Otto Brandt · code: W7 · title: Town v Vale · fee_gbp: 45",
    "paid_on: 2024-03-31 · name: Iris Vane-Moor · code: W8 · title: Crossword 13 · fee_gbp: 56",
    "paid_on: 2024-04-30 · name: Karl Brandt · code: W7 · title: Snow in May · fee_gbp: 30",
]
VISITS = [
    "harbour",
    "date: 2024-04-03 · vessel: Heron · flag: NL · nights: 1 · fee_gbp: 29.50",
    "date: 2024-04-04 · vessel: Osprey · flag: GB · nights: 3 · fee_gbp: 63.00",
    "date: 2024-04-19 · vessel: Heron · flag: NL · nights: 2 · fee_gbp: 59.00",
    "date: 2024-05-02 · vessel: Heron · flag: NL · nights: 1 · fee_gbp: 29.50",
]
ERRORS = [
    "2024",
    "No.: 1 · Issue: 2024-01-08 · Noticed by: reader · Cause: agency copy",
    "No.: 2 · Issue: 2024-01-15 · Noticed by: club · Cause: typing",
    "No.: 3 · Issue: 2024-02-05 · Noticed by: reader · Cause: agency copy",
]


def found(question: str, rows: list[str]) -> tuple[str, bool] | None:
    """The value that is computed, and whether it is to be checked."""
    form, (table,) = recognised(question), tables_of(passages(rows))
    match = matched(form, table) if form is not None else None
    answer = aggregated(match) if match is not None else None
    return (answer.computation.value, match.loose) if match and answer else None


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("How much was Iris paid in total?", PAID, ("111", False)),
        ("How much was Vane-Moor paid in total?", PAID, ("111", False)),
        ("How much was Otto Brandt paid in total?", PAID, ("89", False)),
        ("How much was Brandt paid in total?", PAID, None),
        ("How much was Iris not paid in total?", PAID, None),
        ("add up what Iris has been paid for her crosswords", PAID, ("111", False)),
        ("Please add up all the fees of Iris", PAID, ("111", False)),
        ("add up what Iris has been paid for her reports", PAID, None),
        ("add up what was paid for her crosswords", PAID, None),
        ("add up what Iris has been paid in pounds", PAID, ("111", False)),
        ("add up what Iris has been paid in euros", PAID, None),
        ("How much did Iris get in total?", PAID, ("111", True)),
        ("How many payments did Iris get?", PAID, ("2", False)),
        ("How much was Iris paid in the first quarter altogether?", PAID, ("111", False)),
        ("How much was Iris paid in the second quarter altogether?", PAID, None),
        ("How much was Iris paid this quarter altogether?", PAID, ("111", True)),
        ("How much was Iris paid this month altogether?", PAID, None),
    ],
)
def test_a_part_of_the_only_name_that_has_it_says_which_rows_count(
    question: str, rows: list[str], answer: tuple[str, bool] | None
) -> None:
    assert found(question, rows) == answer


def test_a_part_of_a_name_in_a_column_of_no_persons_is_to_be_checked() -> None:
    rows = [row.replace("name:", "whose:") for row in PAID]
    assert found("How much was Iris paid in total?", rows) == ("111", True)
    assert found("How much was Iris paid in total?", [*rows, rows[1].replace("Rovers", "Iris")]) is None


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("How many of Otto Brandt's match reports are on the list of payments?", PAID, ("2", True)),
        ("How many children does Otto Brandt have?", PAID, None),
        ("How many letters of Otto Brandt are on the list of payments?", PAID, ("2", True)),
        ("How many vales of Otto Brandt are on the list of payments?", PAID, None),
        ("How many print mistakes came in with agency copy?", ERRORS, ("2", True)),
        ("How many mistakes were due to agency copy?", ERRORS, ("2", True)),
        ("How many mistakes were noticed by a reader?", ERRORS, ("2", True)),
        ("How many mistakes were noticed by a club?", ERRORS, None),
        ("How many mistakes are there?", ERRORS, None),
        ("How many print mistakes this year came in with agency copy?", ERRORS, ("2", True)),
        ("How many print mistakes this month came in with agency copy?", ERRORS, None),
    ],
)
def test_rows_may_be_called_otherwise_if_their_cells_say_which_are_meant(
    question: str, rows: list[str], answer: tuple[str, bool] | None
) -> None:
    assert found(question, rows) == answer


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what has the Dutch boat Heron paid us in April altogether, in pounds", ("88.50", True)),
        ("What has Heron paid in total?", ("118.00", True)),
        ("What has the boat Kestrel paid in total?", None),
        ("What has the boat Heron paid for the Osprey in total?", None),
        ("How many nights did Heron stay in April altogether?", ("3", True)),
        ("How many nights did Heron stay altogether without paying?", None),
    ],
)
def test_what_a_name_is_said_to_be_or_to_have_done_is_to_be_checked(
    question: str, answer: tuple[str, bool] | None
) -> None:
    assert found(question, VISITS) == answer


def test_this_year_is_certain_if_all_rows_are_of_it() -> None:
    rows = [row.replace("2024", str(date.today().year)) for row in PAID]
    assert found("How much was Iris paid this year altogether?", rows) == ("111", False)
    assert found("How much was Iris paid this year altogether?", PAID) == ("111", True)


def test_rows_dated_by_their_first_column_are_named_by_their_titles() -> None:
    form, (table,) = recognised("How many payments did Iris get?"), tables_of(passages(PAID))
    assert form is not None and (match := matched(form, table)) and (answer := aggregated(match))
    assert answer.text.startswith("2 – title: Crossword 12 [1], Crossword 13 [2]")


PAINTS = [
    "Paints",
    "Article: P-1 · Colour: red · In stock: 11 · Remark: TBO",
    "Article: P-2 · Colour: blue · In stock: 5 · Remark: keep dry",
    "Article: P-3 · Colour: grey · In stock: 2 · Remark: TBO",
]
RESINS = [
    "Resins",
    "Article: R-1 · Pack: 5 kg · In stock: 7 · Remark: polyester resin",
    "Article: R-2 · Pack: 1 kg · In stock: 3 · Remark: TBO",
]


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("how many articles, paints and resins together, are marked to be ordered", "3"),
        ("How many articles of the paints and resins are marked TBO?", "3"),
        ("How many articles of the paints and resins are TBO?", None),
        ("how many articles, paints and rags together, are marked to be ordered", None),
        ("how many articles, paints and resins together, are not to be ordered", None),
        ("how many articles, paints and resins together, are marked to be sold", None),
    ],
)
def test_tables_that_are_named_are_taken_together(question: str, value: str | None) -> None:
    tables = [table for rows in (PAINTS, RESINS) for table in tables_of(passages(rows))]
    form = recognised(question)
    assert form is not None and all(matched(form, table) is None for table in tables)
    both = united(form, tables)
    match = matched(*both) if both else None
    answer = aggregated(match) if match else None
    assert (answer and answer.computation.value) == value
    assert match is None or match.loose is ("TBO" not in question)


MEALS = [
    "menu-wk41",
    "Day: Monday · Kind: Menu 1 · Dish: Meat balls · kcal: 690 · Portions: 118",
    "Day: Monday · Kind: Soup · Dish: Pumpkin · kcal: 240 · Portions: 40",
    "Day: Tuesday · Kind: Menu 1 · Dish: Curry · kcal: 720 · Portions: 131",
    "Day: Wednesday · Kind: Soup · Dish: Leek · kcal: 260 · Portions: 45",
]
ABSENT = [
    "replacements_wk42",
    "date: 2026-10-12 · lesson: 1 · class: A1 · kind: replaced · hours_paid: 1",
    "date: 2026-10-12 · lesson: 2 · class: A1 · kind: cancelled · hours_paid: 0",
    "date: 2026-10-13 · lesson: 2 · class: A2 · kind: cancelled · hours_paid: 0",
    "date: 2026-10-13 · lesson: 3 · class: B2 · kind: supervised · hours_paid: 0.5",
]
FAULTS = [
    "faults-brick-mill",
    "No.: 1 · Room: 0.01 Hall · Fault: Crack · State: done",
    "No.: 2 · Room: 0.02 Bay · Fault: Gutter · State: disputed",
    "No.: 3 · Room: Roof · Fault: Leak · State: open",
    "No.: 4 · Room: Yard · Fault: Kerb · State: open",
]
WINDOWS = [
    "windows revision C",
    "Mark: W1 · Side: quay · Number: 12 · Timber: oak",
    "Mark: W2 · Side: quay · Number: 6 · Timber: oak",
    "Mark: W3 · Side: lane · Number: 15 · Timber: pine",
]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("How many portions of soup does the menu of week 41 add up to?", MEALS, ("85", False)),
        ("How many portions of soup does the menu of week 42 add up to?", MEALS, None),
        ("How many lessons have the kind cancelled in week 42?", ABSENT, ("2", True)),
        ("How many lessons were there in week 42?", ABSENT, None),
        ("How many hours_paid lessons in total have the kind cancelled?", ABSENT, None),
        ("Count for the report: how many faults of the brick mill are marked open?", FAULTS, ("2", False)),
        ("How many faults are only open at present? Please count", FAULTS, ("2", False)),
        ("How many faults are still open (without the disputed one)?", FAULTS, ("2", False)),
        ("How many faults are there (without the disputed ones)?", FAULTS, ("3", False)),
        ("How many faults are there (without the rusty ones)?", FAULTS, None),
        ("Add up for me all windows facing the quay in rev C", WINDOWS, ("18", True)),
        ("Add up for me all windows facing the quay in rev B", WINDOWS, None),
    ],
)
def test_what_is_bidden_to_be_counted(
    question: str, rows: list[str], answer: tuple[str, bool] | None
) -> None:
    assert found(question, rows) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [("Site: Larkfield Primary School, extension", "2"), ("The school in Mill Lane", None)],
)
def test_a_table_is_called_what_another_document_says_of_its_name(text: str, answer: str | None) -> None:
    rows = [
        "register-larkfield",
        "number: A-1 · title: Site plan · status: issued",
        "number: A-2 · title: Crane · status: preliminary",
        "number: A-3 · title: Roof · status: preliminary",
    ]
    form, (table,) = recognised("How many sheets of the school are preliminary?"), tables_of(passages(rows))
    assert form is not None
    match = matched(replace(form, beside=passages([text], kind=BlockKind.PARAGRAPH)), table)
    computed = aggregated(match) if match else None
    assert (computed.computation.value if computed else None) == answer
    assert match is None or (match.loose and match.is_named)
