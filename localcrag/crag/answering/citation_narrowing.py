"""Citation narrowing: of a whole passage that a written sentence cites, the part that bears it out.

An answer that was written from whole passages cites some two hundred words with each number. Whoever opens
the citation wants the sentences that say so: the window of the passage that the evaluator holds to bear out
what was written, with the claim in place of the query as in :mod:`.grounding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag.answering.answer_form import cited_keys, without_keys
from localcrag.crag.judges.passage_scores import strip_scores
from localcrag.crag.refinement.strip_windows import windows
from localcrag.crag.state import QuestionState
from localcrag.types import Evidence


def narrowed_evidence(
    state: QuestionState, sentences: Sequence[str], evidence: Sequence[Evidence]
) -> list[Evidence]:
    """The evidence, each cited whole passage replaced by its window that best bears out what cites it.

    Args:
        state: the question and its adapters; without an evaluator the evidence stays as it is.
        sentences: the sentences of the answer, with their citations.
        evidence: the whole passages that the answer was written from, keyed.

    Returns:
        The evidence with the same keys, in the same order.
    """
    claims: dict[int, list[str]] = {}
    for sentence in sentences:
        for key in cited_keys(sentence):
            claims.setdefault(key, []).append(without_keys(sentence))
    return [_narrowed(state, item, " ".join(claims.get(item.key, ()))) for item in evidence]


def _narrowed(state: QuestionState, item: Evidence, claim: str) -> Evidence:
    """A piece of evidence with the window of its passage that best bears out a claim, if it has several."""
    evaluator, found = state.adapters.evaluator, windows(item.strip.passage)
    if evaluator is None or not claim or len(found) < 2:
        return item
    scores = strip_scores(evaluator, claim, found)
    score, best = max(zip(scores, found, strict=True), key=lambda pair: pair[0])
    return replace(item, strip=replace(best, score=score))
