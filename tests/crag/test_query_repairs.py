"""Repairs of queries by the words of their questions: years, groups, places on the map."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.answering.queried_tables import answered_by, read_query
from localcrag.crag.answering.query_answers import answer_of
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_queries.query_doubts import is_of_other_things
from localcrag.crag.table_queries.query_prompt import narrowed
from localcrag.crag.table_queries.query_repairs import repaired, surely_repaired
from localcrag.crag.table_queries.query_results import result_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values
from localcrag.crag.table_queries.table_query import parsed_query
from tests.crag.test_aggregation import passages
from tests.fakes.llm import ScriptedQueries

STATES = QueryTable.of_cells(
    ("states",),
    ("State", "gdp1990", "gdp2000", "2000", "rank"),
    [("Mexico", "12", "15", "7", "1"), ("Oaxaca", "9", "8", "6", "2"), ("Puebla", "11", "10", "5", "3")],
)
VISITS = QueryTable.of_cells(
    ("visits",),
    ("Park", "Rep", "Seen on", "Stars", "Total score", "latitude", "lng"),
    [
        ("Elm", "Ann", "2023-05-01", "5", "9", "51.5", "-0.1"),
        ("Elm", "Bob", "2023-07-02", "1", "8", "51.6", "0.2"),
        ("Oak", "Ann", "2022-05-03", "4", "7", "51.4", "0.1"),
        ("Oak", "Bob", "2023-05-04", "4", "6", "51.7", "-0.3"),
    ],
)


def test_columns_of_other_years_than_a_question_says_are_not_shown() -> None:
    for question, names in (
        ("Which had the most in 2000?", ["State", "gdp2000", "2000", "rank"]),
        ("Did it drop between 1990 and 2000?", ["State", "gdp1990", "gdp2000", "2000", "rank"]),
        ("Which had the most?", list(STATES.columns)),
        ("Which had the most in 2010?", list(STATES.columns)),
    ):
        assert list(narrowed(STATES, question, said_values(question, STATES)).columns) == names


def test_an_adjective_before_the_name_of_a_column_is_none_of_its_cells() -> None:
    assert "State" not in said_values("Which Mexican state had the most?", STATES).cells
    assert said_values("How much was the Mexican product?", STATES).cells["State"] == ("Mexico",)


@pytest.mark.parametrize(
    ("table", "sql", "question", "told"),
    [
        (STATES, 'COUNT(*) WHERE "gdp1990" < "gdp2000"', "In how many did it drop?", '"gdp1990" > "gdp2000"'),
        (STATES, 'COUNT(*) WHERE "gdp2000" > "gdp1990"', "In how many did it fall?", '"gdp2000" < "gdp1990"'),
        (STATES, 'COUNT(*) WHERE "gdp1990" > "gdp2000"', "How many grew?", '"gdp1990" < "gdp2000"'),
        (STATES, 'COUNT(*) WHERE "gdp1990" < "rank"', "In how many did it drop?", '"gdp1990" < "rank"'),
        (STATES, 'COUNT(*) WHERE "gdp1990" < "gdp2000"', "Did it rise or fall?", '"gdp1990" < "gdp2000"'),
        (
            VISITS,
            '"Seen on" GROUP BY "Seen on" ORDER BY COUNT(*) DESC LIMIT 1',
            "In which year were most seen?",
            'YEAR("Seen on") ORDER BY COUNT(*) DESC LIMIT 1',
        ),
        (
            VISITS,
            '"Seen on" GROUP BY "Seen on" ORDER BY COUNT(*) DESC LIMIT 1',
            "In which month were most seen?",
            '"Seen on" ORDER BY COUNT(*) DESC LIMIT 1',
        ),
        (
            VISITS,
            '"Park" ORDER BY "Stars" ASC LIMIT 1',
            "Which park has the worst average stars?",
            '"Park" ORDER BY AVG("Stars") ASC LIMIT 1',
        ),
        (
            VISITS,
            '"Rep" ORDER BY "Stars" DESC LIMIT 1',
            "Who gave the most stars across all parks?",
            '"Rep" ORDER BY SUM("Stars") DESC LIMIT 1',
        ),
        (
            VISITS,
            '"Park" ORDER BY "Total score" DESC LIMIT 1',
            "Which park has the best total score?",
            '"Total score" DESC LIMIT 1',
        ),
        (
            VISITS,
            '"Park" ORDER BY "Stars" ASC LIMIT 1',
            "Which was the worst day for stars?",
            '"Seen on" ORDER BY "Stars" ASC LIMIT 1',
        ),
        (
            VISITS,
            '"Park" ORDER BY "Stars" ASC LIMIT 1',
            "Which park had the worst stars of the day?",
            '"Park" ORDER BY "Stars" ASC LIMIT 1',
        ),
        (
            VISITS,
            '"Park" ORDER BY "lng" DESC LIMIT 1',
            "Which park lies furthest south?",
            '"latitude" ASC LIMIT 1',
        ),
        (
            VISITS,
            '"Park" ORDER BY "latitude" ASC LIMIT 1',
            "Which is the easternmost park?",
            '"lng" DESC LIMIT 1',
        ),
    ],
)  # fmt: skip
def test_a_query_is_repaired_by_the_words_of_its_question(
    table: QueryTable, sql: str, question: str, told: str
) -> None:
    query = parsed_query(f"SELECT {sql}")
    assert query is not None
    assert str(repaired(query, table, question)).endswith(told)


def test_the_rows_of_a_year_are_one_group() -> None:
    query = parsed_query('SELECT "Seen on" GROUP BY "Seen on" ORDER BY COUNT(*) DESC LIMIT 1')
    assert query is not None
    by_year = repaired(query, VISITS, "Which year had the most visits?")
    (line,) = result_of(by_year, VISITS).lines
    assert (line.texts, line.key) == (("2023",), "3")
    rows = [f"Park: {park} · Seen on: {day}" for park, day in (("Elm", "2023-05-01"), ("Oak", "2023-07-02"))]
    (table,) = tables_of(passages([*rows, "Park: Ash · Seen on: 2022-05-03"]))
    shown = QueryTable.of_parsed(table)
    answer = answer_of(by_year, result_of(by_year, shown), shown)
    assert answer is not None
    assert answer.text.startswith("2023: rows 2 [1][2]") and "by the year of Seen on." in answer.text


def test_months_of_one_year_are_groups_by_their_names() -> None:
    rows = [("2023-05-01",), ("2023-07-02",), ("2023-05-04",)]
    table = QueryTable.of_cells(("visits",), ("Seen on",), rows)
    query = parsed_query('SELECT "Seen on" GROUP BY "Seen on" ORDER BY COUNT(*) DESC LIMIT 1')
    assert query is not None
    by_month = repaired(query, table, "In which month were most seen?")
    assert result_of(by_month, table).lines[0].texts == ("May 2023",)


def test_what_is_repaired_is_not_sure() -> None:
    rows = [
        f"Park: {park} · Stars: {stars}" for park, stars in (("Elm", 5), ("Elm", 1), ("Oak", 4), ("Oak", 4))
    ]
    (table,) = tables_of(passages(rows))
    queries = ScriptedQueries({" ": ('SELECT "Park" ORDER BY "Stars" ASC LIMIT 1', 0.95)})
    read = read_query(queries, "Which park has the worst average stars?", table)
    assert read is not None
    found = answered_by(read)
    assert found is not None and not found.is_whole
    assert found.answer.text.startswith("Elm: average of Stars 3")


def test_a_question_without_a_word_of_a_table_is_not_answered_by_a_measure_of_all_its_rows() -> None:
    orders = QueryTable.of_cells(("orders",), ("President", "Orders"), [("Adams", "1"), ("Polk", "18")])
    for sql, question, is_other in (
        ('MAX("Orders")', "What is the maximum number of books in a collection?", True),
        ('MAX("Orders")', "What is the maximum number of orders?", False),
        ('MAX("Orders")', "What is the most that Polk signed?", False),
        ("COUNT(*)", "How many books are in a collection?", False),
    ):
        query = parsed_query(f"SELECT {sql}")
        assert query is not None
        assert is_of_other_things(query, orders, question, said_values(question, orders)) is is_other


def test_millions_are_said_in_full_where_a_column_has_as_many() -> None:
    full = QueryTable.of_cells(
        ("airports",), ("Airport", "Passengers"), [("A", "93699630"), ("B", "41000000")]
    )
    short = QueryTable.of_cells(
        ("airports",), ("Airport", "Passengers (million)"), [("A", "93.7"), ("B", "41")]
    )
    question = "How many airports had more than 50 million passengers?"
    assert {"50000000", "50"} & {*said_values(question, full).numbers} == {"50000000"}
    assert "50" in said_values(question, short).numbers


def test_a_range_in_words_is_a_cell_and_a_small_number_no_part_of_one() -> None:
    decades = QueryTable.of_cells(
        ("arrivals",), ("Years", "Ireland"), [("1911-1920", "5"), ("1921-1930", "6")]
    )
    assert said_values("How many came between 1911 and 1920?", decades).cells == {"Years": ("1911-1920",)}
    places = QueryTable.of_cells(
        ("tremors",), ("Place", "Size"), [("3 km off Elm Row", "4"), ("747 jet", "5"), ("Room 12 West", "6")]
    )
    assert said_values("How many reached 3 or more?", places).parts == {}
    assert said_values("How large was that near Room 12?", places).parts == {"Place": ("Room 12",)}
    assert said_values("How large is the 747?", places).parts == {"Place": ("747",)}


def test_what_only_names_the_table_is_no_condition_if_no_row_meets_it() -> None:
    rows = [
        f"Name: {row}"
        for row in (
            "Germany · Kind: land · Coin: EUR",
            "Malta · Kind: isle · Coin: EUR",
            "Norway · Kind: land · Coin: NOK",
            "Chile · Kind: land · Coin: CLP",
        )
    ]
    (table,) = tables_of(passages(rows))
    for condition, question, value in (
        ("\"Name\" = 'Germany'", "How many of the German country list use the EUR?", "2"),
        ("\"Kind\" = 'isle'", "How many of the isle list use the NOK?", "1"),
        ("\"Kind\" = 'isle'", "How many of an isle use the NOK?", "None"),
    ):
        coin = question[-4:-1]
        sql = f"SELECT COUNT(*) WHERE {condition} AND \"Coin\" = '{coin}'"
        read = read_query(ScriptedQueries({" ": (sql, 0.95)}), question, table)
        assert read is not None
        found = answered_by(read)
        assert (found.answer.computation.value if found else None) == value
        assert found is not None and found.is_whole is (value == "None")


VOTES = [
    f"name: {row}"
    for row in ("DUVAL · BUSH: 15 · NADER: 2", "GULF · BUSH: 4 · NADER: 9", "LEON · BUSH: 8 · NADER: 1")
]
JOURNALS = [
    f"title: {row}"
    for row in (
        "Economic Journal · pub: Elder · price: 301",
        "Applied Economics · pub: Elsevier · price: 870",
        "Econometric Theory · pub: Elsevier · price: 400",
        "Journal of Issues · pub: Assn of econ. issues · price: 37",
    )
]


@pytest.mark.parametrize(
    ("rows", "sql", "question", "told"),
    [
        (
            VOTES,
            '"name" ORDER BY "BUSH" DESC LIMIT 1',
            "Where did Nader get the most votes?",
            '"name" ORDER BY "NADER" DESC LIMIT 1',
        ),
        (
            VOTES,
            '"name" ORDER BY "BUSH" DESC LIMIT 1',
            "Where did Bush get more than Nader?",
            '"name" ORDER BY "BUSH" DESC LIMIT 1',
        ),
        (
            JOURNALS,
            "COUNT(*) WHERE \"title\" = 'Economic Journal'",
            "How many economics journals are published by Elsevier?",
            "COUNT(*) WHERE \"pub\" = 'Elsevier'",
        ),
        (
            JOURNALS,
            '"title" WHERE "title" = \'Economic Journal\' ORDER BY "price" DESC LIMIT 1',
            "Which economics journal has the highest price?",
            '"title" ORDER BY "price" DESC LIMIT 1',
        ),
        (
            JOURNALS,
            '"title" WHERE "pub" LIKE \'issues\' ORDER BY "price" DESC LIMIT 1',
            "Which one with issues has the highest price?",
            '"title" ORDER BY "price" DESC LIMIT 1',
        ),
        (JOURNALS, "COUNT(*) WHERE \"title\" = 'Economic Journal'", "How many economics journals?", None),
        (JOURNALS, "COUNT(*) WHERE \"title\" LIKE 'issues'", "How many runs are set for issues?", None),
    ],
)
def test_names_of_rows_and_columns_are_told_from_words(
    rows: list[str], sql: str, question: str, told: str | None
) -> None:
    (table,) = tables_of(passages(rows))
    read = read_query(ScriptedQueries({" ": (f"SELECT {sql}", 0.95)}), question, table)
    assert read is not None
    found = answered_by(read)
    assert (str(found.query) if found else None) == (told and f"SELECT {told}")


def test_the_names_of_rows_of_r_are_a_column_too() -> None:
    (table,) = tables_of(passages(["DUVAL · BUSH: 15 · NADER: 2", "GULF · BUSH: 4 · NADER: 9"]))
    assert list(QueryTable.of_parsed(table).columns) == ["name", "BUSH", "NADER"]


@pytest.mark.parametrize(
    ("question", "conditions"),
    [
        ("Leaving out the cancelled ones, who booked most?", "\"state\" != 'cancelled'"),
        ("Who booked most, excluding cancelled bookings?", "\"state\" != 'cancelled'"),
        ("Not counting open ones, who booked most?", "\"state\" != 'open'"),
        ("Who other than Ann booked most?", "\"state\" = 'closed' AND \"who\" != 'Ann'"),
        ("Who booked most of the cancelled ones?", "\"state\" = 'closed'"),
        ("Who booked most, except for pumps?", "\"state\" = 'closed'"),
    ],
)
def test_what_a_question_excepts_is_left_out(question: str, conditions: str) -> None:
    rows = [("Ann", "closed", "3"), ("Bo", "cancelled", "9"), ("Cy", "open", "5")]
    table = QueryTable.of_cells(("bookings",), ("who", "state", "net"), rows)
    last = 'ORDER BY "net" DESC LIMIT 1'
    query = parsed_query(f'SELECT "who" WHERE "state" = \'closed\' {last}')
    assert query is not None
    assert str(surely_repaired(query, table, question)) == f'SELECT "who" WHERE {conditions} {last}'


@pytest.mark.parametrize(
    ("question", "bounds", "meant"),
    [
        ("Which parks were seen in 2023?", ("2023-01-01", "2024-01-01"), "2023-12-31"),
        ("Which parks were seen in May 2023?", ("2023-05-01", "2023-06-01"), "2023-05-31"),
        ("Which parks were seen in December 2023?", ("2023-12-01", "2024-01-01"), "2023-12-31"),
        ("Which parks were seen from 2022 to 2023?", ("2022-01-01", "2023-01-01"), "2023-01-01"),
        (
            "Which parks were seen between 2023-05-01 and 2023-06-01?",
            ("2023-05-01", "2023-06-01"),
            "2023-06-01",
        ),
        ("Which parks were seen in the first half of 2023?", ("2023-01-01", "2023-06-30"), "2023-06-30"),
    ],
)
def test_a_year_and_a_month_end_with_their_last_day(
    question: str, bounds: tuple[str, str], meant: str
) -> None:
    first, last = bounds
    query = parsed_query(f"SELECT \"Park\" WHERE \"Seen on\" BETWEEN '{first}' AND '{last}'")
    assert query is not None
    repaired_query = str(surely_repaired(query, VISITS, question))
    assert repaired_query == f"SELECT \"Park\" WHERE \"Seen on\" BETWEEN '{first}' AND '{meant}'"


def test_a_group_is_named_by_what_its_rows_have_in_common() -> None:
    order = 'GROUP BY "Rep" ORDER BY AVG("Stars") DESC LIMIT 1'
    for written, meant in (('"Park"', '"Rep"'), ('"Rep"', '"Rep"'), ('"Park", "Rep"', '"Park", "Rep"')):
        query = parsed_query(f"SELECT {written} {order}")
        assert query is not None
        assert str(surely_repaired(query, VISITS, "Whose parks have it?")) == f"SELECT {meant} {order}"


TRIPS = [
    "job: 1 · date: 2024-10-01 · rider: Ann · km: 9 · fare: 12",
    "job: 2 · date: 2024-10-02 · rider: Bo · km: 14 · fare: 20",
    "job: 3 · date: 2024-10-02 · rider: Ann · km: 8 · fare: 10",
    "job: 4 · date: 2024-10-04 · rider: Bo · km: 1 · fare: 5",
]


@pytest.mark.parametrize(
    ("question", "measure", "told"),
    [
        ("Which rider covered the most kilometres?", "km", "Ann: total of km 17 [1][2]"),
        ("Which rider covered the most kilometres in one trip?", "km", "Bo has the highest km: 14"),
        ("Which rider had the longest trip in km?", "km", "Bo has the highest km: 14"),
        ("Which rider has the most fare?", "fare", "Bo has the highest fare: 20"),
    ],
)
def test_the_most_of_what_adds_up_is_that_of_all_rows_of_a_thing(
    question: str, measure: str, told: str
) -> None:
    """Of a fare nobody knows whether it is added up."""
    (table,) = tables_of(passages(TRIPS))
    query = parsed_query(f'SELECT "rider" ORDER BY "{measure}" DESC LIMIT 1')
    assert query is not None
    whole = QueryTable.of_parsed(table)
    meant = surely_repaired(query, whole, question)
    answer = answer_of(meant, result_of(meant, whole), whole)
    assert answer is not None and answer.text.startswith(told)


ELEMENTS = [
    "other: Aqua · phase: Liquid · name: Bromine",
    "phase: Liquid · name: Mercury",
    "other: Ferrum · phase: Solid · name: Iron",
]
DISHES = [
    "country: Algeria · dish: Couscous",
    "country: Mauritania · dish: Thieboudienne, Couscous",
    "country: Tunisia · dish: Couscous; Kabkabou",
    "country: Peru · dish: Couscous salad",
    "country: Oman · dish: Shuwa",
]


def answered(question: str, rows: list[str], written: str) -> tuple[str, bool]:
    """The value that a model's query gives, and whether it is whole."""
    [table] = tables_of(passages(rows))
    read = read_query(ScriptedQueries({"Question": (written, 0.9)}), question, table)
    assert read is not None
    found = answered_by(replace(read, is_trusted=True))
    assert found is not None
    return found.answer.text.partition("\n")[0], found.is_whole


def test_a_value_that_cells_list_among_others_is_found_there_too() -> None:
    """The query is then what was asked for: it is no repair of a mistake."""
    written = 'SELECT "country" WHERE "dish" = \'Couscous\''
    text, is_whole = answered("Which countries have couscous as a dish?", DISHES, written)
    assert [name in text for name in ("Algeria", "Mauritania", "Tunisia", "Oman")] == [
        True,
        True,
        True,
        False,
    ]
    assert is_whole
    alone = [DISHES[0], *DISHES[3:]]
    assert "Peru" not in answered("Which countries have couscous as a dish?", alone, written)[0]


def test_rows_are_listed_by_their_names_and_not_by_what_few_of_them_have() -> None:
    written = 'SELECT "other" WHERE "phase" = \'Liquid\''
    text, _ = answered("Which elements are liquid?", ELEMENTS, written)
    assert "Bromine" in text and "Mercury" in text and "Aqua" not in text
    text, _ = answered("What other words are there for liquid elements?", ELEMENTS, written)
    assert "Aqua" in text and "Mercury" not in text


def test_the_column_called_name_tells_rows_apart_and_is_shown_of_a_wide_table() -> None:
    columns = ("Source", *(f"c{n}" for n in range(60)), "Name")
    cells = [(f"http://{n}", *("1" for _ in range(60)), f"Element {n}") for n in "abc"]
    table = QueryTable.of_cells(("elements",), columns, cells)
    assert table.label == "Name"
    question = "Which elements have c7?"
    shown = narrowed(table, question, said_values(question, table))
    assert len(shown.columns) < len(table.columns) and {"Source", "Name", "c7"} <= {*shown.columns}


def test_the_town_of_most_is_none_of_the_most() -> None:
    table = QueryTable.of_cells(("towns",), ("Town", "Land"), [("Most", "CZ"), ("Brno", "CZ")])
    assert said_values("Which land has the most towns?", table).cells == {}
    assert said_values("In which land is Most?", table).cells == {"Town": ("Most",)}
