"""The header of a table: which of its first rows name the columns, and the names, of several lines too.

A header of several lines is told from rows by its merged cells, and by text above columns of numbers. The
names of its lines are joined: "Price / Staff". What is not sure is read as a header of one line, or none.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest

from localcrag.documents.header_numbers import (
    BLANKS,
    DATE,
    VALUE,
    are_counted_rows,
    are_numbered,
    columns_above_values,
    has_values,
    is_date,
    is_series_of_dates,
)
from localcrag.documents.table_grid import GridRow
from localcrag.types import HEADER_SEPARATOR

_MAX_HEADER_ROW = 5
"""The header must be among so many first rows."""
_MAX_LINES = 4
"""Lines of a header."""
_MAX_NAME = 100
"""Characters of the name of a column that no markup calls one."""
_MAX_WIDTH = 1_000
"""Columns of a table whose header may have several lines."""
_NUMBER = re.compile(r"[-+]?[\d.,:/\s%€$£-]*\d[\d.,:/\s%€$£-]*$")
_MULTIPLE = re.compile(r"\W*1(?:0{1,2}|(?=[., ]?000))(?:[., ]?000)*\b(?!\W*\d)")
"""The beginning of a unit that is a multiple of one: "1000 t", "100 ml"."""
_OPTION = re.compile(r"--?[A-Za-z][\w-]*\b")
"""How an option of a command begins."""
_ENTRY = re.compile(
    r"(?P<number>\d+(?:\.\d+)*[.)]? [^\W\d])"
    r"|(?P<day>(?:\d\d?\.? ?)?(?:\d\d?[./]|[A-Z][a-zé]{2,8}\.? )(?:\d\d?, )?(?:19|20)\d\d$)"
)
"""How an entry begins: with the number of a section, "2.1 Debian", or a day or month with its year."""
_ENTRY_WORDS = 3
_SENTENCE = re.compile(r"\S+(?: \S+){3,}\.$")
"""A sentence of four words or more."""

_IN_BRACKETS = re.compile(r"\([^()]+\)|\[[^\[\]]+\]")
"""A cell that says no more than a unit or what is meant: "(m²)", "(surname)"."""
_MIN_FULL_ROWS = 2
"""Rows below a header that must fill the columns it names, if words are scattered above it."""

Group = tuple[int, int]


_AMOUNT = re.compile(r"[-+]?(?:[€$£¥]|[A-Z]{3} )? ?\d[\d.,' ]*[.,]\d\d(?: ?(?:[€$£¥]|[^\W\d_]{1,4}\.?))?")
"""A sum of money, or another number with two decimals and its unit."""


@dataclass(frozen=True, slots=True)
class FoundHeader:
    """The header of a table: rows ``[start, end)`` of those looked at, and the names of the columns."""

    start: int
    end: int
    names: list[str]


def found_header(rows: Sequence[GridRow], *, is_sure: bool = False) -> FoundHeader | None:
    """The header among the first rows of a table; None if there is none, or an entry stands before it.

    ``is_sure`` asks for one that numbers stand below, or that is merged: rows before it are of another table.
    """
    for start in range(min(len(rows) - 1, _MAX_HEADER_ROW)):
        if not rows[start].is_head and _is_entry(rows[start], rows[start + 1]):
            return None
        end = _header_end(rows, start, is_sure=is_sure)
        if end > start:
            if end == start + 1 and not rows[start].is_head:
                start = _fuller_header(rows, start)
                end = max(end, start + 1)
            return FoundHeader(start, end, header_names(rows[start:end]))
    return None


def _is_entry(row: GridRow, following: GridRow) -> bool:
    """Whether a row is the first one of a table without a header: it tells something beside another cell.

    It has a sentence, or begins a cell as an entry of the kind that the next row has there.
    """
    cells = [(row.cells[i], below) for i, below in _beside(row, following)]
    return len(cells) > 1 and any(_SENTENCE.match(cell) or _are_entries(cell, below) for cell, below in cells)


def _are_entries(cell: str, below: str) -> bool:
    """Whether two cells begin as entries of one kind, or with the same three words."""
    first, second = _ENTRY.match(cell), _ENTRY.match(below)
    if first is not None and second is not None and first.lastgroup == second.lastgroup:
        return True
    words = cell.split()[:_ENTRY_WORDS]
    return len(words) == _ENTRY_WORDS and words == below.split()[:_ENTRY_WORDS]


def _fuller_header(rows: Sequence[GridRow], start: int) -> int:
    """The row that names all columns, if the words above it are scattered; else ``start``.

    They are if a column between two of them has none. Numbers must stand below a name of the fuller row, and
    none of its cells may stand in the next rows again.
    """
    filled = set(rows[start].own)
    if rows[start].wide or len(filled) > max(filled) - min(filled):
        return start
    for later in range(start + 1, min(len(rows) - 1, _MAX_HEADER_ROW)):
        near = rows[later : later + 1 + _MIN_FULL_ROWS]
        named = set(rows[later].own)
        is_full = named > filled and len(near) > _MIN_FULL_ROWS and all(set(row.own) == named for row in near)
        recurs = is_full and any(row.cells[i] == rows[later].cells[i] for row in near[1:] for i in named)
        if is_full and not recurs and names_columns(near[0], near[1:]) and columns_above_values(near, 0):
            return later
    return start


def header_end(rows: Sequence[GridRow], start: int, end: int) -> int:
    """The end of a header whose rows ``[start, end)`` are known, with further lines that belong to it."""
    while end < min(len(rows) - 1, start + _MAX_LINES) and _has_line(rows, start, end):
        end += 1
    return end


def _header_end(rows: Sequence[GridRow], start: int, *, is_sure: bool) -> int:
    is_title = rows[start].is_alone() and any(
        not row.is_alone() for row in rows[start + 1 : start + 1 + _MAX_HEADER_ROW]
    )
    if rows[start].is_head and not is_title:
        heads = next((i for i in range(start, len(rows)) if not rows[i].is_head), len(rows))
        return header_end(rows, start, heads)
    end = header_end(rows, start, start + 1)
    if end > start + 1:
        return end
    if is_title:
        return start
    if is_sure and (len(rows[start].own) < 2 or not columns_above_values(rows, start)):
        return start
    return end if names_columns(rows[start], rows[start + 1 :]) else start


def names_columns(row: GridRow, below: Sequence[GridRow]) -> bool:
    """Whether a row is a header of one line: its cells are names, not values.

    Names are all different, none is a number or longer than 100 characters, and more than half of the
    filled cells of the next row have one. An option of a command above another one is no name, nor is an
    amount above others in its unit ("1.184,60 EUR"). Years and dates are names if they count up or down in
    even steps beside a name that is text, and the next row has none in their columns. So is the number before
    that of the first row, if the rows are counted. Other whole numbers beside a name that is text, as those
    of trains and of rooms, are names if nothing but times or words stands below them.
    """
    following = below[0]
    names = [cell for cell in row.cells if cell]
    spread = row.cells if row.is_alone() else _spread(row)
    filled = [i for i, cell in enumerate(following.cells) if cell]
    named = sum(1 for i in filled if i < len(spread) and spread[i])
    if len(set(names)) != len(names) or 2 * named <= len(filled):
        return False
    if any(_OPTION.match(row.cells[i]) and _OPTION.match(each) for i, each in _beside(row, following)):
        return False
    if any(len(name) > _MAX_NAME for name in names) or _are_values_of_one_kind(row, following):
        return False
    if any(_is_amount_of_column(i, row, below) for i in row.own):
        return False
    numbers = [i for i, cell in enumerate(row.cells) if _NUMBER.match(cell)]
    if not numbers or are_counted_rows(row, below, numbers):
        return True
    has_label = 1 < len(numbers) < len(row.own)
    return has_label and (is_series_of_dates(row, following, numbers) or are_numbered(row, below, numbers))


def _are_values_of_one_kind(row: GridRow, following: GridRow) -> bool:
    """Whether all cells of a row are numbers with a unit, the same units as those of the next row."""
    cells = [(row.cells[i], below) for i, below in _beside(row, following)]
    return len(cells) > 1 and all(
        VALUE.match(cell) and not DATE.match(cell) and _unit(cell) == _unit(below) != ""
        for cell, below in cells
    )


def _is_amount_of_column(column: int, row: GridRow, below: Sequence[GridRow]) -> bool:
    """Whether a cell is a number with decimals and a unit, and so is all that stands below it."""
    if not _AMOUNT.fullmatch(row.cells[column].strip()):
        return False
    cells = [each.cells[column].strip() for each in (row, *below) if column < len(each.cells)]
    filled = [cell for cell in cells if cell not in BLANKS]
    are_amounts = len(filled) > 1 and all(map(_AMOUNT.fullmatch, filled))
    return are_amounts and len({_unit(cell) or cell.strip(" -+0123456789.,") for cell in filled}) == 1


def _beside(row: GridRow, following: GridRow) -> list[tuple[int, str]]:
    """The columns that a row fills, each with the cell of the next row in it, but for cells of both rows."""
    own = [i for i in row.own if i not in following.from_above]
    return [(i, following.cells[i] if i < len(following.cells) else "") for i in own]


def _unit(cell: str) -> str:
    """The letters of a cell that begins with a number, and a percent sign."""
    return "".join(c for c in cell if c.isalpha() or c == "%").casefold()


def _is_name(cell: str) -> bool:
    """Whether a cell may stand in a header of several lines, where a year is a name too."""
    return len(cell) <= _MAX_NAME and (not _NUMBER.match(cell) or is_date(cell))


def _has_line(rows: Sequence[GridRow], start: int, end: int) -> bool:
    """Whether the row ``end`` is a further line of the header that begins at ``start``."""
    upper, lower, below = rows[end - 1], rows[end], rows[end + 1 :]
    own = lower.own
    if max(len(upper.cells), len(lower.cells)) > _MAX_WIDTH:
        return False
    if not own or not all(map(_is_name, (*upper.cells, *lower.cells))):
        return False
    if any(lower.cells[i] in BLANKS for i in own):
        return False
    if not upper.wide and end == start + 1 and not upper.is_head and len(upper.own) < 2:
        return False  # a title
    groups = [(i, i + wide) for i, wide in upper.wide.items() if _is_group(i, i + wide, own)]
    if groups and (_is_title(upper, own) or _are_merged_groups(groups, upper, lower, below)):
        return not _is_title(upper, own)
    if (groups and _leaves_label_open(upper, lower, below)) or _are_mostly_in_brackets(lower, below):
        return True
    groups = _spread_groups(upper, lower)
    if groups and _are_apart(groups, upper, own) and _any_group_has_values(groups, lower, below):
        return True
    return _is_line_of_units(upper, lower, below)


def _is_title(upper: GridRow, own: Sequence[int]) -> bool:
    """Whether the one cell of a row stands over everything below it."""
    return len(upper.own) == 1 and upper.own[0] <= own[0]


def _is_group(left: int, right: int, own: Sequence[int]) -> bool:
    return len(_within(left, right, own)) >= 2


def _within(left: int, right: int, own: Sequence[int]) -> Sequence[int]:
    """Those of some columns, in order, that a group has."""
    return own[bisect_left(own, left) : bisect_left(own, right)]


def _implied_groups(upper: GridRow, own: Sequence[int]) -> Iterator[Group]:
    """The columns from each filled cell up to the next, if the row below fills the first and others."""
    starts = [i for i, cell in enumerate(upper.cells) if cell]
    for left, right in pairwise([*starts, own[-1] + 1]):
        inside = _within(left, right, own)
        if len(inside) > 1 and inside[0] == left:
            yield left, right


def _are_merged_groups(
    groups: Sequence[Group], upper: GridRow, lower: GridRow, below: Sequence[GridRow]
) -> bool:
    """Whether the cells below merged ones are names, too.

    All other columns have their names in one of both lines, unless the cells below all merged ones are the
    same: "Lab 1" and "Lab 2" below each day. Below a row that the document calls the header, numbers must
    stand under them, they must be the same in two groups, or a cell must reach down to them.
    """
    own = lower.own
    names = [tuple(lower.cells[left:right]) for left, right in groups]
    if not _are_apart(groups, upper, own):
        return len(names) > 1 == len(set(names)) and not _recurs(lower, below)
    if len(set(names)) < len(names) or lower.from_above or _any_group_has_values(groups, lower, below):
        return True
    covered = {i for left, right in groups for i in range(left, right)}
    has_others = bool({*own, *(i for i, cell in enumerate(upper.cells) if cell)} - covered)
    return not upper.is_head and (has_others or len(groups) > 1)


def _recurs(lower: GridRow, below: Sequence[GridRow]) -> bool:
    """Whether a cell of a row stands in its column again, as values do."""
    return any(i < len(row.cells) and row.cells[i] == lower.cells[i] for row in below for i in lower.own)


def _leaves_label_open(upper: GridRow, lower: GridRow, below: Sequence[GridRow]) -> bool:
    """Whether a row has no cell below the name of the first column, where the rows below it have one."""
    first = [row.cells[0] if row.cells else "" for row in (upper, lower, *below[:2])]
    return len(first) > 2 and [bool(cell) for cell in first[:2]] == [True, False] and all(first[2:])


def _are_mostly_in_brackets(lower: GridRow, below: Sequence[GridRow]) -> bool:
    """Whether more than half of the cells of a row are in brackets, and none of the next row."""
    bracketed = [i for i in lower.own if _IN_BRACKETS.fullmatch(lower.cells[i])]
    following = below[0].cells if below else []
    is_line = len(bracketed) > 1 and 2 * len(bracketed) > len(lower.own)
    return is_line and bool(following) and not any(_IN_BRACKETS.fullmatch(cell) for cell in following)


def _are_apart(groups: Sequence[Group], upper: GridRow, own: Sequence[int]) -> bool:
    """Whether each column that no group covers has its name in one of both lines."""
    covered = {i for left, right in groups for i in range(left, right)}
    return not any(i < len(upper.cells) and upper.cells[i] for i in own if i not in covered)


def _any_group_has_values(groups: Sequence[Group], lower: GridRow, below: Sequence[GridRow]) -> bool:
    own = lower.own
    for left, right in groups:
        found = [has_values(i, lower.cells[i], below) for i in _within(left, right, own)]
        if any(found) and not any(values is False for values in found):
            return True
    return False


def _is_line_of_units(upper: GridRow, lower: GridRow, below: Sequence[GridRow]) -> bool:
    """Whether all cells of a row stand between a name and numbers, and none above the names of the rows.

    If numbers stand below all of several cells, the first column may be among them. A row with a value of its
    own ("60 mg") is not: it is the first of the values.
    """
    own, names = lower.own, _spread(upper)
    if any(VALUE.match(lower.cells[i]) and not _is_unit_or_date(i, lower, below) for i in own):
        return False
    if not names_columns(upper, [lower]) or not all(i < len(names) and names[i] for i in own):
        return False
    if not all(has_values(i, lower.cells[i], below) for i in own):
        return False
    first = next(i for i, cell in enumerate(upper.cells) if cell)
    label = any(first < len(row.cells) and row.cells[first] for row in below[:1])
    return label if first not in own else len(own) > 1 and len(below) > 1


def _is_unit_or_date(column: int, lower: GridRow, below: Sequence[GridRow]) -> bool:
    """Whether a cell that begins with a number is a year or month, or a multiple of a unit above numbers."""
    cell = lower.cells[column]
    if DATE.match(cell):
        return True
    cells = (row.cells[column] for row in below if column < len(row.cells))
    return bool(_MULTIPLE.match(cell)) and all(_NUMBER.match(each) for each in cells if each not in BLANKS)


def _spread(row: GridRow) -> list[str]:
    """The cells of a row, one that spans columns in each of them."""
    cells = list(row.cells)
    for left, wide in row.wide.items():
        right = min(left + wide, _MAX_WIDTH)
        cells += [""] * (right - len(cells))
        for i in range(left + 1, right):
            cells[i] = cells[i] or row.cells[left]
    return cells


def header_names(rows: Sequence[GridRow]) -> list[str]:
    """The names that the lines of a header give to the columns, joined, without a colon at the end."""
    names: list[str] = []
    for i, row in enumerate(rows):
        cells = _spread(row)
        if i + 1 < len(rows):
            for left, right in _spread_groups(row, rows[i + 1]):
                cells += [""] * (right - len(cells))
                cells[left:right] = [cells[left]] * (right - left)
        names = _joined(names, cells)
    return [name.rstrip(": ") for name in names]


def _spread_groups(upper: GridRow, lower: GridRow) -> list[Group]:
    """The groups that no merged cell shows; none, if one has the column that names the rows."""
    if upper.wide or not lower.own or len(upper.own) < 2:
        return []
    groups = list(_implied_groups(upper, lower.own))
    first = min([*lower.own, *upper.own])
    return [] if any(left <= first < right for left, right in groups) else groups


def _joined(upper: Sequence[str], lower: Sequence[str]) -> list[str]:
    """The names of the columns after another line of headers."""
    joined = []
    for over, under in zip_longest(upper, lower, fillvalue=""):
        parts = dict.fromkeys(filter(None, (over, under)))
        joined.append(HEADER_SEPARATOR.join(parts))
    return joined
