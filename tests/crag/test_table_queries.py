"""Queries over a table: their text, the columns they read, what a question says, and what they give."""

from __future__ import annotations

import pytest
import regex

from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_queries.derived_words import cells_of_word
from localcrag.crag.table_queries.query_doubts import (
    measures_another,
    takes_whole_for_part,
)
from localcrag.crag.table_queries.query_grammar import query_pattern
from localcrag.crag.table_queries.query_prompt import MAX_COLUMNS, described, narrowed, said_line
from localcrag.crag.table_queries.query_repairs import (
    with_meant_measure,
    with_merit,
    with_named_flag,
    without_contrast,
)
from localcrag.crag.table_queries.query_results import QueryResult, result_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values
from localcrag.crag.table_queries.table_query import QueryError, parsed_query
from tests.crag.test_aggregation import passages

COLUMNS = ("Part", "Supplier", "Stock", "Price", "Ordered", "Critical")
ROWS = (
    ("Chain", "Velo Nord", "14", "22.50 EUR", "2023-03-14", "yes"),
    ("Brake pad", "Radwerk", "120", "4.20 EUR", "2022-11-02", "no"),
    ("Front rim", "Velo Nord", "0", "61 EUR", "2023-05-20", "no"),
    ("Saddle", "Kern & Co", "", "35 EUR", "2021-01-09", "no"),
    ("Bell", "Radwerk", "44", "6 EUR", "2023-03-02", ""),
    ("Pump", "Radwerk", "7", "19 EUR", "2022-08-30", "yes"),
    ("Lock", "Velo Nord", "7", "40 EUR", "2023-02-11", "yes"),
)
TABLE = QueryTable.of_cells(("Spare parts", "parts_2023"), COLUMNS, ROWS)

QUERIES = (
    "SELECT COUNT(*) WHERE \"Supplier\" = 'Velo Nord'",
    'SELECT COUNT(DISTINCT "Supplier")',
    'SELECT "Part" ORDER BY "Price" DESC LIMIT 1 OFFSET 1',
    'SELECT "Supplier", SUM("Stock") GROUP BY "Supplier"',
    'SELECT "Part", "Stock" WHERE "Ordered" LIKE \'2023-03\' AND "Price" BETWEEN 5 AND 30',
    'SELECT "Price" WHERE "Part" IN (\'Bell\', \'O\'\'Ring\') AND "Stock" IS NOT NULL AND "Price" > "Stock"',
    'SELECT SUM("Price" * "Stock") WHERE "Critical" != \'no\'',
    'SELECT "Part" WHERE "Stock" IS NULL',
)


@pytest.mark.parametrize("text", QUERIES)
def test_a_query_is_read_and_written_alike(text: str) -> None:
    assert str(parsed_query(text)) == text


def test_none_is_no_query() -> None:
    assert parsed_query("NONE") is None


@pytest.mark.parametrize(
    "text", ["", "SELECT", "SELECT *", 'DROP "Part"', 'SELECT "Part" LIMIT 3', 'SELECT "Part" WHERE "Part"']
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(QueryError):
        parsed_query(text)


def given(text: str) -> QueryResult:
    query = parsed_query(text)
    assert query is not None
    return result_of(query, TABLE)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("SELECT COUNT(*) WHERE \"Supplier\" = 'velo nord'", [("3",)]),
        ('SELECT COUNT(DISTINCT "Supplier")', [("3",)]),
        ('SELECT SUM("Stock")', [("192",)]),
        ('SELECT AVG("Price") WHERE "Supplier" = \'Radwerk\'', [("9.7333 EUR",)]),
        ('SELECT MAX("Price")', [("61 EUR",)]),
        ('SELECT "Part" ORDER BY "Price" DESC LIMIT 1', [("Front rim",)]),
        ('SELECT "Part" ORDER BY "Price" DESC LIMIT 1 OFFSET 1', [("Lock",)]),
        ('SELECT "Part" ORDER BY "Ordered" ASC LIMIT 2', [("Saddle",), ("Pump",)]),
        ('SELECT "Part" WHERE "Ordered" LIKE \'2023-03\'', [("Chain",), ("Bell",)]),
        ("SELECT COUNT(*) WHERE \"Ordered\" < '2023-01-01'", [("3",)]),
        ('SELECT "Part" WHERE "Stock" IS NULL', [("Saddle",)]),
        ('SELECT COUNT(*) WHERE "Stock" > 7', [("3",)]),
        ('SELECT "Part" WHERE "Stock" BETWEEN 7 AND 14', [("Chain",), ("Pump",), ("Lock",)]),
        ("SELECT SHARE(*) WHERE \"Critical\" = 'yes'", [("42.9 %",)]),
        ('SELECT "Supplier" GROUP BY "Supplier" ORDER BY SUM("Stock") DESC LIMIT 1', [("Radwerk",)]),
        (
            'SELECT "Supplier", COUNT(*) GROUP BY "Supplier"',
            [("Velo Nord", "3"), ("Radwerk", "3"), ("Kern & Co", "1")],
        ),
        ('SELECT "Price" WHERE "Part" LIKE \'rim\'', [("61 EUR",)]),
        ('SELECT "Part" WHERE "Stock" > "Price"', [("Brake pad",), ("Bell",)]),
    ],
)
def test_what_a_query_gives(text: str, lines: list[tuple[str, ...]]) -> None:
    assert [line.texts for line in given(text).lines] == lines


def test_the_digits_of_an_error_of_arithmetic_are_not_shown_in_an_average() -> None:
    rates = QueryTable.of_cells(
        ("Rates",), ("State", "Rate"), [("A", "0.4271"), ("B", "0.42710000000000004"), ("C", "0.45")]
    )
    query = parsed_query('SELECT AVG("Rate")')
    assert query is not None
    assert result_of(query, rates).lines[0].texts == ("0.43473333",)
    question = "What was the mean in the first quarter of 2011?"
    quarters = QueryTable.of_cells(("Rates",), ("Quarter", "Rate"), [("Q12011", "1"), ("Q22011", "2")] * 4)
    assert said_values(question, quarters).cells == {"Quarter": ("Q12011",)}


def test_rows_without_a_value_are_counted() -> None:
    assert given('SELECT SUM("Stock")').without_value == 1


def test_all_that_share_the_last_place_are_given() -> None:
    result = given('SELECT "Part" WHERE "Stock" > 0 ORDER BY "Stock" ASC LIMIT 1')
    assert [line.texts[0] for line in result.lines] == ["Pump", "Lock"]
    assert result.ties == 1


@pytest.mark.parametrize("text", ['SELECT "Weight"', 'SELECT SUM("Part")', 'SELECT AVG("Ordered")'])
def test_what_a_column_has_not_is_an_error(text: str) -> None:
    with pytest.raises(QueryError):
        given(text)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("How many parts do we get from Velo Nord?", "\"Supplier\" = 'Velo Nord'"),
        ("What does a rim cost?", "\"Part\" LIKE 'rim'"),
        ("Which parts were ordered in March 2023?", "2023-03; 2023"),
        ("Which parts cost more than twenty-five euros?", "20; 25; 5"),
        ("Which parts lost more than half of their value?", "0.5; 50"),
        ("Is anything out of stock?", "-"),
    ],
)
def test_what_a_question_says(question: str, said: str) -> None:
    found = said_line(said_values(question, TABLE), TABLE.columns)
    assert set(said.split("; ")) <= set(found.split("; "))


def test_a_name_that_looks_derived_is_said_once() -> None:
    names = ["Rouen", "Caen", "Bayeux", "Lisieux", "Vire", "Dieppe", "Elbeuf", "Evreux"]
    towns = QueryTable.of_cells(("Towns",), ("Town", "People"), [(name, "9") for name in names])
    said = said_values("How many people live in Rouen, Caen and Bayeux together?", towns)
    assert said.cells == {"Town": ("Rouen", "Caen", "Bayeux")}


@pytest.mark.parametrize(
    ("question", "query", "may"),
    [
        ("How many from Velo Nord?", "SELECT COUNT(*) WHERE \"Supplier\" = 'Velo Nord'", True),
        ("How many from Velo Nord?", "SELECT COUNT(*) WHERE \"Part\" = 'Velo Nord'", False),
        ("How many from the north?", "SELECT COUNT(*) WHERE \"Supplier\" = 'Velo Nord'", True),
        ("What does a rim cost?", 'SELECT "Price" WHERE "Part" LIKE \'rim\'', True),
        ("What does a rim cost?", 'SELECT "Price" WHERE "Part" LIKE \'chain\'', False),
        ("Which cost over 20 euros?", 'SELECT "Part" WHERE "Price" > 20', True),
        ("Which cost over 20 euros?", 'SELECT "Part" WHERE "Price" > 30', False),
        ("Which cost over 20 euros?", 'SELECT "Part" WHERE "Supplier" > 20', False),
        ("What is the total?", 'SELECT SUM("Part")', False),
        ("What is the total?", 'SELECT SUM("Stock")', True),
        ("What is the total?", "NONE", True),
    ],
)
def test_only_what_the_question_says_may_be_asked(question: str, query: str, may: bool) -> None:
    pattern = query_pattern(TABLE, said_values(question, TABLE))
    assert bool(regex.fullmatch(pattern, query)) is may


def test_a_model_reads_the_kind_of_each_column() -> None:
    assert described(TABLE).splitlines() == [
        "Table: Spare parts, parts_2023 (7 rows)",
        '"Part" text: Chain, Brake pad',
        '"Supplier" one of: Velo Nord, Radwerk, Kern & Co',
        '"Stock" number: 0 to 120',
        '"Price" number eur: 4.2 to 61',
        '"Ordered" date: 2021-01-09 to 2023-05-20',
        '"Critical" one of: yes, no',
    ]


def test_of_many_columns_those_are_shown_that_a_question_names() -> None:
    names = [f"Field {number}" for number in range(60)] + ["Depth"]
    wide = QueryTable.of_cells(("Wells",), names, [[str(number) for number in range(61)]] * 3)
    question = "What is the greatest depth?"
    shown = narrowed(wide, question, said_values(question, wide))
    assert len(shown.columns) == MAX_COLUMNS
    assert {"Field 0", "Depth"} <= set(shown.columns)


def test_a_few_other_words_do_not_make_a_column_of_numbers_text() -> None:
    table = QueryTable.of_cells(
        (), ("Well", "Depth"), [("A", "12"), ("B", "ca. 30"), ("C", "9"), ("D", "40"), ("E", "8")]
    )
    assert table.columns["Depth"].is_number
    query = parsed_query('SELECT "Well" ORDER BY "Depth" DESC LIMIT 1')
    assert query is not None
    assert result_of(query, table).lines[0].texts == ("D",)


@pytest.mark.parametrize(
    ("word", "cells"),
    [
        ("Kenyan", ["Kenya"]),
        ("Italian", ["Italy"]),
        ("Australian", ["Australia"]),
        ("Austrian", ["Austria"]),
        ("Danish", ["Denmark"]),
        ("American", ["USA"]),
        ("Americans", ["USA"]),
        ("Kenyans", ["Kenya"]),
        ("Danes", ["Denmark"]),
        ("rowers", ["Row"]),
        ("swimmers", ["Swimming"]),
        ("dancers", ["dance"]),
        ("kenyan", []),
        ("Rows", []),
        ("order", []),
    ],
)
def test_words_that_are_derived_from_cells(word: str, cells: list[str]) -> None:
    known = ["Kenya", "Italy", "Australia", "Austria", "Denmark", "USA", "Row", "Swimming", "dance", "ord"]
    assert list(cells_of_word(word, known[:9] if word == "order" else known)) == cells


def test_a_question_says_the_cell_that_its_word_is_derived_from() -> None:
    rows = [["Ann", "Kenya", "Row"], ["Bo", "Italy", "Swim"], ["Cy", "Mali", "Swim"]]
    table = QueryTable.of_cells(["club"], ["who", "from", "sport"], rows)
    said = said_values("How many of the Kenyan and Italian members are swimmers?", table)
    assert said.cells == {"from": ("Kenya", "Italy"), "sport": ("Swim",)}
    firms = QueryTable.of_cells(["firms"], ["who", "nation"], [["Abel", "US"], ["Bolt", "UK"]])
    assert said_values("How many are of the US?", firms).cells == {"nation": ("US",)}
    assert not said_values("How many of us are there?", firms).cells


@pytest.mark.parametrize(
    ("condition", "may"),
    [
        ('"pct" > 100000', False),
        ('"people" > 100000', True),
        ('"people" < 100000', True),
        ('"people" = 100000', False),
        ('"people" != 100000', False),
        ("\"day\" LIKE '2021'", True),
        ("\"due\" LIKE '2021'", False),
        ('"day" IS NULL', True),
        ('"people" IS NULL', False),
        ('"people" > "pct"', True),
    ],
)
def test_a_query_compares_a_column_only_with_what_one_of_its_values_meets(condition: str, may: bool) -> None:
    rows = [["a", "1.5", "200000", "2021-03-04", "2019-01-01"], ["b", "2", "5000", "", "2019-02-01"]]
    table = QueryTable.of_cells(["x"], ["name", "pct", "people", "day", "due"], rows)
    pattern = query_pattern(table, said_values("How many had more than 100,000 people in 2021?", table))
    assert (regex.fullmatch(pattern, f"SELECT COUNT(*) WHERE {condition}") is not None) is may


@pytest.mark.parametrize(
    ("question", "is_of_whole"),
    [
        ("What share of the critical parts is from Velo Nord?", True),
        ("What share of the parts is critical?", False),
        ("How many of the critical parts are from Velo Nord?", False),
    ],
)
def test_a_share_of_a_part_is_not_that_of_the_part_among_all(question: str, is_of_whole: bool) -> None:
    share = parsed_query("SELECT SHARE(*) WHERE \"Critical\" = 'yes'")
    count = parsed_query("SELECT COUNT(*) WHERE \"Critical\" = 'yes'")
    assert share is not None and count is not None
    assert takes_whole_for_part(share, question) is is_of_whole
    assert not takes_whole_for_part(count, question)


def test_a_cell_that_lists_several_things_is_equal_to_each() -> None:
    lines = ("7, 14", "14", "4", "4, 14", "1, 7", "7", "1, 4, 14")
    table = QueryTable.of_cells(("metro",), ("Stop", "Lines"), tuple(zip("ABCDEFG", lines, strict=True)))
    for condition, rows in (("= '14'", "ABDG"), ("!= '14'", "CEF"), ("IN ('1', '14')", "ABDEG")):
        query = parsed_query(f'SELECT "Stop" WHERE "Lines" {condition}')
        assert query is not None
        assert "".join(line.texts[0] for line in result_of(query, table).lines) == rows
    names = ("Smith, John", "Smith", "Lee, Ann", "Lee", "Hay, Bo", "Roe, Joe", "Poe, Al")
    table = QueryTable.of_cells(("staff",), ("Room", "Name"), tuple(zip("ABCDEFG", names, strict=True)))
    query = parsed_query('SELECT "Room" WHERE "Name" = \'Smith\'')
    assert query is not None and len(result_of(query, table).lines) == 1


def test_the_name_of_a_column_that_is_a_sentence_is_shown_by_its_first_words() -> None:
    long = "Average monthly riders of all buses (in hundreds) January 1973 through June 1982"
    (table,) = tables_of(passages([f"Month: 1973-0{month} · {long}: {month}" for month in range(1, 5)]))
    assert [*QueryTable.of_parsed(table).columns] == [
        "Month", "Average monthly riders of all buses (in hundreds)",
    ]  # fmt: skip
    rows = [f"Month: {month} · {long}, men: {month} · {long}, women: 2" for month in range(1, 5)]
    (table,) = tables_of(passages(rows))
    assert [*QueryTable.of_parsed(table).columns][1:] == [f"{long}, men", f"{long}, women"]


def test_the_column_of_marks_that_a_question_names_takes_the_place_of_another() -> None:
    columns = ("country", "asia", "africa", "size")
    rows = [("Angola", "0", "1", "1"), ("India", "1", "0", "0"), ("Peru", "0", "0", "5")]
    table = QueryTable.of_cells(("colonies",), columns, rows)
    for sql, question, told in (
        ('COUNT(*) WHERE "asia" = 1', "How many African countries are there?", '"africa" = 1'),
        ('COUNT(*) WHERE "asia" = 1', "How many countries are in Asia?", '"asia" = 1'),
        ('COUNT(*) WHERE "asia" = 1', "How many countries of Asia and Africa?", '"asia" = 1'),
        ('COUNT(*) WHERE "size" > 1', "How many African countries are there?", '"size" > 1'),
        ('COUNT(*) WHERE "asia" = 1', "How many countries are there?", '"asia" = 1'),
    ):
        query = parsed_query(f"SELECT {sql}")
        assert query is not None
        assert str(with_named_flag(query, table, question)).partition("WHERE ")[2] == told


def test_a_query_measures_by_the_column_of_numbers_that_the_question_says() -> None:
    rows = [("Jan", "1", "12"), ("Feb", "7", "30"), ("Mar", "2", "41")]
    table = QueryTable.of_cells(("deaths",), ("month", "wounds", "disease"), rows)
    for sql, question, is_another in (
        ('SUM("wounds")', "How many died of disease?", True),
        ('SUM("disease")', "How many died of disease?", False),
        ('SUM("wounds")', "How many died of wounds or disease?", False),
        ('SUM("wounds")', "How many died?", False),
        ('"month" ORDER BY "wounds" DESC LIMIT 1', "When was disease the worst?", True),
        ("COUNT(*)", "How many months of disease were there?", False),
    ):
        query = parsed_query(f"SELECT {sql}")
        assert query is not None and measures_another(query, table, question) is is_another


def test_a_superlative_means_its_column() -> None:
    rows = [("Rome", "24", "9"), ("Oslo", "27", "4"), ("Bern", "29", "5")]
    table = QueryTable.of_cells(("squads",), ("Country", "Age", "MarketValue"), rows)
    for sql, question, key in (
        ('ORDER BY "MarketValue" ASC LIMIT 1', "Which nation sent the youngest squad?", '"Age" ASC'),
        ('ORDER BY "MarketValue" ASC LIMIT 1', "Which has the least market value?", '"MarketValue" ASC'),
        ('ORDER BY "MarketValue" ASC LIMIT 1', "Which is the tallest?", '"MarketValue" ASC'),
        ('ORDER BY "MarketValue" ASC LIMIT 1', "Which is the newest?", '"MarketValue" ASC'),
        ('ORDER BY "Age" ASC LIMIT 1', "Which is the youngest?", '"Age" ASC'),
        (
            'GROUP BY "Country" ORDER BY AVG("MarketValue") ASC LIMIT 1',
            "Which is the oldest?",
            'AVG("Age") ASC',
        ),
    ):
        query = parsed_query(f'SELECT "Country" {sql}')
        assert query is not None
        made = str(with_meant_measure(query, table, question))
        assert made.rpartition("ORDER BY ")[2].removesuffix(" LIMIT 1") == key


def test_what_a_question_sets_others_apart_from_is_no_condition() -> None:
    query = parsed_query("SELECT COUNT(*) WHERE \"Measure\" IN ('volume', 'mass')")
    assert query is not None
    made = without_contrast(query, "In how many was size taken as mass rather than volume?")
    assert str(made) == "SELECT COUNT(*) WHERE \"Measure\" = 'mass'"
    for question in ("In how many was it mass or volume?", "In how many was it mass rather than length?"):
        assert without_contrast(query, question) == query


def test_the_worst_of_what_is_bad_is_the_most() -> None:
    rows = [("Oslo", "3", "4.5", "12"), ("Rome", "5", "3.9", "7"), ("Bern", "2", "4.9", "9")]
    table = QueryTable.of_cells(("towns",), ("Town", "infant.mortality", "Rating", "Trees"), rows)
    for column, question, direction in (
        ("infant.mortality", "Which town has the worst infant mortality?", "DESC"),
        ("infant.mortality", "Which town has the best infant mortality?", ""),
        ("Rating", "Which town has the worst rating?", "ASC"),
        ("Rating", "Which town is the best?", "DESC"),
        ("Trees", "Which town is the worst?", ""),
        ("infant.mortality", "Which town has the lowest infant mortality?", ""),
    ):
        made = {
            str(with_merit(query, table, question)).rpartition(f'"{column}" ')[2]
            for way in ("ASC", "DESC")
            if (query := parsed_query(f'SELECT "Town" ORDER BY "{column}" {way} LIMIT 1'))
        }
        kept = (direction,) if direction else ("ASC", "DESC")
        assert made == {f"{way} LIMIT 1" for way in kept}
