"""Versions of a document: which of them a question asks for, "last year's" or "the first draft".

Price lists, terms and guides are kept for several years, and an offer beside its draft. To a judge of
relevance they are the same text, and to a reader only one of them answers. They are told by the names of
their files: ``prices-2025.docx`` and ``prices-2026.xlsx``, ``offer-17_draft.md`` and ``offer-17.pdf``,
``offer_rev1_superseded.docx`` and ``offer_rev2.pdf``. A draft, or what its name says to be superseded, does
not answer a question that does not ask for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath

from localcrag.types import Hit, Passage

_SPAN = r"(?:year|season|term|spring|summer|autumn|fall|winter)"
_RULES = (
    r"(?:conditions|edition|fees|form|guide|guidelines|handbook|list|manual|prices?|price[- ]list|rates?"
    r"|rules|statutes|style|syllabus|tariffs?|terms|version)"
)
_PRESENT = re.compile(
    rf"\bthis (?:\w+ )?{_SPAN}\b|\b(?:now|nowadays|these days|currently|at present|at the moment)\b"
    rf"|\b(?:new|newest|latest|current|present) (?:\w+ )?{_RULES}\b"
    r"|\b(?:dieses jahr|in diesem jahr|heuer|derzeit|zurzeit|aktuell\w*|cette année|actuellement|este año)\b",
    re.IGNORECASE,
)
"""How a question asks for what holds today."""
_PAST = re.compile(
    rf"\b(?:last|previous) (?:\w+ )?{_SPAN}\b|\bthe {_SPAN} before\b"
    r"|\b(?:letztes jahr|im letzten jahr|voriges jahr|im vorjahr|l['’]année dernière|l['’]an dernier)\b"
    r"|\bel año pasado\b",
    re.IGNORECASE,
)
"""How a question asks for what held a year before."""
_FORMER = re.compile(rf"\b(?:previous|former|old|superseded|outdated) (?:\w+ )?{_RULES}\b", re.IGNORECASE)
"""How a question asks for the version before the newest one."""
_COMPARISON = re.compile(
    r"\b(?:than|compared?|differ\w*|changed?|versus|vs|als|geändert|unterschied\w*)\b", re.IGNORECASE
)
"""Words of a question that may be about two versions."""
_FIRST = re.compile(
    r"\b(?:first|earlier|original|initial) (?:draft|version|offer|quote|quotation|proposal)\b"
    r"|\b(?:draft|superseded)\b"
    r"|\b(?:entwurf|brouillon|borrador)\b",
    re.IGNORECASE,
)
"""How a question asks for a draft, or for what is superseded."""
_OF_OLD = re.compile(
    r"\b(?:drafts?|(?<!year )(?<!years )(?<!yr )(?<!yrs )(?<!-)(?<!how )old(?:er)?|superseded"
    r"|outdated|obsolete|previous(?:ly)?|former(?:ly)?|earlier"
    r"|original(?:ly)?|initial(?:ly)?|first|before|used to|versions?|v\.? ?\d+|rev(?:ision)?\.? ?\d+"
    r"|früher\w*|alt(?:e[nrsm]?)?|ursprünglich\w*|zuerst|ancien\w*|antigu\w+)\b",
    re.IGNORECASE,
)
"""Words of a question that may be about a draft or what is superseded."""
_FINAL = re.compile(
    r"\bin the end\b|(?<![\w-])final (?:offer|price|text|version)\b|\b(?:finally|eventually)\b"
    r"|\b(?:decided|agreed|accepted|signed|adopted)\b"
    r"|\b(?:endgültig\w*|letztlich|schließlich|finalement)\b",
    re.IGNORECASE,
)
"""How a question asks for what a draft became."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d[-_. ]?\d\d(?!\d)")
"""A month or a day in a name: of minutes and diaries, which are no versions of each other."""
_SCHOOL_YEAR = re.compile(r"(?<!\d)((?:19|20)(\d\d))[-_/](?:(?:19|20)(?=\d\d))?(\d\d)(?!\d)")
"""A year in a name that begins in one and ends in the next: "fees-2025-26"."""
_NUMBER_OF_VERSION = re.compile(r"(?<![^\W_])(?:v|rev|version|revision)[-. _]?\d+(?!\d)")
"""The number of a version in a name: "offer_rev2", "v3"."""
_DRAFTS = frozenset({"draft", "entwurf", "brouillon", "borrador"})
_MARKS = _DRAFTS | {"superseded", "obsolete", "outdated", "old", "alt", "veraltet", "überholt"}
"""Words in a name of what is no longer, or not yet, in force."""
_VERSION_WORDS = _MARKS | {"new", "final", "signed", "rev", "neu"}
_WORD = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class _Version:
    """What the name of a file tells: the words that its versions share, its year, and if it is a draft.

    What is superseded counts as a draft.
    """

    words: frozenset[str]
    year: int | None
    is_draft: bool


def of_asked_version(hits: Sequence[Hit], question: str) -> list[Hit]:
    """The hits without those of another version of a document than the one that a question asks for.

    None is left out if the question compares versions, or if the version that it asks for was not found.

    Args:
        hits: hits in the order of their search.
        question: the question.
    """
    if _COMPARISON.search(question):
        return list(hits)
    versions = {hit.passage.source: _version(hit.passage) for hit in hits}
    unwanted = _of_other_years(versions, question) | _of_other_states(versions, question)
    unwanted |= _not_in_force(versions, question)
    return [hit for hit in hits if hit.passage.source not in unwanted]


def _of_other_years(versions: dict[str, _Version], question: str) -> set[str]:
    """The sources that are of another year than the one asked for, and have a version of that year."""
    is_former = _FORMER.search(question) is not None
    is_past, is_present = is_former or bool(_PAST.search(question)), bool(_PRESENT.search(question))
    named = {int(year) for year in _YEAR.findall(question)}
    if is_past == is_present or len(named) > 1:
        return set()
    newest = max((int(year) for source in versions for year in _YEAR.findall(_stem(source))), default=0)
    families: dict[frozenset[str], dict[str, int]] = {}
    for source, version in versions.items():
        if version.year is not None and version.words:
            families.setdefault(version.words, {})[source] = version.year
    unwanted = set[str]()
    for years in families.values():
        *_, before, last = 0, *sorted(set(years.values()))
        past = before if is_former else newest - 1
        asked = next(iter(named), past if is_past else last)
        if asked in years.values():
            unwanted |= {source for source, year in years.items() if year != asked}
    return unwanted


def _of_other_states(versions: dict[str, _Version], question: str) -> set[str]:
    """The sources that are drafts if a question asks for what was decided, and the reverse."""
    asks_draft, asks_final = (pattern.search(question) is not None for pattern in (_FIRST, _FINAL))
    if asks_draft == asks_final:
        return set()
    pairs = [
        (draft, other)
        for draft, its in versions.items()
        for other, others in versions.items()
        if its.is_draft and not others.is_draft and its.words and its.words <= others.words
    ]
    return {draft if asks_final else other for draft, other in pairs}


def _not_in_force(versions: dict[str, _Version], question: str) -> set[str]:
    """The sources that are drafts or superseded, and have a version that is neither.

    There are none if a word of the question may be about them.
    """
    if _OF_OLD.search(question) or _PAST.search(question):
        return set()
    named = {int(year) for year in _YEAR.findall(question)}
    in_force = {its.words for its in versions.values() if not its.is_draft}
    return {
        source
        for source, its in versions.items()
        if its.is_draft
        and its.words
        and its.words in in_force
        and named.isdisjoint(int(year) for year in _YEAR.findall(_stem(source)))
    }


def _version(passage: Passage) -> _Version:
    """The version of a document that a passage is of."""
    stem = _SCHOOL_YEAR.sub(_first_of_years, _stem(passage.source).casefold())
    years = _YEAR.findall(stem)
    is_draft = not _MARKS.isdisjoint(_WORD.findall(stem))
    is_yearly = len(years) == 1 and not _DATE.search(stem)
    bare = _NUMBER_OF_VERSION.sub(" ", _DATE.sub(" ", stem) if is_draft else stem)
    words = [word for word in _WORD.findall(bare) if not (is_yearly or is_draft) or word not in years]
    if is_draft and len(words) > 1 and words[-1].isdecimal() and words[-2] in _DRAFTS:
        words.pop()
    shared = frozenset(words) - _VERSION_WORDS
    return _Version(shared, int(years[0]) if is_yearly else None, is_draft)


def _first_of_years(found: re.Match[str]) -> str:
    """The first of two years that follow each other; other numbers, as a month, as they are."""
    return found[1] if int(found[3]) == (int(found[2]) + 1) % 100 else found[0]


def _stem(source: str) -> str:
    """The name of a source's file without its ending."""
    return PurePath(source).stem
