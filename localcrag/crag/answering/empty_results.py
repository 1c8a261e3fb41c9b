"""The answer that no row of a table meets what a question asks for, with the rows that come nearest.

"Which plots have a greenhouse and unpaid rent?" may be true of none. That is an answer if some rows meet each
of the conditions, and it can be checked: those that meet the rarest one are named.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath

from localcrag.crag.answering.computed_rows import (
    MAX_NAMED_ROWS,
    below_header,
    cited_text,
    count_of,
    each_cited_once,
    own_mark,
)
from localcrag.crag.answering.query_answers import condition_words, operation_of
from localcrag.crag.state import ComputedAnswer
from localcrag.crag.table_queries.query_results import rows_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.table_query import TableQuery
from localcrag.types import Computation

NONE = "None"


def answer_of_none(query: TableQuery, table: QueryTable) -> ComputedAnswer | None:
    """The answer that no row meets all conditions of a query; None if one does, or too many meet the rarest.

    There is none of a query with a single condition, which may be of a word that the table has otherwise.

    Args:
        query: a query for cells or for a number of rows.
        table: a table that was parsed from a document.
    """
    counts = query.targets[0].function == "COUNT" and not query.group
    if not (query.reads_cells or counts) or len(query.conditions) < 2 or rows_of(query, table):
        return None
    met = {each: rows_of(replace(query, conditions=(each,)), table) for each in query.conditions}
    rarest, rows = min(met.items(), key=lambda each: len(each[1]))
    if not 0 < len(rows) <= MAX_NAMED_ROWS:
        return None
    names = [f"{table.shown_cell(table.label, at)} {own_mark(n)}" for n, at in enumerate(rows, 1)]
    others = " and ".join(condition_words(each) for each in query.conditions if each != rarest)
    strips = tuple(table.rows[at].strip for at in rows)
    source = strips[0].passage.source
    listed = below_header(table.label, ", ".join(names))
    told = f"{NONE}. {condition_words(rarest)} in {count_of(len(rows), table.counted)} ({listed})"
    looked = f"(Computed from {count_of(table.size, table.counted)} of {PurePath(source).name or source}.)"
    made, strips = each_cited_once(f"{told}, and {others} in none of these.\n\n{looked}", strips)
    text, marks = cited_text(made)
    computation = Computation(
        operation=operation_of(query, table),
        column="",
        value=NONE,
        conditions=tuple(map(condition_words, query.conditions)),
        rows=0,
        table_rows=table.size + table.totals,
        left_out=(),
        source=source,
        page=strips[0].passage.page,
        counted=table.counted,
    )
    return ComputedAnswer(computation, text, strips, marks)
