"""The rows of a table of an OpenDocument, with a bound on how often a row or a cell is repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from localcrag.documents.readers.opendocument_words import in_namespace, words
from localcrag.documents.table_grid import GridRow, Merge, MergedCells

if TYPE_CHECKING:
    from lxml.etree import _Element

_OFFICE, _TABLE = in_namespace("office"), in_namespace("table")
_ROW = f"{_TABLE}table-row"
_ROW_GROUPS = frozenset(_TABLE + f"table-{name}" for name in ("header-rows", "rows", "row-group"))
_HEADER_ROWS = f"{_TABLE}table-header-rows"
_CELL, _COVERED_CELL = f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"
_MAX_COLUMNS = 16_384
"""Columns of a row that are read, as many as a spreadsheet has."""
_MAX_ROWS = 1_048_576
"""Rows that a spreadsheet has at most."""
_MAX_REPEATED_ROWS = 1_000
"""Times that one row is repeated."""
_MIDNIGHT = "T00:00:00"


def sheet_rows(table: _Element) -> Iterator[GridRow]:
    """The rows that have a cell with text, as they are numbered; empty cells at the end are left out."""
    number = 1
    merged = MergedCells()
    for row in _row_elements(table):
        cells, merges = _cells(row, number)
        if cells:
            is_head = row.getparent().tag == _HEADER_ROWS
            for merge in merges:
                merged.add(merge)
            for repeated in range(_repeated(row, "number-rows-repeated", _MAX_REPEATED_ROWS)):
                yield merged.laid(number + repeated, [*cells], is_head=is_head)
        number += _repeated(row, "number-rows-repeated", _MAX_ROWS)


def _row_elements(table: _Element) -> Iterator[_Element]:
    for child in table:
        if child.tag in _ROW_GROUPS:
            yield from _row_elements(child)
        elif child.tag == _ROW:
            yield child


def _cells(row: _Element, number: int) -> tuple[list[str], list[Merge]]:
    """The cells of a row, and those among them that span others."""
    cells: list[str] = []
    merges: list[Merge] = []
    for cell in row.iterchildren(_CELL, _COVERED_CELL):
        text = _shown(cell) if cell.tag == _CELL else ""
        wide = _repeated(cell, "number-columns-spanned", _MAX_COLUMNS)
        high = _repeated(cell, "number-rows-spanned", _MAX_ROWS)
        if wide > 1 or high > 1:
            merges.append(Merge(len(cells), number, wide, high))
        cells += [text] * _repeated(cell, "number-columns-repeated", _MAX_COLUMNS - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells, merges


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
