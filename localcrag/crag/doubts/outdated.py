"""Whether evidence may have changed since: it is of an earlier mail, or only proposes something."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.earlier_mails import is_of_earlier_mail, only_proposes
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.types import Passage, Strip

_CHANGEABLE = re.compile(
    r"\b(?:when|until|how (?:much|many|long)|cost|price|date|day|time|wann|wie ?viele?|kostet|preis)\b",
    re.IGNORECASE,
)
_MESSAGE = re.compile(
    r"^\W?\d{1,2}[./]\d{1,2}[./]\d{2,4},? \d\d?[:.]\d\d[^\n:]{0,8}[\]–-]? ?[^\W\d][^:\n]{0,40}: ",
    re.MULTILINE,
)
"""How a message of a chat begins in its export: "[02/03/2025, 18:04] Ann: "."""
_MIN_MESSAGES = 2


def may_be_outdated(question: str, kept: Sequence[Strip], passages: Sequence[Passage] = ()) -> bool:
    """Whether the best evidence is of an earlier mail or message than others, and may have changed since.

    So may what a mail only proposes. What changes in a thread or a chat are days, prices and numbers. In a
    chat there must be a later message with half of the words that the question and the evidence share, in one
    of the ``passages``.
    """
    best = best_strip(kept)
    if best is not None and only_proposes(best, question):
        return True
    if best is None or _CHANGEABLE.search(question) is None:
        return False
    if is_of_earlier_mail(best):
        return True
    named = terms(question) & terms(best.text)
    if not named or len(_MESSAGE.findall(best.passage.text)) < _MIN_MESSAGES:
        return False
    later = (line for passage in passages for line in _messages_after(passage, best))
    return any(2 * len(named & terms(line)) >= len(named) for line in later)


def _messages_after(passage: Passage, strip: Strip) -> Iterator[str]:
    """The lines of a chat in a passage of the same document that stand below the line of a strip."""
    if passage.source != strip.passage.source:
        return
    line_end = passage.text.find("\n", max(0, strip.end - passage.start))
    if passage.start > strip.end:
        yield from passage.text.split("\n")
    elif line_end >= 0:
        yield from passage.text[line_end:].split("\n")
