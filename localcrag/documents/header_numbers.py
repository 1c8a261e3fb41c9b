"""Numbers in the first rows of a table: those below which a name stands, and those that are names themselves.

A year, the days of a roster and the numbers of trains may name columns, which other numbers do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from itertools import pairwise

from localcrag.documents.table_grid import GridRow

_MAX_SKIPPED = 2
"""Further lines of a header that may stand between one and the numbers below it."""
VALUE = re.compile(r"[^\w]*(?:[A-Z]{3} )?\d")
"""How a number with its unit begins, or a date."""
DATE = re.compile(r"((?:19|20)\d\d)(?:-(\d\d)-\d\d)?$")
_SEASON = re.compile(r"((?:19|20)\d\d)[-/–](?:(?:19|20)(?=\d\d$))?(\d\d)$")
_ISO_CHARACTERS = len("2024-11-01")
_STEPS_OF_DAYS = (1, 7, 14)
_TIME = re.compile(r"(?:[01]?\d|2[0-4])(?:[:.h]|(?= ?[ap]\.?m))(?:[0-5]\d)?(?:\D.*)?$")
"""A time, and what may stand behind it: "05:46", "17.10", "9 am", "06:25 a"."""
BLANKS = frozenset({"", "-", "–", "—", "|", "n/a", "N/A", "x", "?", "..."})
_MIN_COUNTED_ROWS = 3
"""Rows that must count on from the number of a header."""
_MIN_NUMBERED_ROWS = 2
"""Rows that must stand below whole numbers that are names."""


def is_value(cell: str) -> bool:
    """Whether a cell begins as a number with its unit does, or a date."""
    return VALUE.match(cell) is not None


def columns_above_values(rows: Sequence[GridRow], start: int) -> list[int]:
    """The columns of a row in which a name stands above nothing but numbers, from the next row on."""
    row, below = rows[start], rows[start + 1 :]
    return [
        i
        for i in row.own
        if below
        and row.cells[i] not in BLANKS
        and not VALUE.match(row.cells[i])
        and i < len(below[0].cells)
        and VALUE.match(below[0].cells[i])
        and has_values(i, row.cells[i], below)
    ]


def has_values(column: int, name: str, below: Sequence[GridRow]) -> bool | None:
    """Whether numbers stand below a name, after further lines of the header; None if nothing does."""
    cells = [row.cells[column] for row in below if column < len(row.cells)]
    cells = [cell for cell in cells if cell not in BLANKS]
    if not cells:
        return None
    first = next((i for i, cell in enumerate(cells) if VALUE.match(cell)), len(cells))
    values = cells[first:] if first <= _MAX_SKIPPED else []
    if not values or (DATE.match(name) and all(map(DATE.match, values))):
        return False
    return all(map(VALUE.match, values))


def are_counted_rows(row: GridRow, below: Sequence[GridRow], numbers: Sequence[int]) -> bool:
    """Whether the one number of a row is counted on below it, where numbers stand below one of its names."""
    if list(numbers) != list(row.own[:1]) or len(below) < _MIN_COUNTED_ROWS:
        return False
    counted = [
        each.cells[numbers[0]] for each in (row, *below[:_MIN_COUNTED_ROWS]) if numbers[0] < len(each.cells)
    ]
    goes_on = all(cell.isdecimal() and int(cell) == int(counted[0]) + i for i, cell in enumerate(counted))
    return goes_on and len(counted) > _MIN_COUNTED_ROWS and bool(columns_above_values((row, *below), 0))


def is_series_of_dates(row: GridRow, following: GridRow, numbers: Sequence[int]) -> bool:
    """Whether the numbers of a row are years, months or days that count up or down, above other values."""
    months = [_month_of(row.cells[i]) for i in numbers]
    steps = {after - before for before, after in pairwise(months)}
    even = 0 not in months and len(steps) == 1 and abs(steps.pop()) in (1, 3, 6, 12)
    even = even or _are_days_in_a_row([row.cells[i] for i in numbers])
    below = [following.cells[i] for i in numbers if i < len(following.cells)]
    return even and any(below) and not any(map(DATE.match, below))


def is_date(cell: str) -> bool:
    """Whether a cell is a year, a day, or a season or school year: "2023-24"."""
    return _month_of(cell) > 0


def _month_of(cell: str) -> int:
    """The month of a day, counted from the first year; that before a year or a season; 0 of others."""
    if date := DATE.match(cell):
        return 12 * int(date[1]) + int(date[2] or 0)
    season = _SEASON.match(cell)
    follows = season is not None and (int(season[1]) + 1) % 100 == int(season[2])
    return 12 * int(season[1]) if season is not None and follows else 0


def _are_days_in_a_row(cells: Sequence[str]) -> bool:
    """Whether cells are the days of a roster, one after the other or week by week."""
    try:
        days = [date.fromisoformat(cell).toordinal() for cell in cells if len(cell) == _ISO_CHARACTERS]
    except ValueError:
        return False
    steps = {after - before for before, after in pairwise(days)}
    return len(days) == len(cells) and len(steps) == 1 and steps.pop() in _STEPS_OF_DAYS


def are_numbered(row: GridRow, below: Sequence[GridRow], numbers: Sequence[int]) -> bool:
    """Whether whole numbers stand above nothing but times, or nothing but words, in several rows."""
    if not all(row.cells[i].isdecimal() for i in numbers):
        return False
    block = [other for i, other in enumerate(below) if other.number == below[0].number + i]
    values = [[other.cells[i] for i in numbers if i < len(other.cells)] for other in block]
    values = [filled for cells in values if (filled := [cell for cell in cells if cell not in BLANKS])]
    kinds = (
        (all(map(_TIME.match, cells)) for cells in values),
        (not any(map(VALUE.match, cells)) for cells in values),
    )
    return len(values) >= _MIN_NUMBERED_ROWS and any(map(all, kinds))
