"""What makes a query doubtful by the words of its question, or no answer at all."""

from __future__ import annotations

import pytest

from localcrag.crag.table_queries.missing_conditions import names_of_counted
from localcrag.crag.table_queries.query_doubts import (
    chooses_among_alike,
    computes_each_row,
    counts_by_heading,
    counts_untold,
    gives_what_it_asks,
    guesses_column,
    is_of_other_things,
    measures_another,
    pays_nothing_back,
    ranks_by_another_verb,
    ranks_rows_of_groups,
    reads_every_row,
)
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values
from localcrag.crag.table_queries.table_query import parsed_query
from tests.crag.test_query_directions import PEOPLE


@pytest.mark.parametrize(
    ("written", "is_none"),
    [
        ('"Age" - "Founded"', True),
        ('"Age" - "Founded" WHERE "Who" = \'Ann\'', False),
        ('"Who" ORDER BY "Age" - "Founded" DESC LIMIT 1', False),
        ('SUM("Age" - "Founded")', False),
        ('"Age"', False),
    ],
)
def test_a_difference_of_all_rows_answers_nothing(written: str, is_none: bool) -> None:
    query = parsed_query(f"SELECT {written}")
    assert query is not None and computes_each_row(query, PEOPLE) is is_none


@pytest.mark.parametrize(
    ("written", "is_guess"),
    [
        ('"column 2" WHERE "column 1" = \'Vega\'', True),
        ('"column 1" ORDER BY "column 3" DESC LIMIT 1', True),
        ('AVG("column 2")', True),
        ('"column 4" WHERE "column 1" = \'Vega\'', False),
        ('COUNT(*) WHERE "column 3" > 9000', False),
    ],
)
def test_numbers_of_a_column_without_a_name_are_guessed(written: str, is_guess: bool) -> None:
    rows = [("Sun", "4.8", "5840", "G2"), ("Vega", "0.5", "9900", "A0")]
    table = QueryTable.of_cells(("stars",), [f"column {at}" for at in range(1, 5)], rows)
    query = parsed_query(f"SELECT {written}")
    assert query is not None and guesses_column(query, table) is is_guess
    named = QueryTable.of_cells(("stars",), ("column 1", "column 2", "kelvin", "class"), rows)
    query = parsed_query('SELECT "column 2" WHERE "column 1" = \'Vega\'')
    assert query is not None and not guesses_column(query, named)


@pytest.mark.parametrize(
    ("written", "doubtful"),
    [
        ('"county" ORDER BY "total" DESC LIMIT 1', True),
        ('"precinct" ORDER BY "total" DESC LIMIT 1', False),
        ('"county" WHERE "year" = 2020 ORDER BY "total" DESC LIMIT 1', False),
        ('"county" ORDER BY "total" DESC LIMIT 2', False),
        ('"county" GROUP BY "county" ORDER BY SUM("total") DESC LIMIT 1', False),
        ('"year" ORDER BY "total" DESC LIMIT 1', False),
    ],
)
def test_ranking_the_rows_of_groups_is_to_be_checked(written: str, doubtful: bool) -> None:
    rows = [
        (county, f"P{county}{year}{at}", str(year), f"{1000 + at * year}")
        for county in ("Ash", "Elm")
        for at, year in enumerate((2020, 2021, 2022))
    ]
    table = QueryTable.of_cells(("votes",), ("county", "precinct", "year", "total"), rows)
    query = parsed_query(f"SELECT {written}")
    assert query is not None
    assert ranks_rows_of_groups(query, table) is doubtful


@pytest.mark.parametrize(
    ("question", "written", "doubtful"),
    [
        ("What deposit does a business leave?", '"Deposit / private" WHERE "Group" = \'Lift\'', True),
        ("What deposit does a private person leave?", '"Deposit / private" WHERE "Group" = \'Lift\'', False),
        ("What deposit is there?", '"Deposit / private", "Deposit / trade" WHERE "Group" = \'Lift\'', False),
        ("Which has the highest deposit?", '"Group" ORDER BY "Deposit / trade" DESC LIMIT 1', True),
        ("What excess has a business?", '"Excess / any" WHERE "Group" = \'Lift\'', False),
        ("Which group is it?", '"Group" WHERE "Excess / any" > 9', False),
    ],
)
def test_one_of_several_columns_below_one_name_is_to_be_checked_if_it_is_not_said(
    question: str, written: str, *, doubtful: bool
) -> None:
    names = ("Group", "Deposit / private", "Deposit / trade", "Excess / any")
    table = QueryTable.of_cells(("hire",), names, [("Lift", "1500", "500", "10"), ("Pump", "200", "0", "5")])
    query = parsed_query(f"SELECT {written}")
    assert query is not None and chooses_among_alike(query, table, question) is doubtful


@pytest.mark.parametrize(
    ("written", "is_none"),
    [
        ('"Who" WHERE "Who" = \'Ann\'', True),
        ('"Who" WHERE "Who" = \'Ann\' AND "Age" > 9', True),
        ('"Who", "Age" WHERE "Who" = \'Ann\'', False),
        ('"Who" WHERE "Who" LIKE \'Ann\'', False),
        ("COUNT(*) WHERE \"Who\" = 'Ann'", False),
        ('"Who"', False),
    ],
)
def test_what_its_own_conditions_tell_is_no_answer(written: str, *, is_none: bool) -> None:
    query = parsed_query(f"SELECT {written}")
    assert query is not None and gives_what_it_asks(query) is is_none


@pytest.mark.parametrize(
    ("question", "written", "doubtful"),
    [
        ("For how many years does the University of HK keep the lab recordings?", "COUNT(*)", True),
        ("For how many years does the University of HK keep the lab recordings?", 'SUM("Late")', False),
        ("How many ships of the observation list are from HK?", "COUNT(*)", False),
        ("How many vessels sailed under the flag of HK?", "COUNT(*)", False),
    ],
)
def test_a_count_is_to_be_checked_if_the_table_has_few_words_of_its_question(
    question: str, written: str, *, doubtful: bool
) -> None:
    rows = [("HK", "Ann", "3"), ("DE", "Bo", "5"), ("HK", "Cy", "7")]
    table = QueryTable.of_cells(("ship observations",), ("CTRY", "Name", "Late"), rows)
    query = parsed_query(f"SELECT {written} WHERE \"CTRY\" = 'HK'")
    assert query is not None
    assert counts_untold(query, table, question, said_values(question, table)) is doubtful


@pytest.mark.parametrize(
    ("question", "columns", "doubtful"),
    [
        ("How much did the insurance pay out for Hugo?", ("Item", "Sum"), True),
        ("How much did we get back from the insurance?", ("Item", "Sum"), True),
        ("How much did the insurance pay out for Hugo?", ("Item", "Paid"), False),
        ("How much did we pay for Hugo?", ("Item", "Sum"), False),
    ],
)
def test_what_was_paid_out_is_not_the_sum_of_the_bills(
    question: str, columns: tuple[str, str], *, doubtful: bool
) -> None:
    table = QueryTable.of_cells(("insurance claim Hugo",), columns, [("X-ray", "185"), ("Night", "95")])
    query = parsed_query(f'SELECT SUM("{columns[1]}")')
    assert query is not None and pays_nothing_back(query, table, question) is doubtful


@pytest.mark.parametrize(
    ("question", "is_vain"),
    [
        ("When can I check in?", True),
        ("What time is breakfast?", True),
        ("What's the age?", True),
        ("What are the ages?", False),
        ("Who are the members?", False),
        ("Who is it?", True),
        ("List the ages.", False),
    ],
)
def test_a_question_for_one_thing_is_not_answered_by_all_rows(question: str, *, is_vain: bool) -> None:
    for written, is_bare in (('"Age"', True), ('"Age" WHERE "Who" = \'Ann\'', False), ('MAX("Age")', False)):
        query = parsed_query(f"SELECT {written}")
        assert query is not None and reads_every_row(query, PEOPLE, question) is (is_vain and is_bare)


@pytest.mark.parametrize(
    ("names", "label", "counted", "doubtful"),
    [
        (("Dogs", "vaccinations"), "Vaccine", "dogs", True),
        (("Dogs", "vaccinations"), "Vaccine", "vaccines", False),
        (("Dogs", "vaccinations"), "Name", "dogs", False),
        (("dogs",), "Vaccine", "cats", False),
        (("Dogs", "dogs-2025"), "Vaccine", "dogs", False),
    ],
)
def test_rows_below_a_heading_are_what_their_column_calls_them(
    names: tuple[str, ...], label: str, counted: str, *, doubtful: bool
) -> None:
    table = QueryTable.of_cells(names, (label, "Price"), [("DHP", "38"), ("Rabies", "44")])
    query, question = parsed_query("SELECT COUNT(*)"), f"How many {counted} came in?"
    assert query is not None
    assert counts_by_heading(query, table, names_of_counted(question)) is doubtful


@pytest.mark.parametrize(
    ("question", "doubtful"),
    [
        ("Wie viel Umsatz machen wir mit Alpentex?", True),
        ("How much profit do we make with Alpentex?", True),
        ("Wie hoch ist der Zollwert von Alpentex?", False),
        ("Was haben wir für Alpentex verzollt?", False),
        ("Wie viele Sendungen hatte Alpentex?", True),
    ],
)
def test_the_turnover_is_told_by_no_other_sum(question: str, *, doubtful: bool) -> None:
    table = QueryTable.of_cells(("Sendungen",), ("Kunde", "Zollwert"), [("Alpentex", "9"), ("Senn", "8")])
    query = parsed_query('SELECT SUM("Zollwert") WHERE "Kunde" = \'Alpentex\'')
    assert query is not None and measures_another(query, table, question) is doubtful


@pytest.mark.parametrize(
    ("question", "columns", "doubtful"),
    [
        ("In which country do people live shortest?", ("country", "height"), True),
        ("In which country do people live longest?", ("country", "life"), True),
        ("Which animals sleep longest?", ("name", "sleep_total"), False),
        ("Which country is the shortest?", ("country", "height"), False),
    ],
)
def test_what_is_done_longest_is_ranked_by_a_column_of_that(
    question: str, columns: tuple[str, str], *, doubtful: bool
) -> None:
    table = QueryTable.of_cells(("figures",), columns, [("A", "1"), ("B", "2")])
    query = parsed_query(f'SELECT "{columns[0]}" ORDER BY "{columns[1]}" ASC LIMIT 1')
    assert query is not None and ranks_by_another_verb(query, table, question) is doubtful


@pytest.mark.parametrize(
    ("question", "written", "is_other"),
    [
        ("Which area has the most docking stations?", 'GROUP BY "subd" ORDER BY COUNT(*) DESC LIMIT 1', True),
        ("Which area has the most airports?", 'GROUP BY "subd" ORDER BY COUNT(*) DESC LIMIT 1', False),
        ("Which subd has the most docks?", 'GROUP BY "subd" ORDER BY COUNT(*) DESC LIMIT 1', False),
        (
            "Which area has the most docks?",
            'WHERE "name" LIKE \'x\' GROUP BY "subd" ORDER BY COUNT(*) DESC LIMIT 1',
            False,
        ),
    ],
)
def test_groups_of_other_things_are_none(question: str, written: str, *, is_other: bool) -> None:
    table = QueryTable.of_cells(("airports",), ("name", "subd"), [("Alx", "T"), ("Bex", "T"), ("Cox", "U")])
    query = parsed_query(f'SELECT "subd" {written}')
    assert query is not None
    assert is_of_other_things(query, table, question, said_values(question, table)) is is_other


@pytest.mark.parametrize(
    ("question", "is_other"), [("Who came most often?", False), ("What was most often?", True)]
)
def test_whoever_is_asked_for_is_told_by_a_column_of_persons(question: str, *, is_other: bool) -> None:
    table = QueryTable.of_cells(
        ("visits",), ("Park", "Rep"), [("Elm", "Ann"), ("Oak", "Ann"), ("Elm", "Bob")]
    )
    query = parsed_query('SELECT "Rep" GROUP BY "Rep" ORDER BY COUNT(*) DESC LIMIT 1')
    assert query is not None
    assert is_of_other_things(query, table, question, said_values(question, table)) is is_other
