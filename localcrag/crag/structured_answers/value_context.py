"""The words around a value that say what it is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.structured_answers.value_spans import ValueSpan
from localcrag.types import CELL_SEPARATOR, Strip

MAX_BEFORE, MAX_BEHIND = 80, 24
"""The most characters around a value that say what it is."""
_BREAK = re.compile(r"\n|;|(?<=[.!?]) |[()]|, and | — | – ")
_JOINT = re.compile(r",? (?:and|but|or) |, ")
"""What stands between the words of two values of one sentence."""


def around(strip: Strip, span: ValueSpan, beside: Sequence[ValueSpan] = ()) -> tuple[str, str]:
    """The words before and behind a value that say what it is.

    In a row, the cell before it counts as well: many tables have their labels in the first column.

    Args:
        strip: the piece of the evidence that the value stands in.
        span: the value.
        beside: all values of its kind in the strip, in their order. Of "closes at 21:30 on weekdays and at
            18:00 on Sundays", "on weekdays" belongs to the first value only, and "closes" to both.
    """
    text = strip.text
    before, behind = text[: span.start], text[span.end :]
    if CELL_SEPARATOR in text:
        cells = before.split(CELL_SEPARATOR)
        left = cells[-2].rpartition(": ")[2] if len(cells) > 1 else ""
        return f"{left} {cells[-1]}".strip()[-MAX_BEFORE:], behind.split(CELL_SEPARATOR)[0][:MAX_BEHIND]
    words = before.removesuffix("(")  # what stands in parentheses is said by the words before them
    starts = [found.end() for found in _BREAK.finditer(words)]
    said_before = _own_before(words, starts[-1] if starts else 0, beside)
    first = _BREAK.search(behind)
    said_behind = _own_behind(text, span.end, span.end + first.start() if first else len(text), beside)
    return said_before[-MAX_BEFORE:], said_behind[:MAX_BEHIND]


def _own_before(words: str, start: int, beside: Sequence[ValueSpan]) -> str:
    """The words from ``start`` on, without those of the values among them that a joint ends."""
    others = [other for other in beside if start <= other.start and other.end <= len(words)]
    joints = list(_JOINT.finditer(words, others[-1].end)) if others else []
    if not joints:
        return words[start:]
    own = words[joints[-1].end() :]
    return own if terms(own) else _own_before(words[: others[-1].start], start, beside) + own


def _own_behind(text: str, start: int, end: int, beside: Sequence[ValueSpan]) -> str:
    """The words from ``start`` to ``end``, without those of a further value among them."""
    following = next((other for other in beside if start <= other.start < end), None)
    joint = _JOINT.search(text, start, following.start) if following else None
    return text[start : joint.start() if joint else end]
