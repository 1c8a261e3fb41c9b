"""What the rows of a table are called where an answer names them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable
from localcrag.crag.table_answers.table_values import FLAGS, TEMPORAL, ColumnKind, column_values

_OF_CODES = re.compile(r"id|code|key|symbol|abbr(?:eviation)?\.?|acronym|kürzel|sigle", re.IGNORECASE)
"""The name of a column of codes, of whatever letters: "Re", of Rhenium."""
ROW_CODE = re.compile(r"(?=\S*\d)[\w./-]{1,12}")
"""A cell that tells a row apart and does not name it: "K-116"."""
_FIRST_NAME = re.compile(
    r"(?:first|given|fore)[\W_]?names?|names?[\W_](?:first|given)|vorname|prénom", re.IGNORECASE
)
_LAST_NAME = re.compile(
    r"(?:last|family|sur)[\W_]?names?|names?[\W_](?:last|family)|(?:nach|familien)name", re.IGNORECASE
)
_NAMING = re.compile(r"(?:^|[\W_])name$", re.IGNORECASE)
"""The name of a column that names what the rows are: "Name", "team_name"."""
NAME_IN_WORDS = re.compile(r"(?=.*[^\W\d_]{3})[^\W\d_][^·]{2,60}")
"""A cell of words that may name a row: "Burst pipe"."""


def row_name(table: ParsedTable, row: ParsedRow, column: str) -> str:
    """The cell of a column; if it has a part of the names of persons, the whole name: "Ann Lee"."""
    parts = parts_of_names(table)
    if column not in parts:
        return row.cells.get(column, "")
    return " ".join(filter(None, (row.cells.get(part, "").strip() for part in parts)))


def name_header(table: ParsedTable, column: str) -> str:
    """The name of a column; if it has a part of the names of persons, those of both parts."""
    parts = parts_of_names(table)
    return " ".join(map(table.header, parts if column in parts else (column,)))


def parts_of_names(table: ParsedTable) -> tuple[str, ...]:
    """The columns of the first and the last names of persons, in this order; none without both."""
    return name_parts({column: table.wording(column) for column in table.columns})


def name_parts(columns: Mapping[str, str]) -> tuple[str, ...]:
    """Those of some columns, by their wording, that have the first and the last names; none without both."""
    firsts = [column for column, wording in columns.items() if _FIRST_NAME.fullmatch(wording)]
    lasts = [column for column, wording in columns.items() if _LAST_NAME.fullmatch(wording)]
    return (*firsts, *lasts) if len(firsts) == len(lasts) == 1 else ()


def naming_column(table: ParsedTable, rows: Sequence[ParsedRow]) -> str:
    """The first column; if it holds dates or numbers, or one text, one of words which tells some rows apart.

    Of numbers it must have a name such as "name".
    """
    label, *others = table.columns
    is_one = len({row.cells.get(label, "") for row in rows}) < min(2, len(rows))
    kind = column_values(table.cells(label)).kind
    if kind is ColumnKind.NUMBER:
        others = [column for column in others if _NAMING.search(table.wording(column))]
    elif kind not in TEMPORAL and not is_one:
        return label
    for column in others:
        cells = [row.cells.get(column, "") for row in rows]
        if len(set(cells)) == len(cells) > 1 and all(map(NAME_IN_WORDS.fullmatch, cells)):
            return column
    return label


def shown_row(row: ParsedRow) -> str:
    return next(filter(None, row.cells.values()), "")


def name_beside(table: ParsedTable, row: ParsedRow) -> str:
    """The name of a row whose first cell is only a code: its next cell of words, which few rows share."""
    label, *others = table.columns
    is_code = ROW_CODE.fullmatch(row.cells.get(label, "")) or _OF_CODES.fullmatch(table.wording(label))
    if not is_code:
        return ""
    cells = ((column, row.cells.get(column, "")) for column in others)
    worded = (
        column for column, cell in cells if NAME_IN_WORDS.fullmatch(cell) and cell.casefold() not in FLAGS
    )
    column = next((column for column in worded if _tells_apart(table.rows, column)), "")
    return row.cells[column] if column else ""


def _tells_apart(rows: Sequence[ParsedRow], column: str) -> bool:
    """Whether the cells of a column differ in more than half of the rows."""
    return 2 * len({row.cells.get(column, "") for row in rows}) > len(rows)
