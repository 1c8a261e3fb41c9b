"""Runs of words that a question and another text share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

WordPlaces = Mapping[str, Sequence[int]]
"""Where each word of a question stands in it."""


def places_of(words: Sequence[str]) -> WordPlaces:
    """Where each of some words stands among them."""
    places = defaultdict[str, list[int]](list)
    for at, word in enumerate(words):
        places[word].append(at)
    return dict(places)


def longest_run(words: Sequence[str], places: WordPlaces, own: Sequence[str], at: int) -> tuple[int, int]:
    """The longest run of words that begins at a place of a text and stands in a question as well.

    Args:
        words: the words of the question.
        places: where each of them stands.
        own: the words of the text.
        at: where in the text the run begins.

    Returns:
        Its length, 0 without one, and where it begins in the question, of several the last.
    """
    best = (0, 0)
    for start in places.get(own[at], ()):
        length = 1
        while (
            at + length < len(own)
            and start + length < len(words)
            and words[start + length] == own[at + length]
        ):
            length += 1
        best = max(best, (length, start))
    return best
