"""Of the versions of a document that answer alike, the last one answers.

A draft, the rules of an earlier year or an offer that was replaced may be more probable to a judge than what
holds today. Who asks for no version asks for that, if it tells the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag.questions.document_versions import later_versions
from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_kinds import first_cell, is_row
from localcrag.types import Strip


def of_last_version(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The strips without those of the best one's document, if one of a later version tells as much.

    That has all terms of the question that the best strip has; if this is a row, it is one with the same
    value in its first cell. All are kept if the question speaks of a version.

    Args:
        kept: the strips that were kept, with their probabilities as scores.
        question: the question.
    """
    best = max(kept, key=lambda strip: strip.score, default=None)
    if best is None:
        return []
    source = best.passage.source
    later = later_versions(source, {strip.passage.source for strip in kept}, question)
    asked = terms(question) & terms(best.text)
    tells = (s for s in kept if s.passage.source in later and asked <= terms(s.text) and _is_alike(s, best))
    if not asked or next(tells, None) is None:
        return list(kept)
    left = [strip for strip in kept if strip.passage.source != source]
    return of_last_version(left, question)


def _is_alike(strip: Strip, other: Strip) -> bool:
    """Whether both are prose, or rows with the same value in the first cell."""
    if not is_row(strip) or not is_row(other):
        return is_row(strip) == is_row(other)
    first, second = (first_cell(each)[1].casefold() for each in (strip, other))
    return first == second
