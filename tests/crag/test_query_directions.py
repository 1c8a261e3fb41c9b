"""The ends that the words of a question mean, whatever a model makes of them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.queried_tables import answered_by, read_query
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_queries.query_directions import directed
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.table_query import parsed_query
from tests.crag.test_aggregation import passages
from tests.fakes.llm import ScriptedQueries

STOPS = QueryTable.of_cells(
    ("stops",),
    ("Stop", "lat", "lon"),
    [("Bank", "51.51", "-0.08"), ("Barking", "51.54", "0.08"), ("Kew", "51.47", "-0.28")],
)
RUNS = QueryTable.of_cells(
    ("runs",),
    ("Run", "time_s", "speed", "place"),
    [("Alp", "61", "9.5", "2"), ("Fen", "70", "8.1", "3"), ("Tor", "58", "9.9", "1")],
)
PEOPLE = QueryTable.of_cells(
    ("people",),
    ("Who", "Born", "Age", "Died", "Founded"),
    [
        ("Ann", "1939-11-22", "84", "2023-01-02", "1901"),
        ("Bo", "1990-02-03", "30", "2020-03-04", "1950"),
        ("Cy", "1971-05-06", "50", "2021-03-04", "1920"),
    ],
)


@pytest.mark.parametrize(
    ("table", "question", "written", "meant"),
    [
        (PEOPLE, "Who is the youngest?", 'ORDER BY "Born" ASC', 'ORDER BY "Born" DESC'),
        (PEOPLE, "Who is the oldest?", 'ORDER BY "Born" DESC', 'ORDER BY "Born" ASC'),
        (PEOPLE, "Who is the eldest?", 'ORDER BY "Age" ASC', 'ORDER BY "Age" DESC'),
        (PEOPLE, "Who is the youngest?", 'ORDER BY "Age" DESC', 'ORDER BY "Age" ASC'),
        (PEOPLE, "Whose firm is the oldest?", 'ORDER BY "Founded" DESC', 'ORDER BY "Founded" ASC'),
        (PEOPLE, "Who was the oldest?", 'ORDER BY "Died" DESC', 'ORDER BY "Died" DESC'),
        (PEOPLE, "Who of the oldest is the youngest?", 'ORDER BY "Age" DESC', 'ORDER BY "Age" DESC'),
        (PEOPLE, "Who is the first?", 'ORDER BY "Age" DESC', 'ORDER BY "Age" DESC'),
        (RUNS, "Which run was the slowest?", 'ORDER BY "time_s" ASC', 'ORDER BY "time_s" DESC'),
        (RUNS, "Which run was the fastest?", 'ORDER BY "time_s" DESC', 'ORDER BY "time_s" ASC'),
        (RUNS, "Which run was the fastest?", 'ORDER BY "speed" ASC', 'ORDER BY "speed" DESC'),
        (RUNS, "Which run was the slowest?", 'ORDER BY "speed" DESC', 'ORDER BY "speed" ASC'),
        (RUNS, "Which run was the fastest?", 'ORDER BY "place" ASC', 'ORDER BY "place" ASC'),
        (STOPS, "Which is the southernmost stop?", 'ORDER BY "lat" DESC', 'ORDER BY "lat" ASC'),
    ],
)
def test_the_end_that_comes_first(table: QueryTable, question: str, written: str, meant: str) -> None:
    name = next(iter(table.columns))
    query = parsed_query(f'SELECT "{name}" {written} LIMIT 1')
    assert query is not None
    assert str(directed(query, table, question)) == f'SELECT "{name}" {meant} LIMIT 1'


@pytest.mark.parametrize(
    ("question", "written", "meant"),
    [
        ("How many stops are east of the Greenwich meridian?", '"lon" < 0', '"lon" > 0'),
        ("How many stops are east of the meridian?", '"lon" < 0', '"lon" > 0'),
        ("How many stops lie east of Greenwich?", '"lon" <= 0', '"lon" >= 0'),
        ("How many stops lie west of Greenwich?", '"lon" > 0', '"lon" < 0'),
        ("How many stops lie north of the equator?", '"lat" > 0', '"lat" > 0'),
        ("How many stops lie south of the equator?", '"lat" > 0', '"lat" < 0'),
        ("How many stops lie west of Greenwich?", '"lon" > 1', '"lon" > 1'),
        ("How many stops lie west?", '"lon" > 0', '"lon" > 0'),
    ],
)
def test_what_lies_on_which_side(question: str, written: str, meant: str) -> None:
    query = parsed_query(f"SELECT COUNT(*) WHERE {written}")
    assert query is not None
    assert str(directed(query, STOPS, question)) == f"SELECT COUNT(*) WHERE {meant}"


@pytest.mark.parametrize(
    ("question", "written", "meant"),
    [
        ("Which state lost the most?", 'SUM("profit") DESC', 'SUM("profit") ASC'),
        ("Whose profit fell most?", '"profit" DESC', '"profit" ASC'),
        ("Which state gained and lost the most?", '"profit" DESC', '"profit" DESC'),
        ("Which state lost it?", '"profit" DESC', '"profit" DESC'),
        ("Which state lost the most?", '"sales" DESC', '"sales" DESC'),
    ],
)
def test_what_lost_most_has_the_lowest_of_gains_and_losses(question: str, written: str, meant: str) -> None:
    rows = [("Ohio", "-5", "7"), ("Ohio", "3", "8"), ("Utah", "4", "9")]
    table = QueryTable.of_cells(("shop",), ("state", "profit", "sales"), rows)
    query = parsed_query(f'SELECT "state" GROUP BY "state" ORDER BY {written} LIMIT 1')
    told = parsed_query(f'SELECT "state" GROUP BY "state" ORDER BY {meant} LIMIT 1')
    assert query is not None and directed(query, table, question) == told


def test_a_likely_count_of_the_row_of_a_name_is_no_answer() -> None:
    (table,) = tables_of(
        passages([f"code: {name[:2]} · name: {name}" for name in ("Northern", "Southern", "Tasman")])
    )
    queries = ScriptedQueries({" ": ("SELECT COUNT(*) WHERE \"name\" = 'Northern'", 0.95)})
    read = read_query(queries, "How many places are there for the Northern?", table)
    assert read is not None and answered_by(replace(read, is_trusted=True)) is None


def test_all_columns_without_a_name_are_looked_up_where_one_is_guessed() -> None:
    rows = [
        "column 1: Vega · column 2: 0.5 · column 3: 9900",
        "column 1: Sun · column 2: 4.8 · column 3: 5840",
    ]
    (table,) = tables_of(passages(rows))
    queries = ScriptedQueries({" ": ('SELECT "column 2" WHERE "column 1" = \'Vega\'', 0.99)})
    read = read_query(queries, "How hot is Vega?", table)
    assert read is not None
    for each in (read, replace(read, is_trusted=True)):
        found = answered_by(each)
        assert found is not None and not found.is_whole
        assert found.answer.text.startswith("column 2 0.5, column 3 9900 (Vega)")


def test_a_likely_query_from_the_wrong_end_is_turned_and_to_be_checked() -> None:
    (table,) = tables_of(
        passages([f"Who: {who} · Born: {day}" for who, day in (("Ann", "1939-11-22"), ("Bo", "1990-02-03"))])
    )
    queries = ScriptedQueries({" ": ('SELECT "Who" ORDER BY "Born" ASC LIMIT 1', 0.99)})
    read = read_query(queries, "Who is the youngest person?", table)
    assert read is not None
    found = answered_by(read)
    assert found is not None and not found.is_whole
    assert found.answer.text.startswith("Bo has the latest Born")


@pytest.mark.parametrize(
    ("question", "written", "meant"),
    [
        ("Who is more than 40 years old?", '"Age" < 40', '"Age" > 40'),
        ("Who is at least 40?", '"Age" <= 40', '"Age" >= 40'),
        ("Who is under 40?", '"Age" > 40', '"Age" < 40'),
        ("Who is more than 40 years old?", '"Age" >= 40', '"Age" >= 40'),
        ("Who is not more than 40 years old?", '"Age" <= 40', '"Age" <= 40'),
        ("Who is more than 40, and whose firm is 40 or less?", '"Age" < 40', '"Age" < 40'),
        ("Who is more than 140?", '"Age" < 40', '"Age" < 40'),
        ("Who was born over 1970?", "\"Born\" < '1970-01-01'", "\"Born\" < '1970-01-01'"),
    ],
)
def test_what_is_more_than_a_number(question: str, written: str, meant: str) -> None:
    query, right = (parsed_query(f'SELECT "Who" WHERE {each}') for each in (written, meant))
    assert query is not None and directed(query, PEOPLE, question) == right
