"""The tables of a document that answer a question, unless it may as well mean another one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from localcrag.crag.table_answers.parsed_tables import ParsedTable, joined_tables
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_matching import may_mean


def unrivalled(
    tables: Sequence[ParsedTable], match_of: Callable[[ParsedTable], TableMatch | None]
) -> Iterator[TableMatch]:
    """The matches of tables, and of the rows of several with the same columns together.

    There is none of a table of whose columns the question names no more than of another one's.
    """
    whole = [match for table in joined_tables(tables) if (match := match_of(table))]
    within = {match.table.columns for match in whole}
    each = (match_of(table) for table in tables if table.columns not in within)
    for match in (*whole, *filter(None, each)):
        others = [table for table in tables if table.columns != match.table.columns]
        if not any(may_mean(match, other) for other in others):
            yield match
