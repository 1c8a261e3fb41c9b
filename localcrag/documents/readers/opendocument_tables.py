"""The rows of a table of an OpenDocument, with a bound on how often a row or a cell is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from localcrag.documents.readers.opendocument_words import in_namespace, words

if TYPE_CHECKING:
    from lxml.etree import _Element

_OFFICE, _TABLE = in_namespace("office"), in_namespace("table")
_ROW = f"{_TABLE}table-row"
_ROW_GROUPS = frozenset(_TABLE + f"table-{name}" for name in ("header-rows", "rows", "row-group"))
_CELL, _COVERED_CELL = f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"
_MAX_COLUMNS = 16_384
"""Columns of a row that are read, as many as a spreadsheet has."""
_MAX_ROWS = 1_048_576
"""Rows that a spreadsheet has at most."""
_MAX_REPEATED_ROWS = 1_000
"""Times that one row is repeated."""
_MIDNIGHT = "T00:00:00"


def sheet_rows(table: _Element) -> Iterator[tuple[int, list[str]]]:
    """The rows that have a cell with text, with their numbers; empty cells at the end are left out."""
    number = 1
    for row in _row_elements(table):
        cells = _cells(row)
        if cells:
            for repeated in range(_repeated(row, "number-rows-repeated", _MAX_REPEATED_ROWS)):
                yield number + repeated, cells
        number += _repeated(row, "number-rows-repeated", _MAX_ROWS)


def _row_elements(table: _Element) -> Iterator[_Element]:
    for child in table:
        if child.tag in _ROW_GROUPS:
            yield from _row_elements(child)
        elif child.tag == _ROW:
            yield child


def _cells(row: _Element) -> list[str]:
    cells: list[str] = []
    for cell in row.iterchildren(_CELL, _COVERED_CELL):
        text = _shown(cell) if cell.tag == _CELL else ""
        cells += [text] * _repeated(cell, "number-columns-repeated", _MAX_COLUMNS - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _repeated(element: _Element, attribute: str, limit: int) -> int:
    count = element.get(_TABLE + attribute, "1")
    return min(int(count), limit) if count.isdecimal() and len(count) < 10 else min(1, limit)


def _shown(cell: _Element) -> str:
    """The text of a cell as it is displayed, but a date in ISO form and a truth value as yes or no."""
    match cell.get(f"{_OFFICE}value-type"):
        case "date" if date := cell.get(f"{_OFFICE}date-value"):
            return str(date).removesuffix(_MIDNIGHT).replace("T", " ")
        case "boolean":
            return "yes" if cell.get(f"{_OFFICE}boolean-value") == "true" else "no"
        case _:
            return words(cell) or str(cell.get(f"{_OFFICE}value", ""))
