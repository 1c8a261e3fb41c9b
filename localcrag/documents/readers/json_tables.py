"""Tables that JSON holds by their columns, as records: each row an object with the names of its columns.

Four forms are known, which exports of programs and data services have::

    {"fields": ["name", "diameter"], "data": [["Halley", 11], ["Encke", 5]]}
    [["name", "diameter"], ["Halley", 11], ["Encke", 5]]
    {"name": ["Halley", "Encke"], "diameter": [11, 5]}
    {"name": {"0": "Halley", "1": "Encke"}, "diameter": {"0": 11, "1": 5}}
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from localcrag.documents.record_blocks import Json

MIN_COLUMNS, MIN_ROWS = 2, 3
"""The fewest columns and rows of a table."""
_MAX_NAME_CHARACTERS = 80
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_MAX_DEPTH = 8
_LOOKED_AT = 50
"""Rows that tell whether the first of them is a header."""
_NAMING_KEYS = ("name", "label", "title", "id", "field")
"""The keys below which an object that describes a column has its name."""


def with_tables(value: Json) -> Json:
    """A document in which a table that is held by its columns is a list of records; all else stays as it is.

    Names and rows are looked for below the keys of objects inside objects as well; the other keys stay, and
    the records have the key of the rows.
    """
    if isinstance(value, dict):
        records = _of_columns(value)
        records = _of_numbered_columns(value) if records is None else records
        if records is not None:
            return records
    return _inside(value, _MAX_DEPTH)


def _inside(value: Json, depth: int) -> Json:
    if isinstance(value, list):
        return _headed(value) or value
    if not isinstance(value, dict) or not depth:
        return value
    for key, rows in value.items():
        if not isinstance(rows, list) or not _are_rows(rows):
            continue
        for other, held in value.items():
            names = _names(held) if other != key else []
            if names and all(isinstance(row, list) and len(row) == len(names) for row in rows):
                rest: dict[str, Json] = {each: value[each] for each in value if each not in (key, other)}
                return {**rest, key: _records(names, rows)}
    return {key: _inside(item, depth - 1) for key, item in value.items()}


def _records(names: Sequence[str], rows: Sequence[Json]) -> list[Json]:
    return [dict(zip(names, row, strict=True)) for row in rows if isinstance(row, list)]


def _are_rows(value: Json) -> bool:
    """Whether a value is a list of rows of plain cells."""
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(row, list) and len(row) >= MIN_COLUMNS and _are_plain(row) for row in value)


def _are_plain(cells: Sequence[Json]) -> bool:
    return not any(isinstance(cell, (dict, list)) for cell in cells)


def _names(value: Json) -> list[str]:
    """The names of columns that a list gives, as texts or as objects that describe them; else none."""
    if not isinstance(value, list):
        return []
    found = [_name(item) for item in value]
    are_names = all(0 < len(name) <= _MAX_NAME_CHARACTERS for name in found)
    return found if are_names and len(set(found)) == len(found) >= MIN_COLUMNS else []


def _name(item: Json) -> str:
    if isinstance(item, dict):
        item = next((item[key] for key in _NAMING_KEYS if isinstance(item.get(key), str)), "")
    return item.strip() if isinstance(item, str) else ""


def _headed(rows: list[Json]) -> list[Json]:
    """The records of rows of which the first is a header: names above a column of other values; else none."""
    if len(rows) <= MIN_ROWS or not _are_rows(rows):
        return []
    names = _names(rows[0])
    if not names or not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return []
    first = [row for row in islice(rows, 1, _LOOKED_AT) if isinstance(row, list)]
    has_values = any(not any(isinstance(cell, str) for cell in column) for column in zip(*first, strict=True))
    return _records(names, rows[1:]) if has_values else []


def _of_columns(value: dict[str, Json]) -> list[Json] | None:
    """The records of an object that has a list of as many plain values for each column."""
    columns = [column for column in value.values() if isinstance(column, list) and _are_plain(column)]
    sizes = {len(column) for column in columns}
    if len(columns) < max(MIN_COLUMNS, len(value)) or len(sizes) != 1 or sizes.pop() < MIN_ROWS:
        return None
    return [dict(zip(value, row, strict=True)) for row in zip(*columns, strict=True)]


def _of_numbered_columns(value: dict[str, Json]) -> list[Json] | None:
    """The records of an object that has the plain values of each column below the numbers of the rows.

    So pandas writes a table. Of columns that all are numbers, or all texts, the names may be those of things
    and the numbers years: those stay as they are. A number that does not only count is a cell of its row.
    """
    columns = {name: column for name, column in value.items() if isinstance(column, dict)}
    numbers = list(next(iter(columns.values()), {}))
    if not MIN_COLUMNS <= len(columns) == len(value) or len(numbers) < MIN_ROWS:
        return None
    if not all(number.isdecimal() for number in numbers):
        return None
    if any(list(column) != numbers or not _are_plain(list(column.values())) for column in columns.values()):
        return None
    texts = [any(_is_text(cell) for cell in column.values()) for column in columns.values()]
    if all(texts) or not any(texts):
        return None
    counted = numbers == [str(at) for at in range(len(numbers))]
    label = next(name for name in ("index", "number", "row") if name not in columns)
    return [
        {**({} if counted else {label: number}), **{name: column[number] for name, column in columns.items()}}
        for number in numbers
    ]


def _is_text(cell: Json) -> bool:
    """Whether a cell is no number; decimal fractions are held as they are written."""
    return isinstance(cell, str) and _NUMBER.fullmatch(cell) is None
