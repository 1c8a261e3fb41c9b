"""Tables of HTML: whether one holds data, and its rows with their headers.

A header that spans columns names each of them, and headers in several lines are joined: "Fee / 2026". A cell
that spans rows is repeated in each, so that every row is understood alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from localcrag.documents.html_tree import LISTS, VERBATIM, Element, texts
from localcrag.documents.table_rows import with_headers
from localcrag.types import CELL_SEPARATOR

HEADER_SEPARATOR = " / "
_MAX_SPAN = 100
_MAX_CELLS = 500_000
"""Cells of a table, with each place that a span covers; from then on a cell covers only its own."""
_MAX_NAME_CHARACTERS = 200
"""A longer cell is neither a header nor repeated in other rows."""
_MAX_NAMES = 50
"""Names of columns that are looked for in the rows."""
_LONG_CELL_CHARACTERS = 1000
_ROW_GROUPS = frozenset({"thead", "tbody", "tfoot", "form", "div", "section"})


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row of a table.

    ``cells`` are its ``td`` and ``th`` elements, and ``head`` says whether it lies in the ``thead``.
    """

    cells: tuple[Element, ...]
    head: bool

    def is_header(self) -> bool:
        return self.head or all(cell.tag == "th" for cell in self.cells)


def rows_of(table: Element) -> list[TableRow]:
    """The rows of a table that have cells, without those of a table inside it."""
    return list(_rows(table, head=False))


def _rows(part: Element, head: bool) -> Iterator[TableRow]:
    for child in part.elements():
        if child.tag == "tr":
            cells = tuple(cell for cell in child.elements() if cell.tag in ("td", "th"))
            if cells:
                yield TableRow(cells, head)
        elif child.tag in _ROW_GROUPS:
            yield from _rows(child, head or child.tag == "thead")


def is_layout(table: Element, rows: Sequence[TableRow]) -> bool:
    """Whether a table only places things on the page, so that it is read as its content.

    It says so itself, has one column or one row without a header, or has cells with tables, headings, code of
    several lines, or paragraphs and lists of more than 1000 characters.
    """
    if table.attributes.get("role") in ("presentation", "none"):
        return True
    if max((len(row.cells) for row in rows), default=0) <= 1:
        return True
    if len(rows) == 1 and not any(cell.tag == "th" for cell in rows[0].cells):
        return True
    return any(_lays_out(cell) for row in rows for cell in row.cells)


def _lays_out(cell: Element) -> bool:
    if cell.headings:
        return True
    inside = list(cell.descendants())
    if any(element.tag == "table" or _has_lines(element) for element in inside):
        return True
    blocks = sum(element.tag == "p" or element.tag == "dl" or element.tag in LISTS for element in inside)
    return blocks > 1 and cell.characters > _LONG_CELL_CHARACTERS


def _has_lines(element: Element) -> bool:
    return element.tag in VERBATIM and "\n" in "".join(texts(element)).strip()


def table_lines(rows: Sequence[TableRow]) -> Iterator[str]:
    """A line for each row with its headers; without any, the first row is one if it names the columns.

    The names of columns that are empty come first, in a line of their own.
    """
    lines = [found for found in _lines(rows) if found]
    header = [row for row in rows if row.is_header()] or rows[:1]
    names = dict.fromkeys(cell_text(cell) for row in header for cell in row.cells)
    yield line([name for name in islice(names, _MAX_NAMES) if not any(name in text for text in lines)], ())
    yield from lines


def _lines(rows: Sequence[TableRow]) -> Iterator[str]:
    grid = _Grid()
    body = [row for row in rows if not row.is_header()]
    if not any(row.is_header() for row in rows):
        if all(row.cells[0].tag == "th" for row in rows):
            yield from (_named_by_first(grid.expanded(row, repeat=False)) for row in rows)
        else:
            lines = (grid.expanded(row, repeat=False) for row in rows)
            yield from with_headers(line for line in lines if any(line))
        return
    names: list[str] = []
    in_header = False
    for row in rows:
        cells = grid.expanded(row, repeat=row.is_header())
        if not row.is_header():
            in_header = False
            yield line(cells, () if len(row.cells) == 1 and sum(map(bool, cells)) == 1 else names)
        elif not body or (len(row.cells) == 1 and names and not in_header):
            yield line(_once(cells), ())  # the title of a group of rows
        else:
            long = [cell for cell in _once(cells) if len(cell) > _MAX_NAME_CHARACTERS]
            yield from long
            names = _below(names if in_header else [], ["" if cell in long else cell for cell in cells])
            in_header = True
    if in_header and body and any(names):
        yield line(names, ())


class _Grid:
    """Lays the cells of one row after another into columns."""

    def __init__(self) -> None:
        self._from_above: dict[int, tuple[int, str]] = {}
        self._cells = 0

    def expanded(self, row: TableRow, *, repeat: bool) -> list[str]:
        """The texts of a row by column; ``repeat`` writes a cell into each column that it spans."""
        line: list[str] = []
        below: dict[int, tuple[int, str]] = {}
        for cell in row.cells:
            self._fill(line, below)
            text = cell_text(cell)
            wide, high = self._span(cell, "colspan"), self._span(cell, "rowspan")
            for column in range(len(line), len(line) + wide):
                shown = text if repeat or column == len(line) else ""
                if high > 1:
                    below[column] = (high - 1, shown if len(shown) <= _MAX_NAME_CHARACTERS else "")
            line += [text, *([text if repeat else ""] * (wide - 1))]
            self._cells += wide
        self._fill(line, below, to_end=True)
        self._from_above = below
        return line

    def _fill(self, line: list[str], below: dict[int, tuple[int, str]], *, to_end: bool = False) -> None:
        """Append the cells that reach into this row from above."""
        last = max(self._from_above, default=-1) if to_end else -1
        while (column := len(line)) in self._from_above or column <= last:
            left, text = self._from_above.get(column, (0, ""))
            line.append(text)
            self._cells += 1
            if left > 1 and self._cells < _MAX_CELLS:
                below[column] = (left - 1, text)

    def _span(self, cell: Element, name: str) -> int:
        if self._cells > _MAX_CELLS:
            return 1
        digits = (cell.attributes.get(name) or "").strip()[:4]
        return max(1, min(int(digits), _MAX_SPAN)) if digits.isdecimal() else 1


def cell_text(cell: Element) -> str:
    """The text of a cell in one line; the items of a list in it are parted by semicolons."""
    return " ".join("".join(_cell_texts(cell)).split()).replace(" ;", ";")


def _cell_texts(element: Element) -> Iterator[str]:
    items = 0
    for child in element.children:
        if isinstance(child, str):
            yield child
            continue
        items += child.tag == "li"
        yield " ; " if child.tag == "li" and items > 1 else " "
        yield from _cell_texts(child)
        yield " "


def line(cells: Sequence[str], names: Sequence[str]) -> str:
    """A row as a line, each cell with its name; a cell of a column without one stands alone."""
    return CELL_SEPARATOR.join(
        f"{names[i]}: {cell}" if i < len(names) and names[i] else cell for i, cell in enumerate(cells) if cell
    )


def _named_by_first(cells: Sequence[str]) -> str:
    rest = CELL_SEPARATOR.join(filter(None, cells[1:]))
    return f"{cells[0]}: {rest}" if cells[0] and rest else cells[0] or rest


def _once(cells: Sequence[str]) -> list[str]:
    return [cell for i, cell in enumerate(cells) if cell and (not i or cell != cells[i - 1])]


def _below(names: Sequence[str], lower: Sequence[str]) -> list[str]:
    """The names of the columns after another line of headers."""
    joined = []
    for i in range(max(len(names), len(lower))):
        over, under = names[i : i + 1], lower[i : i + 1]
        parts = [*filter(None, [*over, *under])]
        joined.append(parts[0] if len(set(parts)) == 1 else HEADER_SEPARATOR.join(parts))
    return joined
