"""The tables of one document that account for a question."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from localcrag.crag.table_answers.column_changes import with_changes
from localcrag.crag.table_answers.lookup_questions import LookupQuestion
from localcrag.crag.table_answers.parsed_tables import ParsedTable, joined_tables
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_matching import matched, may_mean
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.transposed_tables import transposed_matches
from localcrag.crag.table_answers.united_tables import united
from localcrag.filters import Filter, matches

MIN_TELLING_COLUMNS = 2
"""How many columns with conditions make a table the one that is meant, however far down the hits it is."""


def document_matches(
    question: TableQuestion | LookupQuestion, tables: Sequence[ParsedTable], wanted: Filter | None
) -> Iterator[TableMatch]:
    """The tables of a document that account for the question; none of one that the filter cuts through.

    If several with the same columns do, it is over the rows of all, and so if the question names them. Those
    are turned round of which none does as it is.

    Args:
        question: the form of the question.
        tables: the tables of the document.
        wanted: the filter of the question, if it has one.
    """
    if not isinstance(question, TableQuestion):
        yield from (match for match in question.matches(tables) if _is_allowed(wanted, match))
        return
    if question.change is not None:
        tables = with_changes(tables, question.change)
    whole = [match for table in joined_tables(tables) if (match := matched(question, table))]
    within = {match.table.columns for match in whole}
    each = (matched(question, table) for table in tables if table.columns not in within)
    both = united(question, tables)
    named = matched(*both) if both else None
    found = [*whole, *filter(None, each)] if named is None else [named]
    for match in found or transposed_matches(question, tables):
        own = (match.original or match.table).columns
        others = [table for table in tables if table.columns != own]
        if _is_allowed(wanted, match) and not any(may_mean(match, other) for other in others):
            yield match


def is_told_by_cells(match: TableMatch) -> bool:
    """Whether a question has all its words in a table, some of them in cells of two columns or more."""
    columns = {condition.column for condition in match.conditions}
    return not match.loose and len(columns) >= MIN_TELLING_COLUMNS


def _is_allowed(wanted: Filter | None, match: TableMatch) -> bool:
    """Whether the filter of the question leaves all rows of a table."""
    rows = match.table.rows
    return wanted is None or all(matches(wanted, row.strip.passage) for row in rows)
