"""Questions over tables as tasks: the questions of one table behind its description, each with its query."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from localcrag.crag.table_queries.query_prompt import query_prompt
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values
from localcrag.crag.table_queries.table_query import parsed_query

from .chat_tasks import Task
from .table_questions import TableQuestions
from .table_variation import renamed, renamed_query, restyled_names, with_strange_columns

TOGETHER = (7, 3)
"""The numbers of questions of one table in a task, by turns: two such tasks fill a row of a batch."""
SHUFFLED, THINNED = 0.4, 0.3
"""How often the columns of a table are put in another order, and how often some of those that no question of
a task needs are left out."""
RESTYLED, MIXED = 0.35, 0.25
"""How often the names of the columns are written in another style, and columns of another table are put among
them."""

SIZES = (1, 1, 1, 4, 15, 60)
"""How many times as many rows a table is said to have, as tables of files have far more than those made."""


class TableTasks:
    """Draws the questions of tables in rounds: each question once in a round, its table varied.

    Args:
        tables: the tables with their questions.
        rng: the source of every choice.
    """

    def __init__(self, tables: Sequence[TableQuestions], rng: random.Random) -> None:
        self._tables, self._rng = list(tables), rng

    def round(self) -> Iterator[Task]:
        """The tasks of one round."""
        parts = []
        for each in self._tables:
            questions = list(each.questions)
            self._rng.shuffle(questions)
            turn = self._rng.randrange(len(TOGETHER))
            while questions:
                size = TOGETHER[turn % len(TOGETHER)]
                parts.append((each.table, questions[:size]))
                questions, turn = questions[size:], turn + 1
        self._rng.shuffle(parts)
        for table, questions in parts:
            yield self._task(table, questions)

    def _task(self, table: QueryTable, questions: Sequence[tuple[str, str]]) -> Task:
        varied = self._varied(table, {name for _, text in questions for name in _columns(text)})
        if self._rng.random() < MIXED:
            other = self._rng.choice(self._tables).table
            varied = with_strange_columns(varied, other, [question for question, _ in questions], self._rng)
        names = restyled_names(list(varied.columns), self._rng) if self._rng.random() < RESTYLED else {}
        if names:
            varied = renamed(varied, names)
            questions = [(question, renamed_query(text, names)) for question, text in questions]
        items = tuple(
            (query_prompt(varied, question, said_values(question, varied)), text)
            for question, text in questions
        )
        return Task("table", items)

    def _varied(self, table: QueryTable, needed: set[str]) -> QueryTable:
        names = list(table.columns)
        if self._rng.random() < THINNED:
            names = [name for name in names if name in needed or self._rng.random() < 0.6]
        if self._rng.random() < SHUFFLED:
            self._rng.shuffle(names)
        own = list(table.names)
        if len(own) > 1 and self._rng.random() < 0.3:
            own = [self._rng.choice(own)]
        size = table.size * self._rng.choice(SIZES)
        return replace(table.with_columns(names), names=tuple(own), size=size)


def _columns(text: str) -> Sequence[str]:
    query = parsed_query(text)
    return query.columns if query else ()
