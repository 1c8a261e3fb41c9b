"""The window of a long passage around the words of a question, for groups of texts that are parts of them.

As what is judged in place of whole passages it was tried and left: of the answers to questions in other words
than the document's, it held seven in ten.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import groupby

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import strip_at, strips
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.types import Passage, Strip

WINDOW_CHARACTERS = 480
"""The most characters of a window of several strips: some 110 tokens."""
MIN_WINDOWS = 1.25
"""A passage that is shorter than so many windows has none."""


def nearest_window(passage: Passage, asked: Collection[str]) -> Strip | None:
    """The window of a passage that has most of the terms of a question, the first of several.

    A window is as many neighbouring strips below the same headings as ``WINDOW_CHARACTERS`` hold. It is None
    for a passage that is hardly longer than that, and if no strip has a term of the question: then nothing
    tells which part is near.
    """
    if len(passage.text) < MIN_WINDOWS * WINDOW_CHARACTERS:
        return None
    best, most = None, 0
    for headings, below in groupby(strips(passage), key=headings_above):
        cut = list(below)
        known = _terms(headings) & set(asked)
        found = [(_terms(strip.text) & set(asked)) - known for strip in cut]
        for first in range(len(cut)):
            last = _end(cut, first)
            count = len(known) + len(set[str]().union(*found[first:last]))
            if any(found[first:last]) and count > most:
                best, most = _spanning(cut[first], cut[last - 1]), count
    return best


@lru_cache(maxsize=200_000)
def _terms(text: str) -> frozenset[str]:
    """The terms of a text, which is asked about again and again."""
    return frozenset(terms(text))


def _end(cut: list[Strip], first: int) -> int:
    """The index behind the last strip of the window that begins with a strip."""
    last = first + 1
    while last < len(cut) and cut[last].end - cut[first].start <= WINDOW_CHARACTERS:
        last += 1
    return last


def _spanning(first: Strip, last: Strip) -> Strip:
    """The strip from the beginning of one to the end of another of the same passage."""
    return strip_at(first.passage, first.start, last.end, first.score)
