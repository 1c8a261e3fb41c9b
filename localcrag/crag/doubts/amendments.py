"""Amendments: what another document says of a numbered clause, and corrections before what they correct.

"Clause 2.1 is replaced by …" in an amendment has few words of the question that clause 2.1 of the contract
answers, so it is looked for by the clause's number. What was "moved to 19 June" is shown before the 12th.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import PurePath

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import span, strip_at, strips_of_block
from localcrag.crag.refinement.strip_context import ANSWERING_KINDS
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import blocks_within
from localcrag.crag.state import QuestionState
from localcrag.events import Steps
from localcrag.types import Passage, Strip

MAX_AMENDMENTS = 2
"""The most amendments of one piece of evidence that are shown."""
MAX_AMENDMENT_CHARACTERS = 400
"""The longest item of an amendment that is shown whole; of a longer one it is a sentence."""
MIN_TITLE_SHARE = 0.5
"""The share of the words of a document's title that must stand in what amends it."""
MIN_SHARED_WORDS = 0.5
"""The share of the words of a strip that must stand in one which corrects it."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CLAUSE = re.compile(r"^[ \t>*-]*(?:§ ?)?(\d{1,3}(?:\.\d{1,3})+)\.?\s", re.MULTILINE)
"""The number that a clause begins with."""
_NAMED = (
    r"\b(?:clauses?|(?:sub-?)?sections?|articles?|paragraphs?|points?|items?|no\.|ziffer|klausel|absatz|punkt"
    r"|nr\.)"
)
_CHANGED = re.compile(
    r"\b(?:replaced?|replaces|amended|amends|deleted|deletes|becomes?|changed|changes|moved|added|reduced|increased"
    r"|raised|lowered|shortened|extended|suspended|ersetzt|geändert|gestrichen|ergänzt|neu gefasst|remplacée?"
    r"|modifiée?|supprimée?)\b",
    re.IGNORECASE,
)
_CORRECTION = re.compile(
    r"\b(?:moved|postponed|rescheduled|brought forward|put back|shifted|changed|amended|corrected|replaced"
    r"|reduced|increased|raised|lowered|extended|shortened|cut|verlegt|verschoben|geändert)\b[^.!?]{0,40}?"
    r"\b(?:to|by|until|till|auf|um|durch)\b|\binstead of\b|\bcorrection\b|\bno longer\b|\bstatt\b"
    r"|\banstelle\b|\bau lieu de\b",
    re.IGNORECASE,
)
"""How a sentence says that something is now otherwise."""


def with_amendments(state: QuestionState, kept: Sequence[Strip]) -> Steps[list[Strip]]:
    """The strips, the best one after what other documents say of its clause, if it is of a numbered one.

    They are looked for in the passages that were graded and in those that a search for the clause finds.
    """
    best = best_strip(kept)
    clauses = _clauses_of(best) if best is not None else []
    if best is None or not clauses:
        return list(kept)
    queries = [f"clause {number} is replaced, amended or deleted" for number in clauses[:MAX_AMENDMENTS]]
    found = yield from state.retriever.found(queries, state.filter)
    passages = {hit.passage.id: hit.passage for hit in chain((g.hit for g in state.grades), found)}
    told = amendments_among(passages.values(), best, state.question)
    known = set(map(span, told))
    at = list(kept).index(best)
    return [s for s in (*kept[:at], *told, *kept[at:]) if s in told or span(s) not in known]


def with_corrections(kept: Sequence[Strip]) -> list[Strip]:
    """The strips, those that say that what the best one tells is now otherwise as probable as that.

    "It has moved its decision to the 26th" is hardly about what was asked, but it is about the decision of
    which the best strip says that it comes on the 12th: they share their words, and have other numbers.
    """
    best = best_strip(kept)
    if best is None or _CORRECTION.search(best.text) or not (told := set(_NUMBER.findall(best.text))):
        return list(kept)
    own = {term for term in terms(best.text) if term.isalpha()}
    return [
        replace(strip, score=best.score)
        if strip.passage.document != best.passage.document
        and _CORRECTION.search(strip.text)
        and len(own & terms(strip.text)) >= MIN_SHARED_WORDS * len(own) > 0
        and set(_NUMBER.findall(strip.text)) - told
        else strip
        for strip in kept
    ]


def amendments_among(passages: Iterable[Passage], amended: Strip, question: str) -> list[Strip]:
    """What passages of other documents say of the change of a strip's clause, at the score of the strip.

    What has most words of the question comes first.
    """
    clauses, asked = _clauses_of(amended), terms(question)
    told: dict[tuple[str, int, int], Strip] = {}
    for other in passages:
        if _names(other, amended.passage):
            of_clauses = (_of_clause(other, number, amended.score) for number in clauses)
            told.update((span(strip), strip) for strip in chain(*of_clauses))
    return sorted(told.values(), key=lambda strip: -len(asked & terms(strip.text)))[:MAX_AMENDMENTS]


def corrections_first(picked: Sequence[Strip]) -> list[Strip]:
    """The strips, those of other documents or passages that say what is now otherwise before the others."""
    if len({strip.passage.id for strip in picked}) < 2:
        return list(picked)
    return sorted(picked, key=lambda strip: _CORRECTION.search(strip.text) is None)


def _clauses_of(strip: Strip) -> list[str]:
    """The numbers of the clauses that a strip is of, in order."""
    within = blocks_within(strip)
    begun = [strip.passage.text_between(b.start, b.end) for b in within if b.kind in ANSWERING_KINDS] or [
        strip.text
    ]
    return list(dict.fromkeys(found[1] for text in begun for found in _CLAUSE.finditer(text)))


def _names(passage: Passage, amended: Passage) -> bool:
    """Whether a passage is of another document, and has most words of the title or file name of one."""
    if passage.source == amended.source:
        return False
    said = terms(f"{passage.title} {_name(passage)} {passage.heading} {passage.text}")
    names = (terms(amended.title), terms(_name(amended)))
    return any(len(name & said) >= MIN_TITLE_SHARE * len(name) for name in names if name)


def _name(passage: Passage) -> str:
    """The words in the name of a passage's file."""
    return re.sub(r"[\W_]+", " ", PurePath(passage.source).stem)


def _of_clause(passage: Passage, number: str, score: float) -> Iterator[Strip]:
    """What a passage says of the change of a clause."""
    named = re.compile(rf"(?:{_NAMED}\s*|§+ ?){re.escape(number)}(?!\d|\.\d)", re.IGNORECASE)
    for block in passage.blocks:
        text = passage.text_between(block.start, block.end)
        if block.kind not in ANSWERING_KINDS or not named.search(text) or not _CHANGED.search(text):
            continue
        if len(text) <= MAX_AMENDMENT_CHARACTERS:
            yield strip_at(passage, block.start, block.end, score)
            continue
        for strip in strips_of_block(passage, block):
            if named.search(strip.text) and _CHANGED.search(strip.text):
                yield replace(strip, score=score)
