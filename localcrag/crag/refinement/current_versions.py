"""Of the versions of a document that answer alike, the last one answers.

A draft, the rules of an earlier year or an offer that was replaced may be more probable to a judge than what
holds today. Who asks for no version asks for that, if it tells the same.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from localcrag.crag.questions.document_versions import later_versions
from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import strip_at, strips
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import begin_alike, is_row
from localcrag.types import Passage, Strip


def of_last_version(kept: Sequence[Strip], question: str, seen: Sequence[Passage] = ()) -> list[Strip]:
    """The strips without those of the best one's document, if one of a later version tells as much.

    That has all terms of the question that the best strip has; if this is a row, it is one with the same
    value in its first cell, and stands in its place even if it was not kept itself. All are kept if the
    question speaks of a version.

    Args:
        kept: the strips that were kept, with their probabilities as scores.
        question: the question.
        seen: the passages that were judged; of these are the rows that were not kept.
    """
    best = best_strip(kept)
    if best is None:
        return []
    source = best.passage.source
    sources = {strip.passage.source for strip in kept} | {passage.source for passage in seen}
    later = later_versions(source, sources, question)
    asked = terms(question) & terms(best.text)
    if not asked or not later:
        return list(kept)

    def tells(strip: Strip) -> bool:
        return strip.passage.source in later and asked <= terms(strip.text) and _is_alike(strip, best)

    left = [strip for strip in kept if strip.passage.source != source]
    if not any(map(tells, kept)):
        rows = [row for row in _rows_of(seen, later) if tells(row)] if is_row(best) else []
        if len(rows) != 1:
            return list(kept)
        left.insert(0, strip_at(rows[0].passage, rows[0].start, rows[0].end, best.score))
    return of_last_version(left, question, seen)


def _rows_of(passages: Sequence[Passage], sources: Container[str]) -> list[Strip]:
    """The rows of the passages of some sources."""
    return [
        row for passage in passages if passage.source in sources for row in strips(passage) if is_row(row)
    ]


def _is_alike(strip: Strip, other: Strip) -> bool:
    """Whether both are prose, or rows with the same value in the first cell."""
    if not is_row(strip) or not is_row(other):
        return is_row(strip) == is_row(other)
    return begin_alike(strip, other)
