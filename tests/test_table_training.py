"""The questions over tables that come along, and how they are learnt."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from training import table_measure
from training.table_questions import LabelError, is_held_out, labelled, read_tables
from training.table_tasks import TableTasks
from training.table_variation import renamed, renamed_query, restyled_names, with_strange_columns

from localcrag.crag.table_queries.query_table import QueryTable
from tests.fakes.llm import ScriptedQueries

TABLE = QueryTable.of_cells(
    ("Fleet",), ("Car", "Seats", "Fuel"), [("Ada", "5", "gas"), ("Bo", "7", "diesel")]
)


def test_a_query_is_learnt_in_the_spelling_of_the_table() -> None:
    assert labelled(TABLE, "How many burn diesel?", "SELECT COUNT(*) WHERE \"Fuel\" = 'Diesel'") == (
        "SELECT COUNT(*) WHERE \"Fuel\" = 'diesel'"
    )
    assert labelled(TABLE, "Which has seven seats?", 'SELECT "Car" WHERE "Seats" = \'7\'') == (
        'SELECT "Car" WHERE "Seats" = 7'
    )
    assert labelled(TABLE, "Why are they so dear?", "NONE") == "NONE"


@pytest.mark.parametrize(
    "query",
    ['SELECT "Doors"', 'SELECT "Car" WHERE "Seats" = 9', 'SELECT "Car" WHERE "Seats" > 6', "How many"],
)
def test_what_the_question_or_the_table_does_not_bear_is_not_learnt(query: str) -> None:
    with pytest.raises(LabelError):
        labelled(TABLE, "Which one is it?", query)


def test_the_questions_that_come_along_can_be_learnt(tmp_path: Path) -> None:
    tables = list(islice(read_tables(tmp_path), 12))
    assert len(tables) == 12
    assert all(len(each.questions) > 8 for each in tables)
    tasks = list(TableTasks(tables, random.Random(1)).round())
    asked = sum(len(each.questions) for each in tables)
    assert sum(len(task.items) for task in tasks) == asked


def test_the_names_of_columns_are_written_in_one_style_and_so_is_the_query() -> None:
    made = {
        tuple(restyled_names(["Last ordered", "Price (EUR)"], random.Random(n)).values()) for n in range(60)
    }
    assert {("last_ordered", "price_eur"), ("LastOrdered", "PriceEur"), ("lastOrde", "priceEur")} <= made
    assert restyled_names(["Größe", "Price"], random.Random(1)) == {}
    assert restyled_names(["a b", "a_b"], random.Random(1)) == {}


def test_a_query_with_other_names_gives_the_same() -> None:
    names = {"Car": "car", "Seats": "n_seats", "Fuel": "fuel"}
    query = 'SELECT "Car" WHERE "Fuel" = \'gas\' AND "Seats" > "Seats" ORDER BY "Seats" DESC LIMIT 1'
    assert renamed_query(query, names) == (
        'SELECT "car" WHERE "fuel" = \'gas\' AND "n_seats" > "n_seats" ORDER BY "n_seats" DESC LIMIT 1'
    )
    grouped = 'SELECT "Fuel", SUM("Seats") GROUP BY "Fuel"'
    assert renamed_query(grouped, names) == 'SELECT "fuel", SUM("n_seats") GROUP BY "fuel"'
    assert renamed_query("NONE", names) == "NONE"
    assert [*renamed(TABLE, names).columns] == ["car", "n_seats", "fuel"]


def test_columns_of_another_table_are_those_of_which_nothing_is_asked() -> None:
    other = QueryTable.of_cells(("Ships",), ("Car deck", "Harbour", "Tons"), [("1", "Kiel", "300")])
    mixed = with_strange_columns(TABLE, other, ["How many tons of fuel?"], random.Random(1))
    assert set(mixed.columns) == {"Car", "Seats", "Fuel", "Harbour"}


def test_some_tables_are_held_out() -> None:
    assert 0 < sum(is_held_out(f"a/{number}.json") for number in range(600)) < 100


def test_an_adapter_is_measured_by_the_results_of_its_queries() -> None:
    asked = [
        (TABLE, "How many burn diesel?", "SELECT COUNT(*) WHERE \"Fuel\" = 'diesel'"),
        (TABLE, "Which one has seven seats?", 'SELECT "Car" WHERE "Seats" = 7'),
        (TABLE, "What burns gas?", 'SELECT "Car" WHERE "Fuel" = \'gas\''),
    ]
    model = ScriptedQueries(
        {
            "How many burn diesel?": ("SELECT COUNT(*) WHERE \"Fuel\" = 'diesel'", 0.9),
            "Which one has seven seats?": ('SELECT "Car" WHERE "Fuel" = \'diesel\'', 0.7),
            "What burns gas?": ('SELECT "Fuel" WHERE "Car" = \'Ada\'', 0.1),
        }
    )
    found = table_measure.ask(model, asked)
    assert [(each.is_same, each.is_text) for each in found] == [(True, True), (True, False), (False, False)]
    rows = table_measure.rows(found)
    assert rows[0].figures == {
        "questions": 1,
        "from probability": 0.9,
        "same result": 1.0,
        "same text": 1.0,
    }
    assert rows[-1].figures["same result"] == pytest.approx(2 / 3)
    assert rows[-1].figures["same text"] == pytest.approx(1 / 3)


def test_the_scale_makes_probabilities_those_of_the_same_result() -> None:
    asked = [
        table_measure.Asked("", "SELECT", "SELECT", probability, is_same=each % 10 < right, is_text=False)
        for probability, right in ((0.5, 9), (0.2, 6))
        for each in range(200)
    ]
    none = table_measure.Asked("", "NONE", "NONE", 0.99, is_same=False, is_text=True)
    scale = table_measure.scale_of([*asked, none])
    assert scale(0.5) == pytest.approx(0.9, abs=0.01) and scale(0.2) == pytest.approx(0.6, abs=0.01)
