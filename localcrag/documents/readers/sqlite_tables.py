"""Reader of SQLite databases: a page for each table, and in it the rows with the names of the columns.

A database is read in memory, and nothing in it is run: no views and no triggers. Tables that SQLite keeps for
itself or for an index of words are left out. What a program has not yet written back from its log
(``-wal``, a file of its own) is not there.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from itertools import chain
from typing import NamedTuple

from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.xlsx import sheet_page, shown_value
from localcrag.documents.table_grid import GridRow
from localcrag.errors import UnreadableError
from localcrag.types import Page

_VERSIONS = slice(18, 20)
"""The bytes of a database that say whether it has a log: 2 if it has one, which only a file can have."""
_NO_LOG = b"\x01\x01"
_SETTINGS = ("query_only = ON", "trusted_schema = OFF", "cell_size_check = ON")
_NAMES = ("name", "title", "label")
"""The columns that name a row, the best first; without one it is the first column of text."""
_TEXT_TYPES = ("CHAR", "CLOB", "TEXT")
_MAX_NAMED, _MAX_NAME = 100_000, 80
"""The most rows of a table that are named where others refer to them, and the most characters of a name."""


class _Column(NamedTuple):
    name: str
    type: str
    is_key: bool


def read_sqlite(data: bytes, limits: Limits) -> ExtractedText:
    """Read the rows of each table in the order in which the database keeps them; empty tables are left out.

    Behind a key of another table stands what that row is called there: "artist: 7 (Nina Simone)". Values
    that are no text, no number and no date are left out. Raises UnreadableError: damaged, too many cells, or
    more text than ``limits.text``.
    """
    try:
        with closing(sqlite3.connect(":memory:")) as connection:
            connection.text_factory = lambda text: text.decode("utf-8", "replace")
            connection.deserialize(data[: _VERSIONS.start] + _NO_LOG + data[_VERSIONS.stop :])
            for setting in _SETTINGS:
                connection.execute(f"PRAGMA {setting}")
            pages = tuple(_pages(connection, limits))
    except (sqlite3.Error, ValueError, OverflowError) as error:
        raise UnreadableError(
            "damaged SQLite database", hint="Export its tables as CSV, or repair it: sqlite3 FILE .recover"
        ) from error
    return ExtractedText("", MEDIA_TYPES[DocumentFormat.SQLITE], pages)


def _pages(connection: sqlite3.Connection, limits: Limits) -> Iterator[Page]:
    tables = {table: _columns(connection, table) for table in _tables(connection)}
    for number, (table, columns) in enumerate(tables.items(), start=1):
        rows = _rows(connection, table, columns, _referred_names(connection, table, tables))
        first = next(rows, None)
        if first is not None:
            header = GridRow(0, [shown_value(column.name) for column in columns], is_head=True)
            yield sheet_page(number, table, chain([header, first], rows), limits)


def _tables(connection: sqlite3.Connection) -> list[str]:
    """The names of the tables that somebody made, in the order in which they were made."""
    listed = connection.execute("PRAGMA main.table_list")
    ordinary = {name for _, name, kind, *_ in listed if kind == "table"}
    made = connection.execute("SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY rowid")
    return [name for (name,) in made if name in ordinary and not name.lower().startswith("sqlite_")]


def _columns(connection: sqlite3.Connection, table: str) -> list[_Column]:
    told = connection.execute(f"PRAGMA main.table_xinfo({_quoted(table)})")
    return [_Column(name, type_.upper(), bool(key)) for _, name, type_, _, _, key, _ in told]


def _rows(
    connection: sqlite3.Connection,
    table: str,
    columns: Sequence[_Column],
    names: Mapping[str, Mapping[object, str]],
) -> Iterator[GridRow]:
    """The rows of a table, also those of no value, which count."""
    referred = [names.get(column.name, {}) for column in columns]
    chosen = ", ".join(_quoted(column.name) for column in columns)
    for number, row in enumerate(connection.execute(f"SELECT {chosen} FROM main.{_quoted(table)}"), 1):
        cells = (_with_name(value, known) for value, known in zip(row, referred, strict=True))
        yield GridRow(number, [*cells])


def _with_name(value: object, names: Mapping[object, str]) -> str:
    """The value of a cell, and the name of the row that it refers to if that says more."""
    shown, name = shown_value(value), names.get(value, "")
    return f"{shown} ({name})" if name and name != shown else shown


def _referred_names(
    connection: sqlite3.Connection, table: str, tables: Mapping[str, Sequence[_Column]]
) -> dict[str, dict[object, str]]:
    """What the rows are called to which a table refers: for each such column, the names by their keys."""
    spelt = {name.casefold(): name for name in tables}
    references = [*connection.execute(f"PRAGMA main.foreign_key_list({_quoted(table)})")]
    widths = Counter(number for number, *_ in references)
    found = {}
    for number, _, named, column, key, *_ in references:
        other = spelt.get(named.casefold(), "")
        keys = [each.name for each in tables.get(other, ()) if each.is_key]
        key = key or (keys[0] if len(keys) == 1 else "")
        name = _naming_column(tables.get(other, ()), key)
        if widths[number] == 1 and name:
            pairs = connection.execute(
                f"SELECT {_quoted(key)}, {_quoted(name)} FROM main.{_quoted(other)} LIMIT {_MAX_NAMED}"
            )
            texts = ((value, shown_value(text)) for value, text in pairs if isinstance(text, str))
            found[column] = {value: text for value, text in texts if len(text) <= _MAX_NAME}
    return found


def _naming_column(columns: Sequence[_Column], key: str) -> str:
    """The column that names the rows of a table with that key; "" if none does, or it has no such key."""
    others = [column for column in columns if column.name.casefold() != key.casefold()]
    if not key or len(others) == len(columns):
        return ""
    texts = [column.name for column in others if any(type_ in column.type for type_ in _TEXT_TYPES)]
    named = {column.name.casefold(): column.name for column in others}
    return next((named[name] for name in _NAMES if name in named), texts[0] if texts else "")


def _quoted(name: str) -> str:
    """A name in a statement. In double quotes one that is not there would be taken for a text."""
    return "`" + name.replace("`", "``") + "`"
