"""From the lines that are recognised in a picture to paragraphs: columns, rows, and the gaps between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from statistics import median

from localcrag.documents.readers.recognised_text import RecognisedLine, RecognisedText
from localcrag.documents.readers.scan_tables import parted_by_tables
from localcrag.languages import UNSPACED

_MAX_LEAD = 10
"""Lines above two columns, such as those of a title."""
_MIN_COLUMN_LINES = 3
_MIN_COLUMN_SHARE = 0.3
"""The least share of the width of a page that most lines of a column fill; cells of a table fill less."""
_WIDE_MARKS = (("\u3000", "\u303f"), ("\uff00", "\uff60"))
"""Full stops, commas and brackets of Chinese and Japanese."""
_PARAGRAPH_DISTANCE = 1.4
"""The distance to the next line that ends a paragraph, in multiples of the usual one."""
_USUAL_QUANTILE = 4
"""The usual distance of lines is that below which one of so many lies: a letter has more gaps than lines."""
_ROOM = 2.0
"""A line ends on purpose if so many times the first word of the next one had room behind it."""


def paragraphs_of(lines: Sequence[RecognisedLine]) -> list[RecognisedText]:
    """The texts of the lines, column by column from top to bottom, cut where lines stand further apart.

    A line that ends on purpose, as those of an address do, remains one, and so does the row of a table.
    """
    found: list[RecognisedText] = []
    for column in _columns(sorted(lines, key=lambda line: line.middle)):
        for part in parted_by_tables(_rows(column)):
            found += part.texts if part.texts else _paragraphs(part.rows)
    return found


def _paragraphs(rows: Sequence[Sequence[RecognisedLine]]) -> list[RecognisedText]:
    """The paragraphs of rows of lines that are of no table."""
    paragraphs: list[RecognisedText] = []
    distances = [below[0].middle - above[0].middle for above, below in pairwise(rows)]
    usual = sorted(distances)[len(distances) // _USUAL_QUANTILE] if distances else 0
    right = max(line.box[2] for row in rows for line in row)
    text = _text(rows[0])
    for distance, above, row in zip(distances, rows, rows[1:], strict=False):
        heights = sorted((above[0].height, row[0].height))
        if distance > _PARAGRAPH_DISTANCE * usual or heights[1] > _PARAGRAPH_DISTANCE * heights[0]:
            paragraphs.append(text)
            text = _text(row)
        elif _ends_on_purpose(above, row, right):
            text = _linked(text, _text(row), "\n")
        else:
            text = _joined(text, _text(row))
    return [*paragraphs, text]


def _ends_on_purpose(above: Sequence[RecognisedLine], row: Sequence[RecognisedLine], right: float) -> bool:
    """Whether the first word of a row would have had room on the line above, up to the edge ``right``."""
    first = min(row, key=lambda line: line.box[0])
    share = (len(first.text.split()[0]) + 1) / len(first.text)
    word = share * (first.box[2] - first.box[0])
    return right - max(line.box[2] for line in above) > _ROOM * word


def _joined(text: RecognisedText, following: RecognisedText) -> RecognisedText:
    """Two lines of a paragraph as one; a hyphen at the end of the first is dropped before a small letter.

    Between scripts without spaces there is none.
    """
    last, first = text.text[-1:], following.text[:1]
    if last == "-" and text.text[-2:-1].isalpha() and first.islower():
        end = len(text.text) - 1
        kept = tuple(replace(box, end=min(box.end, end)) for box in text.boxes if box.start < end)
        return _linked(RecognisedText(text.text[:end], kept), following, "")
    return _linked(text, following, "" if _is_unspaced(last) and _is_unspaced(first) else " ")


def _is_unspaced(character: str) -> bool:
    """Whether a character is of a script without spaces, or one of its marks, which are as wide."""
    return bool(UNSPACED.fullmatch(character)) or any(
        first <= character <= last for first, last in _WIDE_MARKS
    )


def _linked(text: RecognisedText, following: RecognisedText, gap: str) -> RecognisedText:
    """Two texts as one, with the boxes of both."""
    by = len(text.text) + len(gap)
    moved = (replace(box, start=box.start + by, end=box.end + by) for box in following.boxes)
    return RecognisedText(text.text + gap + following.text, (*text.boxes, *moved))


def _text(row: Sequence[RecognisedLine]) -> RecognisedText:
    """The lines of a row, from left to right, as one text."""
    ordered = sorted(row, key=lambda line: line.box[0])
    return reduce(partial(_linked, gap=" "), (RecognisedText(line.text, line.words) for line in ordered))


def _rows(lines: Sequence[RecognisedLine]) -> list[list[RecognisedLine]]:
    """The lines, sorted by height, with those beside one another in one row."""
    rows: list[list[RecognisedLine]] = []
    for line in lines:
        if rows and line.middle - rows[-1][0].middle < min(line.height, rows[-1][0].height) / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _columns(lines: list[RecognisedLine]) -> list[list[RecognisedLine]]:
    """The lines above two columns, then those of each column; all of them if there are no columns."""
    for lead in range(min(_MAX_LEAD, len(lines))):
        parted = _parted(lines[lead:])
        if parted is not None:
            left, right = parted
            return [lines[:lead], *_columns(left), *_columns(right)]
    return [lines]


def _parted(lines: list[RecognisedLine]) -> tuple[list[RecognisedLine], list[RecognisedLine]] | None:
    """The lines to the left and to the right of an empty strip between columns of text; None without one."""
    if len(lines) < 2 * _MIN_COLUMN_LINES:
        return None
    ordered = sorted(lines, key=lambda line: line.box[0])
    width = max(line.box[2] for line in lines) - ordered[0].box[0]
    edge = ordered[0].box[2]
    for index, line in enumerate(ordered):
        if line.box[0] > edge:
            sides = ordered[:index], ordered[index:]
            if all(
                len(side) >= _MIN_COLUMN_LINES
                and median(one.box[2] - one.box[0] for one in side) >= _MIN_COLUMN_SHARE * width
                for side in sides
            ):
                left, right = (sorted(side, key=lambda one: one.middle) for side in sides)
                return left, right
        edge = max(edge, line.box[2])
    return None
