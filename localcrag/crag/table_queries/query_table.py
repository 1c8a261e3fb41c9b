"""A table as a query reads it: the cells of its columns, and what kind of values they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property

from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable
from localcrag.crag.table_answers.table_totals import totals_of
from localcrag.crag.table_answers.table_values import (
    ColumnKind,
    ColumnValues,
    Value,
    column_values,
    is_missing,
    roots,
)

MAX_LISTED_VALUES = 6
"""The most different cells of a column that are all shown, and may all be asked for in other words."""
_MAX_LISTED_CHARACTERS = 32
_SHOWN_EXAMPLES = 2
_MAX_EXAMPLE_CHARACTERS = 28
_MIN_READ_SHARE = 0.75
"""How many of the cells of a column must be numbers or dates if the others are to count as missing."""


@dataclass(frozen=True)
class QueryColumn:
    """A column: its name as it is shown, its cells, and their values."""

    name: str
    cells: tuple[str, ...]
    typed: ColumnValues

    @property
    def is_ordered(self) -> bool:
        """Whether its values are numbers, dates or times, of which one is more than another."""
        return self.typed.kind not in (ColumnKind.TEXT, ColumnKind.FLAG)

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers."""
        return self.typed.kind in (ColumnKind.NUMBER, ColumnKind.YEAR)

    @property
    def kind(self) -> str:
        """What it holds, in a word."""
        if self.is_number:
            return "number"
        return {ColumnKind.TIME: "time", ColumnKind.DATE: "date"}.get(self.typed.kind, "text")

    @cached_property
    def distinct(self) -> tuple[str, ...]:
        """Its different cells, in order, without those that are missing."""
        return tuple(dict.fromkeys(self.filled))

    @cached_property
    def filled(self) -> tuple[str, ...]:
        """Its cells without those that are missing."""
        return tuple(cell for cell in self.cells if not is_missing(cell))

    @cached_property
    def listed(self) -> tuple[str, ...]:
        """All of its different cells if they are few and short, else none."""
        few = self.distinct if len(self.distinct) <= MAX_LISTED_VALUES else ()
        is_short = all(len(cell) <= _MAX_LISTED_CHARACTERS for cell in few)
        is_told_by_rows = len(few) == len(self.cells) and len(few) > 2
        return few if is_short and not self.is_ordered and not is_told_by_rows else ()

    @cached_property
    def roots(self) -> Mapping[str, tuple[str, ...]]:
        """The words of each different cell, for comparison."""
        return {cell: roots(cell) for cell in self.distinct}

    def described(self) -> str:
        """Its kind and some of its cells, as the language model reads them."""
        if self.is_ordered:
            values = [value for value in self.typed.values if value is not None]
            if not values:
                return self.kind
            low, high = plain_value(min(values)), plain_value(max(values))
            unit = f" {self.typed.unit}" if self.typed.unit else ""
            return f"{self.kind}{unit}: {low} to {high}"
        if self.listed:
            return f"one of: {', '.join(self.listed)}"
        examples = [_cut(cell) for cell in self.distinct[:_SHOWN_EXAMPLES]]
        return f"text: {', '.join(examples)}" if examples else "empty"


@dataclass(frozen=True)
class QueryTable:
    """A table: its names, its columns by the names that they are shown with, and its rows, if it was parsed.

    ``totals`` is the number of rows that add up others, which are left out, and ``size`` that of the others.
    """

    names: tuple[str, ...]
    columns: Mapping[str, QueryColumn]
    rows: tuple[ParsedRow, ...] = ()
    totals: int = 0
    size: int = field(default=0)

    @staticmethod
    def of_cells(names: Iterable[str], columns: Sequence[str], rows: Sequence[Sequence[str]]) -> QueryTable:
        """The table of some rows of cells."""
        by_name = {
            name: _column(name, tuple(row[at].strip() if at < len(row) else "" for row in rows))
            for at, name in enumerate(columns)
        }
        return QueryTable(tuple(dict.fromkeys(filter(None, names))), by_name, size=len(rows))

    @staticmethod
    def of_parsed(table: ParsedTable) -> QueryTable:
        """The table of the rows of a document, without those that add up others."""
        total_rows = totals_of(table).rows
        rows = tuple(row for at, row in enumerate(table.rows) if at not in total_rows)
        headers = [table.header(column) for column in table.columns]
        shown = headers if len(set(headers)) == len(headers) else list(table.columns)
        by_name = {
            name: _column(name, tuple(row.cells.get(column, "").strip() for row in rows))
            for name, column in zip(shown, table.columns, strict=True)
        }
        return QueryTable(table.names, by_name, rows, len(total_rows), len(rows))

    def with_columns(self, names: Iterable[str]) -> QueryTable:
        """The table with some of its columns."""
        return replace(self, columns={name: self.columns[name] for name in names})

    @property
    def label(self) -> str:
        """The name of the column that tells the rows apart: the first of texts that are all different.

        Without one the first column, if that has dates that are all different, else the first of texts.
        """
        columns = list(self.columns.values())
        texts = [column for column in columns if not column.is_ordered]
        days = [column for column in columns[:1] if column.typed.kind is ColumnKind.DATE]
        telling = [column for column in (*texts, *days) if len(column.distinct) == self.size]
        return (telling or texts or columns)[0].name


def plain_value(value: Value) -> str:
    """A value as a query writes it: a plain number, an ISO date, a time of day."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        plain = f"{value:f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="minutes")
    return value.isoformat() if isinstance(value, date) else time.isoformat(value, timespec="minutes")


def _column(name: str, cells: tuple[str, ...]) -> QueryColumn:
    typed = column_values(cells)
    if typed.kind is ColumnKind.TEXT:
        typed = _mostly_read(cells) or typed
    return QueryColumn(name, cells, typed)


def _mostly_read(cells: tuple[str, ...]) -> ColumnValues | None:
    """The values of a column of which most cells are numbers or dates, the others missing; None of others."""
    filled = [cell for cell in cells if not is_missing(cell)]
    by_cell = {cell: column_values([cell]).kind for cell in set(filled)}
    readable = [cell for cell in filled if by_cell[cell] not in (ColumnKind.TEXT, ColumnKind.FLAG)]
    if len(readable) < max(2, _MIN_READ_SHARE * len(filled)):
        return None
    known = set(readable)
    found = column_values([cell if cell in known else "" for cell in cells])
    return found if found.kind is not ColumnKind.TEXT else None


def _cut(cell: str) -> str:
    plain = " ".join(cell.split())
    return (
        plain
        if len(plain) <= _MAX_EXAMPLE_CHARACTERS
        else plain[: _MAX_EXAMPLE_CHARACTERS - 1].rstrip() + "…"
    )
