"""Blocks of a letter or an invoice that stand side by side, as an address beside numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.documents.readers.pdf_lines import Grid, Line, grid_line, line_of
from localcrag.documents.table_grid import plain_rows
from localcrag.documents.table_headers import found_header
from localcrag.labelled_lines import LABEL

_MIN_ROWS, _MAX_ROWS = 3, 8
_MAX_LABEL_CHARACTERS = 25
_MAX_PITCH_EMS = 1.6
_DIGIT = re.compile(r"\d")
_POSTCODE = re.compile(
    r"\b(?:[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}\b|(?:[A-Z]{1,2}-)?\d{4,5} [A-ZÀ-Þ])|[A-Z]{2} \d{5}$"
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?")


def side_by_side(lines: Sequence[Line], grid: Grid, below: Sequence[Line]) -> list[Line]:
    """The lines of the left block and the right one, one after the other; [] if the lines are a table.

    The right block has labels with a colon, or names beside values of several kinds: a number, a date; or one
    of them is an address. The right one comes first if the left one goes on ``below``. If both have titles
    with a colon, "Bill to:" and "Deliver to:", each is a row with its title.
    """
    cells = grid.cells
    if len(cells) != len(lines) or not _MIN_ROWS <= len(cells) <= _MAX_ROWS or grid.bold_header:
        return []
    bound = grid.columns[0][1]
    left = [line_of(own) for line in lines if (own := [s for s in line.segments if s.x0 <= bound])]
    right = [line_of(own) for line in lines if (own := [s for s in line.segments if s.x0 > bound])]
    if len(grid.columns) == 3 and _are_pairs(cells):
        pairs = [row[1:] for row in cells]
        right = [grid_line(Grid(pairs, grid.columns[1:], grid.top, grid.bottom, bold_header=False))]
    elif len(grid.columns) != 2:
        return []
    elif all(cell.endswith(":") for cell in cells[0]):
        titled = [[title, ", ".join(filter(None, rest))] for title, *rest in zip(*cells, strict=True)]
        return [grid_line(Grid(titled, grid.columns, grid.top, grid.bottom, bold_header=False))]
    elif not (all(_is_labelled(row[1]) for row in cells if row[1]) or _are_addresses(cells)):
        return []
    goes_on = any(
        line.grid is None
        and line.x1 <= grid.columns[1][0]
        and grid.bottom - line.y <= _MAX_PITCH_EMS * line.size
        for line in below
    )
    return [*right, *left] if goes_on else [*left, *right]


def _are_addresses(cells: Sequence[Sequence[str]]) -> bool:
    """Whether one of two columns is an address: of its lines, one of the last two has a postcode."""
    columns = [[cell for cell in column if cell] for column in zip(*cells, strict=True)]
    coded = [[_POSTCODE.search(cell) is not None for cell in column] for column in columns]
    return any(
        len(found) >= _MIN_ROWS and sum(found) == 1 and any(found[-2:]) and not any(found[:2])
        for found in coded
    )


def _are_pairs(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the last two of three columns are names and values, and the first is neither of them."""
    first, names, values = zip(*cells, strict=True)
    if found_header(list(plain_rows(cells))) is not None or not all(map(bool, names)) or not all(values):
        return False
    if len({*names}) < len(names) or any(map(_DIGIT.search, names)):
        return False
    numbers = sum(not _NUMBER.sub("", cell).strip(" .,%€$£-") for cell in first)
    if 2 * numbers >= len(first) or not all(any(map(str.isalpha, name)) for name in names):
        return False
    kinds = {_NUMBER.sub("0", value) for value in values}
    return all(name.endswith(":") for name in names) or (len(kinds) > 1 and all(map(_DIGIT.search, values)))


def _is_labelled(text: str) -> bool:
    return LABEL.match(text) is not None and text.index(":") <= _MAX_LABEL_CHARACTERS
