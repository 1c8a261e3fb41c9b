"""Tables that only place records side by side: two parties that sign a contract, each in a column of its own.

Their cells have their labels with them: "Name: Peter Ashworth". Such a table has no header, and no cell is
the value of the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from localcrag.labelled_lines import LABEL
from localcrag.types import CELL_SEPARATOR

_MIN_ROWS = 2
"""Rows of labelled cells that decide."""
_MAX_RECORD = 600
"""Characters of a record that is one line; a longer one has a line for each cell."""


def record_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """The lines of a table if all cells of most rows have labels; else none.

    If the labels of a row are the same in all columns, each column is a record, and a line. If they differ,
    each row is a line.
    """
    filled = [row for row in rows if any(row)]
    labelled = [labels for row in filled if (labels := _labels(row))]
    if len(labelled) < _MIN_ROWS or 2 * len(labelled) <= len(filled):
        return []
    if 2 * sum(len(set(labels)) == 1 for labels in labelled) <= len(labelled):
        return [CELL_SEPARATOR.join(filter(None, row)) for row in filled]
    lines = []
    for column in zip_longest(*filled, fillvalue=""):
        cells = [cell for cell in column if cell]
        record = CELL_SEPARATOR.join(cells)
        lines += [record] if len(record) <= _MAX_RECORD else cells
    return lines


def _labels(row: Sequence[str]) -> list[str]:
    """The labels of all cells of a row, which are all with a value or all without one; else none."""
    found = [LABEL.match(cell) for cell in row]
    labels = [label[0].rstrip(": \t") for label in found if label]
    if len(labels) < len(row) and all(cell.endswith(":") for cell in row):
        labels = [cell.rstrip(":") for cell in row]
    return labels if len(labels) == len(row) > 1 else []
