"""Word wrap for a terminal: lines of whole words, counted in columns, of which wide characters take two.

Scripts without spaces between words are broken between their wide characters, but not before a closing and
not behind an opening mark (the rule is called kinsoku). A word that is wider than the line stays whole.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache

MIN_COLUMNS = 20
"""The narrowest line that text is wrapped to."""
_WORD = re.compile(r"[^ \t]+")
_NEVER_FIRST = frozenset(
    "、。，．・：；？！）］｝」』】〉》〕〗〙〛’”…‥ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ%)]},.;:!?›"
)
_NEVER_LAST = frozenset("（［｛「『【〈《〔〖〘〚‘“([{‹")
_JOINER = "\u200d"


def columns(text: str) -> int:
    """The columns that a text takes on a terminal."""
    return len(text) if text.isascii() else sum(map(_character_columns, text))


@lru_cache(maxsize=4096)
def _character_columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def line_spans(
    text: str, width: int, *, column: int = 0, hanging: int = 0, glued: Collection[int] = ()
) -> list[tuple[int, int]]:
    """The spans of the lines of a paragraph, without the white space at which it is broken.

    Args:
        text: the paragraph, without line breaks.
        width: the columns of the terminal.
        column: the column at which the text begins; the first span is empty if not even a word fits there.
        hanging: the columns that all lines but the first are indented by.
        glued: the places of blanks that no line is broken at.
    """
    spans: list[tuple[int, int]] = []
    start = end = 0
    used = column
    fresh = not column
    for first, last in _pieces(text, glued):
        gap, size = columns(text[end:first]), columns(text[first:last])
        if not fresh and used + gap + size > width:
            spans.append((start, end))
            start, used = first, hanging + size
        else:
            used += gap + size
        end, fresh = last, False
    return [*spans, (start, end)]


def _pieces(text: str, glued: Collection[int]) -> Iterator[tuple[int, int]]:
    """The spans of what is not broken: words, and single characters of scripts that do not separate words."""
    pending: tuple[int, int] | None = None
    for word in _WORD.finditer(text):
        for first, last in _parts(text, *word.span()):
            if pending and first == word.start() and pending[1] in glued:
                pending = (pending[0], last)
                continue
            if pending:
                yield pending
            pending = (first, last)
    if pending:
        yield pending


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of a word between which a line may be broken."""
    if not text[start:end].isascii():
        for at in range(start + 1, end):
            if _may_break(text[at - 1], text[at]):
                yield start, at
                start = at
    yield start, end


def _may_break(before: str, after: str) -> bool:
    wide = 2 in (_character_columns(before), _character_columns(after))
    joined = not _character_columns(after) or before == _JOINER
    return wide and not joined and after not in _NEVER_FIRST and before not in _NEVER_LAST


def wrapped(text: str, width: int) -> str:
    """A text with each of its lines wrapped, and what continues a line indented as the line is."""
    lines = []
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip(" "))
        spans = line_spans(line, max(width, MIN_COLUMNS), hanging=indent)
        lines += [(" " * indent if number else "") + line[s:e] for number, (s, e) in enumerate(spans)]
    return "\n".join(lines)
