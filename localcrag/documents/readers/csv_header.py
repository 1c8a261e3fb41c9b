"""The header of a CSV file where its first row looks like no header of a table that somebody laid out.

Programs write numbers as names of columns ("country,1990,1991"), names twice, the names of rows below no name
at all, or with none where the header ends one cell early (R's ``write.table``), or names that begin with a
figure ("639-1"). What proves such a header is text above a column of nothing but numbers, or of codes of one
length.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, pairwise

from localcrag.documents.table_grid import GridRow

_LOOKED_AT = 50
"""Rows that are held against the first one."""
_MIN_BELOW, _MIN_SERIES = 2, 4
"""The fewest rows below a header, and the fewest numbers that are the names of a series of columns."""
_MAX_NAME_CHARACTERS = 100
_MIN_CODES, _MAX_CODE_CHARACTERS = 8, 4
"""The fewest codes below a header, and the most characters of one: "ab", "DEU"."""
_NUMBER = re.compile(r"[-+]?(?:\d[\d.,' ]*|\.\d+)(?:[eE][-+]?\d+)?%?")
_FIGURE_NAME = re.compile(r"[-+.]?\d\S*$")
"""A name of one word that begins with a figure, or is a number: "1990", "639-1"."""
_NO_VALUES = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "–", "?", "."})


def proven_header(rows: Iterable[GridRow]) -> tuple[GridRow | None, Iterator[GridRow]]:
    """The header of a file, each name of its own, if its first row proves to be one, and the rows below it.

    Where it is a header as others are, or none, it is None, and all rows are there.
    """
    each = iter(rows)
    near = list(islice(each, _LOOKED_AT))
    names = _names([row.cells for row in near])
    header = near.pop(0)._replace(cells=names) if names else None
    return header, chain(near, each)


def _names(rows: Sequence[Sequence[str]]) -> list[str]:
    """The names of the columns, if the first row has them in one of these forms; none otherwise."""
    if len(rows) <= _MIN_BELOW:
        return []
    first, *below = rows
    is_early = all(len(row) == len(first) + 1 for row in below)
    if not is_early and any(len(row) != len(first) for row in below):
        return []
    names = ["", *first] if is_early else list(first)
    if not all(names[1:]) or max(map(len, names)) > _MAX_NAME_CHARACTERS:
        return []
    columns = [
        [cell for row in below if (cell := row[at]).casefold() not in _NO_VALUES] for at in range(len(names))
    ]
    numbered = [bool(column) and all(map(is_number, column)) for column in columns]
    is_proven = any(
        (above_numbers and _is_text(name)) or _is_above_codes(name, column)
        for name, above_numbers, column in zip(names, numbered, columns, strict=True)
    )
    begins_with_figure = any(_FIGURE_NAME.match(name) for name in names)
    unlike_others = not names[0] or len(names) == 1 or len(set(names)) < len(names) or begins_with_figure
    is_header = is_proven or (not names[0] and len(columns[0]) == len(below)) or _is_series(names, below)
    return _distinct(names) if unlike_others and is_header else []


def is_number(cell: str) -> bool:
    """Whether a cell is a number as programs write it."""
    return _NUMBER.fullmatch(cell) is not None


def _is_text(cell: str) -> bool:
    return cell.casefold() not in _NO_VALUES and not is_number(cell)


def _is_above_codes(name: str, column: Sequence[str]) -> bool:
    """Whether a column is of codes, words of as many letters, and its name is none of these."""
    size = len(column[0]) if len(column) >= _MIN_CODES else 0
    return 0 < size <= _MAX_CODE_CHARACTERS < len(name) and all(
        len(cell) == size and cell.isalpha() for cell in column
    )


def _is_series(names: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether names but the first are numbers that go up, and those of some row below do not."""
    return bool(_is_text(names[0])) and _go_up(names[1:]) and not all(_go_up(row[1:]) for row in below)


def _go_up(cells: Sequence[str]) -> bool:
    if len(cells) < _MIN_SERIES or not all(map(is_number, cells)):
        return False
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return False
    return all(low < high for low, high in pairwise(numbers))


def _distinct(names: Sequence[str]) -> list[str]:
    """Names, those that recur with their number: "Min T", "Min T 2"."""
    seen = Counter[str]()
    told = []
    for name in names:
        seen[name] += 1
        told.append(f"{name} {seen[name]}" if seen[name] > 1 else name)
    return told
