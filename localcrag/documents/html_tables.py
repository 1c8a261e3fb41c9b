"""Tables of HTML: whether one holds data, and its rows with their headers.

A header that spans columns names each of them, and headers in several lines are joined: "Fee / 2026". A cell
that spans rows is repeated in each, so that every row is understood alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from localcrag.documents.html_tree import LISTS, VERBATIM, AlternativeText, Element, texts
from localcrag.documents.table_grid import MAX_NAME_CHARACTERS, GridRow
from localcrag.documents.table_headers import found_header, header_end, header_names
from localcrag.documents.table_pairs import is_pair, pair_text, plain_lines
from localcrag.documents.table_rows import grid_lines
from localcrag.types import CELL_SEPARATOR

_MAX_SPAN = 100
_MAX_CELLS = 500_000
"""Cells of a table, with each place that a span covers; from then on a cell covers only its own."""
_MAX_LINES = 16
"""Rows after a header that are looked at for further lines of it."""
_MAX_NAMES = 50
"""Names of columns that are looked for in the rows."""
_LONG_CELL_CHARACTERS = 1000
_MAX_BESIDE_ICON = 3
"""Cells of a table that places a picture beside a title and a text."""
_GROUPED_WIDTH = 3
"""Columns of a table of groups: that of the titles, the names, and what they mean."""
_FIELD = re.compile(r"[A-Z][a-z]+: \S.{0,99}")
_NAME = re.compile(r"[\w.:-]{1,60}")
"""What the head of an entry of a manual has: its name, and fields such as "Type: string"."""
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

    It says so itself, has one column or one row without a header, places a picture before a text, or has
    cells with tables, headings, code of several lines, or paragraphs and lists of more than 1000 characters.
    """
    if table.attributes.get("role") in ("presentation", "none"):
        return True
    if max((len(row.cells) for row in rows), default=0) <= 1:
        return True
    if len(rows) == 1 and not any(cell.tag == "th" for cell in rows[0].cells):
        return True
    if _is_icon(rows[0].cells[0]) and sum(len(row.cells) for row in rows) <= _MAX_BESIDE_ICON:
        return True
    return any(_lays_out(cell) for row in rows for cell in row.cells)


def _is_icon(cell: Element) -> bool:
    """Whether a cell holds nothing but what stands for a picture, as that of a warning."""
    found = [text for text in texts(cell) if text.strip()]
    return bool(found) and all(isinstance(text, AlternativeText) for text in found)


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


def entry_head(rows: Sequence[TableRow]) -> tuple[str, str]:
    """The name of an entry of a manual and what its head says beside it; empty if a table is no such head.

    It is one row, "mode | Type: octal integer | Default: 0600", above the paragraphs that tell of it.
    """
    if len(rows) != 1:
        return "", ""
    name, *rest = map(cell_text, rows[0].cells)
    is_head = len(rest) > 1 and all(map(_FIELD.fullmatch, rest)) and _NAME.fullmatch(name) is not None
    return (name, line(rest, ())) if is_head else ("", "")


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
    laid = _without_gaps([grid.laid(row) for row in rows])
    if not any(row.is_head for row in laid):
        if _is_grouped(rows, laid):
            yield from (_pair_or_title(row.cells) for row in laid)
        elif all(row.cells[0].tag == "th" for row in rows):
            yield from (_named_by_first(row.cells) for row in laid)
        elif lines := plain_lines([row.cells for row in laid]):
            yield from lines
        else:
            yield from _headed_lines(laid)
        return
    if not any(row.is_head for row in laid[1:]) and is_pair(laid[0].cells, [row.cells for row in laid[1:]]):
        yield from (pair_text(row.cells) for row in laid)
        return
    if laid[0].is_head and len(rows[0].cells) == 1 and _has_own_header(rows[1:], laid[1:]):
        yield line(laid[0].cells, ())  # a title, which was called the header
        yield from _lines(rows[1:])
        return
    in_header = _header_rows(laid)
    body = not all(in_header)
    header: list[GridRow] = []
    names: list[str] = []
    for i, row in enumerate(laid):
        cells = row.cells
        if not in_header[i]:
            names = header_names(header) if header else names
            header = []
            yield line(cells, () if len(rows[i].cells) == 1 and row.is_alone() else names)
        elif not body or (len(rows[i].cells) == 1 and names and not header):
            yield line(cells, ())  # the title of a group of rows
        else:
            long = [cell for cell in cells if len(cell) > MAX_NAME_CHARACTERS]
            yield from long
            header.append(row._replace(cells=["" if cell in long else cell for cell in cells]))
    if header and body and any(last := header_names(header)):
        yield line(last, ())


def _without_gaps(rows: Sequence[GridRow]) -> Sequence[GridRow]:
    """The rows without the columns that are empty in all of them, unless a cell spans columns or rows."""
    if any(row.wide or row.from_above for row in rows):
        return rows
    filled = sorted({i for row in rows for i in row.own})
    return [row._replace(cells=[row.cells[i] for i in filled if i < len(row.cells)]) for row in rows]


def _has_own_header(rows: Sequence[TableRow], laid: Sequence[GridRow]) -> bool:
    """Whether the rows below a single cell, none of which is called the header, have one all the same."""
    if not rows or any(row.is_head for row in laid):
        return False
    if all(row.cells[0].tag == "th" for row in rows):
        return True
    found = found_header(laid[:_MAX_LINES], is_sure=True)
    return found is not None and sum(map(bool, found.names)) > 2


def _is_grouped(rows: Sequence[TableRow], laid: Sequence[GridRow]) -> bool:
    """Whether names with what they mean stand below titles over the whole width, indented by an empty column.

    A title stands above the first of them, so none of them is a header.
    """
    titles = [len(row.cells) == 1 and grid.is_alone() for row, grid in zip(rows, laid, strict=True)]
    named = [grid.cells for grid, is_title in zip(laid, titles, strict=True) if not is_title]
    are_named = bool(named) and all(len(cells) == _GROUPED_WIDTH and not cells[0] for cells in named)
    return titles[0] and sum(titles) > 1 and are_named


def _pair_or_title(cells: Sequence[str]) -> str:
    """A title, or a name with what it means, of a table of groups."""
    return cells[0] or pair_text(cells[1:])


def _headed_lines(rows: Sequence[GridRow]) -> Iterator[str]:
    """The lines of rows of which none is called the header; the cells have no names if none is one."""
    if found_header(rows[:_MAX_LINES]) is None:
        yield from (line(row.cells, ()) for row in rows)
        return
    filled = (row._replace(number=i) for i, row in enumerate((row for row in rows if any(row.cells)), 1))
    yield from (found.text for found in grid_lines(filled))


def _header_rows(rows: Sequence[GridRow]) -> list[bool]:
    """Whether each row is one of the header, with further lines that belong to the first ones."""
    heads = [row.is_head for row in rows]
    start = heads.index(True)
    end = next((i for i in range(start, len(heads)) if not heads[i]), len(heads))
    further = header_end(rows[: end + _MAX_LINES], start, end)
    return [*heads[:end], *[True] * (further - end), *heads[further:]]


class _Grid:
    """Lays the cells of one row after another into columns."""

    def __init__(self) -> None:
        self._from_above: dict[int, tuple[int, str]] = {}
        self._cells = self._rows = 0

    def laid(self, row: TableRow) -> GridRow:
        """The texts of a row by column, with those that reach into it from above."""
        line: list[str] = []
        below: dict[int, tuple[int, str]] = {}
        spans: dict[int, int] = {}
        above = {column for column, (_, text) in self._from_above.items() if text}
        for cell in row.cells:
            self._fill(line, below)
            text = cell_text(cell)
            wide, high = self._span(cell, "colspan"), self._span(cell, "rowspan")
            first = len(line)
            if wide > 1:
                spans[first] = wide
            if high > 1:
                shown = text if len(text) <= MAX_NAME_CHARACTERS else ""
                below.update((column, (high - 1, "")) for column in range(first + 1, first + wide))
                below[first] = (high - 1, shown)
            line += [text, *[""] * (wide - 1)]
            self._cells += wide
        self._fill(line, below, to_end=True)
        self._from_above = below
        self._rows += 1
        return GridRow(self._rows, line, spans, frozenset(above), row.is_header())

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
    return pair_text((cells[0], rest))
