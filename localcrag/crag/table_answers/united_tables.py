"""Several tables of one document taken together: those that a question names, or all below one header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag.table_answers.parsed_tables import ParsedTable, joined_tables, shared_names
from localcrag.crag.table_answers.table_columns import content
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import root, roots
from localcrag.types import Aggregate


def united(
    question: TableQuestion, tables: Sequence[ParsedTable]
) -> tuple[TableQuestion, ParsedTable] | None:
    """The rows of the tables that a question names, below the columns that all of them have.

    The names are then accounted for in the question that is returned. None if it does not count or add up,
    names less than two tables, or one by a name with a number, or if a row of two is named alike.
    """
    if question.operation not in (Aggregate.COUNT, Aggregate.TOTAL):
        return None
    said = {token.root for token in question.tokens}
    named = [table for table in tables if said.issuperset(_words(table) or {""})]
    words = [_words(table) for table in named]
    columns = (
        tuple(column for column in named[0].columns if all(column in t.columns for t in named))
        if named
        else ()
    )
    if len(named) < 2 or len(set(words)) < len(words) or not columns:
        return None
    labels = [cell for table in named for cell in table.cells(columns[0])]
    is_numbered = any(word.isdecimal() for some in words for word in some)
    if (
        is_numbered
        or any(table.columns[0] != columns[0] for table in named)
        or len(set(labels)) < len(labels)
    ):
        return None
    taken = frozenset[str]().union(*words) | {root("together")}
    tokens = [replace(token, used=token.used or token.root in taken) for token in question.tokens]
    names = shared_names(named)
    rows = tuple(row for table in named for row in table.rows)
    return replace(question, tokens=tokens), ParsedTable(columns, rows, names, names[:1])


def whole_table(question: str, table: ParsedTable, tables: Sequence[ParsedTable]) -> ParsedTable:
    """The rows of all tables of a document below the header of one, if a question names none of them.

    A price list has a table below each heading, and "which treatments cost more than 500?" goes over all. One
    that the question does name is taken alone.

    Args:
        question: the question, which goes over rows.
        table: the table that was found.
        tables: all tables of its document.
    """
    alike = [other for other in tables if other.columns == table.columns]
    if len(alike) < 2:
        return table
    said = {*roots(question)}
    shared = {word for name in (*shared_names(alike), *table.columns) for word in roots(name)}
    named = [other for other in alike if (_words(other) - shared) & said]
    if named:
        whole = [other for other in named if _words(other) - shared <= said]
        return whole[0] if len(whole) == 1 else table
    return next(iter(joined_tables(alike)), table)


def _words(table: ParsedTable) -> frozenset[str]:
    """The words of the nearest name of a table; none of one without names."""
    return frozenset(word for name in table.own_names[:1] for word in content(name))
