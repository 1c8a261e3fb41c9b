"""Tables without rules: lines whose cells stand one below the other, with free space between the columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from localcrag.documents.free_places import common_places, free_places
from localcrag.documents.readers.pdf_beside import side_by_side
from localcrag.documents.readers.pdf_lines import (
    Grid,
    Line,
    Span,
    grid_line,
    joined_lines,
    line_of,
    same_columns,
    segment_of,
)

_MIN_ROWS, _MIN_ROWS_IF_CLEAR = 3, 2
_MIN_RIVER_EMS = 0.8
_MAX_ROW_EMS = 2.8
_TIGHT_EMS = 1.6
_MAX_LOOSE_LINES = 2
_MAX_MEAN_WORDS = 8
_MAX_LISTED_WORDS = 4
_WIDE_PITCH = 1.25
_FLUSH_EMS = 0.15
_NUMBER = re.compile(r"[^\w\s]{0,2}(?:(?:EUR|USD|GBP|CHF) ?)?[€$£]?\d[\d.,'’ ]*(?: ?[^\W\d]{0,3}[%€$£]?)")
"""A number with its unit: "£497.64", "-12,50 EUR"."""
_DRAWN_SIGNS = frozenset(".,:;*#@+'\"^~=|/\\_")
"""Signs that pictures of characters are drawn with; a dash is an empty cell."""
_NOTE_MARKS = "*∗†‡§¶"


def with_tables(lines: Sequence[Line], carried: Sequence[Span] = (), *, code: bool = False) -> list[Line]:
    """The lines of a column of a page, each table among them as one line.

    ``carried`` are the columns of a table that the page before ended with: its rest may be short. If ``code``
    is set, lines in a font with characters of one width may be tables too.
    """
    found: list[Line] = []
    at = 0
    while at < len(lines):
        if not _may_be_row(lines[at], code=code):
            found.append(lines[at])
            at += 1
            continue
        end, rows = _run(lines, at, code=code)
        if len(rows) > _MIN_ROWS and len(_columns(rows[1:])) > len(_columns(rows)):
            found.append(rows.pop(0))  # a title over several columns, or a header whose names nearly touch
        grid = _table(rows, _columns_above_totals(rows), carried if not found else ())
        beside = side_by_side(rows, grid, lines[end : end + 1]) if grid is not None else []
        if beside:
            found += beside
        elif grid is not None:
            headed = _with_header(found[-1], rows) if found else None
            if headed is not None:
                found.pop()
            found.append(grid_line(headed or grid))
        else:
            end = max(end - 1, end - len(rows) + 1)
            found += rows[: max(1, len(rows) - 1)]
        at = end
    return found


def _may_be_row(line: Line, *, code: bool) -> bool:
    return line.grid is None and len(line.segments) > 1 and (code or not line.mono)


def _run(lines: Sequence[Line], start: int, *, code: bool) -> tuple[int, list[Line]]:
    """The lines from ``start`` that leave the same places free: the number after the last, and the lines."""
    rivers = free_places(_filled(lines[start]))[1:-1]
    rows, loose = [lines[start]], 0
    for number in range(start + 1, len(lines)):
        line, before = lines[number], lines[number - 1]
        pitch = before.y - line.y
        if (
            line.grid is not None
            or (line.mono and not code)
            or not 0 < pitch <= _MAX_ROW_EMS * max(line.size, before.size)
        ):
            break
        kept = common_places(rivers, free_places(_filled(line)), _MIN_RIVER_EMS * line.size)
        if len(line.segments) > 1:
            if not kept:
                break
            loose = 0
        else:
            if len(kept) < len(rivers):
                break
            in_first_column = line.x0 < rivers[0][0]
            if loose == _MAX_LOOSE_LINES:
                break
            loose += bool(in_first_column or loose or pitch > _TIGHT_EMS * line.size)
        rivers = kept
        rows.append(line)
    if loose:
        rows = rows[:-loose]
        while len(rows) > 1 and len(rows[-1].segments) == 1 and rows[-1].x0 < rivers[0][0]:
            rows.pop()
    return start + len(rows), rows


def _filled(line: Line) -> list[Span]:
    """The places of the segments of a line."""
    return [(segment.x0, segment.x1) for segment in line.segments]


def _with_header(line: Line, rows: list[Line]) -> Grid | None:
    """The table of these rows and the line above them, a header whose names nearly touch; None if it is none.

    A header has a word where each column begins, and a wider gap there than anywhere within a name.
    """
    columns = _columns(rows)
    pitch = line.y - rows[0].y
    if len(columns) < 3 or line.grid is not None or not 0 < pitch <= _MAX_ROW_EMS * line.size:
        return None
    words = [word for segment in line.segments for word in segment.words]
    near = _FLUSH_EMS * line.size
    starts = [at for at, word in enumerate(words) if any(abs(word.x0 - x0) <= near for x0, _ in columns)]
    if len(starts) != len(columns) or starts[0] != 0:
        return None
    gaps = [0.0, *(after.x0 - before.x1 for before, after in pairwise(words))]
    within = max((gap for at, gap in enumerate(gaps) if at not in starts), default=0.0)
    if min(gaps[at] for at in starts[1:]) <= within:
        return None
    names = [segment_of(words[at:end]) for at, end in zip(starts, [*starts[1:], None], strict=True)]
    spans = [(min(x0, name.x0), max(x1, name.x1)) for (x0, x1), name in zip(columns, names, strict=True)]
    return _table([line_of(names), *rows], spans, ())


def _table(rows: list[Line], columns: list[Span], carried: Sequence[Span]) -> Grid | None:
    """The table of these lines; None if they are too few, or prose."""
    full = [row for row in rows if len(row.segments) > 1]
    goes_on = bool(carried) and same_columns(columns, carried)
    clear = len(columns) > 2 or (rows[0].bold and not rows[-1].bold)
    if not goes_on and len(full) < (_MIN_ROWS_IF_CLEAR if clear else _MIN_ROWS):
        return None
    filled = sum(len(row.segments) for row in rows)
    if len(columns) < 2 or sum(len(s.words) for row in rows for s in row.segments) > _MAX_MEAN_WORDS * filled:
        return None
    cells = _rows_of_cells(rows, columns)
    if _is_list(cells) or _is_picture(cells):
        return None
    bold = rows[0].bold and not all(row.bold for row in rows)
    return Grid(cells, columns, rows[0].y, rows[-1].y, bold)


def _is_list(cells: Sequence[Sequence[str]]) -> bool:
    """Whether the rows are a number or the mark of a footnote and a text each: a list, not a table."""
    numbered = len(cells[0]) == 2 and all(row[0].isdigit() or not row[0].strip(_NOTE_MARKS) for row in cells)
    return numbered and sum(len(row[1].split()) for row in cells) > _MAX_LISTED_WORDS * len(cells)


def _is_picture(cells: Sequence[Sequence[str]]) -> bool:
    """Whether most cells are one of several signs, as in a map that is drawn with characters."""
    filled = [cell for row in cells for cell in row if cell]
    signs = [cell for cell in filled if cell in _DRAWN_SIGNS]
    return 2 * len(signs) > len(filled) and len(set(signs)) > 1


def _columns(rows: Sequence[Line]) -> list[Span]:
    """The places of the columns: what the segments of all rows cover together."""
    spans = sorted((segment.x0, segment.x1) for row in rows for segment in row.segments)
    columns: list[Span] = []
    for start, end in spans:
        if columns and start - columns[-1][1] < 0.5 * rows[0].size:
            columns[-1] = columns[-1][0], max(columns[-1][1], end)
        else:
            columns.append((start, end))
    return columns


def _columns_above_totals(rows: Sequence[Line]) -> list[Span]:
    """The places of the columns, of which the name of a total below the rows may cover several."""
    items = list(rows)
    while len(items) > _MIN_ROWS and len(items[-1].segments) == 2 and _ends_in_number(items[-1]):
        items.pop()
    columns, of_items = _columns(rows), _columns(items)
    return of_items if len(of_items) > max(2, len(columns)) else columns


def _ends_in_number(line: Line) -> bool:
    return _NUMBER.fullmatch(line.segments[-1].text) is not None


def _rows_of_cells(lines: Sequence[Line], columns: Sequence[Span]) -> list[list[str]]:
    """The cells of the rows; a line that only goes on with cells of the row above is joined to it."""
    placed = [_placed(line, columns) for line in lines]
    pitches = [before.y - line.y for before, line in pairwise(lines)]
    wide = [pitch > _WIDE_PITCH * min(pitches) for pitch in pitches]
    by_pitch = sum(wide) >= 2 and 3 * sum(wide) >= len(lines) and not all(wide)
    sparse = 2 * sum(1 for cells in placed if not cells[0]) > len(placed)
    rows: list[list[list[str]]] = []
    for number, cells in enumerate(placed):
        if not rows:
            goes_on = False
        elif by_pitch:
            goes_on = not wide[number - 1]
        elif cells[0]:
            goes_on = not any(cells[1:]) and cells[0][:1].islower()
        elif _is_sum(cells, placed[number - 1]):
            goes_on = False
            cells = _labelled(cells)
        else:
            goes_on = not sparse or sum(map(bool, cells)) == 1
        if not goes_on:
            rows.append([[] for _ in columns])
        for cell, text in zip(rows[-1], cells, strict=True):
            if text:
                cell.append(text)
    return [[joined_lines(cell) for cell in row] for row in rows]


def _is_sum(cells: Sequence[str], above: Sequence[str]) -> bool:
    """Whether a line below the rows is a total of its own: a word, and a number below a number."""
    filled = [cell for cell in cells if cell]
    has_word = any(_NUMBER.fullmatch(cell) is None for cell in filled)
    pairs = zip(cells, above, strict=True)
    return len(filled) == 2 and has_word and any(all(map(_NUMBER.fullmatch, pair)) for pair in pairs)


def _labelled(cells: Sequence[str]) -> list[str]:
    """A total with its word in the first column, as it names the row."""
    word = next(at for at, cell in enumerate(cells) if cell and _NUMBER.fullmatch(cell) is None)
    return [cells[word], *("" if at == word else cell for at, cell in enumerate(cells) if at)]


def _placed(line: Line, columns: Sequence[Span]) -> list[str]:
    """The texts of a line by column."""
    cells = [""] * len(columns)
    column = 0
    for segment in line.segments:
        while column + 1 < len(columns) and segment.x0 > columns[column][1]:
            column += 1
        cells[column] = f"{cells[column]} {segment.text}" if cells[column] else segment.text
    return cells
