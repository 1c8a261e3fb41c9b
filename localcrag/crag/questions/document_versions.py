"""Versions of a document: which of them a question asks for, "last year's" or "the first draft".

Price lists, terms and guides are kept for several years, and an offer beside its draft. To a judge of
relevance they are the same text, and to a reader only one of them answers. They are told by the names of
their files: ``prices-2025.docx`` and ``prices-2026.xlsx``, ``offer-17_draft.md`` and ``offer-17.pdf``.
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
    rf"\bthis {_SPAN}\b|\b(?:now|nowadays|these days|currently|at present|at the moment)\b"
    rf"|\b(?:new|newest|latest|current|present) (?:\w+ )?{_RULES}\b"
    r"|\b(?:dieses jahr|in diesem jahr|heuer|derzeit|zurzeit|aktuell\w*|cette année|actuellement|este año)\b",
    re.IGNORECASE,
)
"""How a question asks for what holds today."""
_PAST = re.compile(
    rf"\b(?:last|previous) {_SPAN}\b|\bthe {_SPAN} before\b|\b(?:previous|former|old) (?:\w+ )?{_RULES}\b"
    r"|\b(?:letztes jahr|im letzten jahr|voriges jahr|im vorjahr|l['’]année dernière|l['’]an dernier)\b"
    r"|\bel año pasado\b",
    re.IGNORECASE,
)
"""How a question asks for what held a year before."""
_COMPARISON = re.compile(
    r"\b(?:than|compared?|differ\w*|changed?|versus|vs|als|geändert|unterschied\w*)\b", re.IGNORECASE
)
"""Words of a question that may be about two versions."""
_FIRST = re.compile(
    r"\b(?:first|earlier|original|initial) (?:draft|version|offer|quote|quotation|proposal)\b|\bdraft\b"
    r"|\b(?:entwurf|brouillon|borrador)\b",
    re.IGNORECASE,
)
"""How a question asks for a draft."""
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
_MARKS = frozenset({"draft", "entwurf", "brouillon", "borrador"})
_VERSION_WORDS = _MARKS | {"new", "old", "final", "signed", "rev", "neu", "alt"}
_WORD = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class _Version:
    """What the name of a file tells: the words that its versions share, its year, and if it is a draft."""

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
    return [hit for hit in hits if hit.passage.source not in unwanted]


def _of_other_years(versions: dict[str, _Version], question: str) -> set[str]:
    """The sources that are of another year than the one asked for, and have a version of that year."""
    is_past, is_present = (pattern.search(question) is not None for pattern in (_PAST, _PRESENT))
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
        asked = next(iter(named), newest - 1 if is_past else max(years.values()))
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


def _version(passage: Passage) -> _Version:
    """The version of a document that a passage is of."""
    stem = _stem(passage.source)
    years = _YEAR.findall(stem)
    is_yearly = len(years) == 1 and not _DATE.search(stem)
    words = [word for word in _WORD.findall(stem.casefold()) if not is_yearly or word != years[0]]
    marked = not _MARKS.isdisjoint(words)
    if marked and words[-1].isdecimal() and words[-2] in _MARKS:
        words.pop()
    shared = frozenset(words) - _VERSION_WORDS
    return _Version(shared, int(years[0]) if is_yearly else None, marked)


def _stem(source: str) -> str:
    """The name of a source's file without its ending."""
    return PurePath(source).stem
