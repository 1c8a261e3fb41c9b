"""The day of a release, which the heading of its entry in a list of changes tells: "2.0 (10 Dec 2017)".

Or the line above it: "2023-01-08  Max", and below that "Made 5.6.1 release".

The entry itself says what changed, and to a judge of relevance none of it answers "When did 2.0 come out?".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.crag.questions.calendar_dates import dates_of
from localcrag.crag.questions.codes import COMES_OUT, codes_of
from localcrag.crag.questions.query_terms import terms, terms_asked_for
from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.types import Block, BlockKind, Passage, Strip

TOLD = 0.9
"""The probability of the heading of the one entry that it is."""
MAX_HEADING_CHARACTERS = 80
_DAY_ASKED = re.compile(
    rf"^(?:when|(?:on )?(?:what|which) (?:day|date)|since when)\b.*{COMES_OUT}", re.IGNORECASE
)
_RELEASED = re.compile(r"\b(?:releas|version|publish)", re.IGNORECASE)
_BEGINS_WITH_DAY = re.compile(r"\W?\d")
"""How a line of a list of changes begins that has the day of what stands below it: "2023-01-08  Max"."""
_OF_RELEASES = terms(
    "when day date version release released published publish come came out appear appeared available"
)


def asks_for_release(question: str) -> bool:
    """Whether a question asks for the day on which a release came out."""
    return _DAY_ASKED.search(question.strip()) is not None and len(_versions(question)) == 1


def _versions(question: str) -> list[str]:
    return [code for code in codes_of(question) if code[0].isdigit()]


def release_heading(question: str, passages: Sequence[Passage]) -> Strip | None:
    """The heading with the number of the release whose day a question asks for; None without one.

    It names a day, stands in a document with another word of the question, and is the only one.

    Args:
        question: the question.
        passages: the passages that were found, with that of the entry.
    """
    if not asks_for_release(question):
        return None
    (version,) = _versions(question)
    subject = terms_asked_for(question) - _OF_RELEASES - terms(version)
    about = {passage.document for passage in passages if subject & terms(passage.judged)} if subject else None
    found = [
        strip
        for passage in passages
        if about is None or passage.document in about
        for strip in _entries(passage, version)
    ]
    return found[0] if len({strip.text for strip in found}) == 1 else None


def _entries(passage: Passage, version: str) -> Iterator[Strip]:
    """The headings of a passage that name a release and its day, and short lines below one that is a day."""
    number = re.compile(rf"(?<![\w.-])[vV]?{re.escape(version)}(?![\w-]|\.\d)")
    above: Block | None = None
    for block in passage.blocks:
        if block.end - block.start > MAX_HEADING_CHARACTERS:
            above = None
            continue
        strip = strip_at(passage, block.start, block.end, TOLD)
        if number.search(strip.text):
            if block.kind is BlockKind.HEADING and dates_of(strip.text):
                yield strip
            elif above is not None and _RELEASED.search(strip.text):
                yield strip_at(passage, above.start, block.end, TOLD)
        above = block if _BEGINS_WITH_DAY.match(strip.text) and dates_of(strip.text) else None
