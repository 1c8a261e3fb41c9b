"""Questions that ask to name all rows which meet a condition."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.queried_tables import QueriedTable, answered_by, read_query
from localcrag.crag.answering.query_answers import MAX_LINES
from localcrag.crag.answering.unsure_tables import compute_unsure
from localcrag.crag.table_answers.list_questions import (
    asks_for_all,
    asks_for_extreme,
    asks_for_list,
    compares_with_number,
    kind_listed,
)
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.question_words import with_plain_wording
from tests.crag.test_aggregation import passages
from tests.crag.test_unsure_tables import asked
from tests.crag.values import drained
from tests.fakes.llm import ScriptedQueries

TOWNS = [
    "name: Dryden · kind: city · district: Kenora · people: 7388 · born_here: 0.84",
    "name: Kenora · kind: city · district: Kenora · people: 14967 · born_here: 0.88",
    "name: Barrie · kind: city · district: Simcoe · people: 147829 · born_here: 0.79",
    "name: Red Lake · kind: town · district: Kenora · people: 4094 · born_here: 0.91",
]
IN_TREES = 'SELECT "name" WHERE "roost" = \'tree\''
LONG = 'SELECT "name" WHERE "sleep_total" > 19.2'
ALL = 'SELECT "name" WHERE "sleep_total" > 1'
SLEEPERS = "Which beasts slumber more than 19.2 hours?"


@pytest.mark.parametrize(
    ("question", "is_list"),
    [
        ("Which styles have an IBU of at least 60?", True),
        ("Which premier league teams scored more than 70 goals?", True),
        ("In which years was the turnout below 94 percent?", True),
        ("Which of the journals started before 1900?", True),
        ("Which of Bella's blood values were too high?", True),
        ("Which people are from France?", True),
        ("List the jobs in which more than 90 percent are women.", True),
        ("Can you name all stations of Turkey?", True),
        ("Show me every invoice of May above 500 EUR", True),
        ("What journals does Kluwer publish?", True),
        ("Who is older than 60?", True),
        ("Welche Städte haben mehr als 500000 Einwohner?", True),
        ("birds in the zoo file that cannot fly", True),
        ("half-plot holders who have not paid the rent?", True),
        ("cities more than 2500 km away from Dublin", True),
        ("Does it list cities that are far away?", False),
        ("valve that lets the water in", False),
        ("Who is the mayor?", False),
        ("Which town has the most people?", False),
        ("Which airports are the busiest?", False),
        ("Which of the towns is the largest?", False),
        ("What lives in a tree?", False),
        ("Which numbers add up?", False),
        ("Name the capital of France", False),
        ("How many towns are there?", False),
        ("Where are the towns?", False),
        ("", False),
    ],
)
def test_a_question_for_a_list_is_known_by_its_words(question: str, *, is_list: bool) -> None:
    assert asks_for_list(question) is is_list


@pytest.mark.parametrize(
    ("question", "compares"),
    [
        ("Which squads got 6 or more red cards?", True),
        ("Which people are older than 40?", True),
        ("Which have between 3 and 9?", True),
        ("Which cost at most 12 EUR?", True),
        ("Which cost 3 % or less?", True),
        ("Which people are from France?", False),
        ("Which of the 12 are red?", False),
    ],
)
def test_a_number_that_is_compared_with_is_known(question: str, *, compares: bool) -> None:
    assert compares_with_number(question) is compares


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("Number of charging stations on Maui?", "how many charging stations on Maui?"),
        ("What's the number of pupils?", "how many pupils?"),
        ("What is the number of the room?", "What is the number of the room?"),
        ("Which has the highest number of pupils?", "Which has the highest number of pupils?"),
        ("Which have 60 or more pupils?", "Which have at least 60 pupils?"),
        ("Which have 1,500 or fewer pupils?", "Which have at most 1,500 pupils?"),
        ("Is it 3 or more than 4?", "Is it 3 or more than 4?"),
    ],
)
def test_numbers_are_asked_for_in_one_wording(question: str, plain: str) -> None:
    assert with_plain_wording(question) == plain


def test_all_of_a_kind_are_bidden_for() -> None:
    assert asks_for_all("List all the stops in the timetable that take cash.")
    assert asks_for_all("Could you please name every station?")
    assert not asks_for_all("List the stops in the timetable.")
    assert not asks_for_all("Which stops take all of it?")


def test_the_kind_of_what_is_listed_is_named() -> None:
    assert kind_listed("Which premier league teams have won?") == ["premier", "league", "teams"]
    assert kind_listed("Who is older than 60?") == []


@pytest.mark.parametrize(
    ("question", "written", "value", "sure"),
    [
        pytest.param(
            "Which beasts live in a tree?", (IN_TREES, 0.8), "Noctule; Barbastelle", True, id="texts"
        ),
        pytest.param(
            "Which beasts live in a tree?", (IN_TREES, 0.6), "Noctule; Barbastelle", False, id="less"
        ),
        pytest.param("Which beasts live in a tree?", (IN_TREES, 0.2), None, False, id="improbable"),
        pytest.param(
            "Where does one live in a tree?", (IN_TREES, 0.9), None, False, id="no list is asked for"
        ),
        pytest.param(SLEEPERS, (LONG, 0.8), "Noctule; Serotine", True, id="a number"),
        pytest.param(SLEEPERS, (ALL, 0.8), None, False, id="every row meets it"),
        pytest.param(
            "Whose slumber goes on beyond 19.2 hours?",
            (LONG, 0.8),
            "Noctule; Serotine",
            True,
            id="several, compared",
        ),
    ],
)
def test_all_rows_that_meet_a_condition_are_listed(
    question: str, written: tuple[str, float], value: str | None, *, sure: bool
) -> None:
    state, rows = asked(question, written)
    _, found = drained(compute_unsure(state, rows))
    assert (found[0].computation.value if found else None) == value
    assert (found is not None and found[1]) is sure


@pytest.mark.parametrize(("probability", "is_shown"), [(0.45, False), (0.55, True)])
def test_prose_gives_way_to_a_list_that_is_likely(probability: float, *, is_shown: bool) -> None:
    state, rows = asked(SLEEPERS, (LONG, probability))
    prose = replace(rows[0], text="Bats sleep for long.", start=5, end=9)
    _, found = drained(compute_unsure(state, [replace(prose, score=0.3), *rows]))
    assert (found is not None) is is_shown


def queried(question: str, sql: str, rows: list[str] = TOWNS) -> QueriedTable | None:
    (table,) = tables_of(passages(rows))
    read = read_query(ScriptedQueries({" ": (sql, 0.95)}), question, table)
    assert read is not None
    return answered_by(replace(read, is_trusted=True))


def told(question: str, sql: str, rows: list[str] = TOWNS) -> str:
    found = queried(question, sql, rows)
    assert found is not None
    return found.answer.text.partition("\n")[0]


def test_the_number_that_is_compared_stands_beside_each_name() -> None:
    assert told("Which places have under 8,000 people?", 'SELECT "name" WHERE "people" < 8000') == (
        "name: Dryden (7388) [1], Red Lake (4094) [2]"
    )


def test_codes_have_their_names_beside_them() -> None:
    rows = [
        f"No: R{at:03} · House: Elm Row · Fault: {fault} · Cost: {cost}"
        for at, fault, cost in ((1, "burst pipe", 899), (2, "loose tile", 120), (3, "blocked drain", 610))
    ]
    listed = 'SELECT "No" WHERE "Cost" > 500'
    assert told("Which repairs cost more than 500?", listed, rows) == (
        "No: R001 (burst pipe, 899) [1], R003 (blocked drain, 610) [2]"
    )
    alike = [row.replace("loose tile", "burst pipe").replace("blocked drain", "burst pipe") for row in rows]
    assert told("Which repairs cost more than 500?", listed, alike) == "No: R001 (899) [1], R003 (610) [2]"


def test_what_two_columns_make_is_listed_without_anything_beside() -> None:
    rows = [f"House: {name} · Rent: {rent} · Heating: 90" for name, rent in (("Elm", 900), ("Oak", 700))]
    sql = 'SELECT "Rent" + "Heating" WHERE "Rent" > 500'
    found = queried("Which sums of rent and heating are there above 500?", sql, rows)
    assert found is not None and [line.partition(" (")[0] for line in found.answer.text.split("\n")[:2]] == [
        "Rent + Heating: 990", "Rent + Heating: 790"
    ]  # fmt: skip


def test_a_percentage_is_compared_with_shares() -> None:
    for said, shown in (
        ("85 %", "Dryden (0.84) [1], Barrie (0.79) [2]"),
        ("85 per cent", "Dryden (0.84) [1]"),
    ):
        text = told(f"Where were fewer than {said} born here?", 'SELECT "name" WHERE "born_here" < 85')
        assert text.startswith(f"name: {shown}")
    text = told("Where were more than 80 % of 5000 people born?", 'SELECT "name" WHERE "people" > 5000')
    assert text.startswith("name: Dryden (7388)")


def test_what_is_listed_is_no_condition_if_no_row_meets_it() -> None:
    found = queried(
        "Which towns have more than 100,000 people?",
        'SELECT "name" WHERE "kind" = \'town\' AND "people" > 100000',
    )
    assert found is not None and not found.is_whole
    assert found.answer.computation.value == "Barrie"


def test_a_place_that_is_also_the_name_of_a_row_is_a_condition_of_a_list() -> None:
    (table,) = tables_of(passages(TOWNS))
    sql = 'SELECT "name" WHERE "kind" = \'city\''
    read = read_query(ScriptedQueries({" ": (sql, 0.5)}), "Which municipalities in Kenora are a city?", table)
    assert read is not None
    found = answered_by(read)
    assert found is not None and not found.is_whole
    assert found.answer.computation.value == "Dryden; Kenora"


def test_what_a_condition_says_is_no_answer() -> None:
    assert queried("Which places are in Kenora?", 'SELECT "district" WHERE "district" = \'Kenora\'') is None


def test_of_very_many_rows_the_first_are_named() -> None:
    rows = [f"name: Town {at} · people: {1000 + at}" for at in range(MAX_LINES + 15)]
    text = told("Which towns have more than 1001 people?", 'SELECT "name" WHERE "people" > 1001', rows)
    assert text.endswith(f"Town {MAX_LINES + 1} ({1000 + MAX_LINES + 1}) [{MAX_LINES}] and 13 more")
    both = queried("Which have more than 1001?", 'SELECT "name", "people" WHERE "people" > 1001', rows)
    assert both is not None and both.answer.text.split("\n")[MAX_LINES] == "and 13 more"
    assert len(both.answer.rows) == MAX_LINES


def test_what_stands_in_brackets_does_not_hide_a_superlative() -> None:
    assert asks_for_extreme("who has been in the club longest according to this year's (2025) register?")
    assert asks_for_list("Which routes (by bus) are longer than 3 km?")
