"""Complete quotations: a sentence with the rest of its short paragraph, or with what it refers to."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import is_within, span, strip_at, strips_of_block
from localcrag.crag.refinement.procedures import is_of_short_list
from localcrag.crag.refinement.qualifications import end_of_qualified
from localcrag.crag.refinement.strip_context import ANSWERING_KINDS, is_definition
from localcrag.labelled_lines import line_ends
from localcrag.languages import reading_width
from localcrag.types import Block, BlockKind, Passage, Strip

MAX_COMPLETED_WIDTH = 320
"""The widest paragraph that is quoted in whole where one of its sentences answers."""
_CASE = re.compile(
    r"\b(more than|less than|fewer than|under|over|above|below|up to|at least|at most|from|between|within"
    r"|until|after|mehr als|weniger als|unter|über|ab|bis(?: zu)?|mindestens|höchstens|zwischen|nach|plus de"
    r"|moins de|jusqu['’]à|entre|au moins|au plus|dès|après|más de|menos de|hasta|desde|dentro de)"
    r"\s+(?:\d[\d.,]*\s+(?:and|to|und|bis|et|y)\s+)?\d[\d.,]*\s?([^\W\d]{1,12}|[%€£$°])",
    re.IGNORECASE,
)
"""A case that something holds in, with its bound and unit: "more than 60 days", "entre 60 et 30 jours"."""
_REFERRING = re.compile(
    r"(?:This|That|These|Those|It|They|He|She|Such|Both|Then|Otherwise|Instead|However|Sonst|Dies\w*|Dann|Sinon"
    r"|Cela|Alors|Ils?|Elles?)\b"
)
"""How a sentence begins that refers to the one before."""
_REFERRING_WITHIN = re.compile(
    r"\b(?:this|these|those|such an?|that|the same|the latter|dies(?:e[mnrs]?)?|solch\w*|derselbe[nmrs]?"
    r"|cet(?:te)?|ces) "
    r"(?:(?:exit |return |error |status )?codes?|options?|values?|dates?|numbers?|amounts?|prices?|names?"
    r"|commands?|addresses?|keys?|ports?|limits?|thresholds?|temperatures?|signals?|files?|director(?:y|ies)|fees?|rates?"
    r"|periods?|deadlines?|times?|days?|settings?|parameters?|variables?|methods?|steps?|cases?"
    r"|Codes?|Optione?n?|Werte?s?|Datums?|Zahl(?:en)?|Betr[aä]ge?s?|Preise?s?|Namens?|Befehle?s?|Adressen?"
    r"|Schl[uü]ssels?|Fristen?|Zeit|Tage?n?|Grenzwerte?s?|Einstellung(?:en)?|Verfahrens?|Schritte?|Fall"
    r"|codes?|valeurs?|nombres?|montants?|prix|noms?|commandes?|adresses?|d[ée]lais?|jours?|cas)\b"
)
"""How a sentence refers to what the one before names: "If the script exits with this code …"."""


def completed_quotations(
    picked: Sequence[Strip],
    sure: float = 1.0,
    asked: Set[str] = frozenset(),
    *,
    whole_steps: bool = False,
) -> list[Strip]:
    """The strips, the most probable one with the rest of its short paragraph or item, unless it is sure.

    ``sure`` is the probability from which on a strip is enough by itself. What follows a sentence often has
    what it only leads up to ("It had the number 41"); of a long paragraph it is as much as a short one has. A
    sentence of a long paragraph that refers to the one before ("This also …", "with this code") stands after
    it.

    A sure sentence of a short term with its definition is quoted with the rest of it if that has one of the
    words that are ``asked`` for, and the sentence has it not; so is one that tells one case of several, "more
    than 60 days before", if the next sentence tells the case of 30 days. With ``whole_steps`` a sentence of
    a short item of a list is quoted with the rest of it, unless that is a definition. Every strip is quoted
    with what qualifies it.
    """
    if not picked:
        return []
    best = max(picked, key=lambda strip: strip.score)
    is_open = best.score < sure or _is_told_by_rest(best, asked) or _is_one_case(best)
    completed = (
        _completed(strip, is_best=(strip is best and is_open) or (whole_steps and _is_of_step(strip)))
        for strip in picked
    )
    made = [_qualified(strip) for strip in completed]
    return [strip for strip in made if not any(_is_part(strip, other) for other in made)]


def _qualified(strip: Strip) -> Strip:
    """A strip with the sentences behind it that make an exception, or say the contrary."""
    end = end_of_qualified(strip)
    return strip if end == strip.end else strip_at(strip.passage, strip.start, end, strip.score)


def is_read_with(strip: Strip, other: Strip) -> bool:
    """Whether a strip is shown with another one: in one short paragraph, or as an item of one short list."""
    block, beside = _block_of(strip), _block_of(other)
    if block is None or beside is None or strip.passage.id != other.passage.id:
        return False
    if block == beside:
        return block.kind in ANSWERING_KINDS and _is_short(strip.passage, block.start, block.end)
    return is_of_short_list(strip, other)


def _is_told_by_rest(strip: Strip, asked: Set[str]) -> bool:
    """Whether a strip is of a short definition of which the rest has more words that are asked for."""
    block = _block_of(strip)
    if block is None or not is_definition(strip.passage, block):
        return False
    more = asked & terms(strip.passage.text_between(block.start, block.end)) - terms(strip.text)
    return bool(more) and _is_short(strip.passage, block.start, block.end)


def _is_of_step(strip: Strip) -> bool:
    """Whether a strip is of an item of a list that defines no term."""
    block = _block_of(strip)
    return block is not None and block.kind is BlockKind.ITEM and not is_definition(strip.passage, block)


def _is_one_case(strip: Strip) -> bool:
    """Whether a sentence tells a case with its bound, and another one of its block a case in that unit."""
    block, cases = _block_of(strip), set(_CASE.findall(strip.text))
    if block is None or not cases:
        return False
    beside = (other.text for other in strips_of_block(strip.passage, block) if other.start != strip.start)
    units = {unit.casefold() for _, unit in cases}
    return any(units & {unit.casefold() for _, unit in _CASE.findall(text)} for text in beside)


def _block_of(strip: Strip) -> Block | None:
    """The block of its passage that a strip is within; None if there is none."""
    within = (b for b in strip.passage.blocks if b.start <= strip.start and strip.end <= b.end)
    return next(within, None)


def _completed(strip: Strip, *, is_best: bool) -> Strip:
    """A strip with the sentence that it refers to; the best one with the rest of its block."""
    passage, block = strip.passage, _block_of(strip)
    if block is None or block.kind not in ANSWERING_KINDS:
        return strip
    text, within = passage.text_between(block.start, block.end), strips_of_block(passage, block)
    is_prose = is_best and not line_ends(text)
    if is_prose and _is_short(passage, block.start, block.end):
        return strip_at(passage, within[0].start, within[-1].end, strip.score) if within else strip
    start, end = strip.start, strip.end
    before = [other for other in within if other.end <= start]
    refers = _REFERRING.match(strip.text) or _REFERRING_WITHIN.search(strip.text)
    if before and refers and _is_short(passage, before[-1].start, end):
        start = before[-1].start
    after = [
        other.end for other in within if is_prose and end < other.end and _is_short(passage, start, other.end)
    ]
    return strip_at(passage, start, max([end, *after]), strip.score)


def _is_short(passage: Passage, start: int, end: int) -> bool:
    """Whether the characters ``[start, end)`` are no more than a short paragraph has."""
    return reading_width(passage.text_between(start, end)) <= MAX_COMPLETED_WIDTH


def _is_part(strip: Strip, other: Strip) -> bool:
    """Whether a strip is a part of another, and not all of it."""
    return is_within(strip, other) and span(strip) != span(other)
