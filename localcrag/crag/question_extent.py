"""How much of a document a question asks for: one sentence, all steps and reasons, or all items of a list."""

from __future__ import annotations

import re

from localcrag.crag.query_terms import terms

_WHAT_TO_DO = re.compile(
    r"\bhow (?:do|does|did|can|could|should|would|to|is|are)\b|\bcan (?:I|we|you)\b"
    r"|\bwhat (?:do|should|must|can|could|happens|if|to)\b|\bwhat does\b.+\bmean\b|\bwhy\b"
    r"|\bwie (?!viele?\b|lange?\b|oft\b|hoch\b|alt\b|heißt\b|teuer\b)"
    r"|\bwas (?:muss|soll|kann|tun|passiert)\b|\b(?:warum|wieso)\b",
    re.IGNORECASE,
)
"""How a question asks for a procedure, a reason or an explanation, in English or German."""
_SEVERAL = re.compile(
    r"\b(?:what|which) (?:are|were)\b"
    r"|\b(?:what|which)(?: [\w-]+){0,2} [\w-]+[^\W\ds]s"
    r" (?:are|were|do|did|can|could|must|should|may|will|have|need|exist|belong|count|come|get|help)\b"
    r"|\bwhat (?:is|do|does|did|should|must)\b.*\b(?:include|contain|comprise|cover|need|require|bring)"
    r"(?:e?d)?\b"
    r"|^\W*(?:please )?(?:list|name|enumerate)\b.*\b(?:all|the|every)\b"
    r"|^\W*(?:welche|was)\b.*\b(?:sind|gibt es|gehören|gehört|enthält|umfasst|braucht|benötigt)\b"
    r"|^\W*nenne\b|\bquel(?:le)?s\b|\bque (?:comprend|contient)\b"
    r"|\bcuáles\b|\bqué (?:incluye|contiene|[^\W\d]+s)\b",
    re.IGNORECASE,
)
"""How a question asks for several things of a kind, in English, German, French and Spanish."""


def asks_what_to_do(question: str) -> bool:
    """Whether a question asks for a procedure, a reason or an explanation, which several sentences tell.

    "What is the dose?" is answered by one sentence, which is quoted by itself if it is sure.
    """
    return _WHAT_TO_DO.search(question) is not None


def things_asked_for(question: str) -> frozenset[str]:
    """The content words of a question that asks for several things of a kind; empty for any other.

    "What are the advantages of this mode?" is answered by a whole list, and not by one of its items.
    """
    return frozenset(terms(question)) if _SEVERAL.search(question) else frozenset()
