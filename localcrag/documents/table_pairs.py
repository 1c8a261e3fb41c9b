"""Tables of two columns that are names and values, as on a record card: each row is "Phone: 555 0142".

Such a table has no header, but its first row may be taken for one, or stand where the markup wants one. A
table counts as one with a header only if that is sure, because a row that is read as a pair is understood
all the same. So is a listing of files or variables, each with what it is, of more columns too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from localcrag.documents.header_numbers import columns_above_values
from localcrag.documents.table_grid import GridRow, plain_rows
from localcrag.documents.table_headers import found_header
from localcrag.documents.table_records import record_lines
from localcrag.documents.table_rows import grid_lines, with_headers
from localcrag.types import CELL_SEPARATOR

_MIN_VALUES = 3
"""Rows with a number that must stand below a name, so that it is one of a column without any markup."""
_MAX_LOOKED_AT = 50
"""Rows that decide."""
_VALUE = re.compile(r"(?P<number>[^\w]*(?:[A-Z]{3} )?\d)|(?P<mail>\S+@\S+\.\w)|(?P<link>https?://)")
"""How a number with its unit begins, a date, and what else is no name of a column."""
_UNIT = re.compile(r"[€$£%]|[^\W\d_]+")
"""The first sign or word of a value, which is its unit if it is a number."""
_PHRASE = re.compile(r"[a-z]+ \S")
"""How a value begins that is told in words, "print the current line": the name of a column has a capital, or
is one word."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:-\d\d){0,2}$")
_PATH = re.compile(r"(?:~|\$\w+)?/\S+")
"""The path of a file: "/etc/fstab", "~/.profile"."""
_IDENTIFIER = re.compile(r"(?P<family>[^\W\d_]+)[_.:-][\w.:-]*[^\W\d][\w.:-]*")
"""A name that others of its family begin like: "STATS_min", "STATS_max"."""
_SAID = re.compile(r"[A-Za-z]?[a-z]+(?: \S+){2,}")
"""How a cell says what a thing is, in three words or more."""


def pair_text(cells: Sequence[str]) -> str:
    """A name and its value as a line; one of them alone if the other is empty."""
    name, value = (*cells, "", "")[:2]
    return f"{name.rstrip(': ')}: {value}" if name and value else name or value


def unheaded_lines(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table of which the markup says that it has no header."""
    rows = [row for row in rows if any(row)]
    if records := record_lines(rows):
        yield from records
    elif _has_two_columns(rows) and not _has_numbers_below(rows):
        yield from map(pair_text, rows)
    else:
        yield from with_headers(rows)


def are_pairs(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the rows of a table whose markup knows no header are names and values.

    They are if the names end in colons, the first row is no header, its value is a sentence or a phrase in
    lower case as most others are, all names have a capital and no value has one, or the values of the others
    are of several kinds: numbers, addresses, words.
    """
    if not _has_two_columns(rows):
        return False
    rows = [row for row in rows if any(row)]
    if _has_colons(rows) or rows[0][1].endswith((".", ";")):
        return True
    if len(rows) > 1 and all(name[:1].isupper() and value[:1].islower() for name, value in rows):
        return True
    phrases = [bool(_PHRASE.match(row[1])) for row in rows[:_MAX_LOOKED_AT]]
    if phrases[0] and 2 * sum(phrases) > len(phrases):
        return True
    if found_header(list(plain_rows(rows[:_MAX_LOOKED_AT]))) is None:
        return True
    names, values = zip(*(row for row in rows[:_MAX_LOOKED_AT] if all(row)), strict=True)
    kinds = {found.lastgroup if (found := _VALUE.match(value)) else "" for value in values[1:]}
    units = [_UNIT.findall(value)[:1] for value in values[1:]]
    differ = len(kinds) > 1 or (len(units) > 1 and all(units) and len(set(map(str, units))) == len(units))
    return differ and len({*names}) == len(names) and not any(map(_VALUE.match, names))


def document_lines(rows: Iterable[GridRow]) -> Iterator[str]:
    """The lines of a table in a document: its records, its pairs, or its rows with the names of a header."""
    rows = list(rows)
    if not any(row.is_head for row in rows) and (lines := plain_lines([row.cells for row in rows])):
        yield from lines
    else:
        yield from (line.text for line in grid_lines(rows))


def plain_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table whose markup knows no header, if it is records, pairs or a listing; else none."""
    if records := record_lines(rows):
        return records
    return list(map(pair_text, rows)) if are_pairs(rows) else listing_lines(rows)


def listing_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table that lists files, or variables of one family, each with what it is; else none.

    None of them is the header of the others: all are paths, or names that begin alike, beside words.
    """
    rows = [row for row in rows if any(row)]
    names = [row[0] for row in rows[:_MAX_LOOKED_AT]]
    if len(rows) < 2 or len({*names}) < len(names) or not any(rows[0][1:]):
        return []
    found = [_IDENTIFIER.fullmatch(name) for name in names]
    families = {each["family"] if each else "" for each in found}
    is_family = "" not in families and len(families) == 1 and any(map(_SAID.match, rows[0][1:]))
    if not is_family and not all(map(_PATH.fullmatch, names)):
        return []
    return [pair_text((row[0], CELL_SEPARATOR.join(filter(None, row[1:])))) for row in rows]


def _has_two_columns(rows: Sequence[Sequence[str]]) -> bool:
    return all(len(row) == 2 for row in rows) and any(all(row) for row in rows)


def _has_numbers_below(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the second cell of the first row stands above several numbers, and nothing else."""
    rows = rows[:_MAX_LOOKED_AT]
    return len(rows) > _MIN_VALUES and 1 in columns_above_values(list(plain_rows(rows)), 0)


def is_pair(header: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether the row that stands where the markup wants a header is a name and its value, as all others are.

    A year is the name of a column if nothing but numbers stands below it.
    """
    if len(header) != 2 or not all(header) or any(len(row) != 2 for row in below) or _VALUE.match(header[0]):
        return False
    if _has_colons([header, *below[:_MAX_LOOKED_AT]]):
        return True
    if not _VALUE.match(header[1]):
        return False
    values = [row[1] for row in below[:_MAX_LOOKED_AT] if row[1]]
    return not _YEAR.match(header[1]) or not all(map(_VALUE.match, values))


def _has_colons(rows: Sequence[Sequence[str]]) -> bool:
    """Whether most names end in a colon, the first among them."""
    ended = [row[0].endswith(":") for row in rows if row and row[0]]
    return bool(ended) and ended[0] and 2 * sum(ended) > len(ended)
