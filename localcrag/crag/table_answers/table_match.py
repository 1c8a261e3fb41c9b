"""How a table answers a question."""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable
from localcrag.crag.table_answers.row_groups import Grouping, RowShare
from localcrag.crag.table_answers.table_columns import (
    RowCondition,
)
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import (
    ColumnValues,
)


@dataclass(frozen=True, slots=True)
class TableMatch:
    """How a table answers a question.

    ``rows`` are those of the table without the ``totals`` rows that add them up. ``column`` is the one that
    is compared or added up, with its ``values``; it is "" if rows are counted. ``entity`` is the column
    whose values are counted or asked for, or "". ``loose`` says that a word of the question stands nowhere in
    the table, so that its answer is to be checked. ``is_named`` says that another document of the knowledge
    base says what the question calls the table. ``original`` is the table of the document if ``table`` is
    that one turned round, so that its columns are rows. ``grouping`` are the groups of rows for each of which
    something is computed, and ``share`` the part of the rows whose share is.
    """

    table: ParsedTable
    question: TableQuestion
    rows: tuple[ParsedRow, ...]
    totals: int
    column: str
    values: ColumnValues
    entity: str
    conditions: tuple[RowCondition, ...]
    loose: bool = False
    is_named: bool = False
    original: ParsedTable | None = None
    grouping: Grouping | None = None
    share: RowShare | None = None
