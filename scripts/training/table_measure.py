"""Measure the adapter that reads questions over tables as queries, in llama.cpp, on tables held out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean

import numpy as np
from rich.console import Console
from rich.progress import track

from localcrag.calibration.scale import Scale, log_odds
from localcrag.crag.table_queries.query_grammar import query_pattern
from localcrag.crag.table_queries.query_prompt import query_prompt
from localcrag.crag.table_queries.query_results import result_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values
from localcrag.crag.table_queries.table_query import NO_QUERY, QueryError, TableQuery, parsed_query
from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.protocols import QueryModel

from .calibration import calibrate
from .result_row import Row
from .table_questions import TableQuestions, is_held_out, read_tables

QUESTIONS_A_TABLE = 4
"""How many questions of a table are asked, those with a query."""
SCALED_A_TABLE = 2
"""How many questions with a query are asked of each table to fit a scale."""
PARTS = 5
"""Into how many parts the questions are divided, the most probable query first."""


@dataclass(frozen=True)
class Asked:
    """A question that was asked: the probability of its query, and how that compares with the label.

    ``is_same`` says that both give the same result, ``is_text`` that they are the same text.
    """

    question: str
    label: str
    written: str
    probability: float
    is_same: bool
    is_text: bool


def held_out_questions(data: Path) -> Iterator[tuple[QueryTable, str, str]]:
    """Table, question and query of the first questions of each table held out. Raises DataError."""
    for table in read_tables(data):
        if is_held_out(table.key):
            yield from islice(_answered(table), QUESTIONS_A_TABLE)


def questions_for_scale(data: Path) -> Iterator[tuple[QueryTable, str, str]]:
    """Table, question and query of some questions of each table held out, one without a query among them.

    Raises DataError.
    """
    for table in read_tables(data):
        if is_held_out(table.key):
            yield from islice(_answered(table), SCALED_A_TABLE)
            others = ((table.table, *each) for each in table.questions if each[1] == NO_QUERY)
            yield from islice(others, 1)


def scale_of(asked: Sequence[Asked]) -> Scale:
    """The scale that makes the probability of a query that of giving the same as its label does.

    It is fitted to the questions of which a query was made, and some of which have none.
    """
    made = [each for each in asked if each.written != NO_QUERY and each.probability]
    odds = np.array([log_odds(each.probability) for each in made])
    return calibrate(odds, np.array([float(each.is_same) for each in made])).scale


def _answered(table: TableQuestions) -> Iterator[tuple[QueryTable, str, str]]:
    return ((table.table, question, label) for question, label in table.questions if label != NO_QUERY)


def ask(model: QueryModel, questions: Sequence[tuple[QueryTable, str, str]]) -> list[Asked]:
    """Let a model write the query of each question."""
    shown = track(questions, "questions over tables", console=Console(stderr=True))
    return [_asked(model, *each) for each in shown]


def _asked(model: QueryModel, table: QueryTable, question: str, label: str) -> Asked:
    """What a model writes for a question, beside its label."""
    said = said_values(question, table)
    try:
        written = model.write_line(query_prompt(table, question, said), query_pattern(table, said))
        query = parsed_query(written.text)
    except (ConstraintError, ContextOverflow, QueryError) as error:
        return Asked(question, label, type(error).__name__, 0.0, is_same=False, is_text=False)
    is_same = query is not None and _lines(query, table) == _lines(parsed_query(label), table)
    return Asked(question, label, written.text, written.probability, is_same, written.text == label)


def _lines(query: TableQuery | None, table: QueryTable) -> list[tuple[str, ...]] | None:
    """What a query gives, as texts; None if the table does not have what it asks for."""
    try:
        return [line.texts for line in result_of(query, table).lines] if query else None
    except QueryError:
        return None


def rows(asked: Sequence[Asked]) -> list[Row]:
    """The share of the same results among the most probable parts of the questions, and all of them."""
    ranked = sorted(asked, key=lambda each: -each.probability)
    made = []
    for part in range(1, PARTS + 1):
        chosen = ranked[: max(1, len(ranked) * part // PARTS)]
        figures = {
            "questions": len(chosen),
            "from probability": chosen[-1].probability,
            "same result": fmean(each.is_same for each in chosen),
            "same text": fmean(each.is_text for each in chosen),
        }
        made.append(Row("queries over tables", "held-out tables", f"most probable {part}/{PARTS}", figures))
    return made
