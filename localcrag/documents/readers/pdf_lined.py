"""Tables whose rows are parted by horizontal rules alone: what stands between two rules is one row.

The rules are as wide as the table, so that its last column may be as wordy as running text, and its cells
may have several lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from localcrag.documents.free_places import FAR, common_places, free_places
from localcrag.documents.readers.pdf_lines import Grid, Line, Span, grid_line, joined_lines, segment_of
from localcrag.documents.readers.pdf_words import Rule

_NEAR = 3.0
"""Points by which the ends of rules of one table differ, at most."""
_MIN_ROWS, _MIN_RULES, _MAX_RULES = 3, 3, 400
_MAX_ROW_LINES = 8
_MIN_RIVER_EMS, _MAX_PITCH_EMS, _SIZE_STEP = 0.8, 1.8, 1.0
_MIN_FILLED_SHARE = 0.6
_MIN_WIDTH_SHARE = 0.5
"""The share of its rules that the words of a table are as wide as, at least."""


def with_lined_tables(lines: list[Line], rules: Sequence[Rule]) -> list[Line]:
    """The lines of a page, each table among them whose rows horizontal rules part as one line."""
    across = sorted((rule for rule in rules if rule.horizontal), key=lambda rule: -rule.at)
    if len(across) > _MAX_RULES or len(across) < _MIN_RULES:
        return lines
    for group in _groups(across, lines):
        lines = _with_table(lines, group) if len(group) >= _MIN_RULES else lines
    return lines


def _groups(across: Sequence[Rule], lines: Sequence[Line]) -> Iterator[list[Rule]]:
    """The rules that follow one another down the page, have the same ends, and may have one row between."""
    group: list[Rule] = []
    for rule in across:
        if group:
            between = [line for line in lines if rule.at < _middle(line) < group[-1].at]
            if not _alike(rule, group[0]) or not _is_row(between):
                yield group
                group = []
        if not group or group[-1].at - rule.at > 1:
            group.append(rule)
    yield group


def _alike(one: Rule, other: Rule) -> bool:
    return abs(one.start - other.start) <= _NEAR and abs(one.end - other.end) <= _NEAR


def _with_table(lines: list[Line], rules: Sequence[Rule]) -> list[Line]:
    """The lines with those between some rules as a table, if they are one; the lines as they are if not."""
    top, bottom = rules[0], rules[-1]
    bands = [[line for line in lines if low.at < _middle(line) < high.at] for high, low in pairwise(rules)]
    above = [line for line in lines if _middle(line) > top.at][-1:]
    below = [line for line in lines if _middle(line) < bottom.at][:1]
    header = [line for line in above if _middle(line) - top.at < _least_gap(rules)]
    last = [
        line for line in below if bottom.at - _middle(line) < _least_gap(rules) and len(line.segments) > 1
    ]
    rows = [row for row in (header, *bands, last) if row]
    inside = [line for row in rows for line in row]
    apart = any(
        line.x0 < top.start - _NEAR or line.x1 > top.end + _NEAR or line.grid or line.mono for line in inside
    )
    if len(rows) < _MIN_ROWS or apart or not all(map(_is_row, rows)):
        return lines
    grid = _grid(rows)
    if grid is None or grid.columns[-1][1] - grid.columns[0][0] < _MIN_WIDTH_SHARE * (top.end - top.start):
        return lines
    taken = {id(line) for line in inside}
    rest = [line for line in lines if id(line) not in taken]
    return sorted([*rest, grid_line(grid)], key=lambda line: -line.y)


def _is_row(lines: Sequence[Line]) -> bool:
    """Whether the lines between two rules are few, of one size, and close to one another."""
    return len(lines) <= _MAX_ROW_LINES and all(
        before.y - after.y <= _MAX_PITCH_EMS * after.size and abs(before.size - after.size) < _SIZE_STEP
        for before, after in pairwise(lines)
    )


def _least_gap(rules: Sequence[Rule]) -> float:
    """The height of the lowest row: a line that is nearer to an outer rule stands in a row that is open."""
    return min(high.at - low.at for high, low in pairwise(rules))


def _middle(line: Line) -> float:
    return line.y + 0.3 * line.size


def _grid(rows: Sequence[Sequence[Line]]) -> Grid | None:
    """The table of these rows; None if no places between columns are free in all of them, or few are rows.

    It is none if the lines between two rules are mostly full, since each then is a row of its own.
    """
    rivers = free_places(_filled(rows[1][0]))
    for line in (line for row in rows[1:] for line in row):
        rivers = common_places(rivers, free_places(_filled(line)), _MIN_RIVER_EMS * line.size)
    bounds = [-FAR, *((start + end) / 2 for start, end in rivers[1:-1]), FAR]
    placed = [[_placed(line, bounds) for line in row] for row in rows]
    cells = [
        [joined_lines([cell for cell in column if cell]) for column in zip(*row, strict=True)]
        for row in placed
    ]
    full = sum(sum(all(line) for line in row) > 1 for row in placed)
    told = sum(sum(map(bool, row)) > 1 for row in cells)
    if len(bounds) < 3 or not all(cells[0]) or 2 * full > len(rows) or told < _MIN_FILLED_SHARE * len(rows):
        return None
    filled = [span for row in rows for line in row for span in _word_spans(line)]
    columns = [
        (min(x0 for x0, _ in spans), max(x1 for _, x1 in spans))
        for low, high in pairwise(bounds)
        if (spans := [span for span in filled if low <= span[0] < high])
    ]
    bold = all(line.bold for line in rows[0]) and not all(line.bold for row in rows for line in row)
    return Grid(cells, columns, rows[0][0].y, rows[-1][-1].y, bold)


def _filled(line: Line) -> list[Span]:
    return [(segment.x0, segment.x1) for segment in line.segments]


def _word_spans(line: Line) -> list[Span]:
    return [(word.x0, word.x1) for segment in line.segments for word in segment.words]


def _placed(line: Line, bounds: Sequence[float]) -> list[str]:
    """The texts of a line by column; the names in a header may nearly touch, or be wider than a column."""
    if len(line.segments) == len(bounds) - 1:
        return [segment.text for segment in line.segments]
    words = [word for segment in line.segments for word in segment.words]
    return [
        segment_of(own).text if (own := [word for word in words if low <= word.x0 < high]) else ""
        for low, high in pairwise(bounds)
    ]
