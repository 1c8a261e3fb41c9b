"""The rows of a table as they lie in its grid, with the cells that span several columns or rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

MAX_NAME_CHARACTERS = 200
"""A longer cell is neither a header nor repeated in other rows."""
_NO_SPANS: Mapping[int, int] = MappingProxyType({})
_NO_COMMENTS: Mapping[int, str] = MappingProxyType({})


class GridRow(NamedTuple):
    """A row of a grid.

    Attributes:
        number: its number in the sheet or file, from 1; a blank row before it makes it jump.
        cells: its texts by column, "" for an empty cell. A cell that reaches into the row from above stands
            in it too; one that spans columns stands in its first column only.
        wide: how many columns a cell spans, by its first column, if more than one.
        from_above: the columns whose cell began in a row above.
        is_head: whether the document says that the row is a header.
        comments: what somebody remarked on its filled cells, by their columns.
    """

    number: int
    cells: Sequence[str]
    wide: Mapping[int, int] = _NO_SPANS
    from_above: frozenset[int] = frozenset()
    is_head: bool = False
    comments: Mapping[int, str] = _NO_COMMENTS

    @property
    def own(self) -> list[int]:
        """The columns with a filled cell that begins in this row."""
        return [i for i, cell in enumerate(self.cells) if cell and i not in self.from_above]

    def is_alone(self) -> bool:
        """Whether it has one filled cell."""
        return sum(map(bool, self.cells)) == 1

    def commented(self) -> list[str]:
        """Its cells, each with the comment on it behind its text."""
        return [with_comment(cell, self.comments.get(i, "")) for i, cell in enumerate(self.cells)]


class Merge(NamedTuple):
    """A cell that spans columns and rows: its place, from 0 and from 1, and how many it covers of each."""

    column: int
    row: int
    wide: int
    high: int


class MergedCells:
    """Writes the cells that span rows into the rows below; ``merges`` are those of the whole table.

    The rows must come in order. A row without a cell of its own gets none from above.
    """

    def __init__(self, merges: Iterable[Merge] = ()) -> None:
        self._waiting = sorted(merges, key=lambda merge: merge.row, reverse=True)
        self._open: dict[int, tuple[int, str]] = {}

    def add(self, merge: Merge) -> None:
        """Add a cell that begins in the row that comes next."""
        self._waiting.append(merge)

    def laid(self, number: int, cells: list[str], *, is_head: bool = False) -> GridRow:
        """A row with the cells that reach into it; ``cells`` is changed."""
        self._open = {column: kept for column, kept in self._open.items() if kept[0] >= number}
        above = set()
        for column, (_, text) in self._open.items():
            cells += [""] * (column + 1 - len(cells))
            if not cells[column]:
                cells[column] = text
                above.add(column)
        wide: dict[int, int] = {}
        while self._waiting and self._waiting[-1].row <= number:
            merge = self._waiting.pop()
            text = cells[merge.column] if merge.row == number and merge.column < len(cells) else ""
            if not text:
                continue
            if merge.wide > 1:
                wide[merge.column] = merge.wide
            if merge.high > 1 and len(text) <= MAX_NAME_CHARACTERS:
                self._open[merge.column] = number + merge.high - 1, text
        return GridRow(number, cells, wide, frozenset(above), is_head)


def with_comment(text: str, comment: str) -> str:
    """The text of a cell, followed by the comment on it if there is one."""
    return f"{text} (comment: {comment})".strip() if comment else text


def with_comments(row: GridRow, comments: Mapping[int, str]) -> GridRow:
    """A row with the comments on its cells, by their columns; a cell without a value is its comment."""
    cells = [cell or with_comment("", comments.get(i, "")) for i, cell in enumerate(row.cells)]
    on_values = {i: note for i, note in comments.items() if i < len(row.cells) and row.cells[i]}
    return row._replace(cells=cells, comments=on_values)


def plain_rows(rows: Iterable[Sequence[str]]) -> Iterator[GridRow]:
    """Rows without cells that span, numbered from 1."""
    return (GridRow(number, cells) for number, cells in enumerate(rows, 1))
