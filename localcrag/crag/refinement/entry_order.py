"""The first and the last entry of a list of changes: "In which release did it first get JSON output?".

Each later release may tell of the same thing as well, and to a judge of relevance all of them answer. Of
strips that have as many words of such a question, that of the earliest entry goes first, or of the latest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.calendar_dates import dates_of, day_of
from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.types import HEADING_SEPARATOR, BlockKind, Strip

OTHER_ENTRY_SHARE = 0.4
"""The share of the probability of the entry asked for that the others have at most."""
MIN_SHARED_TERMS = 2
"""The fewest words of the question that the entries have."""
_ENTRY = r"(?:version|release|edition|ausgabe|year|jahr)\b"
_ASKED = re.compile(
    rf"\b(?:which|what|welche[rmns]?) (?:[\w.+-]+ )?{_ENTRY}|^(?:since )?when\b", re.IGNORECASE
)
_FIRST = re.compile(
    rf"\b(?:first|originally|initially|zuerst|erstmals)\b(?! (?:[\w.+-]+ )?{_ENTRY})", re.IGNORECASE
)
_LAST = re.compile(
    rf"\b(?:last|most recently|zuletzt)\b(?! (?:[\w.+-]+ )?(?:{_ENTRY}|month\b|week\b))", re.IGNORECASE
)
_LIGHT_TERMS = terms(
    "version release edition ausgabe jahr when first originally initially zuerst erstmals "
    "last recently zuletzt added introduced appeared supported available"
)
"""Words of such a question that its answer need not have."""
_VERSION = re.compile(r"(?<![\w.-])v?(\d+(?:\.\d+)+)(?![\w-])")

Place = tuple[int, ...]
"""What entries are ordered by: the parts of a date, or of a version."""


def with_asked_entry_first(question: str, found: Sequence[Strip], scores: Sequence[float]) -> list[float]:
    """The probabilities, that of the first entry that tells what is asked above those of the others.

    It is the last one if the question asks for that. They are as they are if it asks for neither, or if only
    one entry has as many of its words.

    Args:
        question: the question.
        found: the strips, of one passage or of several.
        scores: their probabilities.
    """
    is_first, is_last = _FIRST.search(question), _LAST.search(question)
    if not _ASKED.search(question.strip()) or bool(is_first) == bool(is_last):
        return list(scores)
    asked = terms(question) - _LIGHT_TERMS
    shared = [len(asked & terms(strip.text)) for strip in found]
    most = max(shared, default=0)
    rivals = [at for at, count in enumerate(shared) if count == most >= MIN_SHARED_TERMS]
    sources = {found[at].passage.source for at in rivals}
    for places in (
        list(map(_date_of, (found[at] for at in rivals))),
        [_version_of(found[at]) for at in rivals],
    ):
        if len(sources) == 1 and all(places) and len(set(places)) > 1:
            return _ordered(scores, dict(zip(rivals, places, strict=True)), is_first=is_first is not None)
    return list(scores)


def _ordered(scores: Sequence[float], places: dict[int, Place], *, is_first: bool) -> list[float]:
    """The probabilities with the best one of some strips given to those of the entry asked for."""
    wanted = (min if is_first else max)(places.values())
    best = max(scores[at] for at in places)
    ordered = list(scores)
    for at, place in places.items():
        ordered[at] = best if place == wanted else min(scores[at], OTHER_ENTRY_SHARE * best)
    return ordered


def _date_of(strip: Strip) -> Place:
    """The date of the entry of a strip; () if its headings name none."""
    for heading in _headings(strip):
        if days := sorted(filter(None, map(day_of, dates_of(heading)))):
            return days[0].year, days[0].month, days[0].day
    return ()


def _version_of(strip: Strip) -> Place:
    """The version of the entry of a strip; () if its headings name none."""
    for heading in _headings(strip):
        if found := _VERSION.search(heading):
            return tuple(map(int, found[1].split(".")))
    return ()


def _headings(strip: Strip) -> list[str]:
    """The headings in a strip, if it begins with one, and above it, the nearest first."""
    passage = strip.passage
    own = [
        " ".join(passage.text_between(block.start, block.end).split())
        for block in passage.blocks
        if block.kind is BlockKind.HEADING and block.start == strip.start
    ]
    return [*own, *reversed(headings_above(strip).split(HEADING_SEPARATOR))]
