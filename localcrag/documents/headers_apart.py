"""Tables of plain text whose header a blank line sets apart from the rows.

The names need not leave the same places free as the rows do, nor more than one blank between them: each is of
the column that it stands above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from itertools import pairwise

Run = tuple[int, Callable[[str], list[str]]]
"""The number of the line after the last, and how a line is divided into its cells."""
MAX_HEADER_LINES = 3
"""Lines of a header of plain text."""
_WORDS, _WORD = re.compile(r"\S+(?: \S+)*"), re.compile(r"\S+")
_VALUE = re.compile(r"[-+(€$£]{0,2}\d\S*(?: ?[^\W\d_]\S*)?")
"""A number, which its unit may follow."""
_MAX_COLUMNS = 40
_MIN_ROWS = 3
_MAX_DISTINCT_SHARE = 0.5
"""The share of the cells besides the names of the rows that differ, if most columns are no numbers."""


def header_set_apart(lines: Sequence[str], first: int) -> tuple[int, Run] | None:
    """The blank line below a header that begins at a line, and the lines of its table; None if there is none.

    All rows have a cell in each column. Besides their names these are numbers, or single words, in
    few columns or such that recur.
    """
    last = min(len(lines) - 1, first + 1 + MAX_HEADER_LINES)
    blank = next((at for at in range(first + 1, last) if not lines[at].strip()), None)
    if blank is None:
        return None
    end = next((at for at in range(blank + 1, len(lines)) if not lines[at].strip()), len(lines))
    rows = [list(_WORDS.finditer(line.expandtabs())) for line in lines[blank + 1 : end]]
    if len(rows) < _MIN_ROWS or not 2 < len(rows[0]) < _MAX_COLUMNS:
        return None
    if any(len(row) != len(rows[0]) for row in rows):
        return None
    if not _are_values([[cell[0] for cell in column] for column in zip(*rows, strict=True)][1:]):
        return None
    columns = [
        (min(c.start() for c in cells), max(c.end() for c in cells)) for cells in zip(*rows, strict=True)
    ]
    if any(left[1] >= right[0] for left, right in pairwise(columns)):
        return None
    for pattern in (_WORDS, _WORD):
        headers = [_placed(line, columns, pattern) for line in lines[first:blank]]
        if all(headers) and all(map(any, list(zip(*headers, strict=True))[1:])):
            headers = _one_line(headers) if pattern is _WORD else headers
            return blank, (end, _cells_of(columns, dict(zip(lines[first:blank], headers, strict=True))))
    return None


def _cells_of(
    columns: Sequence[tuple[int, int]], header: Mapping[str, list[str]]
) -> Callable[[str], list[str]]:
    """How a line is divided into its cells, if those of the header are known."""

    def cells_of(line: str) -> list[str]:
        return header[line] if line in header else _placed(line, columns, _WORDS)

    return cells_of


def _one_line(headers: Sequence[list[str]]) -> list[list[str]]:
    """The lines of a header whose last one has the whole names, and the others none."""
    empty = [""] * len(headers[0])
    return [*[empty] * (len(headers) - 1), [reduce(_joined, names) for names in zip(*headers, strict=True)]]


def _joined(upper: str, lower: str) -> str:
    """A name from two lines: "Save Throw", "Stealth" of "Stea-" and "lth"."""
    if upper.endswith("-") and lower[:1].islower():
        return f"{upper[:-1]}{lower}"
    return f"{upper} {lower}".strip()


def _are_values(columns: Sequence[Sequence[str]]) -> bool:
    """Whether the columns besides that of the names are those of a table, and not prose or a picture."""
    numeric = sum(all(map(_VALUE.fullmatch, column)) for column in columns)
    cells = [cell for column in columns for cell in column]
    if numeric == len(columns):
        return True
    if not all(_VALUE.fullmatch(cell) or cell.isalnum() for cell in cells):
        return False
    return 2 * numeric > len(columns) or len(set(cells)) <= _MAX_DISTINCT_SHARE * len(cells)


def _placed(line: str, columns: Sequence[tuple[int, int]], pattern: re.Pattern[str]) -> list[str]:
    """The words of a line by the column that they stand in or most near; [] if two are of one column.

    Single words of one column are joined.
    """
    cells = [""] * len(columns)
    for words in pattern.finditer(line.expandtabs()):
        shared = [min(words.end(), right) - max(words.start(), left) for left, right in columns]
        column = shared.index(max(shared))
        if (cells[column] and pattern is _WORDS) or shared[column] <= 0:
            return []
        cells[column] = f"{cells[column]} {words[0]}".strip()
    return cells
