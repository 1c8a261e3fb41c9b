"""The reading order of the lines of a PDF page: its columns one after the other, footnotes last.

A gutter is a place in the middle of the page that few lines cross; the text beside it is read as columns only
if both sides are running text, and no rows whose last column is wordy, so that a table stays whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from localcrag.documents.readers.pdf_aligned import with_tables
from localcrag.documents.readers.pdf_lines import Line, line_of

_BIN = 2.0
_MAX_BINS = 1_000
_MIN_COLUMN_LINES, _MIN_BAND_LINES = 3, 4
_MIN_MEAN_CHARACTERS = 18
_FILLED_SHARE, _ROWS_SHARE = 0.6, 0.8
_MIN_RUNNING_WORDS, _WORDY_SHARE, _LOWER_SHARE = 3, 0.8, 0.35
_MAX_DEPTH = 3
_SMALL = 0.92
"""Footnotes are smaller than the body by this factor."""
_MAX_NOTE_LINES = 25
_TIGHT_EMS = 1.5


def in_reading_order(
    lines: list[Line], body_size: float, *, code: bool = False
) -> tuple[list[list[Line]], list[list[Line]]]:
    """The lines of a page by column, in reading order, and the footnotes below the columns.

    If ``code`` is set, lines in a font with characters of one width may be tables too, not footnotes.
    """
    parts = _bands(lines, 0)
    notes: list[list[Line]] = []
    last = {number for number, (column, _) in enumerate(parts) if column}
    bottom = min((line.bottom for line in lines), default=0.0)
    for number, (_, part) in enumerate(parts):
        low = number == len(parts) - 1 or (number in last and _ends_low(part, parts, bottom))
        if low and (found := _notes(part, body_size, code=code)):
            notes.append(found)
    return [part for _, part in parts if part], notes


def _ends_low(part: list[Line], parts: Sequence[tuple[bool, list[Line]]], bottom: float) -> bool:
    """Whether a column reaches down to the end of the page: no full line stands below it."""
    below = parts[-1]
    return below[0] and bool(part) and part[-1].y >= bottom and part[-1].y < max(line.y for line in below[1])


def _notes(part: list[Line], body_size: float, *, code: bool) -> list[Line]:
    """The footnotes, which are taken off the end of a column; a table in small print is none."""
    start = len(part)
    while start > 0 and part[start - 1].grid is None and part[start - 1].size <= _SMALL * body_size:
        start -= 1
    if start == 0:
        return []
    below = takewhile(lambda line: line.grid is None, reversed(with_tables(part[start:], code=code)))
    start = len(part) - sum(1 for _ in below)
    if not start < len(part) <= start + _MAX_NOTE_LINES:
        return []
    notes = part[start:]
    del part[start:]
    return notes


def _bands(lines: list[Line], depth: int) -> list[tuple[bool, list[Line]]]:
    """The lines cut into full lines and columns, in reading order, with whether each part is a column."""
    gutter = _gutter(lines) if depth < _MAX_DEPTH else None
    if gutter is None:
        return [(depth > 0, lines)]
    parts: list[tuple[bool, list[Line]]] = []
    full: list[Line] = []
    band: list[Line] = []
    split = False
    for line in [*lines, None]:
        if line is not None and not _crosses(line, gutter):
            band.append(line)
            continue
        if band:
            _without_end_of_paragraph(full, band, gutter)
            left, right = _sides(band, gutter)
            if all(map(_may_be_column, (left, right))) and not _are_rows(band, left, right):
                parts += _full_parts(full, depth)
                parts += [(True, part) for side in (left, right) for _, part in _bands(side, depth + 1)]
                full, split = [], True
            else:
                full += band
            band = []
        if line is not None:
            full.append(line)
    if not split:
        return [(depth > 0, lines)]
    return parts + _full_parts(full, depth)


def _full_parts(full: list[Line], depth: int) -> list[tuple[bool, list[Line]]]:
    """The full lines between columns as one part, or its own columns if these have another gutter."""
    if _is_running_text([line for line in full if len(line.segments) > 1]):
        return _bands(full, depth + 1)
    return [(depth > 0, full)] if full else []


def _gutter(lines: Sequence[Line]) -> float | None:
    """The place in the middle of the page that the fewest lines cross."""
    if len(lines) < _MIN_BAND_LINES:
        return None
    spans = [
        (part.x0, part.x1) for line in lines for part in (line.segments if line.grid is None else [line])
    ]
    left, right = min(start for start, _ in spans), max(end for _, end in spans)
    size = max(_BIN, (right - left) / _MAX_BINS)
    count = int((right - left) / size) + 1
    steps = [0] * (count + 2)
    for start, end in spans:
        steps[int((start - left) / size)] += 1
        steps[int((end - left) / size) + 1] -= 1
    cover, depth = [], 0
    for step in steps[:count]:
        depth += step
        cover.append(depth)
    low, high = count // 5, count - count // 5
    if high - low < 3:
        return None
    least = min(cover[low:high])
    best, run = (0, 0), 0
    for number in range(low, high + 1):
        if number < high and cover[number] == least:
            run += 1
        else:
            best, run = max(best, (run, number - run)), 0
    if least >= max(max(cover[:low], default=0), max(cover[low:high])):
        return None
    return left + (best[1] + best[0] / 2) * size


def _crosses(line: Line, gutter: float) -> bool:
    if line.grid is not None:
        return line.x0 < gutter < line.x1
    return any(segment.x0 < gutter < segment.x1 for segment in line.segments)


def _without_end_of_paragraph(full: list[Line], band: list[Line], gutter: float) -> None:
    """Move the short last line of a paragraph over both columns from the band back to the full lines."""
    while full and len(band) > 1 and band[0].x1 < gutter and band[0].grid is None:
        if full[-1].bottom - band[0].y > _TIGHT_EMS * band[0].size or full[-1].size != band[0].size:
            return
        full.append(band.pop(0))


def _sides(band: Sequence[Line], gutter: float) -> tuple[list[Line], list[Line]]:
    left: list[Line] = []
    right: list[Line] = []
    for line in band:
        if line.grid is not None:
            (left if line.x1 <= gutter else right).append(line)
            continue
        for side, segments in (
            (left, [segment for segment in line.segments if segment.x1 <= gutter]),
            (right, [segment for segment in line.segments if segment.x1 > gutter]),
        ):
            if segments:
                side.append(line_of(segments))
    return left, right


def _are_rows(band: Sequence[Line], left: Sequence[Line], right: Sequence[Line]) -> bool:
    """Whether the lines of a band are rows: each has words on both sides, in columns on one of them.

    Three columns of running text are none.
    """
    both = len(left) + len(right) - len(band)
    cells = max(sum(len(line.segments) > 1 for line in side) for side in (left, right))
    return min(both, cells) >= _ROWS_SHARE * len(band) and not _is_running_text(band)


def _is_running_text(band: Sequence[Line]) -> bool:
    """Whether what stands side by side goes on below: most are several words, many begin in lower case."""
    parts = [segment.text for line in band for segment in line.segments]
    if len(band) < _MIN_BAND_LINES:
        return False
    wordy = sum(len(part.split()) >= _MIN_RUNNING_WORDS for part in parts)
    lower = sum(part[:1].islower() for part in parts)
    return wordy >= _WORDY_SHARE * len(parts) and lower >= _LOWER_SHARE * len(parts)


def _may_be_column(lines: Sequence[Line]) -> bool:
    """Whether the lines are a column, or several ones of running text that are not full."""
    return _is_column(lines) or _is_running_text(lines)


def _is_column(lines: Sequence[Line]) -> bool:
    """Whether the lines are running text: most fill the width, and they are no cells of a table."""
    if len(lines) < _MIN_COLUMN_LINES:
        return False
    width = max(line.x1 for line in lines) - min(line.x0 for line in lines)
    filled = sum(1 for line in lines if line.x1 - line.x0 >= _FILLED_SHARE * width)
    characters = sum(len(line.text) for line in lines)
    return 2 * filled >= len(lines) and characters >= _MIN_MEAN_CHARACTERS * len(lines)
