"""Running headers and footers: lines that stand at the same height on several pages and say the same.

Numbers may differ, as page numbers do. The page number of a single page is known by its form and its place.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.documents.readers.pdf_lines import Line, same_columns, usual_pitch

_MAX_EDGE_LINES = 4
_MIN_PAGE_LINES = 3
"""Pages with fewer lines prove nothing."""
_MIN_PAGES, _MIN_PAGES_OF_LONG, _LONG = 2, 3, 5
_ZONE = 0.2
_NEAR = 2
_LARGE = 1.15
_MIN_GAP_PITCHES, _MAX_ROW_EMS = 1.2, 2.8
_PAGE_NUMBER = re.compile(
    r"\W*\d{1,4}\W*|.*\b(?:page|seite|página|pagina|sida|side)\W?\d{1,4}(?:\W+(?:of|von|sur|de|di|av|/)?\W*\d{1,4})?\W*",
    re.IGNORECASE,
)
"""A line that is a page number, or ends in one: "211", "Ada Ltd · Page 1 of 1"."""
_NUMBERS = re.compile(r"\d+|\b[ivxlc]+\b")

Key = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PageLines:
    """The lines of a page without its furniture, and the texts of that, above and below."""

    body: list[Line]
    above: list[str]
    below: list[str]


def without_furniture(pages: Sequence[list[Line]], body_size: float) -> list[PageLines]:
    """The pages with what is repeated at their edges taken off."""
    heights = [line.y for lines in pages for line in lines]
    if not heights:
        return [PageLines(lines, [], []) for lines in pages]
    zone = _ZONE * (max(heights) - min(heights))
    finder = _Finder(pages, body_size, max(heights) - zone, min(heights) + zone)
    return [finder.cleared(lines) for lines in pages]


class _Finder:
    """The lines that are repeated in a document."""

    def __init__(self, pages: Sequence[list[Line]], body_size: float, top: float, bottom: float) -> None:
        self._large = _LARGE * body_size
        self._top, self._bottom = top, bottom
        self._alike: Counter[Key] = Counter()
        self._same: Counter[Key] = Counter()
        for lines in pages:
            if len(lines) >= _MIN_PAGE_LINES:
                edge = {id(line): line for line in (*lines[:_MAX_EDGE_LINES], *lines[-_MAX_EDGE_LINES:])}
                for line in edge.values():
                    self._alike[_numberless(line.text), round(line.y)] += 1
                    self._same[line.text, round(line.y)] += 1
        filled = sum(1 for lines in pages if len(lines) >= _MIN_PAGE_LINES)
        self._least = _MIN_PAGES_OF_LONG if filled >= _LONG else _MIN_PAGES
        self._heights = {
            round(line.y) for lines in pages for line in (*lines[:1], *lines[-1:]) if self._is_repeated(line)
        }

    def cleared(self, lines: list[Line]) -> PageLines:
        """A page without its furniture; a page of nothing else than repeated lines keeps them."""
        above, below = self._edge(lines, 1), self._edge(lines[::-1], -1)
        if above + below >= len(lines) and len(lines) < _MIN_PAGE_LINES and above + below > 1:
            above = below = 0
        above = min(above, len(lines))
        below = min(below, len(lines) - above)
        rest = len(lines) - below
        return PageLines(
            lines[above:rest], [line.text for line in lines[:above]], [line.text for line in lines[rest:]]
        )

    def _edge(self, lines: Sequence[Line], direction: int) -> int:
        """How many of the first lines, seen from an edge of the page, are furniture."""
        count = 0
        for line in lines[:_MAX_EDGE_LINES]:
            within = line.y >= self._top if direction > 0 else line.y <= self._bottom
            in_place = self._is_in_place(line, count) or (not count and self._is_page_number(lines))
            if not within or not (self._is_repeated(line) or in_place):
                break
            count += 1
        while 0 < count < len(lines) and (
            not self._stands_apart(lines, count) or _names_columns(lines[count - 1], lines[count])
        ):
            count -= 1
        return count

    def _is_repeated(self, line: Line) -> bool:
        counts, text = (
            (self._same, line.text) if line.size > self._large else (self._alike, _numberless(line.text))
        )
        height = round(line.y)
        return sum(counts[text, height + step] for step in range(-_NEAR, _NEAR + 1)) >= self._least

    def _is_in_place(self, line: Line, count: int) -> bool:
        """Whether the outermost line stands where others are furniture: the header of a short chapter."""
        return count == 0 and line.size <= self._large and round(line.y) in self._heights

    def _is_page_number(self, lines: Sequence[Line]) -> bool:
        """Whether the outermost line is a page number, and not the last of a column of numbers."""
        line, *others = lines[:_MIN_PAGE_LINES]
        alone = len(others) > 1 and not any(_PAGE_NUMBER.fullmatch(other.text) for other in others)
        return alone and line.size <= self._large and _PAGE_NUMBER.fullmatch(line.text) is not None

    def _stands_apart(self, lines: Sequence[Line], count: int) -> bool:
        """Whether the body begins at a distance, or the last such line is repeated to the letter."""
        last, following = lines[count - 1], lines[count]
        pitch = usual_pitch(lines) or 1.3 * last.size
        edge = following.y if last.y > following.y or following.grid is None else following.bottom
        if abs((last.bottom if last.y > following.y else last.y) - edge) >= _MIN_GAP_PITCHES * pitch:
            return True
        height = round(last.y)
        same = sum(self._same[last.text, height + step] for step in range(-_NEAR, _NEAR + 1))
        return same >= _MIN_PAGES_OF_LONG and not last.bold


def _names_columns(line: Line, below: Line) -> bool:
    """Whether a line is the header of a table that goes on below it."""
    if len(line.segments) < 2 or not 0 < line.y - below.y <= _MAX_ROW_EMS * line.size:
        return False
    spans = [[(segment.x0, segment.x1) for segment in part.segments] for part in (line, below)]
    return same_columns(*spans)


def _numberless(text: str) -> str:
    return _NUMBERS.sub("#", text)
