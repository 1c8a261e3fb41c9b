"""What is answered to a question over a table that a model reads as a query."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest

from localcrag.crag.answering.queried_tables import answered_by, read_query
from localcrag.crag.answering.query_answers import answer_of, is_lookup
from localcrag.crag.state import ComputedAnswer
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_queries.query_results import result_of
from localcrag.types import Aggregate, Prompt, Tokens, WrittenLine
from tests.crag.test_aggregation import passages
from tests.fakes.llm import ScriptedQueries

FROM, LOOKED = "(Computed from", "(Looked up in farms.csv where"

BATS = [
    "name: Noctule · roost: tree · sleep_total: 19.5 · seen: 2021-04-02",
    "name: Serotine · roost: house · sleep_total: 19.9 · seen: 2023-06-11",
    "name: Barbastelle · roost: tree · sleep_total: 18.2 · seen: 2022-09-30",
    "name: Grey bat · roost: cave · sleep_total: 19.9 · seen: 2020-05-19",
]


def answered(sql: str, rows: list[str] = BATS) -> ComputedAnswer | None:
    (table,) = tables_of(passages(rows))
    read = read_query(
        ScriptedQueries({"tree": (sql, 0.8)}), "How many sleep 19 hours in a tree since 2021?", table
    )
    if read is None:
        return None
    assert read.probability == 0.8
    return answer_of(read.query, result_of(read.query, read.table), read.table)


@pytest.mark.parametrize(
    ("sql", "told", "operation", "cited"),
    [
        (
            "SELECT COUNT(*) WHERE \"roost\" = 'tree'",
            f"2 – name: Noctule [1], Barbastelle [2]\n\n{FROM} 2 rows of farms.csv where roost is tree.)",
            Aggregate.COUNT,
            2,
        ),
        (
            'SELECT "name" ORDER BY "sleep_total" ASC LIMIT 1',
            f"Barbastelle has the lowest sleep_total: 18.2 [1]\n\n"
            f"{FROM} 4 rows of farms.csv, column sleep_total.)",
            Aggregate.LOWEST,
            1,
        ),
        (
            'SELECT "name" ORDER BY "sleep_total" DESC LIMIT 1',
            "Serotine has the highest sleep_total: 19.9 [1]\n"
            "Grey bat has the highest sleep_total: 19.9 [2]\n\n"
            f"{FROM} 4 rows of farms.csv, column sleep_total.)",
            Aggregate.HIGHEST,
            2,
        ),
        (
            'SELECT "name" ORDER BY "seen" DESC LIMIT 1',
            f"Serotine has the latest seen: 2023-06-11 [1]\n\n{FROM} 4 rows of farms.csv, column seen.)",
            Aggregate.LATEST,
            1,
        ),
        (
            'SELECT MIN("seen")',
            f"The earliest seen: 2020-05-19 (Grey bat) [1]\n\n{FROM} 4 rows of farms.csv, column seen.)",
            Aggregate.LOWEST,
            1,
        ),
        (
            'SELECT AVG("sleep_total") WHERE "seen" >= \'2021-01-01\'',
            "The average of sleep_total: 19.2 [1][2][3]\n\n"
            f"{FROM} 3 rows of farms.csv where seen ≥ 2021-01-01, column sleep_total.)",
            Aggregate.AVERAGE,
            3,
        ),
        (
            'SELECT "roost" GROUP BY "roost" ORDER BY COUNT(*) DESC LIMIT 1',
            f"tree: rows 2 [1][2]\n\n{FROM} 4 rows of farms.csv, by roost.)",
            Aggregate.COUNT,
            2,
        ),
        (
            'SELECT "name" WHERE "sleep_total" > 19',
            "name: Noctule (19.5) [1], Serotine (19.9) [2], Grey bat (19.9) [3]\n\n"
            f"{LOOKED} sleep_total > 19.)",
            Aggregate.LIST,
            3,
        ),
        (
            'SELECT "sleep_total" WHERE "roost" = \'cave\'',
            f"sleep_total: 19.9 (Grey bat) [1]\n\n{LOOKED} roost is cave.)",
            Aggregate.LIST,
            1,
        ),
    ],
)
def test_a_query_is_answered_in_words(sql: str, told: str, operation: Aggregate, cited: int) -> None:
    found = answered(sql)
    assert found is not None
    assert found.text == told
    assert found.computation.operation is operation
    assert len(found.rows) == cited
    assert [mark.key for mark in found.marks] == list(range(1, cited + 1))
    for mark in found.marks:
        assert found.text[mark.start : mark.end] == f"[{mark.key}]"


def test_a_table_that_does_not_answer_is_left() -> None:
    assert answered("NONE") is None


def test_a_query_that_the_question_does_not_bear_is_left() -> None:
    assert answered("SELECT COUNT(*) WHERE \"name\" = 'Serotine'") is None


def test_nothing_is_said_of_what_no_row_has() -> None:
    assert answered('SELECT "name" WHERE "roost" IS NULL') is None


def test_a_look_up_reads_the_rows_that_it_names() -> None:
    (table,) = tables_of(passages(BATS))
    model = ScriptedQueries({"tree": ('SELECT "name" WHERE "roost" = \'tree\'', 0.8)})
    read = read_query(model, "What sleeps in a tree?", table)
    assert read is not None and is_lookup(read.query)
    read = read_query(ScriptedQueries({"tree": ("SELECT COUNT(*)", 0.8)}), "How many, in a tree?", table)
    assert read is not None and not is_lookup(read.query)


def test_rows_of_totals_do_not_count() -> None:
    found = answered(
        'SELECT SUM("sleep_total") WHERE "sleep_total" > 19', [*BATS, "name: Total · sleep_total: 77.5"]
    )
    assert found is not None
    assert found.computation.value == "59.3"
    assert found.computation.left_out == ("1 row of totals",)


@pytest.mark.parametrize(
    ("question", "sql", "conditions", "value"),
    [
        ("How many tree dwellers were seen in 2021?", "SELECT COUNT(*) WHERE \"roost\" = 'tree'", 2, "1"),
        ("How many roost in a house?", "SELECT COUNT(*)", 1, "1"),
        ("How many sleep in a tree or a cave?", "SELECT COUNT(*)", 1, "3"),
        ("How many in a tree were seen in 2020?", "SELECT COUNT(*) WHERE \"roost\" = 'tree'", 1, "2"),
    ],
)
def test_a_cell_that_a_query_passes_over_is_a_further_condition(
    question: str, sql: str, conditions: int, value: str
) -> None:
    """But if no row meets it; neither is sure by itself."""
    (table,) = tables_of(passages(BATS))
    read = read_query(ScriptedQueries({"How many": (sql, 0.95)}), question, table)
    assert read is not None
    found = answered_by(read)
    assert found is not None and not found.is_whole
    assert len(found.query.conditions) == conditions
    assert found.answer.computation.value == value


def test_the_year_of_a_question_is_a_condition_on_the_column_of_years() -> None:
    votes = ["state: Utah · vote: 24.7 · year: 1984", "state: Iowa · vote: 10.1 · year: 1960"]
    (table,) = tables_of(passages([*votes, "state: Ohio · vote: 40.1 · year: 1984"]))
    lowest = 'SELECT "state" ORDER BY "vote" ASC LIMIT 1'
    read = read_query(ScriptedQueries({" ": (lowest, 0.9)}), "Where was the vote lowest in 1984?", table)
    assert read is not None
    found = answered_by(read)
    assert found is not None and not found.is_whole
    assert found.answer.text.startswith("Utah has the lowest vote: 24.7")


@pytest.mark.parametrize(
    ("question", "sql", "value"),
    [
        ("How many women are over 60?", 'COUNT(*) WHERE "age" > 60', "1"),
        ("How many of the men are there?", "COUNT(*)", "1"),
        ("How many women and men are there?", "COUNT(*)", "3"),
        ("How many women are there?", "COUNT(*) WHERE \"{column}\" = '{man}'", "1"),
        ("How many patients are there?", "COUNT(*)", "3"),
    ],
)
def test_women_and_men_are_a_condition(question: str, sql: str, value: str) -> None:
    for column, woman, man in (("sex", "F", "M"), ("column 2", "Female", "Male")):
        persons = ((61, woman), (64, man), (40, woman))
        (table,) = tables_of(passages([f"age: {age} · {column}: {sex}" for age, sex in persons]))
        written = f"SELECT {sql.format(column=column, man=man)}"
        read = read_query(ScriptedQueries({" ": (written, 0.95)}), question, table)
        assert read is not None
        found = answered_by(read)
        assert found is not None and found.answer.computation.value == value


def test_rows_of_which_all_have_one_name_are_cited_without_it() -> None:
    votes = ["sex: f · sport: Row", "sex: f · sport: Row", "sex: m · sport: Swim"]
    (table,) = tables_of(passages(votes))
    read = read_query(
        ScriptedQueries({" ": ("SELECT COUNT(*) WHERE \"sex\" = 'f'", 0.9)}), "How many rowers?", table
    )
    assert read is not None
    found = answered_by(read)
    assert found is not None
    assert found.answer.text.startswith("2 [1][2]\n\n(Computed from 2 rows")


def test_a_query_that_passes_over_nothing_stays_as_it_is() -> None:
    (table,) = tables_of(passages(BATS))
    for question, sql in (
        ("How many roost in a tree?", "SELECT COUNT(*) WHERE \"roost\" = 'tree'"),
        ("Is the Noctule one of a tree?", 'SELECT "roost" WHERE "name" = \'Noctule\''),
        ("How many slept in 2019?", "SELECT COUNT(*)"),
    ):
        read = read_query(ScriptedQueries({" ": (sql, 0.95)}), question, table)
        assert read is not None
        found = answered_by(read)
        assert found is not None and found.is_whole and found.query == read.query


def test_a_cell_takes_the_place_of_its_part() -> None:
    rows = ["food: Crayfish · group: Shellfish", "food: Cod · group: Marine fish"]
    (table,) = tables_of(
        passages([*rows, "food: Shad fish · group: Marine fish", "food: Rice · group: Cereals"])
    )
    sql = "SELECT COUNT(*) WHERE \"food\" LIKE 'fish'"
    read = read_query(ScriptedQueries({" ": (sql, 0.95)}), "How many marine fish are there?", table)
    assert read is not None
    found = answered_by(read)
    assert found is not None and not found.is_whole
    assert str(found.query) == "SELECT COUNT(*) WHERE \"group\" = 'Marine fish'"
    assert found.answer.computation.value == "2"


def test_the_row_of_a_name_is_not_counted() -> None:
    (table,) = tables_of(passages(BATS))
    for question, sql, is_none in (
        ("How many legs has the Noctule?", "\"name\" = 'Noctule'", True),
        ("How many roost in a cave?", "\"roost\" = 'cave'", False),
    ):
        queries = ScriptedQueries({" ": (f"SELECT COUNT(*) WHERE {sql}", 0.95)})
        read = read_query(queries, question, table)
        assert read is not None and (answered_by(read) is None) is is_none


def test_rows_without_what_is_counted_do_not_count() -> None:
    rows = ["period: Lias", "period: Lias · age: Toarcian", "period: Lias · age: Sinemurian", "period: Malm"]
    (table,) = tables_of(passages(rows))
    sql = "SELECT COUNT(*) WHERE \"period\" = 'Lias'"
    for question, value, is_whole in (
        ("Into how many ages is the Lias divided?", "2", False),
        ("How many entries has the Lias?", "3", True),
    ):
        read = read_query(ScriptedQueries({" ": (sql, 0.95)}), question, table)
        assert read is not None
        found = answered_by(read)
        assert found is not None and (found.answer.computation.value, found.is_whole) == (value, is_whole)


def test_the_name_of_a_column_is_no_part_of_its_cells() -> None:
    (table,) = tables_of(passages(["airport: Moss airport · code: RYG", "airport: Kjevik · code: KRS"]))
    sql = "SELECT COUNT(*) WHERE \"airport\" LIKE 'airports'"
    read = read_query(ScriptedQueries({" ": (sql, 0.95)}), "How many airports are there?", table)
    assert read is not None and answered_by(read) is None


def test_a_query_that_passes_over_a_column_which_a_question_names_is_not_sure() -> None:
    rows = [f"name: {name} · cup: {'Oslo' if name < 'C' else 'Rome'}" for name in "ABCD"]
    (table,) = tables_of(passages(rows))
    for question, is_whole in (("How many were at the Games cup?", False), ("How many names?", True)):
        read = read_query(ScriptedQueries({" ": ("SELECT COUNT(*)", 0.95)}), question, table)
        assert read is not None
        found = answered_by(read)
        assert found is not None and found.is_whole is is_whole


def test_an_extreme_is_told_with_the_day_of_its_row_and_the_rows_that_count() -> None:
    days = [
        "date: 2021-04-02 · wind: 9.5 · weather: rain",
        "date: 2021-04-03 · wind: 2.1 · weather: sun",
        "date: 2021-04-04 · weather: rain",
    ]
    (table,) = tables_of(passages(days))
    read = read_query(ScriptedQueries({" ": ('SELECT MAX("wind")', 0.95)}), "How strong was the wind?", table)
    assert read is not None
    found = answered_by(read)
    assert found is not None
    assert found.answer.text.startswith("The highest wind: 9.5 (2021-04-02) [1]")
    assert found.answer.computation.rows == 2
    assert found.answer.computation.left_out == ("1 row without a value of wind",)


def test_lines_with_the_same_conditions_in_another_order_are_one_query() -> None:
    (table,) = tables_of(passages(BATS))
    sleep, tree = '"sleep_total" > 19', "\"roost\" = 'tree'"
    others = (
        (f"SELECT COUNT(*) WHERE {tree} AND {sleep}", 0.3),
        (f"SELECT COUNT(*) WHERE {tree}", 0.1),
        ("NONE", 0.05),
    )
    written = WrittenLine(f"SELECT COUNT(*) WHERE {sleep} AND {tree}", 0.4, 9, others)
    read = read_query(OneLine(written), "How many sleep more than 19 hours in a tree?", table)
    assert read is not None and read.probability == pytest.approx(0.7)


@dataclass(frozen=True)
class OneLine:
    """A model that writes the same line whatever it is asked."""

    written: WrittenLine
    tokens: Tokens = field(default_factory=Tokens)

    def write_line(
        self, prompt: Prompt, pattern: str, *, max_tokens: int = 96, least: float = 0.0
    ) -> WrittenLine:
        """The line."""
        return self.written


def test_of_a_single_row_none_has_the_most() -> None:
    """What has the most in one state is not told by its row, nor by that of another state."""
    states = ("NEBRASKA", 6892), ("IOWA", 9120), ("OHIO", 30111)
    (table,) = tables_of(
        passages([f"state: {state} · code: {state[:2]} · total: {n}" for state, n in states])
    )
    written = 'SELECT "code" WHERE "state" = \'NEBRASKA\' ORDER BY "total" DESC LIMIT 1'
    for probability in (0.5, 0.9):
        model = ScriptedQueries({"": (written, probability)})
        read = read_query(model, "Which county of NEBRASKA got the most in total?", table)
        assert read is not None
        assert answered_by(replace(read, is_trusted=probability > 0.5)) is None


def test_persons_are_named_by_both_of_their_names() -> None:
    people = [
        f"name_given: {first} · name_family: {last} · street: Elm Row {at} · dob: 19{at}-01-02"
        for first, last, at in (("Ann", "Lee", 70), ("Bo", "Hay", 81), ("Ann", "Roe", 65))
    ]
    (table,) = tables_of(passages(people))
    for sql, told in (
        ('SELECT "name_given" ORDER BY "dob" DESC LIMIT 1', "Bo Hay has the latest dob: 1981-01-02 [1]"),
        ('SELECT MIN("dob")', "The earliest dob: 1965-01-02 (Ann Roe) [1]"),
        ("SELECT \"name_given\" WHERE \"street\" = 'Elm Row 70'", "name_given: Ann Lee [1]"),
        ("SELECT \"name_given\", \"name_family\" WHERE \"street\" = 'Elm Row 70'",
         "name_given Ann, name_family Lee [1]"),
    ):  # fmt: skip
        asked = "Who lives at Elm Row 70?" if "street" in sql else "Who is the youngest?"
        read = read_query(ScriptedQueries({" ": (sql, 0.95)}), asked, table)
        assert read is not None
        found = answered_by(read)
        assert found is not None and found.answer.text.partition("\n")[0] == told


def test_a_query_against_the_words_of_its_question_is_to_be_checked() -> None:
    """The greatest of changes where something "fell most", and the first of a list for all of it."""
    people = [
        f"person: {name} · group: {group} · change: {change} · mass: {mass}"
        for name, group, change, mass in (
            ("Ann", "AL2", "3.5", 70), ("Bo", "BL3", "-4.2", 81), ("Cy", "CL4", "0.3", 65),
            ("Di", "AL2", "-1", 59),
        )
    ]  # fmt: skip
    (table,) = tables_of(passages(people))
    down = 'SELECT "person" ORDER BY "change" ASC LIMIT 1'
    up = 'SELECT "person" ORDER BY "change" DESC LIMIT 1'
    some = "SELECT SUM(\"mass\") WHERE \"group\" IN ('AL2', 'BL3')"
    for question, sql, is_whole in (
        ("Who fell the most?", up, False),
        ("Who fell the most?", down, True),
        ("Who rose the most?", down, False),
        ("Who rose the most?", up, True),
        ("Who lost mass most?", 'SELECT "person" ORDER BY "mass" DESC LIMIT 1', True),
        ("What is the mass of AL2, BL3 and so on altogether?", some, False),
        ("What is the mass of AL2 and BL3 altogether?", some, True),
    ):
        read = read_query(ScriptedQueries({" ": (sql, 0.95)}), question, table)
        assert read is not None
        for trusted in (False, True):
            found = answered_by(replace(read, is_trusted=trusted))
            assert found is not None and found.is_whole is is_whole, (question, sql)


class OnlyWith:
    """A model that understands what rows are "with", and not what they "have"."""

    def __init__(self) -> None:
        self.tokens, self.asked = Tokens(), list[str]()

    def write_line(
        self, prompt: Prompt, pattern: str, *, max_tokens: int = 96, least: float = 0.0
    ) -> WrittenLine:
        """The query, or NONE."""
        said = "".join(each if isinstance(each, str) else each.text for each in prompt.user)
        self.asked.append(said)
        knows = "are with sea view" in said
        return WrittenLine('SELECT "Room" WHERE "Type" LIKE \'sea view\'' if knows else "NONE", 0.8, 5)


@pytest.mark.parametrize(
    ("question", "listed", "asked"),
    [
        ("Which rooms have a sea view?", "Gull; Tern", 2),
        ("Which rooms have a garden view?", None, 2),
        ("Which rooms are quiet?", None, 1),
    ],
)
def test_what_rows_have_is_asked_again_as_what_they_are_with(
    question: str, listed: str | None, asked: int
) -> None:
    kinds = {"Gull": "double room, sea view", "Tern": "suite, sea view", "Knot": "single, garden view"}
    (table,) = tables_of(passages([f"Room: {room} · Type: {kind}" for room, kind in kinds.items()]))
    model = OnlyWith()
    read = read_query(model, question, table)
    found = answered_by(read) if read is not None else None
    assert (found.answer.computation.value if found else None) == listed
    assert len(model.asked) == asked


def test_none_of_the_rows_is_an_answer_with_those_that_come_nearest() -> None:
    """It can be checked: the rows that meet the rarest condition are named and cited."""
    plots = [("A1", "yes", "paid"), ("A2", "no", "open"), ("A3", "no", "open"), ("A4", "no", "paid")]
    rows = [f"Plot: {plot} · Greenhouse: {glass} · Rent: {rent}" for plot, glass, rent in plots]
    (table,) = tables_of(passages(rows))
    written = 'SELECT "Plot" WHERE "Greenhouse" = \'yes\' AND "Rent" = \'open\''
    told = {}
    for probability in (0.5, 0.7):
        model = ScriptedQueries({"": (written, probability)})
        read = read_query(model, "Which plots with greenhouse yes have their rent open?", table)
        assert read is not None
        told[probability] = answered_by(read)
    assert told[0.5] is None, "of an unlikely query nothing is said"
    found = told[0.7]
    assert found is not None and found.answer.text == (
        "None. Greenhouse is yes in 1 row (Plot: A1 [1]), and Rent is open in none of these.\n\n"
        "(Computed from 4 rows of farms.csv.)"
    )
    assert [row.text for row in found.answer.rows] == [rows[0]]
    assert found.answer.computation.value == "None" and found.answer.computation.rows == 0


def test_a_column_without_a_name_is_not_called_by_its_number() -> None:
    rows = [
        f"column 1: {code} · column 2: {land}"
        for code, land in (("BIAR", "Iceland"), ("BIEG", "Iceland"), ("LOWW", "Austria"))
    ]
    listed = answered('SELECT "column 1" WHERE "column 2" = \'Iceland\'', rows)
    counted = answered("SELECT COUNT(*) WHERE \"column 2\" = 'Iceland'", rows)
    assert listed is not None and listed.text.startswith("BIAR [1], BIEG [2]\n")
    assert counted is not None and counted.text.startswith("2 – BIAR [1], BIEG [2]\n")
