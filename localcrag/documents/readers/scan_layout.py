"""From the lines that are recognised in a picture to paragraphs: columns, rows, and the gaps between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import pairwise
from statistics import median

from localcrag.documents.readers.recognised_text import RecognisedLine, RecognisedText
from localcrag.documents.readers.scan_tables import parted_by_tables
from localcrag.languages import UNSPACED

_MAX_LEAD = 10
"""Lines above two columns, such as those of a title."""
_MAX_TAIL, _MIN_LINES_ABOVE_TAIL = 8, 16
"""Lines below columns, such as those of a title at the foot, and the fewest lines of columns above them."""
_MIN_COLUMN_LINES = 3
_MIN_COLUMN_SHARE = 0.3
"""The least share of the width of a page that most lines of a column fill; cells of a table fill less."""
_MIN_NARROW_LINES, _MIN_NARROW_WORDS, _MIN_NARROW_FILL = 8, 3, 0.75
"""What three and more columns have: so many lines at least, of which most have so many words, and fill the
column to that share. Cells of a table have fewer words, or differ more in width."""
_FIGURE = re.compile(r"[€$£¥+-]?\s*\d[\d.,:'’/ -]*\s*(?:[€$£¥%]|[^\W\d_]{1,4}\.?)?")
"""A line that is nothing but a number with its unit, as the amounts beside the items of a bill are."""
_MAX_FIGURE_SHARE = 0.5
"""The share of such lines from which on a side is no column of text."""
_WIDE_MARKS = (("\u3000", "\u303f"), ("\uff00", "\uff60"))
"""Full stops, commas and brackets of Chinese and Japanese."""
_PARAGRAPH_DISTANCE = 1.4
"""The distance to the next line that ends a paragraph, in multiples of the usual one."""
_USUAL_QUANTILE = 4
"""The usual distance of lines is that below which one of so many lies: a letter has more gaps than lines."""
_GAP = 1.5
"""How far apart lines beside one another are that are no text that goes on, in multiples of their height."""
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
    """Whether the first word of a row would have had room on the line above, up to the edge ``right``.

    So do rows of a bill, of which the amount stands far from the item.
    """
    if _has_gap(above) or _has_gap(row):
        return True
    first = min(row, key=lambda line: line.box[0])
    share = (len(first.text.split()[0]) + 1) / len(first.text)
    word = share * (first.box[2] - first.box[0])
    return right - max(line.box[2] for line in above) > _ROOM * word


def _has_gap(row: Sequence[RecognisedLine]) -> bool:
    """Whether lines that stand beside one another are further apart than words are."""
    ordered = sorted(row, key=lambda line: line.box[0])
    return any(right.box[0] - left.box[2] > _GAP * left.height for left, right in pairwise(ordered))


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
    """The lines above two columns, those of each column, and those below; all of them without columns."""
    for left_out in range(_MAX_LEAD + _MAX_TAIL):
        for tail in range(max(0, left_out - _MAX_LEAD + 1), min(left_out, _MAX_TAIL) + 1):
            lead, end = left_out - tail, len(lines) - tail
            parted = _parted(lines[lead:end]) if lead < end and (not tail or _may_have_tail(end)) else None
            if parted is not None:
                left, right = parted
                apart = [part for part in (lines[:lead], lines[end:]) if part]
                return [*apart[: bool(lead)], *_columns(left), *_columns(right), *apart[bool(lead) :]]
    return [lines]


def _may_have_tail(lines: int) -> bool:
    """Whether so many lines are columns that others may stand below them."""
    return lines >= _MIN_LINES_ABOVE_TAIL


def _parted(lines: list[RecognisedLine]) -> tuple[list[RecognisedLine], list[RecognisedLine]] | None:
    """The lines to the left and to the right of an empty strip between columns of text; None without one."""
    if len(lines) < 2 * _MIN_COLUMN_LINES:
        return None
    ordered = sorted(lines, key=lambda line: line.box[0])
    width = _extent(lines)
    for index in _gaps(ordered):
        sides = ordered[:index], ordered[index:]
        if all(_fills(side, width) or _are_narrow(side) for side in sides):
            left, right = (sorted(side, key=lambda one: one.middle) for side in sides)
            return left, right
    return None


def _gaps(ordered: Sequence[RecognisedLine]) -> Iterator[int]:
    """The lines, sorted from left to right, that begin behind an empty strip."""
    edge = ordered[0].box[2]
    for index, line in enumerate(ordered):
        if line.box[0] > edge:
            yield index
        edge = max(edge, line.box[2])


def _fills(side: Sequence[RecognisedLine], width: float) -> bool:
    """Whether most lines on a side are as wide as those of a column of a page of this width, and are text."""
    usual = median(line.box[2] - line.box[0] for line in side)
    figures = sum(_FIGURE.fullmatch(line.text.strip()) is not None for line in side)
    is_text = figures < _MAX_FIGURE_SHARE * len(side)
    return is_text and len(side) >= _MIN_COLUMN_LINES and usual >= _MIN_COLUMN_SHARE * width


def _are_narrow(side: Sequence[RecognisedLine]) -> bool:
    """Whether a side is narrow columns of a text: of many lines of several words, most of which fill them."""
    starts = [0, *_gaps(side), len(side)]
    return all(_is_narrow(side[first:end]) for first, end in pairwise(starts))


def _is_narrow(column: Sequence[RecognisedLine]) -> bool:
    usual = median(line.box[2] - line.box[0] for line in column)
    words = median(len(line.text.split()) for line in column)
    is_full = usual >= _MIN_NARROW_FILL * _extent(column) and words >= _MIN_NARROW_WORDS
    return len(column) >= _MIN_NARROW_LINES and is_full


def _extent(lines: Sequence[RecognisedLine]) -> float:
    return max(line.box[2] for line in lines) - min(line.box[0] for line in lines)
