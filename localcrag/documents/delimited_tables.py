"""Tables of plain text whose cells are parted by commas, semicolons or bars, or quoted and parted by blanks.

Exports often have them under other names than ``.csv``: feeds of timetables (``stops.txt``), tables that R
writes (``"name" "id"`` above ``"Lund" 12``) or prints. A run of lines is such a table if its first line names
columns and nothing else could be meant, and a column below has numbers; without names, if they are many that
have the same number of semicolons each. What is not sure stays as it is.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from localcrag.documents.plain_records import PlainTable
from localcrag.documents.table_rows import TableLine, row_text

_MIN_ROWS, _MIN_COLUMNS, _MIN_QUOTED_COLUMNS = 3, 3, 2
_MIN_UNNAMED_ROWS, _MIN_UNNAMED_COLUMNS = 12, 4
"""The fewest rows and columns of a table without names, whose cells semicolons part."""
_UNNAMED_DELIMITER = ";"
_MIN_PRINTED_ROWS = 8
"""The fewest rows of a table whose cells nothing but blanks part."""
_MIN_NUMBERS = 2
"""The fewest columns of numbers of such a table whose first column has names."""
_MAX_LINE_CHARACTERS, _MAX_NAME_CHARACTERS = 5_000, 40
_NAME = re.compile(r"(?=.*[^\W\d_])\S+(?: \S+)*")
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_ALL_QUOTED = re.compile(r'"[^"]*"(?: "[^"]*")+')
_ROW_NAME = "name"
"""The name of a column of the names of rows, which R writes without one."""


def delimited_tables(lines: Sequence[str]) -> Iterator[PlainTable]:
    """The tables among the lines of a text whose cells are parted so, in order."""
    at = 0
    while at < len(lines):
        is_enough = len(lines) - at > _MIN_ROWS
        table = _table(lines, at) or _unnamed(lines, at) or _printed(lines, at) if is_enough else None
        if table is not None:
            yield table
        at = table.end if table is not None else at + 1


def _table(lines: Sequence[str], first: int) -> PlainTable | None:
    """The table that begins with a line, if one does."""
    delimiter, names = _header(lines[first])
    if not names:
        return None
    widths = {len(names), len(names) + (delimiter == " ")}
    rows: list[list[str]] = []
    is_ended = lines[first].endswith(delimiter)
    for line in lines[first + 1 :]:
        cells = _cells(line.removesuffix(delimiter) if is_ended else line, delimiter)
        if len(cells) not in widths or not any(cells):
            break
        widths = {len(cells)}
        rows.append(cells)
    if len(rows) < _MIN_ROWS or not any(map(_are_numbers, zip(*rows, strict=True))):
        return None
    if len(rows[0]) > len(names):
        names = [_ROW_NAME if _ROW_NAME not in names else "row", *names]
    end = first + 1 + len(rows)
    told = [TableLine(at, row_text(cells, names), False) for at, cells in enumerate(rows, first + 2)]
    return PlainTable(first, end, told)


def _unnamed(lines: Sequence[str], first: int) -> PlainTable | None:
    """The table without names that begins with a line, if the same number of semicolons part each of many."""
    number = lines[first].count(_UNNAMED_DELIMITER)
    rows: list[list[str]] = []
    for line in lines[first:] if number >= _MIN_UNNAMED_COLUMNS - 1 else ():
        if line.count(_UNNAMED_DELIMITER) != number or f"{_UNNAMED_DELIMITER} " in line:
            break
        cells = _cells(line, _UNNAMED_DELIMITER)
        if len(cells) != number + 1 or not cells[0]:
            break
        rows.append(cells)
    if len(rows) < _MIN_UNNAMED_ROWS or not any(map(_are_numbers, zip(*rows, strict=True))):
        return None
    told = [TableLine(at, row_text(cells, ()), False) for at, cells in enumerate(rows, first + 1)]
    return PlainTable(first, first + len(rows), told)


def _printed(lines: Sequence[str], first: int) -> PlainTable | None:
    """The table that begins with a line as R prints one: names of columns, and cells that blanks part.

    It goes on to a blank line or the end. All columns are numbers, or the first has none, and half of the
    others are numbers: two at least, or the first has no name, above which the header is indented.
    """
    names = _distinct(lines[first].split(), _MIN_COLUMNS) if len(lines[first]) <= _MAX_LINE_CHARACTERS else []
    rows: list[list[str]] = []
    for at in range(first + 1, len(lines) if names else 0):
        cells = lines[at].split()
        if len(cells) != len(rows[0] if rows else cells) or not 0 <= len(cells) - len(names) <= 1:
            break
        rows.append(cells)
        if len(rows) == _MIN_PRINTED_ROWS and not _may_be_printed(rows):
            return None
    end = first + 1 + len(rows)
    if len(rows) < _MIN_PRINTED_ROWS or (end < len(lines) and lines[end].strip()):
        return None
    labels, *columns = zip(*rows, strict=True)
    numbers = sum(map(_are_numbers, columns))
    is_indented, are_numbered = lines[first][:1].isspace(), _are_numbers(labels)
    if len(rows[0]) == len(names):
        least = len(columns) if are_numbered else max(_MIN_NUMBERS, len(columns) / 2)
        is_table = (are_numbered or not is_indented) and numbers >= least
    else:
        is_table = is_indented and not are_numbered and 2 * numbers >= len(columns)
        names = [_ROW_NAME if _ROW_NAME not in names else "row", *names]
    told = [TableLine(at, row_text(cells, names), False) for at, cells in enumerate(rows, first + 2)]
    return PlainTable(first, end, told) if is_table else None


def _may_be_printed(rows: Sequence[Sequence[str]]) -> bool:
    """Whether half of the columns behind the first may be numbers; of many lines alike no more are read."""
    columns = [[cell for cell in column if cell != "NA"] for column in zip(*rows, strict=True)][1:]
    return 2 * sum(not column or _are_numbers(column) for column in columns) >= len(columns)


def _header(line: str) -> tuple[str, list[str]]:
    """What parts the cells of a line that names columns, and the names; none if it does not."""
    if len(line) > _MAX_LINE_CHARACTERS:
        return "", []
    if _ALL_QUOTED.fullmatch(line):
        return " ", _distinct(_cells(line, " "), _MIN_QUOTED_COLUMNS)
    for delimiter in ",;|":
        if line.count(delimiter) >= _MIN_COLUMNS - 1 and f"{delimiter} " not in line:
            return delimiter, _distinct(_cells(line.removesuffix(delimiter), delimiter), _MIN_COLUMNS)
    return "", []


def _distinct(names: list[str], least: int) -> list[str]:
    """The names of columns, if they are enough, all different, and nothing but names."""
    are_names = all(len(name) <= _MAX_NAME_CHARACTERS and _NAME.fullmatch(name) for name in names)
    return names if are_names and len(set(names)) == len(names) >= least else []


def _cells(line: str, delimiter: str) -> list[str]:
    """The cells of a line; none if a quote that it opens is closed in another."""
    if not line.strip() or len(line) > _MAX_LINE_CHARACTERS:
        return []
    try:
        return [
            cell.strip() for cell in next(csv.reader([line.strip("\r\n")], delimiter=delimiter, strict=True))
        ]
    except csv.Error:
        return []


def _are_numbers(column: Sequence[str]) -> bool:
    """Whether a column has numbers and nothing else."""
    filled = [cell for cell in column if cell and cell != "NA"]
    return bool(filled) and all(map(_NUMBER.fullmatch, filled))
