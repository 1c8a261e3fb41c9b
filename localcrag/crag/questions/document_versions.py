"""Versions of a document: which of them a question asks for, "last year's" or "the first draft".

Price lists, terms and guides are kept for several years, and an offer beside its draft. To a judge of
relevance they are the same text, and to a reader only one of them answers. They are told by the names of
their files: ``prices-2025.docx`` and ``prices-2026.xlsx`` (of a school year, ``fees-2025-26.pdf``),
``offer-17_draft.md`` and ``offer-17.pdf``, ``plan_v2_old.md`` and ``plan_v3.docx``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PurePath

from localcrag.crag.questions.query_terms import terms
from localcrag.types import Hit

_SPAN = (
    r"(?:(?:(?:academic|business|calendar|financial|fiscal|school) )?year|season|term|spring|summer|autumn"
    r"|fall|winter)"
)
_RULES = (
    r"(?:agreement|bid|budget|conditions|contract|edition|estimate|fees|form|guide|guidelines|handbook|list"
    r"|manual|offer|plan|policy|prices?|price[- ]list|proposal|quot(?:e|ation)|rates?|regulations?|revision"
    r"|rules|statutes|style|syllabus|table|tariffs?|terms|version)"
)
_PRESENT = re.compile(
    rf"\bthis {_SPAN}\b|\b(?:now|nowadays|these days|currently|at present|at the moment)\b"
    rf"|\b(?:new|newest|latest|current|present|valid|revised) (?:\w+ )?{_RULES}\b"
    r"|(?<!when )\bin force\b"
    r"|\b(?:dieses jahr|in diesem jahr|heuer|derzeit|zurzeit|aktuell\w*|cette année|actuellement|este año)\b",
    re.IGNORECASE,
)
"""How a question asks for what holds today."""
_PAST = re.compile(
    rf"\b(?:last|previous) {_SPAN}\b|\bthe {_SPAN} before\b"
    r"|\b(?:letztes jahr|im letzten jahr|voriges jahr|im vorjahr|l['’]année dernière|l['’]an dernier)\b"
    r"|\bel año pasado\b",
    re.IGNORECASE,
)
"""How a question asks for what held a year before."""
_REPLACED = re.compile(
    rf"\b(?:previous|former|older?|outdated|superseded|replaced) (?:\w+ )?{_RULES}\b|\bsuperseded\b"
    rf"|\b{_RULES} (?:(?:that|which) )?(?:is|was|are|were) (?:replaced|withdrawn)\b",
    re.IGNORECASE,
)
"""How a question asks for a version that another one has replaced."""
_DENIED = re.compile(
    r"\b(?:not|nicht) (?:(?:by|from|in|of|under|with|nach|aus) )?(?:the|those|last|der|die|das|den)\b"
    r"[^,.;:?!]*",
    re.IGNORECASE,
)
"""How a question says which version it does not ask for: "the new rules, not the old ones"."""
_COMPARISON = re.compile(
    r"\b(?:than|compared?|differ\w*|changed?|versus|vs|als|geändert|unterschied\w*)\b", re.IGNORECASE
)
"""Words of a question that may be about two versions."""
_FIRST = re.compile(
    r"\b(?:first|earlier|original|initial)"
    r" (?:bid|draft|edition|estimate|offer|proposal|quot(?:e|ation)|version)\b|\bdraft\b"
    r"|\b(?:entwurf|brouillon|borrador)\b",
    re.IGNORECASE,
)
"""How a question asks for a draft."""
_REVISION_ASKED = re.compile(r"\b(?:version|revision|rev\.?|v)[. ]?(\d{1,2})\b", re.IGNORECASE)
"""How a question names a version by its number: "according to version 4"."""
_FINAL = re.compile(
    r"\bin the end\b|(?<![\w-])final (?:offer|price|text|version)\b|\b(?:finally|eventually)\b"
    r"|\b(?:decided|agreed|accepted|signed|adopted)\b"
    r"|\b(?:endgültig\w*|letztlich|schließlich|finalement)\b",
    re.IGNORECASE,
)
"""How a question asks for what a draft became."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_TWO_YEARS = re.compile(r"(?<!\d)((?:19|20)(\d\d))[-_/–. ](?:\d\d)?(\d\d)(?!\d)")
"""Two years beside each other, as a school year: "2025-26", "2025/2026"."""
_YEAR_OF_VERSION = re.compile(
    rf"\b{_RULES}(?: (?:of|from|for))?(?: the year)? ((?:19|20)\d\d)\b|\b((?:19|20)\d\d) (?:\w+ )?{_RULES}\b",
    re.IGNORECASE,
)
"""How a question names the version of a year: "the edition of 2023", "the 2024 price list"."""
_MAX_MONTH = 12
_DATE = re.compile(r"(?<!\d)(?:19|20)\d\d[-_. ]?\d\d(?!\d)")
"""A month or a day in a name: of minutes and diaries, which are no versions of each other."""
_DRAFT_MARKS = frozenset({"draft", "entwurf", "brouillon", "borrador"})
_OUTDATED_MARKS = frozenset({"old", "superseded", "obsolete", "outdated", "withdrawn", "alt", "veraltet"})
_MARKS = _DRAFT_MARKS | _OUTDATED_MARKS
_REVISION_MARKS = frozenset({"v", "ver", "version", "rev", "revision", *_DRAFT_MARKS})
_MAX_REVISION = 99
_MIN_NAMED_WORDS = 2
"""The fewest words of the name of a document with which a question names it."""
_VERSION_WORDS = _MARKS | _REVISION_MARKS | {"new", "final", "signed", "neu"}
_WORD = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class _Version:
    """What the name of a file tells of its version.

    That are the words that all versions share, the year in which it begins to hold, the number of its
    revision, and whether it is marked as a draft or as replaced.
    """

    words: frozenset[str]
    year: int | None
    revision: int | None
    is_marked: bool

    def is_older(self, other: _Version) -> bool:
        """Whether another one is of the same document and has replaced this one, or is of a later year."""
        if self.is_before(other):
            return True
        if not self.words or self.words != other.words or self.year is None or other.year is None:
            return False
        return self.year < other.year and self.is_marked >= other.is_marked

    def is_before(self, other: _Version) -> bool:
        """Whether another one is of the same document and has replaced this one."""
        if not self.words:
            return False
        if self.is_marked != other.is_marked:
            return self.is_marked and self.words <= other.words
        if self.words != other.words or self.year != other.year:
            return False
        return self.revision is not None and other.revision is not None and self.revision < other.revision


def of_asked_version(hits: Sequence[Hit], question: str) -> list[Hit]:
    """The hits without those of another version of a document than the one that a question asks for.

    None is left out if the question compares versions, or if the version that it asks for was not found. If
    it names the document as well, the hits are of that alone: "What was the sum of Lind's first offer?".

    Args:
        hits: hits in the order of their search.
        question: the question.
    """
    question = _DENIED.sub(" ", question)
    if _COMPARISON.search(question):
        return list(hits)
    versions = {hit.passage.source: _version(hit.passage.source) for hit in hits}
    unwanted = _of_other_years(versions, question) | _of_other_states(versions, question)
    unwanted |= _of_other_revisions(versions, question)
    left = [hit for hit in hits if hit.passage.source not in unwanted]
    named = _named(versions, unwanted, question)
    return [hit for hit in left if not named or hit.passage.source in named]


def later_versions(source: str, others: Iterable[str], question: str) -> set[str]:
    """The sources of later versions of a document, if a question says nothing of versions or years.

    Args:
        source: the source of the document.
        others: the sources that may be of it.
        question: the question.
    """
    spoken = (_COMPARISON, _PAST, _REPLACED, _FIRST, _REVISION_ASKED, _YEAR)
    if any(_asks(pattern, question) for pattern in spoken):
        return set()
    own = _version(source)
    return {other for other in others if own.is_older(_version(other))}


def _named(versions: dict[str, _Version], unwanted: set[str], question: str) -> set[str]:
    """The sources of the asked versions, if the question has most words of their names, and of no others."""
    families = {versions[source].words for source in unwanted}
    asked = terms(question)
    shared = {source: len(asked & terms(" ".join(version.words))) for source, version in versions.items()}
    wanted = {
        source
        for source, version in versions.items()
        if source not in unwanted
        and any(family <= version.words for family in families)
        and shared[source] >= max(_MIN_NAMED_WORDS, len(version.words) / 2)
    }
    least = min((shared[source] for source in wanted), default=0)
    others = (shared[source] for source in versions.keys() - wanted - unwanted)
    return wanted if all(count < least for count in others) else set()


def _of_other_years(versions: dict[str, _Version], question: str) -> set[str]:
    """The sources that are of another year than the one asked for, and have a version of that year."""
    is_replaced = _REPLACED.search(question) is not None
    is_past, is_present = is_replaced or _asks(_PAST, question), _asks(_PRESENT, question)
    named = {int(year[1]) for year in _TWO_YEARS.finditer(question) if _is_span(year)}
    named |= {int(year) for found in _YEAR_OF_VERSION.findall(question) for year in found if year}
    is_named = len(named) == 1
    named = named or {int(year) for year in _YEAR.findall(question)}
    if len(named) > 1 or not (is_named or is_past != is_present):
        return set()
    newest = max((int(year) for source in versions for year in _YEAR.findall(_stem(source))), default=0)
    families: dict[frozenset[str], dict[str, int]] = {}
    for source, version in versions.items():
        if version.year is not None and version.words:
            families.setdefault(version.words, {})[source] = version.year
    unwanted = set[str]()
    for years in families.values():
        *earlier, latest = sorted(set(years.values()))
        replaced = earlier[-1] if is_replaced and earlier else newest - 1
        asked = next(iter(named), replaced if is_past else latest)
        if asked in years.values():
            unwanted |= {source for source, year in years.items() if year != asked}
    return unwanted


def _of_other_revisions(versions: dict[str, _Version], question: str) -> set[str]:
    """The sources of another revision than the one that a question names, if that one was found."""
    numbers = {int(number) for number in _REVISION_ASKED.findall(question)}
    if len(numbers) != 1:
        return set()
    asked = {version.words for version in versions.values() if version.revision in numbers}
    return {
        source
        for source, version in versions.items()
        if version.words in asked and version.revision is not None and version.revision not in numbers
    }


def _of_other_states(versions: dict[str, _Version], question: str) -> set[str]:
    """The sources that were replaced if a question asks for what holds or was decided, and the reverse."""
    asks_first, asks_replaced = _asks(_FIRST, question), _asks(_REPLACED, question)
    asks_last = _asks(_FINAL, question) or _asks(_PRESENT, question)
    if (asks_first or asks_replaced) == asks_last:
        return set()
    pairs = [
        (before, after)
        for before, its in versions.items()
        for after, others in versions.items()
        if its.is_before(others)
    ]
    replaced, replacing = {before for before, _ in pairs}, {after for _, after in pairs}
    if asks_last:
        return replaced
    return replacing if asks_first else replacing - replaced


def _asks(pattern: re.Pattern[str], question: str) -> bool:
    """Whether a question has one of the words of a pattern."""
    return pattern.search(question) is not None


def _version(source: str) -> _Version:
    """The version of a document that a source is."""
    stem = _stem(source)
    year: int | None = None
    spans = [found for found in _TWO_YEARS.finditer(stem) if _is_span(found)]
    years = _YEAR.findall(stem)
    if len(spans) == 1:
        year, stem = int(spans[0][1]), f"{stem[: spans[0].start()]} {stem[spans[0].end() :]}"
    elif len(years) == 1 and not _DATE.search(stem):
        year, stem = int(years[0]), _YEAR.sub(" ", stem)
    words = _WORD.findall(stem.casefold())
    is_marked = not _MARKS.isdisjoint(words)
    if is_marked:
        words = _WORD.findall(_DATE.sub(" ", stem.casefold()))
    revision: int | None = None
    for mark, number in pairwise(words):
        if mark in _REVISION_MARKS and number.isdecimal() and int(number) <= _MAX_REVISION:
            revision = int(number)
            words.remove(number)
            break
    return _Version(frozenset(words) - _VERSION_WORDS, year, revision, is_marked)


def _is_span(years: re.Match[str]) -> bool:
    """Whether two years that stand beside each other follow each other; "2011-12" may be a month."""
    second = int(years[3])
    return second > _MAX_MONTH and second == (int(years[2]) + 1) % 100


def _stem(source: str) -> str:
    """The name of a source's file without its ending."""
    return PurePath(source).stem
