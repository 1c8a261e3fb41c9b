"""A table as a query reads it: the cells of its columns, and what kind of values they are."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import cached_property
from textwrap import shorten

from localcrag.crag.table_answers.parsed_tables import ROW, ParsedRow, ParsedTable
from localcrag.crag.table_answers.row_labels import NAME_IN_WORDS, ROW_CODE, name_parts
from localcrag.crag.table_answers.table_totals import totals_of
from localcrag.crag.table_answers.table_values import (
    ColumnKind,
    ColumnValues,
    Value,
    column_values,
    is_missing,
    roots,
    values_of_columns,
)
from localcrag.types import Strip

YEAR_IN_NAME = re.compile(r"(?<!\d)(?:1[89]|20)\d\d(?!\d)")
"""The year in the name of a column: "2001", "pcgdp1990", "2019_Cases"."""
MAX_LISTED_VALUES = 6
"""The most different cells of a column that are all shown, and may all be asked for in other words."""
YEARS = range(1500, 2101)
"""The numbers that are years if all those of a column are."""
ROW_NAME = "name"
"""What the column of the names of rows is called that has none itself, as R writes it."""
MAX_NAME_CHARACTERS = 56
"""The most characters of the name of a column that are shown."""
_MAX_LISTED_CHARACTERS = 32
_SHOWN_EXAMPLES = 2
_MAX_EXAMPLE_CHARACTERS = 28
_MIN_READ_SHARE = 0.75
"""How many of the cells of a column must be numbers or dates if the others are to count as missing."""
_SEVERAL = re.compile(r"\s*[;|]\s*|\s*[,/&+]\s+|(?<!\d),(?!\d)|\s+and\s+")
"""What stands between the several things that a cell lists: "Drama, Comedy", "7, 14"."""
MIN_LISTING_CELLS, MIN_KNOWN_SHARE = 3, 0.8
"""How many different cells of a column list things, and which share of these another cell has as well."""


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

    @cached_property
    def has_years(self) -> bool:
        """Whether its values are numbers that are all years."""
        values = [value for value in self.typed.values if value is not None]
        return self.is_number and bool(values) and all(value in YEARS for value in values)

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

    @cached_property
    def things(self) -> Mapping[str, tuple[str, ...]]:
        """The things that cells list, in lower case, by the cell; of names such as "Smith, John" none."""
        parts = {cell: tuple(_SEVERAL.split(cell.casefold())) for cell in self.distinct}
        having = Counter(thing for things in parts.values() for thing in set(things))
        listing = {cell: things for cell, things in parts.items() if len(things) > 1 and all(things)}
        told = [thing for things in listing.values() for thing in things]
        known = sum(having[thing] > 1 for thing in told)
        is_list = len(listing) >= MIN_LISTING_CELLS and known >= MIN_KNOWN_SHARE * len(told)
        return listing if is_list and not self.is_ordered else {}

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
    ``counted`` is what its rows are of the document, as those of a parsed table.
    """

    names: tuple[str, ...]
    columns: Mapping[str, QueryColumn]
    rows: tuple[ParsedRow, ...] = ()
    totals: int = 0
    size: int = field(default=0)
    counted: str = ROW

    @staticmethod
    def of_cells(names: Iterable[str], columns: Sequence[str], rows: Sequence[Sequence[str]]) -> QueryTable:
        """The table of some rows of cells."""
        cells = {
            name: tuple(row[at].strip() if at < len(row) else "" for row in rows)
            for at, name in enumerate(columns)
        }
        return QueryTable(tuple(dict.fromkeys(filter(None, names))), _columns(cells), size=len(rows))

    @staticmethod
    def of_parsed(table: ParsedTable) -> QueryTable:
        """The table of the rows of a document, without those that add up others."""
        total_rows = totals_of(table).rows
        rows = tuple(row for at, row in enumerate(table.rows) if at not in total_rows)
        headers = [table.header(column) for column in table.columns]
        headers = headers if len(set(headers)) == len(headers) else list(table.columns)
        short = [_begun(header) or ROW_NAME for header in headers]
        shown = short if len(set(short)) == len(short) else headers
        cells = {
            name: tuple(row.cells.get(column, "").strip() for row in rows)
            for name, column in zip(shown, table.columns, strict=True)
        }
        return QueryTable(
            table.names, _columns(cells), rows, len(total_rows), len(rows), counted=table.counted
        )

    def with_columns(self, names: Iterable[str]) -> QueryTable:
        """The table with some of its columns."""
        return replace(self, columns={name: self.columns[name] for name in names})

    @cached_property
    def name_parts(self) -> tuple[str, ...]:
        """The columns of the first and the last names of persons; none without both."""
        return name_parts({name: name for name in self.columns})

    def strip_of(self, at: int) -> Strip:
        """The strip of the document that a row is, or that its cell stands in."""
        return self.rows[at].strip

    def shown_cell(self, column: str, at: int) -> str:
        """A cell as an answer shows it; of a part of the name of a person the whole name: "Ann Lee"."""
        parts = self.name_parts if column in self.name_parts else (column,)
        return " ".join(" ".join(self.columns[part].cells[at].split()) for part in parts).strip()

    def naming_beside(self, column: str) -> str:
        """The column that names the rows if another one has only codes for them; "" of any other column.

        It is the first of words which differ in more than half of the rows.
        """
        if not all(map(ROW_CODE.fullmatch, self.columns[column].filled)):
            return ""
        words = (each for each in self.columns.values() if all(map(NAME_IN_WORDS.fullmatch, each.filled)))
        return next((each.name for each in words if 2 * len(each.distinct) > self.size), "")

    @property
    def label(self) -> str:
        """The name of the column that tells the rows apart: the first of texts that are all different.

        One that is called a name comes before others; that of the first names of persons, if their last names
        stand beside them. Without one the first column, if that has dates that are all different, else the
        first of texts.
        """
        if self.name_parts:
            return self.name_parts[0]
        columns = list(self.columns.values())
        texts = [column for column in columns if not column.is_ordered]
        days = [column for column in columns[:1] if column.typed.kind is ColumnKind.DATE]
        telling = [column for column in (*texts, *days) if len(column.distinct) == self.size]
        telling.sort(key=lambda column: column.name.casefold() != "name")
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


def _begun(name: str) -> str:
    """The name of a column; of one that is a sentence the first words, which a model can spell."""
    return name if len(name) <= MAX_NAME_CHARACTERS else shorten(name, MAX_NAME_CHARACTERS, placeholder="")


def _columns(cells: Mapping[str, tuple[str, ...]]) -> dict[str, QueryColumn]:
    """The columns of a table by their names, of which each text may be read mostly."""
    typed = values_of_columns(cells)
    typed |= {
        name: read
        for name, each in typed.items()
        if each.kind is ColumnKind.TEXT and (read := _mostly_read(cells[name]))
    }
    return {name: QueryColumn(name, cells[name], each) for name, each in typed.items()}


def _mostly_read(cells: tuple[str, ...]) -> ColumnValues | None:
    """The values of a column of which most cells are numbers or dates, the others missing; None of others."""
    filled = Counter(cell for cell in cells if not is_missing(cell))
    least = max(2, _MIN_READ_SHARE * filled.total())
    left, known = filled.total(), set[str]()
    for cell, count in filled.items():
        if column_values([cell]).kind not in (ColumnKind.TEXT, ColumnKind.FLAG):
            known.add(cell)
        elif (left := left - count) < least:
            return None
    found = column_values([cell if cell in known else "" for cell in cells])
    return found if found.kind is not ColumnKind.TEXT else None


def _cut(cell: str) -> str:
    plain = " ".join(cell.split())
    return (
        plain
        if len(plain) <= _MAX_EXAMPLE_CHARACTERS
        else plain[: _MAX_EXAMPLE_CHARACTERS - 1].rstrip() + "…"
    )
