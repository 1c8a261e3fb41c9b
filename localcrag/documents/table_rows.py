"""Tables as text: each row is a line of its own with the headers, so that it is understood alone.

``Category: Motorcycle · Fee: 35 EUR`` is found by a search for either cell, judged without the rest of the
table, and quoted without it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from localcrag.errors import UnreadableError
from localcrag.types import CELL_SEPARATOR

_MAX_HEADER_ROW = 5
"""The header must be among so many first rows."""
_MAX_CELLS = 10_000_000
"""Cells of the tables of one document, the empty ones between others included."""
_NUMBER = re.compile(r"[-+]?[\d.,:/\s%€$£-]*\d[\d.,:/\s%€$£-]*$")


def bounded_cells(rows: Iterable[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The rows, until they have too many cells: a few bytes can say that a cell is in the last column.

    Raises UnreadableError after ten million cells.
    """
    yield from (row for _, row in bounded_rows((0, row) for row in rows))


def bounded_rows(rows: Iterable[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, Sequence[str]]]:
    """The rows of :func:`bounded_cells`, each with its number."""
    cells = 0
    for number, row in rows:
        cells += len(row)
        if cells > _MAX_CELLS:
            raise UnreadableError(
                f"its tables have more than {_MAX_CELLS // 1_000_000} million cells", hint="Split the file."
            )
        yield number, row


def with_headers(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """One line per row, with ``header: value`` for each cell that is not empty.

    The header is the first of the leading rows that names the columns of the row after it. Rows above it,
    such as the title of a table, are kept without names, as are all rows if there is no header.
    """
    yield from (line for _, line in numbered_with_headers(enumerate(rows, 1)))


def numbered_with_headers(rows: Iterable[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, str]]:
    """The lines of :func:`with_headers`, each with the number that its row has in the document."""
    header: Sequence[str] = ()
    before: tuple[int, Sequence[str]] | None = None
    for index, (number, row) in enumerate(rows):
        if not header and before is not None:
            if index <= _MAX_HEADER_ROW and _is_header(before[1], row):
                header = before[1]
            else:
                yield before[0], row_text(before[1], ())
        if header:
            yield number, row_text(row, header)
        before = number, row
    if not header and before is not None:
        yield before[0], row_text(before[1], ())


def header_number(rows: Sequence[Sequence[str]]) -> int | None:
    """The number of the row, from 0, that is the header of the others, as in :func:`with_headers`."""
    leading = pairwise(rows[: _MAX_HEADER_ROW + 1])
    return next((number for number, (row, after) in enumerate(leading) if _is_header(row, after)), None)


def row_text(row: Sequence[str], header: Sequence[str]) -> str:
    """A row as a line; a column without a name is numbered, and a single cell without one stands alone."""
    if not header and sum(map(bool, row)) == 1:
        return "".join(row)
    names = (header[i] if i < len(header) and header[i] else f"column {i + 1}" for i in range(len(row)))
    return CELL_SEPARATOR.join(f"{name}: {cell}" for name, cell in zip(names, row, strict=True) if cell)


def _is_header(row: Sequence[str], following: Sequence[str]) -> bool:
    """Whether a row is a header: its cells are names, not values.

    Names are all different, none is a number or longer than 100 characters, and more than half of the
    filled cells of the next row have one.
    """
    names = [cell for cell in row if cell]
    filled = [i for i, cell in enumerate(following) if cell]
    named = sum(1 for i in filled if i < len(row) and row[i])
    return (
        len(set(names)) == len(names)
        and 2 * named > len(filled)
        and not any(len(name) > 100 or _NUMBER.match(name) for name in names)
    )
