"""The shape of the table whose rows are being read, by which a table that begins below it is told from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from localcrag.documents.header_numbers import columns_above_values, is_value
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_headers import FoundHeader

_MAX_ROWS = 50
"""Rows of a table that its shape is taken from."""
_SPARSE_SHARE = 0.2
_MIN_ROWS_ABOVE_TOTAL = 2
"""Rows that must stand above a total."""
_MIN_RENAMED, _MIN_KNOWN_SHARE = 3, 0.75
"""Cells of a row that names the columns anew, and the share of them that are names of columns above it."""


class TableShape:
    """The names of a table's columns, its header ``lines``, and which columns its rows fill."""

    def __init__(self, names: Sequence[str] = (), lines: Sequence[GridRow] = ()) -> None:
        self.names = names
        self._lines = [_stripped(line.cells) for line in lines if len(line.own) > 1]
        self._named = {i for i, name in enumerate(names) if name}
        self._known = {*filter(None, names)}
        self._filled: Counter[int] = Counter()
        self._values: Counter[int] = Counter()
        self._rows = self._alone = 0

    @property
    def width(self) -> int:
        """How many columns have a name."""
        return len(self._named)

    def add(self, row: GridRow) -> None:
        """Take account of a row; only the first ones count."""
        if self._rows < _MAX_ROWS:
            self._rows += 1
            self._filled.update(i for i, cell in enumerate(row.cells) if cell)
            self._values.update(i for i, cell in enumerate(row.cells) if is_value(cell))
            self._alone += row.is_alone()

    def is_sparse(self) -> bool:
        """Whether rows with a single cell are usual in it."""
        return self._alone > max(1, _SPARSE_SHARE * self._rows)

    def is_total(self, cells: Sequence[str]) -> bool:
        """Whether a row is no more than a label and a value: "Total due", "5,631.60".

        The label then stands where all other rows have values, and so the column does not name it.
        """
        filled = [i for i, cell in enumerate(cells) if cell]
        if len(filled) != 2 or self._rows < _MIN_ROWS_ABOVE_TOTAL:
            return False
        label, value = filled
        above_are_values = self._values[label] == self._filled[label] > 0
        return above_are_values and _is_label(cells[label]) and is_value(cells[value])

    def is_header(self, row: GridRow) -> bool:
        """Whether a row repeats a line of the header, as at the top of a printed page."""
        cells = row.cells
        return any(list(cells[: len(line)]) == line and not any(cells[len(line) :]) for line in self._lines)

    def is_renaming(self, row: GridRow) -> bool:
        """Whether a row has the names of the columns in another order, as the way back of a timetable has."""
        names = [cell for cell in row.cells if cell]
        is_new = len(names) >= _MIN_RENAMED and names[0] in self._known
        known = sum(name in self._known for name in names) if is_new else 0
        return is_new and known >= _MIN_KNOWN_SHARE * max(len(names), self.width)

    def is_other(self, block: Sequence[GridRow], found: FoundHeader, *, is_titled: bool) -> bool:
        """Whether rows that seem to begin with a header are another table.

        They fill a column that this one does not have, or leave one empty that it always fills; or numbers
        stand below two of the names, or below one if a title or a name that is known says that it is one.
        """
        if self.lacks(block[found.start :]):
            return True
        if found.end - found.start > 1:
            return True
        above = len(columns_above_values(block, found.start))
        known = {*filter(None, self.names)} & {*found.names}
        return above > 1 or bool(above and (is_titled or known))

    def lacks(self, rows: Sequence[GridRow]) -> bool:
        """Whether several rows fill a column that no row does so far, or none of one that every row does."""
        used = {i for row in rows for i, cell in enumerate(row.cells) if cell}
        always = {i for i, count in self._filled.items() if count == self._rows > 1}
        return bool(used - self._named - set(self._filled)) or (bool(always - used) and len(rows) > 1)


def _is_label(cell: str) -> bool:
    """Whether a cell is no value; "VAT 20%" is none, "EUR 20" is one."""
    return not is_value(cell) or (cell[0].isalpha() and cell.endswith("%"))


def _stripped(cells: Sequence[str]) -> list[str]:
    """The cells of a row without the empty ones at its end."""
    end = next((i for i in range(len(cells), 0, -1) if cells[i - 1]), 0)
    return list(cells[:end])
