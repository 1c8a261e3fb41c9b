"""The lines of a PDF page: words on one baseline, in segments that wide gaps keep apart."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low
from typing import NamedTuple

from localcrag.documents.readers.pdf_words import Word

_GAP_EMS = 0.8
"""A gap between two words that is at least so wide, in font sizes, begins another segment."""
_STRETCHED_EMS, _STRETCHED_RATIO, _STRETCHED_GAPS = 1.5, 1.35, 3
_BLANK_PITCHES = 1.35
_WIDE_SPACES = 1.5
"""A gap in code that is wider than so many of its characters is of several spaces."""
_BASELINE_EMS, _STRICT_BASELINE_EMS = 0.45, 0.2
_MARKER = re.compile(r"[•‣▪◦●○■□▸►➢➤✓✔–—\-*·∙⁃\uf000-\uf0ff]|\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{1,4})[.)]")


Span = tuple[float, float]
"""From left to right, in points."""


class Segment(NamedTuple):
    """Words of one line without a wide gap; ``first`` is the width of its first word."""

    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    mono: bool
    text: str
    first: float
    words: Sequence[Word]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table that rules are drawn around: its cells, the places of its columns, and its height.

    ``spans`` are, of each row, how many columns a cell spans, and the columns whose cell begins above.
    """

    cells: list[list[str]]
    columns: list[Span]
    top: float
    bottom: float
    bold_header: bool
    spans: Sequence[tuple[Mapping[int, int], frozenset[int]]] = ()


@dataclass(slots=True)
class Line:
    """The segments of one line, or a table that stands in the place of one."""

    segments: list[Segment]
    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    mono: bool
    grid: Grid | None = None
    bottom: float = 0.0

    @property
    def text(self) -> str:
        """The words of the line."""
        if self.grid is not None:
            return " ".join(cell for row in self.grid.cells for cell in row if cell)
        return " ".join(segment.text for segment in self.segments)


def line_of(segments: list[Segment]) -> Line:
    """The line of segments from left to right; its size is that of most of its characters."""
    if len(segments) == 1:
        one = segments[0]
        return Line(segments, one.x0, one.x1, one.y, one.size, one.bold, one.mono, None, one.y)
    main = max(segments, key=lambda segment: len(segment.text))
    telling = [segment for segment in segments if any(map(str.isalnum, segment.text))] or segments
    bold, mono = all(s.bold for s in telling), all(s.mono for s in telling)
    return Line(segments, segments[0].x0, segments[-1].x1, main.y, main.size, bold, mono, None, main.y)


def grid_line(grid: Grid) -> Line:
    """A table as a line of the page."""
    left, right = grid.columns[0][0], grid.columns[-1][1]
    return Line([], left, right, grid.top, 0.0, False, False, grid, grid.bottom)


def lines_of(words: Iterable[Word]) -> list[Line]:
    """The lines of a page from top to bottom, whatever their columns."""
    rows: list[list[Word]] = []
    anchor_y = anchor_size = 0.0
    for word in sorted(words, key=lambda word: -word.y):
        if rows and anchor_y - word.y <= _BASELINE_EMS * max(anchor_size, word.size):
            rows[-1].append(word)
            if word.size > anchor_size * 1.1:  # what came first was a superscript
                anchor_y, anchor_size = word.y, word.size
        else:
            rows.append([word])
            anchor_y, anchor_size = word.y, word.size
    return [line_of(_segments(part)) for row in rows for part in _parted(row)]


def _parted(row: list[Word]) -> list[list[Word]]:
    """The words of a line from left to right; two lines, if words lie one above the other.

    That happens beside the large words of another column, whose line touches two of this one.
    """
    ordered = sorted(row)
    if row[0].y - row[-1].y < _BASELINE_EMS * min(word.size for word in row) or not any(
        after.x0 < before.x1 - 0.3 * before.size for before, after in pairwise(ordered)
    ):
        return [ordered]
    parts: list[list[Word]] = []
    for word in row:
        if parts and parts[-1][0].y - word.y <= _STRICT_BASELINE_EMS * word.size:
            parts[-1].append(word)
        else:
            parts.append([word])
    return [sorted(part) for part in parts]


def _segments(row: list[Word]) -> list[Segment]:
    gaps = [after.x0 - before.x1 for before, after in pairwise(row)]
    wide = [
        gap >= _GAP_EMS * min(before.size, after.size)
        for gap, before, after in zip(gaps, row, row[1:], strict=False)
    ]
    if any(wide) and _is_stretched(gaps, row[0].size):
        wide = [False] * len(wide)
    segments, start = [], 0
    for index, apart in enumerate([*wide, True]):
        # a marker of a list stands with its item, however wide the gap
        if apart and not (index == 0 and wide and _MARKER.fullmatch(row[0].text)):
            segments.append(segment_of(row[start : index + 1]))
            start = index + 1
    return segments


def _is_stretched(gaps: Sequence[float], size: float) -> bool:
    """Whether all gaps are wide because the line is justified."""
    if len(gaps) < _STRETCHED_GAPS:
        return False
    return max(gaps) <= _STRETCHED_EMS * size and max(gaps) <= _STRETCHED_RATIO * max(min(gaps), 0.1)


def segment_of(words: Sequence[Word]) -> Segment:
    """Words from left to right as one segment; its size is that of most of its characters."""
    main = words[0]
    if any(word.size != main.size for word in words):
        sizes: dict[float, int] = {}
        for word in words:
            sizes[word.size] = sizes.get(word.size, 0) + len(word.text)
        most = max(sizes, key=sizes.__getitem__)
        main = next(word for word in words if word.size == most)
    bold = mono = True
    for word in words:
        plainer = (bold and not word.bold) or (mono and not word.mono)
        if plainer and any(map(str.isalnum, word.text)):
            bold, mono = bold and word.bold, mono and word.mono
    first = words[0]
    x1 = max(word.x1 for word in words) if len(words) > 1 else first.x1
    text = first.text if len(words) == 1 else _spaced(words)
    return Segment(first.x0, x1, main.y, main.size, bold, mono, text, first.x1 - first.x0, words)


def _spaced(words: Sequence[Word]) -> str:
    """The words with a space between any two that do not touch."""
    pieces = [words[0].text]
    for before, after in pairwise(words):
        if after.x0 - before.x1 > 0.08 * before.size:
            pieces.append(" ")
        pieces.append(after.text)
    return "".join(pieces)


def usual_pitch(lines: Sequence[Line]) -> float:
    """The distance of two lines in points: the median of those not farther apart than twice their size."""
    pitches = [
        before.y - after.y
        for before, after in pairwise(lines)
        if before.size and before.size == after.size and 0 < before.y - after.y <= 2.2 * before.size
    ]
    return median_low(pitches) if pitches else 0.0


def same_columns(columns: Sequence[Span], others: Sequence[Span]) -> bool:
    """Whether each column lies over the one of the same number, and over no other."""
    if len(columns) != len(others):
        return False
    overlaps = [[min(a[1], b[1]) > max(a[0], b[0]) for b in others] for a in columns]
    return all(over == (i == j) for i, row in enumerate(overlaps) for j, over in enumerate(row))


_END_HYPHEN = re.compile("(?<=[^\\W_])[-\u2010\u00ad\x02\ufffe]$")
SUSPENDED = re.compile(r"(?:and|or|und|oder|bzw|et|ou|y|o|e)\b")
"""How a line begins that no word goes on in: "Haus-" and "und Garten"."""
_NO_SPACE = re.compile("[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


def ends_in_hyphen(text: str) -> bool:
    """Whether the last word of a line may go on in the next line."""
    return _END_HYPHEN.search(text) is not None


def joined_lines(lines: Iterable[str]) -> str:
    """The lines of a paragraph as one text; a hyphen between two of them is marked for ``mend_hyphens``.

    Between Chinese or Japanese characters there is no space.
    """
    text = ""
    for line in lines:
        if not text:
            text = line
        elif ends_in_hyphen(text) and not SUSPENDED.match(line):
            text = text[:-1] + "\x02" + line
        elif _NO_SPACE.match(text[-1]) and _NO_SPACE.match(line):
            text += line
        else:
            text += " " + line
    return text


def _width(words: Sequence[Word]) -> float:
    """The width of a character of words on one line."""
    return max((words[-1].x1 - words[0].x0) / len(_spaced(words)), 0.1)


def _runs(words: Sequence[Word], width: float) -> Iterable[Sequence[Word]]:
    """Words in a font of one width, parted where several spaces stand between them."""
    start = 0
    for at, (before, after) in enumerate(pairwise(words), 1):
        if after.x0 - before.x1 > _WIDE_SPACES * width:
            yield words[start:at]
            start = at
    yield words[start:]


def code_text(group: Sequence[Line]) -> str:
    """Lines in a font of one width, with their indents."""
    every = (word for line in group for segment in line.segments for word in segment.words)
    longest = max(every, key=lambda word: len(word.text))
    rough = _width([longest])
    runs = [[run for segment in line.segments for run in _runs(segment.words, rough)] for line in group]
    width = _width(max((run for line in runs for run in line), key=lambda run: len(_spaced(run))))
    left = min(line.x0 for line in group)
    pitch = min((before.y - line.y for before, line in pairwise(group)), default=0.0)
    lines = []
    for number, line in enumerate(group):
        if number and group[number - 1].y - line.y > _BLANK_PITCHES * pitch:
            lines.append("")
        text = ""
        for words in runs[number]:
            column = min(200, round((words[0].x0 - left) / width))
            text += " " * max(column - len(text), 1 if text else 0) + _spaced(words)
        lines.append(text)
    return "\n".join(lines)
