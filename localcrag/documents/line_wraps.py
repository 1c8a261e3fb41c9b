"""The headings of a text, and the line ends that only wrap a paragraph, which the lengths of its lines tell.

Both are positions in characters of the unchanged text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at the characters ``[start, end)``; ``level`` counts from 1, the outermost."""

    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A text's headings, and the positions of line ends that only wrap a paragraph."""

    headings: tuple[Heading, ...] = ()
    wraps: tuple[int, ...] = ()


_MIN_WRAPPED_CHARACTERS = 40
_MIN_CONTINUED_SHARE = 0.2
_MIN_FILLED_SHARE = 0.75


def prose_wraps(text: str) -> Iterator[int]:
    """The positions of the line ends that only wrap text that was broken to a width, as in PDF pages.

    A block of lines is such text if at least a fifth of its later lines begin in lower case.
    """
    if "\n" not in text:
        return
    start = 0
    for filled, group in groupby(text.split("\n"), key=bool):
        lines = list(group)
        going_on = sum(1 for line in lines[1:] if line[:1].isalpha() and not line[0].isupper())
        if filled and going_on >= _MIN_CONTINUED_SHARE * (len(lines) - 1):
            yield from (start + wrap for wrap in _wraps(lines))
        start += sum(map(len, lines)) + len(lines)


def _wraps(lines: Sequence[str]) -> Iterator[int]:
    """The line ends of a block that are wraps, as positions from its start.

    A line end is a wrap if the first word of the next line would not have fitted: the widest line is
    taken as the width. Blocks narrower than 40 characters have none.
    """
    width = max(map(len, lines))
    if width < _MIN_WRAPPED_CHARACTERS:
        return
    end = -1
    for line, following in pairwise(lines):
        end += len(line) + 1
        starts_afresh = following[:1].isspace() or following[:1] in "-*•|>"
        word = following.partition(" ")[0]
        if not starts_afresh and len(line) + 1 + len(word) > _MIN_FILLED_SHARE * width:
            yield end
