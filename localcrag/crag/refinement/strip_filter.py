"""Filtering: which of the strips that were judged are kept, by their probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_context import in_context
from localcrag.types import Strip

STANDING_OUT_RATIO = 5.0
"""How many times the probability of the next strip one must have to stand out."""
WORDED_RATIO = 2.5
"""The same for a strip that has a word of the question which no other strip has."""


def refine(
    cut: Sequence[Strip], scores: Sequence[float], *, limit: int, floor: float, keep_best: bool
) -> tuple[list[Strip], int]:
    """Filter strips by their scores (CRAG, section 4.4).

    Args:
        cut: the strips of the relevant passages.
        scores: P(the strip helps) of each strip.
        limit: the most strips that are kept.
        floor: the probability that a kept strip must reach.
        keep_best: whether the best strip is kept even if it does not reach the floor, since its passage was
            judged to help.

    Returns:
        The kept strips in their given order, with their scores, and the number of dropped strips.
    """
    judged = [replace(strip, score=score) for strip, score in zip(cut, scores, strict=True)]
    best = sorted(range(len(judged)), key=lambda i: -judged[i].score)[:limit]
    kept = [judged[i] for i in sorted(best) if judged[i].score >= floor or (keep_best and i == best[0])]
    return kept, len(judged) - len(kept)


def best_score(strips: Sequence[Strip]) -> float:
    """The probability of the best strip; 0 if there is none."""
    return max((strip.score for strip in strips), default=0.0)


def best_strip(strips: Iterable[Strip]) -> Strip | None:
    """The most probable strip, the first of several; None if there is none."""
    return max(strips, key=lambda strip: strip.score, default=None)


def near_best(strips: Sequence[Strip], share: float) -> list[Strip]:
    """The best strip and those with at least that share of its probability; none of none."""
    least = share * best_score(strips)
    return [strip for strip in strips if strip.score >= least]


def standing_out(cut: Sequence[Strip], scores: Sequence[float], question: str = "") -> list[Strip]:
    """The most probable of several strips, with its score, if it stands out from the others; else none.

    It need stand out less if it alone has a word of the ``question``.

    A judge that doubts a text in other words than the question's still ranks its parts. Of 18 questions about
    mixed documents that were not answered though a document does, ten had the answer in a window that stands
    out, and none a wrong one; of 27 that none answers, one had such a window.
    """
    ranked = sorted(zip(scores, cut, strict=True), key=lambda pair: -pair[0])
    if not ranked:
        return []
    (score, best), *others = ranked
    elsewhere = set[str]().union(*(terms(in_context(strip)) for _, strip in others))
    ratio = WORDED_RATIO if terms(question) & terms(best.text) - elsewhere else STANDING_OUT_RATIO
    if others and score < ratio * others[0][0]:
        return []
    return [replace(best, score=score)]
