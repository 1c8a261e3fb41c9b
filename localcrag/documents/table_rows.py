"""Tables as text: each row is a line of its own with the headers, so that it is understood alone.

``Category: Motorcycle · Fee: 35 EUR`` is found by a search for either cell, judged without the rest of the
table, and quoted without it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice, pairwise, takewhile
from typing import NamedTuple

from localcrag.documents.block_text import BlockText
from localcrag.documents.table_grid import GridRow, plain_rows
from localcrag.documents.table_headers import FoundHeader, found_header
from localcrag.documents.table_shape import TableShape
from localcrag.errors import UnreadableError
from localcrag.types import CELL_SEPARATOR, UNNAMED_COLUMN, BlockKind

_MAX_CELLS = 10_000_000
"""Cells of the tables of one document, the empty ones between others included."""
_MAX_AHEAD = 16
"""Rows that are looked at to find a header."""
_MAX_PAIRS = 10
"""Rows of names and values that may stand together beside a table: "Client", "ACME"."""
_MAX_TOLD = 4
"""Cells of a row that tells of the table below it."""
_MAX_TITLE = 120
"""Characters of the title of a table."""
_MIN_SENTENCE_WORDS = 4
_TITLE_LEVEL = 2
"""The level of the title of a table, below the name of its sheet."""
_COLUMN_MARK = ": "
"""What stands between the name of a column and a cell."""
_NOTE_MARKS = "*∗†‡§¶¹²³⁴⁵"


TitleChoice = Callable[[Sequence[GridRow]], int | None]


class TableLine(NamedTuple):
    """A row as text, and its number; ``apart`` if another table or a note begins with it.

    ``kind`` says whether it is a row of a table, the title of one, which is a heading, or a note.
    """

    number: int
    text: str
    apart: bool
    kind: BlockKind = BlockKind.ROW


def bounded_cells(rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The rows, until they have too many cells: a few bytes can say that a cell is in the last column.

    Raises UnreadableError after ten million cells.
    """
    yield from (row.cells for row in bounded_rows(plain_rows(rows)))


def bounded_rows(rows: Iterable[GridRow]) -> Iterator[GridRow]:
    """The rows of a grid, with the bound of :func:`bounded_cells`."""
    cells = 0
    for row in rows:
        cells += len(row.cells)
        if cells > _MAX_CELLS:
            raise UnreadableError(
                f"its tables have more than {_MAX_CELLS // 1_000_000} million cells", hint="Split the file."
            )
        yield row


def with_headers(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """One line per row, with ``header: value`` for each cell that is not empty.

    The header is the first of the leading rows that names the columns of the row after it. Rows above it,
    such as the title of a table, are kept without names, as are all rows if there is no header.
    """
    yield from (line.text for line in grid_lines(plain_rows(rows)))


def grid_lines(rows: Iterable[GridRow], header: GridRow | None = None) -> Iterator[TableLine]:
    """The rows of a sheet, or of one table, as lines with the joined names of a header of several lines.

    Where row numbers jump, because of blank rows, another table may begin, with its own title and header, or
    a note may stand. Only a few rows are kept at a time. ``header`` is the row above them, if it is known.
    """
    yield from _Lines(rows, header).all()


def add_lines(made: BlockText, lines: Iterable[TableLine]) -> None:
    """Append the lines of a sheet or CSV file, with the numbers of their rows."""
    for line in lines:
        if line.apart:
            made.part()
        made.add(line.kind, line.text, level=_TITLE_LEVEL if line.kind is BlockKind.HEADING else line.number)


def row_text(row: Sequence[str], header: Sequence[str]) -> str:
    """A row as a line; a column without a name is numbered, and a single cell without one stands alone.

    A first column without a name, beside others that have one, names the rows: its cells stand alone.
    """
    if not header and sum(map(bool, row)) == 1:
        return "".join(row)
    names = [
        header[i] if i < len(header) and header[i] else UNNAMED_COLUMN.format(number=i + 1)
        for i in range(len(row))
    ]
    if row and any(header) and not header[0] and _COLUMN_MARK not in (label := row[0].rstrip(": ")):
        row, names[0] = [label, *row[1:]], ""
    cells = zip(names, row, strict=True)
    return CELL_SEPARATOR.join(f"{name}{_COLUMN_MARK if name else ''}{cell}" for name, cell in cells if cell)


def labelled_text(row: Sequence[str]) -> str:
    """A row of a label and a value as a line, whatever their columns: "Total due: 5,631.60"."""
    label, value = filter(None, row)
    return f"{label.rstrip(': ')}{_COLUMN_MARK}{value}"


def _is_note(row: GridRow) -> bool:
    """Whether the one text of a row begins as a note does."""
    return "".join(row.cells)[0] in _NOTE_MARKS


def _is_title(row: GridRow) -> bool:
    """Whether the one text of a row may be the title of the table below it: it is short, and no sentence."""
    text = "".join(row.cells)
    is_short = len(text) <= _MAX_TITLE and not text.endswith(".")
    return is_short and not _is_note(row) and any(map(str.isalpha, text))


def _first_title(alone: Sequence[GridRow]) -> int | None:
    """Which of some rows is a title: the first that may be one."""
    return next((i for i, row in enumerate(alone) if _is_title(row)), None)


def _title_below_notes(alone: Sequence[GridRow]) -> int | None:
    """Which of some rows is the title of the table below: the first without a blank row after it."""
    gaps = (i + 1 for i, (row, below) in enumerate(pairwise(alone)) if below.number > row.number + 1)
    first = max(gaps, default=0)
    return next((i for i, row in enumerate(alone) if i >= first and _is_title(row)), None)


class _Lines:
    """Reads rows one after another, a few ahead; ``_shape`` is that of the table they belong to.

    ``_numbered`` says that its first column only numbers the rows.
    """

    def __init__(self, rows: Iterable[GridRow], header: GridRow | None) -> None:
        self._rows = (row for row in rows if any(row.cells))
        self._ahead: deque[GridRow] = deque()
        self._shape = TableShape()
        self._numbered = False
        self._apart = False
        self._header = header

    def all(self) -> Iterator[TableLine]:
        last: int | None = None
        while self._look(1):
            number = self._ahead[0].number
            if last is None:
                yield from self._begin()
            elif number > last + 1:
                yield from self._after_gap()
            if self._ahead:
                row = self._ahead.popleft()
                last = row.number
                yield from self._line(row)

    def _look(self, count: int) -> list[GridRow]:
        """The next rows, at most so many; they stay the next."""
        while len(self._ahead) < count and (row := next(self._rows, None)) is not None:
            self._ahead.append(row)
        return list(islice(self._ahead, count))

    def _block(self, skipped: int) -> list[GridRow]:
        """The next rows but the first few, up to a blank one, as far as they are looked at."""
        rows = self._look(_MAX_AHEAD)[skipped:]
        return [row for i, row in enumerate(rows) if row.number == rows[0].number + i]

    def _begin(self) -> Iterator[TableLine]:
        """The lines before the first header; the header is taken off the rows."""
        if self._header is not None:
            self._set_header(self._header.cells, [self._header])
            return
        rows, block = self._look(_MAX_AHEAD), self._block(0)
        if len(block) < min(len(rows), _MAX_PAIRS) and all(map(_is_pair, block)):
            found = found_header(rows[len(block) :], is_sure=True)
            if found is not None and sum(map(bool, found.names)) > 2:
                yield from self._pairs(len(block))
                yield from self._headed(found)
                return
        if (count := _preamble(rows)) and (found := found_header(rows[count:], is_sure=True)):
            yield from self._told(count)
            yield from self._headed(found)
            return
        if found := found_header(rows):
            yield from self._headed(found, _first_title)

    def _after_gap(self) -> Iterator[TableLine]:
        """The lines before the rows of a table, after a blank row; a header is taken off the rows."""
        table, rows = self._shape, self._look(_MAX_AHEAD)
        alone = [*takewhile(_is_sentence if table.is_sparse() else GridRow.is_alone, rows)]
        block = self._block(len(alone))
        if not block and len(rows) < _MAX_AHEAD:
            self._apart = self._apart or table.width > 1
            yield from self._above(len(alone) if table.width > 1 else 0)
        elif block and (found := self._other(block, is_titled=bool(alone))):
            self._apart = True
            yield from self._above(len(alone), _title_below_notes(alone))
            self._apart = not (alone and _is_title(alone[-1]))
            yield from self._headed(found)
        elif block and len(block) < _MAX_PAIRS and all(map(_is_pair, block)) and table.lacks(block):
            self._apart = True
            yield from self._above(len(alone), _title_below_notes(alone))
            yield from self._pairs(len(block))
        elif table.width > 1:
            yield from self._alone(len(alone) if block else 0)

    def _other(self, block: Sequence[GridRow], *, is_titled: bool) -> FoundHeader | None:
        """The header of another table that begins with these rows."""
        table = self._shape
        found = found_header(block, is_sure=True)
        if found is not None and (not table.names or table.is_other(block, found, is_titled=is_titled)):
            return None if table.is_header(block[found.start]) else found
        if not table.names or table.is_header(block[0]) or all(map(_is_pair, block)):
            return None
        found = found_header(block)
        return found if found and table.is_other(block, found, is_titled=False) else None

    def _headed(self, found: FoundHeader, title_of: TitleChoice = _title_below_notes) -> Iterator[TableLine]:
        """The lines before a header, which is taken off the rows."""
        above = self._look(found.start)
        alone = [*takewhile(GridRow.is_alone, above)]
        yield from self._above(len(alone), title_of(alone))
        yield from self._alone(len(above) - len(alone))
        lines = [self._ahead.popleft() for _ in range(found.end - found.start)]
        yield from self._remarks(lines)
        self._set_header(found.names, lines)

    def _set_header(self, names: Sequence[str], lines: Sequence[GridRow]) -> None:
        self._shape = TableShape(names, lines)
        self._numbered = not names[0] and _count_up([_first(row) for row in self._block(0)])

    def _above(self, count: int, title: int | None = None) -> Iterator[TableLine]:
        """The next rows, which are notes, but for the one that is the title of what stands below them."""
        for number in range(count):
            kind = BlockKind.HEADING if number == title else BlockKind.PARAGRAPH
            row = self._ahead.popleft()
            yield self._made(row, row_text(row.commented(), ()))._replace(kind=kind)

    def _alone(self, count: int) -> Iterator[TableLine]:
        """The next rows without names."""
        for _ in range(count):
            row = self._ahead.popleft()
            yield self._made(row, row_text(row.commented(), ()))

    def _remarks(self, header: Sequence[GridRow]) -> Iterator[TableLine]:
        """The comments on the names of columns, each as a note, so that no row repeats them."""
        for row in header:
            for column, comment in sorted(row.comments.items()):
                text = labelled_text((row.cells[column], comment))
                yield self._made(row, text)._replace(kind=BlockKind.PARAGRAPH)

    def _pairs(self, count: int) -> Iterator[TableLine]:
        """The next rows as a name and a value each, apart from what follows."""
        for _ in range(count):
            row = self._ahead.popleft()
            yield self._made(row, labelled_text(row.commented()))
        self._apart = True

    def _told(self, count: int) -> Iterator[TableLine]:
        """The next rows, which tell of the table below: its title, and names with their values."""
        alone = [*takewhile(GridRow.is_alone, self._look(count))]
        yield from self._above(len(alone), _first_title(alone))
        for _ in range(count - len(alone)):
            row = self._ahead.popleft()
            label, *values = filter(None, row.commented())
            yield self._made(row, labelled_text((label, CELL_SEPARATOR.join(values))))
        self._apart = True

    def _line(self, row: GridRow) -> Iterator[TableLine]:
        """The line of a row of the table; a header that is repeated has none, nor one of the columns anew."""
        table = self._shape
        if table.is_header(row):
            return
        if table.is_renaming(row):
            self._shape, self._apart = TableShape(row.cells, [row]), True
            return
        if table.width > 1 and row.is_alone() and row.own:
            self._apart = self._apart or _is_note(row)
            if row.wide or _is_note(row):
                kind = BlockKind.PARAGRAPH if _is_note(row) else BlockKind.ROW
                yield self._made(row, row_text(row.commented(), ()))._replace(kind=kind)
                return
        if table.is_total(row.cells):
            yield self._made(row, labelled_text(row.commented()))
            return
        table.add(row)
        cells = row.commented()
        cells = ["", *cells[1:]] if self._numbered and _first(row).isdecimal() else cells
        yield self._made(row, row_text(cells, table.names))

    def _made(self, row: GridRow, text: str) -> TableLine:
        apart, self._apart = self._apart, False
        return TableLine(row.number, text, apart)


def _preamble(rows: Sequence[GridRow]) -> int:
    """The number of rows that tell of the table below them, as in the export of an account; 0 if none do.

    They have names and values from the first column on, and fewer cells than the header, which is sure. A
    blank row parts them from it, or else each has a number behind its name, or a colon.
    """
    widest = 0
    for count, row in enumerate(rows[:_MAX_PAIRS]):
        if count and len(row.own) > max(widest, 2) and [*row.own] == [*range(len(row.own))]:
            above = [told for told in rows[:count] if not told.is_alone()]
            has_gap = row.number > rows[count - 1].number + 1
            found = found_header(rows[count:], is_sure=True) if above else None
            if found is not None and not found.start and (has_gap or all(map(_is_told, above))):
                return count
        if row.wide or [*row.own] != [*range(len(row.own))] or len(row.own) > _MAX_TOLD:
            return 0
        widest = max(widest, len(row.own))
    return 0


def _is_told(row: GridRow) -> bool:
    """Whether a row is surely a name with its values."""
    label, *values = filter(None, row.cells)
    return label.endswith(":") or any(any(map(str.isdigit, value)) for value in values)


def _first(row: GridRow) -> str:
    return row.cells[0] if row.cells else ""


def _count_up(cells: Sequence[str]) -> bool:
    """Whether cells count from 0 or 1 on, as those do that a program wrote to number its rows."""
    counted = [*map(str, range(len(cells) + 1))]
    return len(cells) > 1 and list(cells) in (counted[:-1], counted[1:])


def _is_pair(row: GridRow) -> bool:
    return sum(map(bool, row.cells)) == 2


def _is_sentence(row: GridRow) -> bool:
    """Whether the one text of a row is a sentence, as a note is, and no name of a group of rows."""
    text = "".join(row.cells)
    return row.is_alone() and text.endswith(".") and len(text.split()) >= _MIN_SENTENCE_WORDS
