"""Tables in a picture: recognised lines whose cells stand one below the other become rows with their headers.

They are found as tables without rules are in a PDF (:mod:`.pdf_aligned`), since rules are not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from localcrag.documents.readers.grid_rows import OpenTable
from localcrag.documents.readers.pdf_aligned import with_tables
from localcrag.documents.readers.pdf_lines import Grid, Line, Segment, line_of, segment_of
from localcrag.documents.readers.pdf_words import Word
from localcrag.documents.readers.recognised_text import RecognisedLine, RecognisedText
from localcrag.types import BlockKind, WordBox

_FONT_SHARE = 0.75
"""The share of the height of its box, which is higher than its letters, that the font of a line has."""
_MAX_CELL_WORDS = 6.0
"""The most words of a cell on average; lines of columns of text have more."""
_HYPHEN = re.compile("\x02(?=[a-zß-ÿ])")
"""Where a word in a cell goes on in its next line."""


@dataclass(frozen=True, slots=True)
class ScanPart:
    """A part of a column of a picture: ``rows`` of lines, and the ``texts`` of its rows if it is a table."""

    rows: Sequence[Sequence[RecognisedLine]]
    texts: tuple[RecognisedText, ...] = ()


def parted_by_tables(rows: Sequence[Sequence[RecognisedLine]]) -> Iterator[ScanPart]:
    """The tables among the rows of lines of a column and what stands between them, from top to bottom.

    Args:
        rows: the lines that stand beside one another, row by row.
    """
    heights = [line.height for row in rows for line in row]
    if not heights:
        return
    size = _FONT_SHARE * median(heights)
    lines = [_line(row, size) for row in rows]
    places = {line.y: at for at, line in enumerate(lines)}
    done = 0
    for line in with_tables(lines):
        if line.grid is None or _is_prose(line.grid):
            continue
        start, end = places[line.grid.top], places[line.grid.bottom] + 1
        if start > done:
            yield ScanPart(rows[done:start])
        yield ScanPart(rows[start:end], tuple(_texts(line.grid, rows[start:end])))
        done = end
    if done < len(rows):
        yield ScanPart(rows[done:])


def _is_prose(grid: Grid) -> bool:
    """Whether what seems to be a table is columns of text."""
    words = [len(cell.split()) for row in grid.cells for cell in row if cell]
    return fmean(words) > _MAX_CELL_WORDS


def _line(row: Sequence[RecognisedLine], size: float) -> Line:
    """The lines of a row as a line of a page, whose heights grow upwards."""
    y = -fmean(line.middle for line in row)
    ordered = sorted(row, key=lambda line: line.box[0])
    return line_of([_segment(line, y, size) for line in ordered])


def _segment(line: RecognisedLine, y: float, size: float) -> Segment:
    """A recognised line, with its words placed as if each character were as wide as the others."""
    left, step = line.box[0], (line.box[2] - line.box[0]) / max(1, len(line.text))
    words = [
        Word(left + step * found.start(), left + step * found.end(), y, size, False, False, found[0])
        for found in re.finditer(r"\S+", line.text)
    ]
    return segment_of(words)


def _texts(grid: Grid, rows: Sequence[Sequence[RecognisedLine]]) -> Iterator[RecognisedText]:
    """The rows of a table with the boxes of the words that they have from its lines."""
    cells = [[_HYPHEN.sub("", cell).replace("\x02", "-") for cell in row] for row in grid.cells]
    table = OpenTable()
    texts = list(table.rows(replace(grid, cells=cells), first=False))
    names = set(table.header)
    left = [
        line for row in rows for line in sorted(row, key=lambda line: line.box[0]) if line.text not in names
    ]
    for at, text in enumerate(texts):
        boxes, left = _placed(text, left, texts[at + 1 : at + 2])
        yield RecognisedText(text, tuple(boxes), BlockKind.ROW)


def _placed(
    text: str, lines: list[RecognisedLine], following: Collection[str]
) -> tuple[list[WordBox], list[RecognisedLine]]:
    """The boxes of the first lines that a row has, counted in its text, and the lines that are left.

    A line that neither this row nor the ``following`` one has is left out, as one that a hyphen parts.
    """
    boxes: list[WordBox] = []
    end = 0
    for at, line in enumerate(lines):
        start = text.find(line.text, end)
        if start >= 0:
            boxes += [replace(box, start=box.start + start, end=box.end + start) for box in line.words]
            end = start + len(line.text)
        elif any(line.text in other for other in following):
            return boxes, lines[at:]
    return boxes, []
