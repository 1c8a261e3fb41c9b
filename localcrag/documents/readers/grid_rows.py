"""From the cells of a table that stands on a page to its rows, each with its headers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from localcrag.documents.readers.pdf_lines import Grid, same_columns
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_headers import FoundHeader, found_header, header_names
from localcrag.documents.table_pairs import are_pairs, pair_text
from localcrag.documents.table_records import record_lines
from localcrag.documents.table_rows import labelled_text, row_text
from localcrag.documents.table_shape import TableShape
from localcrag.types import CELL_SEPARATOR

_MAX_KEY = 40
"""The characters of the longest name that begins a row of a table without a header."""
_KEY_SHARE = 0.6
_MIN_CAPTIONED = 3
"""The fewest columns of a table above which a single cell is its caption."""
_PERIOD = re.compile(
    r"(?:(?:[QH][1-4]|[1-4][QH]|FY|[A-Z][a-z]{2})[-/ .']*)?(?:(?:19|20)\d\d(?:/\d\d)?|\d\d)[EeFPA]?"
    r"|(?:[QH][1-4]|[1-4][QH])"
)
"""A year, a quarter or a half, also one that is expected: "2014E", "Q3-13E", "FY 2012/13"."""
_MAX_ABBREVIATION = 5
"""The characters of the longest word that may be cut short, with its dot."""


class OpenTable:
    """The table that the pages so far ended with, which the next page may go on with."""

    def __init__(self) -> None:
        self.grid: Grid | None = None
        self.header: Sequence[str] = ()
        self._lines: list[list[str]] = []
        self._shape = TableShape()

    def close(self) -> None:
        self.grid = None

    def rows(self, grid: Grid, *, first: bool) -> Iterator[str]:
        """The rows of a table as lines; ``first`` if nothing stands before it on its page."""
        cells = grid.cells
        goes_on = first and self.grid is not None and same_columns(grid.columns, self.grid.columns)
        if goes_on and self.header:
            repeated = self._lines if cells[: len(self._lines)] == self._lines else ()
            cells = cells[len(repeated) :]
        elif records := record_lines(cells):
            self.grid, self.header = grid, ()
            yield from records
            return
        elif _is_keyed(cells):
            self.grid, self.header = grid, ()
            yield from (" ".join(filter(None, row)) for row in cells)
            return
        elif not grid.bold_header and are_pairs(cells):
            self.grid, self.header = grid, ()
            yield from map(pair_text, cells)
            return
        else:
            found = _header_of(grid)
            if _is_caption(found, grid):
                yield row_text(cells[0], ())
                yield from self.rows(_below_caption(grid), first=False)
                return
            self.header, self._lines = (found.names, cells[found.start : found.end]) if found else ((), [])
            self._shape = TableShape(self.header)
            yield from (row_text(row, ()) for row in cells[: found.start if found else 0])
            cells = cells[found.end :] if found else cells
        self.grid = grid
        known = grid.spans[max(0, len(grid.spans) - len(cells)) :]
        wide = [bool(spans) for spans, _ in known] or [False] * len(cells)
        for row, is_wide in zip(cells, wide, strict=True):
            if is_wide and sum(map(bool, row)) == 1:
                yield row_text(row, ())  # the title of a group of rows
            elif not self.header:
                yield _unnamed(row)
            elif self._shape.is_total(row):
                yield labelled_text(row)
            else:
                self._shape.add(GridRow(0, row))
                yield row_text(row, self.header)


def _is_caption(found: FoundHeader | None, grid: Grid) -> bool:
    """Whether the first row of a wide table is a line above it, and no header: it has a single cell."""
    is_alone = bool(grid.cells[0][0]) and not any(grid.cells[0][1:])
    if not is_alone or len(grid.columns) < _MIN_CAPTIONED or len(grid.cells) < _MIN_CAPTIONED:
        return False
    return _has_periods(grid.cells[1]) if found is None else found.start == 0 and found.end == 1


def _below_caption(grid: Grid) -> Grid:
    """The table below its caption, whose first row is a header if it has years or quarters, or no figure."""
    first = grid.cells[1]
    is_header = _has_periods(first) or (bool(first[0]) and not any(map(str.isdigit, "".join(first))))
    return replace(grid, cells=grid.cells[1:], spans=grid.spans[1:], bold_header=is_header)


def _has_periods(row: Sequence[str]) -> bool:
    """Whether the cells of a row but the first are years, quarters or halves."""
    periods = [cell for cell in row[1:] if cell]
    return len(periods) > 1 and all(map(_PERIOD.fullmatch, periods))


def _header_of(grid: Grid) -> FoundHeader | None:
    """The header of a table: a bold first row with further lines of it, or what looks like one."""
    rows = [
        GridRow(i, cells, *(grid.spans[i] if grid.spans else ({}, frozenset())), not i and grid.bold_header)
        for i, cells in enumerate(grid.cells)
    ]
    found = found_header(rows)
    if found is None and grid.bold_header:
        return FoundHeader(0, 1, header_names(rows[:1]))
    if found is None or grid.bold_header or found.end > found.start + 1:
        return found
    return None if _tells(grid.cells[found.start], grid.cells[found.end :]) else found


def _tells(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Whether a row that nothing sets apart is no header: it has a sentence, or names no column of values.

    Only the first column, of the names of the rows, may have no name of its own.
    """
    if any(_is_sentence(cell, [other[i] for other in below]) for i, cell in enumerate(row)):
        return True
    nameless = (i for i, cell in enumerate(row) if i and not cell)
    return any(2 * sum(bool(other[i]) for other in below) > len(below) for i in nameless)


def _is_sentence(cell: str, below: Sequence[str]) -> bool:
    """Whether a cell is a sentence, which "Art. no." is not, if no cell below it ends in a dot."""
    if not cell.endswith(".") or " " not in cell:
        return False
    *others, last = cell.split()
    words = [word for word in others if not word.endswith(".")]
    is_name = len(words) < 2 and all(word[0].isupper() for word in words)
    is_cut_short = last[:-1].isalpha() and len(last) <= _MAX_ABBREVIATION
    return not (is_name and is_cut_short) or any(other.endswith(".") for other in below)


def _unnamed(row: Sequence[str]) -> str:
    """A row of a table without a header: "breaklinks: false · links may break", if a name begins it."""
    first, *others = row
    if not any(map(str.isalpha, first)) or len(first) > _MAX_KEY or ":" in first:
        return row_text(row, ())
    return pair_text((first, CELL_SEPARATOR.join(filter(None, others))))


def _is_keyed(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the rows are names with a colon and their values."""
    keyed = sum(row[0].endswith(":") for row in cells)
    return len(cells[0]) == 2 and keyed >= _KEY_SHARE * len(cells)
