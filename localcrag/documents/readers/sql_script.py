"""Reader of SQL scripts: the rows of a dump are those of tables, and what else it says is source code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, tee

from localcrag.documents.block_text import BlockText
from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat, Markup
from localcrag.documents.readers.sql_statements import SqlRows, sql_rows
from localcrag.documents.readers.sql_tokens import UnbalancedQuotesError, dialects_of
from localcrag.documents.structure import structured
from localcrag.documents.table_rows import TableLine, add_lines, bounded_cells, row_text
from localcrag.types import BlockKind, Page

_MIN_ROWS = 3
"""The fewest rows of a script that is a dump."""
_MAX_READ_AGAIN = 4_000_000
"""Characters of a script that is read again in another dialect if its quotes are not balanced in one."""
_TABLE_LEVEL = 2
"""The level of the name of a table."""


@dataclass(slots=True)
class _Table:
    """The rows of a table, each with the names of its columns, as different statements may name others."""

    name: str
    rows: list[tuple[Sequence[str], Sequence[str]]] = field(default_factory=list)


def read_sql(data: bytes, limits: Limits) -> ExtractedText:
    """Read the rows of a dump below the names of their tables, and the rest of it as code in front of them.

    A script with fewer than three rows, or whose quotes are not balanced, is code as a whole. Raises
    UnreadableError: binary, too many cells, or more text than ``limits.text``.
    """
    script = clean(decode(data))
    found = _found(script)
    if sum(len(each.rows) for each in found) < _MIN_ROWS:
        return whole("", MEDIA_TYPES[DocumentFormat.CODE], script)
    made = BlockText(limits)
    made.add_page(structured(Page(None, _without(script, found)), Markup.LINES))
    for table in _tables(found):
        made.add(BlockKind.HEADING, table.name, level=_TABLE_LEVEL)
        add_lines(made, _lines(table))
    return ExtractedText("", MEDIA_TYPES[DocumentFormat.SQL], (made.page(),))


def _found(script: str) -> Sequence[SqlRows]:
    """The rows of a script; none if its quotes are not balanced in any dialect.

    Raises UnreadableError: too many cells.
    """
    for dialect in dialects_of(script):
        try:
            found, counted = tee(sql_rows(script, dialect))
            cells = bounded_cells([*chain.from_iterable(each.rows)] for each in counted)
            return [each for each, _ in zip(found, cells, strict=True)]
        except UnbalancedQuotesError:
            if len(script) > _MAX_READ_AGAIN:
                break
    return ()


def _without(script: str, found: Iterable[SqlRows]) -> str:
    """A script without the statements that have rows."""
    kept = []
    end = 0
    for each in found:
        start, after = each.span
        kept.append(script[end:start])
        end = after
    return "".join([*kept, script[end:]])


def _tables(found: Sequence[SqlRows]) -> Iterable[_Table]:
    """The tables in the order in which they first come."""
    tables: dict[str, _Table] = {}
    for each in found:
        table = tables.setdefault(each.table, _Table(each.name))
        table.rows += [(each.columns, cells) for cells in each.rows]
    return tables.values()


def _lines(table: _Table) -> Iterator[TableLine]:
    """The rows of a table, numbered in it; one of nothing but NULL has no text, and is left out."""
    for number, (columns, cells) in enumerate(table.rows, 1):
        yield TableLine(number, row_text(cells, columns), apart=False)
