"""Tables and records of plain text that say their columns by colons, as rows with the names of their columns.

Two forms are read, which files of systems and exports have. Lines of one table, parted by colons, whose names
may stand in a comment above::

    # Code:Number:Name
    PLN:985:Zloty

And records of labelled lines, with a blank line or a rule between them, at least three that begin with the
same label::

    Name       : Cairo
    Latitude   : 30.05

What is not sure stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from localcrag.documents.table_rows import TableLine, row_text
from localcrag.types import CELL_SEPARATOR

_COMMENT = re.compile(r"\s*[#;]+")
_MAX_LINE_CHARACTERS, _MAX_NAME_CHARACTERS, _MAX_COLUMNS = 400, 40, 20
_MIN_NAMED_LINES, _MIN_LINES, _MIN_PAIRS = 2, 4, 6
"""The least lines of a table with the names of its columns, of one without, and of one of two columns."""
_MAX_KEY_CHARACTERS = 24
"""The most characters of the first of two columns without names."""
_CLOCK = re.compile(r"(?:^|[ T\[(]|\b\d{4}:)\d{1,2}:\d\d(?::\d\d)?(?=[\s,.Z+\])-]|$)|^\d{1,2}:\d\d\b")
"""A time of day, whose colons part no columns, as in the entry of a log."""
_ADDRESS = "://"
_SPACE_AFTER, _WIDE_SPACE_AFTER = re.compile(r":[ \t]"), re.compile(r":(?:[ \t]{2,}|\t)")

_FIELD = re.compile(r"\s*([^\W\d_][\w /().-]{0,29}?)\s*:(?:\s+(.*)|)$")
_RULE = re.compile(r"\s*(?://|%%|\.|[-=*_~]{2,})?\s*")
"""What may stand between two records, beside nothing."""
_MIN_RECORDS, _MIN_FIELDS, _MAX_FIELDS, _MAX_RECORD_CHARACTERS = 3, 3, 40, 1200
_MIN_SHARED_LABELS = 0.5
_MAX_MEAN_VALUE = 80
"""The mean length of the values of a record from which on they are what people say, not data."""


class PlainTable(NamedTuple):
    """The lines ``[first, end)`` of a text, and the rows that they are."""

    first: int
    end: int
    rows: list[TableLine]


def plain_tables(lines: Sequence[str]) -> Iterator[PlainTable]:
    """The tables and runs of records among the lines of a text, in order."""
    header = _NO_HEADER
    at = 0
    while at < len(lines):
        end, table = _with_colons(lines, at, header)
        table = table or _records(lines, at)
        if table is not None:
            yield table
            at = table.end
            continue
        if lines[at].strip():
            is_comment = _COMMENT.match(lines[at]) is not None
            header = (_header(lines[at]) or header) if is_comment else _NO_HEADER
        at = max(at + 1, end)


# ---------------------------------------------------------------------------------- lines with colons


class _Header(NamedTuple):
    """The names of columns, and whether wide space stands behind the colons between them."""

    names: tuple[str, ...]
    is_wide: bool


_NO_HEADER = _Header((), False)


def _header(line: str) -> _Header | None:
    """The names of columns that a comment gives, if it does."""
    text = _COMMENT.sub("", line, count=1)
    names = tuple(name.strip() for name in text.split(":"))
    fit = all(0 < len(name) <= _MAX_NAME_CHARACTERS and any(map(str.isalpha, name)) for name in names)
    return _Header(names, _WIDE_SPACE_AFTER.search(text) is not None) if len(names) > 1 and fit else None


def _with_colons(lines: Sequence[str], first: int, header: _Header) -> tuple[int, PlainTable | None]:
    """The table of colons that begins with a line, if one does, and the number of the line after its like."""
    end = first
    if ":" not in lines[first]:
        return end, None
    for known in dict.fromkeys((header, _NO_HEADER)):
        columns = len(known.names) or lines[first].count(":") + 1
        end = first
        while end < len(lines) and _is_row(lines[end], columns, known):
            end += 1
        run = [[cell.strip() for cell in line.split(":", columns - 1)] for line in lines[first:end]]
        if _are_table(run, named=bool(known.names)):
            rows = [TableLine(at, _row(cells, known.names), False) for at, cells in enumerate(run, first + 1)]
            return end, PlainTable(first, end, rows)
    return end, None


def _is_row(line: str, columns: int, header: _Header) -> bool:
    """Whether a line may be one of a table of so many columns.

    No space stands behind a colon, but below a header with wide space: else it may be a label.
    """
    if not line.strip() or line[0].isspace() or len(line) > _MAX_LINE_CHARACTERS or _COMMENT.match(line):
        return False
    has_clock = _CLOCK.match if header.names else _CLOCK.search
    if not 1 < columns <= _MAX_COLUMNS or _ADDRESS in line or has_clock(line):
        return False
    if _SPACE_AFTER.search(line) and not header.is_wide:
        return False
    count = line.count(":") + 1
    return count >= columns if header.names else count == columns


def _are_table(run: Sequence[Sequence[str]], *, named: bool) -> bool:
    """Whether rows of cells are enough, and each but the first column has something in it."""
    if not run or any(not cells[0] for cells in run):
        return False
    if any(not any(column) for column in zip(*run, strict=True)):
        return False
    if named:
        return len(run) >= _MIN_NAMED_LINES
    if len(run[0]) > 2:
        return len(run) >= _MIN_LINES
    keys = [cells[0] for cells in run]
    return len(run) >= _MIN_PAIRS and len({*keys}) == len(keys) and max(map(len, keys)) <= _MAX_KEY_CHARACTERS


def _row(cells: Sequence[str], names: Sequence[str]) -> str:
    if names:
        return row_text(cells, names)
    if len(cells) == 2:
        return ": ".join(filter(None, cells))
    return CELL_SEPARATOR.join(filter(None, cells))


# ---------------------------------------------------------------------------------- records


class _Record(NamedTuple):
    """The number of the line after a record, its labels, and its values."""

    end: int
    labels: list[str]
    values: list[str]


def _records(lines: Sequence[str], first: int) -> PlainTable | None:
    """The run of records that begins with a line, if one does."""
    if first and lines[first - 1].strip() and not _RULE.fullmatch(lines[first - 1]):
        return None
    like: _Record | None = None
    rows: list[TableLine] = []
    at = end = first
    while at < len(lines) and (record := _record(lines, at)) is not None:
        text = row_text(record.values, record.labels)
        if (like and not _alike(like, record)) or len(text) > _MAX_RECORD_CHARACTERS:
            break
        like = like or record
        rows.append(TableLine(at + 1, text, False))
        at = end = record.end
        while at < len(lines) and _RULE.fullmatch(lines[at]):
            at += 1
    if len(rows) < _MIN_RECORDS:
        return None
    while end < len(lines) and lines[end].strip() and _RULE.fullmatch(lines[end]):
        end += 1
    return PlainTable(first, end, rows)


def _record(lines: Sequence[str], first: int) -> _Record | None:
    """The record that begins with a line, up to the next blank line or rule; None if there is none."""
    labels: list[str] = []
    values: list[str] = []
    at = first
    while at < len(lines) and lines[at].strip() and not _RULE.fullmatch(lines[at]):
        field = _FIELD.match(lines[at])
        if field:
            labels.append(field[1])
            values.append(" ".join((field[2] or "").split()))
        elif labels and lines[at][0].isspace():
            values[-1] = " ".join([values[-1], *lines[at].split()])
        else:
            return None
        at += 1
        if len(labels) > _MAX_FIELDS:
            return None
    fit = len(labels) >= _MIN_FIELDS and len({*labels}) == len(labels)
    short = 0 < sum(map(len, values)) <= _MAX_MEAN_VALUE * len(values)
    return _Record(at, labels, values) if fit and short else None


def _alike(one: _Record, other: _Record) -> bool:
    """Whether two records begin with the same label, and share half of their labels."""
    shared = len({*one.labels} & {*other.labels})
    return one.labels[0] == other.labels[0] and shared >= _MIN_SHARED_LABELS * len({*other.labels})
