"""Tables whose columns are months, days, quarters or years, each of whose cells is asked for as a row."""

from __future__ import annotations

import re

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.answering.query_answers import answer_of
from localcrag.crag.state import ComputedAnswer
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.long_tables import as_asked, long_form
from localcrag.crag.table_answers.lookup_questions import TABLE_FORMS
from localcrag.crag.table_answers.parsed_tables import ParsedTable, tables_of
from localcrag.crag.table_queries.query_doubts import reads_every_period
from localcrag.crag.table_queries.query_repairs import surely_repaired
from localcrag.crag.table_queries.query_results import result_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.table_query import parsed_query
from tests.crag.test_aggregation import passages

RAIN = [
    "Year: 2018 · Jan: 31.5 · Feb: 20 · Mar: 52 · Apr: 12",
    "Year: 2019 · Jan: 40 · Feb: 99 · Mar: 7.5 · Apr: 60",
]
VISITORS = [
    "Museum: Toy Museum · 2021: 4,919 · 2022: 27,873 · 2023: 10,364 · Total: 43,156",
    "Museum: Ship Museum · 2021: 12,961 · 2022: 32,446 · 2023: 39,303 · Total: 84,710",
    "Museum: Total · 2021: 17,880 · 2022: 60,319 · 2023: 49,667 · Total: 127,866",
]


def long_table(rows: list[str]) -> ParsedTable | None:
    (table,) = tables_of(passages(rows))
    long = long_form(table)
    return long.table if long else None


def by_rule(question: str, rows: list[str]) -> ComputedAnswer | None:
    tables = [as_asked(question, table) for table in tables_of(passages(rows))]
    forms = [form for read in TABLE_FORMS if (form := read(question)) is not None]
    match = next((match for form in forms for match in document_matches(form, tables, None)), None)
    return aggregated(match) if match else None


def by_query(sql: str, rows: list[str]) -> ComputedAnswer | None:
    made, query = long_table(rows), parsed_query(sql)
    assert made is not None and query is not None
    table = QueryTable.of_parsed(made)
    return answer_of(query, result_of(query, table), table)


def test_each_cell_is_a_row_that_is_cited_as_its_own() -> None:
    table = long_table(RAIN)
    assert table is not None and table.columns == ("Year", "month", "farms")
    assert [*map(dict, (row.cells for row in table.rows))][4:6] == [
        {"Year": "2019", "month": "Jan", "farms": "40"},
        {"Year": "2019", "month": "Feb", "farms": "99"},
    ]
    assert [row.strip.text for row in table.rows] == [RAIN[0]] * 4 + [RAIN[1]] * 4


def test_years_beside_a_name_tell_rows_apart() -> None:
    table = long_table([f"Site: Elm · {row}" for row in RAIN])
    assert table is not None and table.columns == ("Site", "Year", "month", "farms")


def test_totals_by_row_and_column_are_no_cells() -> None:
    table = long_table(VISITORS)
    assert table is not None and table.columns == ("Museum", "year", "farms")
    assert [row.cells["farms"] for row in table.rows] == [
        "4,919",
        "27,873",
        "10,364",
        "12,961",
        "32,446",
        "39,303",
    ]


@pytest.mark.parametrize(
    ("headers", "kind"),
    [
        ("January February March", "month"),
        ("Januar Februar März", "month"),
        ("Mon Tue Wed", "day"),
        ("Q1 Q2 Q3", "quarter"),
        ("2012/13 2013/14 2014/15", "year"),
    ],
)
def test_columns_are_periods_of_one_kind(headers: str, kind: str) -> None:
    rows = [
        f"Shop: {shop} · " + " · ".join(f"{h}: {n + 4}" for n, h in enumerate(headers.split()))
        for shop in "AB"
    ]
    table = long_table(rows)
    assert table is not None and table.columns[:2] == ("Shop", kind)


def test_what_stands_above_the_periods_names_the_values() -> None:
    rows = [
        f"Shop: {shop} · Sales (£) / Q1: 4 · Sales (£) / Q2: 5 · Sales (£) / Q3: 9"
        for shop in ("North", "South")
    ]
    table = long_table(rows)
    assert table is not None and table.columns == ("Shop", "quarter", "Sales (£)")
    assert table.rows[1].cells["quarter"] == "Q2"


@pytest.mark.parametrize(
    "row",
    [
        "Shop: A · Q1: 4 · Q2: 5",
        "Shop: A · Q1: Ann · Q2: Bo · Q3: Cy",
        "Shop: A · Q1: 4 · Q2: 5 · Q3: 9 · Staff: 3",
        "Shop: A · Q1: 4 £ · Q2: 5 kg · Q3: 9 £",
        "Shop: A · Hats / Q1: 4 · Caps / Q2: 5 · Hats / Q3: 9",
    ],
)
def test_other_tables_stay_as_they_are(row: str) -> None:
    """Too few periods, no numbers, other numbers, several units, several variables."""
    assert long_table([row, row.replace("Shop: A", "Shop: B")]) is None


@pytest.mark.parametrize(
    ("question", "names_one"),
    [
        ("Which museum had the most visitors in 2022?", True),
        ("Which museum had the most visitors?", False),
        ("Which museum had the most visitors in 1999?", False),
    ],
)
def test_a_question_that_names_a_column_goes_over_it(question: str, names_one: bool) -> None:
    (table,) = tables_of(passages(VISITORS))
    assert (as_asked(question, table) is table) == names_one


@pytest.mark.parametrize(
    ("question", "names_one"),
    [
        ("How much rain may fall in a month?", False),
        ("How much rain fell in May?", True),
        ("Which day did they do most?", False),
    ],
)
def test_other_words_are_no_periods(question: str, names_one: bool) -> None:
    (table,) = tables_of(passages([row.replace("Apr", "May") for row in RAIN]))
    assert (as_asked(question, table) is table) == names_one


def test_the_most_of_a_row_is_found_by_rule() -> None:
    answer = by_rule("In which year did the Ship Museum have the fewest farms?", VISITORS)
    assert answer is not None
    assert answer.text.startswith("year 2021 has the fewest: farms 12,961 (Ship Museum) [1]")
    assert "Computed from 3 cells of farms.csv" in answer.text
    assert [strip.text for strip in answer.rows] == [VISITORS[1]]


@pytest.mark.parametrize(
    ("sql", "told", "cited"),
    [
        (
            'SELECT SUM("farms") WHERE "Year" = \'2019\'',
            "The total of farms: 206.5 [1]\n\n"
            "(Computed from 4 cells of farms.csv where Year is 2019, column farms.)",
            [RAIN[1]],
        ),
        (
            'SELECT "month", SUM("farms") GROUP BY "month" ORDER BY SUM("farms") DESC LIMIT 1',
            "Feb: total of farms 119 [1][2]\n\n(Computed from 8 cells of farms.csv, column farms, by month.)",
            RAIN,
        ),
        (
            'SELECT MAX("farms")',
            "The highest farms: 99 (Feb) [1]\n\n(Computed from 8 cells of farms.csv, column farms.)",
            [RAIN[1]],
        ),
    ],
)
def test_a_query_goes_over_cells_and_cites_each_row_once(sql: str, told: str, cited: list[str]) -> None:
    answer = by_query(sql, RAIN)
    assert answer is not None and answer.text == told
    assert [strip.text for strip in answer.rows] == cited
    assert answer.computation.counted == "cell"


HOURS = ["Name: Ann · Mon: 2 · Tue: 5 · Wed: 1", "Name: Bo · Mon: 6 · Tue: 4 · Wed: 3"]


@pytest.mark.parametrize(
    ("above", "question", "told"),
    [
        ("Hours", "How many hours did Bo work?", "The total of Hours: 13 [1]"),
        ("Hours", "Which hours did Bo work?", None),
        ("Price", "How much is Bo?", None),
    ],
)
def test_the_values_of_all_periods_are_added_up_or_not_told(
    above: str, question: str, told: str | None
) -> None:
    """Which value is of which day would not be seen, and prices are no parts of a sum."""
    made = long_table([re.sub(r"(Mon|Tue|Wed)", rf"{above} / \1", row) for row in HOURS])
    query = parsed_query(f'SELECT "{above}" WHERE "Name" = \'Bo\'')
    assert made is not None and query is not None
    table = QueryTable.of_parsed(made)
    meant = surely_repaired(query, table, question)
    answer = answer_of(meant, result_of(meant, table), table)
    assert reads_every_period(meant, table) is (told is None)
    assert told is None or (answer is not None and answer.text.startswith(told))
