"""The option of a command that a question asks for by its purpose: "Which option sorts by size?".

A passage of a manual holds many options, so that as a whole it is like none of them. The description of one
beside its name shares more words with the question than what the manual says elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_kinds import OPTION
from localcrag.types import BlockKind, Hit, Passage

MIN_SHARED_TERMS = 2
"""The fewest words of a question that the description of an option has."""
PURPOSE_CHARACTERS = 160
"""The characters of a description that tell what the option is for."""
_ASKED = re.compile(
    r"\b(?:which|what|welche[rmns]?|quel(?:le)?|qué|quale) (?:[\w.+-]+ ){0,2}"
    r"(?:option|flag|switch|parameter|schalter|opción|opzione)s?\b",
    re.IGNORECASE,
)
_LIGHT_TERMS = terms("option options flag flags switch switches parameter parameters schalter command line")


def with_asked_option(best: Sequence[Hit], found: Sequence[Hit], question: str) -> list[Hit]:
    """The best hits, the last one replaced by the hit with the option that is most like what is asked for.

    They are as they are if the question asks for no option, or one of the best hits has as good a one. If the
    question names manuals by their titles, it is one of these.

    Args:
        best: the hits that go on to grading.
        found: all hits of the search.
        question: the question.
    """
    asked = terms(question) - _LIGHT_TERMS if _ASKED.search(question) else set[str]()
    if len(asked) < MIN_SHARED_TERMS or not best:
        return list(best)
    frequencies = Counter(term for hit in found for term in asked & terms(hit.passage.text))
    weights = {term: log(1 + len(found) / count) for term, count in frequencies.items()}
    named = [hit for hit in found if asked & terms(hit.passage.title)]
    likeness = {hit.passage.id: _likeness(hit.passage, weights) for hit in (*best, *(named or found))}
    most = max(likeness.values())
    if not most or any(likeness[hit.passage.id] == most for hit in best):
        return list(best)
    return [*best[:-1], next(hit for hit in found if likeness.get(hit.passage.id) == most)]


def _likeness(passage: Passage, weights: dict[str, float]) -> float:
    """The most weight of words that the description of an option in a passage shares with a question."""
    texts = (
        passage.text_between(block.start, min(block.end, block.start + PURPOSE_CHARACTERS))
        for block in passage.blocks
        if block.kind in (BlockKind.ITEM, BlockKind.ROW)
    )
    names = terms(passage.title)
    shared = [(weights.keys() & terms(text)) - names for text in texts if OPTION.match(text)]
    return max(
        (sum(map(weights.__getitem__, own)) for own in shared if len(own) >= MIN_SHARED_TERMS), default=0
    )
