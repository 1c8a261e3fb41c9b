"""Quotations of code that are not broken off in the middle of a docstring."""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.strip_kinds import is_code
from localcrag.long_strings import long_strings
from localcrag.types import Strip

_BLANK_LINE = re.compile(r"\n[ \t]*\n|\Z")


def with_closed_strings(picked: Sequence[Strip]) -> list[Strip]:
    """The strips, with a function that is broken off in its docstring up to the blank line behind that.

    The first line of a function and of its docstring only name what the rest of them tells. A paragraph of a
    docstring by itself stays one.
    """
    return [_closed(strip) if is_code(strip) else strip for strip in picked]


def _closed(strip: Strip) -> Strip:
    """The strip up to the end of the piece of code in which a string ends that begins within the strip."""
    passage = strip.passage
    text, start, end = passage.text, strip.start - passage.start, strip.end - passage.start
    for first, last in long_strings(text):
        if start < first < end < last and (found := _BLANK_LINE.search(text, last)):
            return strip_at(passage, strip.start, passage.start + found.start(), strip.score)
    return strip
