"""The evidence of a question of several parts: that of each part, or that of the whole question.

The parts of one question are mostly about one thing. So what the whole question finds is evidence for all of
them if it is about as probable as the best that any part finds by itself (the other half of the question then
takes nothing away), and a part without sure evidence prefers a passage that another one is surely told by.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag.doubts.expected_answers import lacks_expected
from localcrag.crag.questions.query_terms import ASPECT_TERMS, terms
from localcrag.crag.refinement.knowledge_strips import span
from localcrag.crag.refinement.strip_context import in_context
from localcrag.crag.refinement.strip_filter import best_score, best_strip
from localcrag.crag.state import Finding
from localcrag.types import Strip

WHOLE_SHARE = 0.9
"""The share of the best probability of any part from which on sure evidence of the whole question tells all
parts. Of questions about mixed documents whose parts are told by one place, the evidence of the whole reached
0.92 to 1.2 of it, and of one whose parts are told by two, 0.63."""
NEAR_SHARE = 0.5
"""The share of the best probability of a part from which on what stands beside the evidence of another
part is preferred."""


def stands_whole(whole: Finding, findings: Sequence[Finding]) -> bool:
    """Whether what a whole question found is better evidence than what was found for its parts.

    It is if the parts are not all sure, and it is sure and about as probable as the best of them, or if none
    of them is sure and it is more probable than each. It must have the best strip of each part that is sure.
    """
    best = max(best_score(finding.strips) for finding in findings)
    found = best_score(whole.strips)
    sure = [finding for finding in findings if finding.sure]
    told = set(map(span, whole.strips))
    kept = all(span(max(each.strips, key=lambda strip: strip.score)) in told for each in sure)
    if not whole.strips or len(sure) == len(findings) or not kept:
        return False
    if whole.sure:
        return found >= WHOLE_SHARE * best
    return not sure and found > best


def tells_all(whole: Finding, parts: Sequence[str]) -> bool:
    """Whether the evidence of a whole question has something of what each part asks for.

    That is a thing of the expected type, and a word that the part has and the others do not.
    """
    told = set[str]().union(*(terms(in_context(strip)) for strip in whole.strips))
    for part in parts:
        others = terms(" ".join(other for other in parts if other != part))
        own = terms(part) - others - ASPECT_TERMS
        if lacks_expected(part, whole.strips) or (own and not own & told):
            return False
    return True


def beside(found: Sequence[Strip], own: Sequence[Strip], others: Sequence[Finding]) -> tuple[Strip, ...]:
    """The strips found for a whole question that stand beside the sure evidence of another part; or none.

    There are none if the best of a part's ``own`` strips stands there too, or is far more probable.
    """
    sure = {strip.passage.id for finding in others if finding.sure for strip in finding.strips}
    best = best_strip(own)
    if best is not None and best.passage.id in sure:
        return ()
    near = tuple(strip for strip in found if strip.passage.id in sure)
    return near if best_score(near) >= NEAR_SHARE * best_score(own) else ()
