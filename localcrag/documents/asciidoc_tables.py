"""The tables of AsciiDoc as rows of a grid: cells behind bars, those that span others, tables of values."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from localcrag.documents.table_grid import GridRow, Merge, MergedCells

_MAX_COLUMNS = 256
_MAX_ROWS_SPANNED = 1_000
_MAX_REPEATED = 10
"""How often a cell is repeated, at the most; no word is lost if it is less often."""
_SPEC_CHARACTERS = 24
_SPEC = re.compile(r"(?:(\d{0,4})(?:\.(\d{1,4}))?([+*]))?(?:[<^>]?(?:\.[<^>])?)([adehlmsv]?)$")
"""What stands before a bar: how many columns and rows a cell spans, how it is aligned, and what it holds."""
_COLUMN = re.compile(r"(?:(\d{1,4})\*)?[^a-z]*([a-z]?)")
_SEPARATORS = {"csv": ",", "dsv": ":", "tsv": "\t"}
_FORMAT_OF_FENCE = {",": "csv", ":": "dsv"}

CellText = Callable[[str, str], str]
"""The words of a cell, from its source and the letter that says what it holds: "a" for AsciiDoc, or ""."""


class _Cell(NamedTuple):
    """A cell as it is written: how many columns and rows it spans, and the line of the table it begins in."""

    text: str
    style: str
    wide: int
    high: int
    line: int


def table_rows(
    lines: Sequence[str], fence: str, named: dict[str, str], options: frozenset[str], text_of: CellText
) -> Iterator[GridRow]:
    """The rows of a table.

    Args:
        lines: the lines between its fences.
        fence: the first sign of its fence, which tells how its cells are parted.
        named: the attributes of the table: ``cols``, ``format``, ``separator``.
        options: its options, among them "header".
        text_of: gives the words of a cell.
    """
    format_ = named.get("format", _FORMAT_OF_FENCE.get(fence, "psv"))
    separator = named.get("separator", "").replace("\\t", "\t") or _SEPARATORS.get(format_, fence)
    styles = _styles(named.get("cols", ""))
    first = next((number for number, line in enumerate(lines) if line), 0)
    is_headed = "header" in options
    is_apart = first == 0 and len(lines) > 2 and not lines[1] and "noheader" not in options
    if format_ == "psv":
        cells = list(_cells("\n".join(lines[first:]), separator))
        in_first = sum(cell.wide for cell in cells if cell.line == 0)
        width = min(len(styles) or in_first or 1, _MAX_COLUMNS)
        is_headed = is_headed or (is_apart and in_first == width)
        yield from _grid(cells, width, styles, text_of, is_headed=is_headed)
        return
    values = _quoted(lines, separator) if format_ != "dsv" else _parted(lines, separator)
    for number, row in enumerate(filter(any, values), 1):
        own = [
            text_of(text, styles[i] if i < len(styles) and number > 1 else "") for i, text in enumerate(row)
        ]
        yield GridRow(number, own, is_head=(is_headed or is_apart) and number == 1)


def _styles(columns: str) -> list[str]:
    """The letters of the columns that say what their cells hold, from "1,2*,3a"."""
    styles: list[str] = []
    for each in re.split("[,;]", columns) if columns else []:
        found = _COLUMN.match(each.strip())
        if found:
            styles += [found[2]] * min(int(found[1] or 1), _MAX_COLUMNS - len(styles))
    return styles


def _cells(content: str, separator: str) -> Iterator[_Cell]:
    """The cells of a table whose cells begin with a bar; words before the first one are a cell, too."""
    pieces = re.split(rf"(?<!\\){re.escape(separator)}", content)
    line = 0
    before, spec = _with_spec(" " + pieces[0])
    if before.strip():
        yield _Cell(before, "", 1, 1, 0)
    for number, piece in enumerate(pieces[1:], 1):
        line += pieces[number - 1].count("\n")
        columns, rows, kind, style = spec
        text, spec = _with_spec(piece) if number < len(pieces) - 1 else (piece, _NO_SPEC)
        text = text.replace("\\" + separator, separator)
        times = int(columns or 1)
        if kind == "*":
            yield from [_Cell(text, style, 1, 1, line)] * max(1, min(times, _MAX_REPEATED))
        else:
            high = max(1, min(int(rows or 1), _MAX_ROWS_SPANNED))
            yield _Cell(text, style, max(1, min(times, _MAX_COLUMNS)), high, line)


_Spec = tuple[str, str, str, str]
_NO_SPEC: _Spec = ("", "", "", "")


def _with_spec(piece: str) -> tuple[str, _Spec]:
    """What stands before a bar: the end of a cell, and the signs that belong to the next one."""
    tail = piece[-_SPEC_CHARACTERS:]
    last = tail.split()[-1] if tail.strip() and not tail[-1].isspace() else ""
    found = _SPEC.match(last) if last and len(last) < len(tail) else None
    if found is None:
        return piece, _NO_SPEC
    columns, rows, kind, style = found.groups(default="")
    return piece[: -len(last)], (columns, rows, kind, style)


def _grid(
    cells: Sequence[_Cell], width: int, styles: Sequence[str], text_of: CellText, *, is_headed: bool
) -> Iterator[GridRow]:
    """The cells in rows of ``width`` columns."""
    merged, number = MergedCells(), 1
    row: list[str] = []
    until: dict[int, int] = {}
    for cell in cells:
        while len(row) < width and until.get(len(row), 0) >= number:
            row.append("")
        if len(row) >= width:
            yield merged.laid(number, row, is_head=is_headed and number == 1)
            number, row = number + 1, []
            if all(until.get(column, 0) >= number for column in range(width)):
                until.clear()
            while until.get(len(row), 0) >= number:
                row.append("")
        column = len(row)
        wide = min(cell.wide, width - column)
        style = cell.style or (
            styles[column] if column < len(styles) and (number > 1 or not is_headed) else ""
        )
        if wide > 1 or cell.high > 1:
            merged.add(Merge(column, number, wide, cell.high))
            until |= dict.fromkeys(range(column, column + wide), number + cell.high - 1)
        row += [text_of(cell.text, style), *[""] * (wide - 1)]
    if any(row):
        yield merged.laid(number, row, is_head=is_headed and number == 1)


def _quoted(lines: Sequence[str], separator: str) -> Iterator[Sequence[str]]:
    """The rows of values between commas; what cannot be parsed is a row of one cell for each line."""
    try:
        yield from list(csv.reader((line + "\n" for line in lines), delimiter=separator))
    except (csv.Error, TypeError, ValueError):
        yield from ([line] for line in lines)


def _parted(lines: Sequence[str], separator: str) -> Iterator[Sequence[str]]:
    bar = re.compile(rf"(?<!\\){re.escape(separator)}")
    for line in lines:
        cells = bar.split(line, maxsplit=_MAX_COLUMNS) if line else ()
        yield [cell.strip().replace("\\" + separator, separator) for cell in cells]
