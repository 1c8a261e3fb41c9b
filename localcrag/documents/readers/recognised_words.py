"""The places of the words in a line that rapidocr recognised.

rapidocr finds a line by its box, and gives pieces of it: words, or single characters, each with its place
along the line. The box of a line is higher than its letters, because the detector widens what it found.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any, NamedTuple

from localcrag.documents.extracted import clean
from localcrag.documents.readers.recognised_text import RecognisedLine
from localcrag.languages import UNSPACED
from localcrag.types import WordBox

Corners = Sequence[Sequence[float]]
"""The four corners (x, y) of a box, in pixels."""
_SLACK_SHARE = 0.2
"""The share of the height of a box that lies above its letters, and as much of it below them."""
_WORD = re.compile(rf"{UNSPACED.pattern.removesuffix('+')}|(?:(?!{UNSPACED.pattern})\S)+")
"""A word, or one character of a script without spaces."""
_MIN_LENGTH = 3.0
"""The length of a line by which a slope is measured, in multiples of its height."""
_MIN_SLOPE, _MAX_SLOPE = 0.003, 0.18
"""The slopes between which a page was laid askew on the scanner: from a sixth of a degree to ten degrees."""


class _Piece(NamedTuple):
    """Characters ``[start, end)`` of a line, and their box in pixels."""

    start: int
    end: int
    left: float
    top: float
    right: float
    bottom: float


def slope_of(boxes: Sequence[Corners]) -> float:
    """By how much the lines of a page fall on their way to the right, in pixels per pixel; 0 if hardly.

    Parameters:
        boxes: the corners of the boxes of the lines, each from the upper left one clockwise.
    """
    slopes = []
    for (left, top), (right, right_top), _, (_, bottom) in boxes:
        if right - left >= _MIN_LENGTH * max(1.0, bottom - top):
            slopes.append(float(right_top - top) / float(right - left))
    slope = median(slopes) if slopes else 0.0
    return slope if _MIN_SLOPE <= abs(slope) <= _MAX_SLOPE else 0.0


def recognised_line(
    text: str, corners: Corners, words: Sequence[Any], size: tuple[int, int], slope: float = 0.0
) -> RecognisedLine:
    """A line with the boxes of its words, which are those on the picture; its own is that on a straight page.

    Parameters:
        text: the line as it was recognised.
        corners: those of its box.
        words: its pieces as rapidocr gives them: text, score and corners.
        size: the width and the height of the picture, in pixels.
        slope: by how much the lines of the page fall (:func:`slope_of`).
    """
    text = " ".join(clean(text).split())
    pieces = _pieces_of(text, words) or list(_even_pieces(text, _bounds(corners)))
    straight = [(x + slope * y, y - slope * x) for x, y in corners]
    return RecognisedLine(text, _bounds(straight), tuple(_word_boxes(text, pieces, size)))


def _pieces_of(text: str, words: Sequence[Any]) -> list[_Piece]:
    """The pieces of a line; none if they are not those of this text."""
    pieces: list[_Piece] = []
    for piece, _, corners in words:
        start = text.find(piece, pieces[-1].end if pieces else 0)
        if start < 0 or corners is None:
            return []
        pieces.append(_Piece(start, start + len(piece), *_bounds(corners)))
    held = sum(piece.end - piece.start for piece in pieces)
    return pieces if held == len(text.replace(" ", "")) else []


def _even_pieces(text: str, box: tuple[float, float, float, float]) -> Iterator[_Piece]:
    """The characters of a line as if each were as wide as the others."""
    left, top, right, bottom = box
    step = (right - left) / max(1, len(text))
    for index in range(len(text)):
        yield _Piece(index, index + 1, left + index * step, top, left + (index + 1) * step, bottom)


def _word_boxes(text: str, pieces: Sequence[_Piece], size: tuple[int, int]) -> Iterator[WordBox]:
    """The boxes of the words, each around the pieces that it is made of."""
    across, down = size
    for word in _WORD.finditer(text):
        own = [piece for piece in pieces if piece.start < word.end() and word.start() < piece.end]
        if own:
            top, bottom = min(piece.top for piece in own), max(piece.bottom for piece in own)
            slack = _SLACK_SHARE * (bottom - top)
            yield WordBox(
                start=word.start(),
                end=word.end(),
                left=min(piece.left for piece in own) / across,
                top=(top + slack) / down,
                right=max(piece.right for piece in own) / across,
                bottom=(bottom - slack) / down,
            )


def _bounds(corners: Corners) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the upright box around some corners."""
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return min(across), min(down), max(across), max(down)
