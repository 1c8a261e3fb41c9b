"""Recomposition: the strips that were kept become evidence that can be read.

A strip is kept for what it says, and read with what it was written with: the sentence that leads in to its
list, the code that it leads to, the rest of its short paragraph. Neighbours become one piece again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from itertools import groupby

from localcrag.crag.query_terms import figures_of, terms
from localcrag.crag.refinement.knowledge_strips import span, strip_at, strips_of_block
from localcrag.crag.refinement.procedures import list_around, procedure_around
from localcrag.crag.refinement.qualifications import end_of_qualified
from localcrag.crag.refinement.strip_context import (
    ANSWERING_KINDS,
    Neighbours,
    is_definition,
    lead_in,
    led_to,
)
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.refinement.strip_spans import LIST_MARKER
from localcrag.labelled_lines import line_ends
from localcrag.languages import reading_width
from localcrag.types import Block, BlockKind, Evidence, Passage, Strip

MIN_LEAD_WORDS = 4
"""The fewest words of what leads in to a list if it is shown above another item than the first: "You need:"
says nothing without the whole list, "The following is not covered:" does."""
MAX_COMPLETED_WIDTH = 320
"""The widest paragraph that is quoted in whole where one of its sentences answers."""
_WHICH = r"\b(?:which|what|welche[rsmn]?|quel(?:le)?)"
_SECTION_ASKED = re.compile(
    rf"{_WHICH} (?:chapter|kapitel|section|abschnitt|article|artikel|paragraph|clause)\b", re.IGNORECASE
)
_ENTRY_ASKED = re.compile(
    rf"{_WHICH} (?:version|release|edition|ausgabe|year|jahr|month|monat|week|woche|day|tag|date)\b"
    r"|^(?:when|wann|quand)\b",
    re.IGNORECASE,
)
"""What a question asks that a heading may answer: the number of a section, the release or day of an entry."""
_WHEN_ASKED = re.compile(r"(?:when|wann|quand)\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_REFERRING = re.compile(
    r"(?:This|That|These|Those|It|They|He|She|Such|Both|Then|Otherwise|Instead|However|Sonst|Dies\w*|Dann|Sinon"
    r"|Cela|Alors|Ils?|Elles?)\b"
)
"""How a sentence begins that refers to the one before."""


def with_surroundings(
    kept: Iterable[Strip],
    neighbours: Neighbours | None = None,
    *,
    whole_lists: bool = False,
    several: Set[str] = frozenset(),
) -> list[Strip]:
    """The strips, each span once, with what leads in to them and what they lead to.

    What leads in to a list stands before the first item of it that was kept, unless it is a mere name above
    other items; the code, the list or the table that a sentence leads to stands after it, unless some of it
    was kept itself, or any row of a table.

    Args:
        kept: the strips, in their order.
        neighbours: if given, a list may go on in the passages beside that of a strip.
        whole_lists: the code or the list that a sentence leads to stands after it even then, and the
            procedure that the most probable strip is a step of stands in its place: of its steps none is left
            out. If that strip is of none, it is the procedure of the next one of its document.
        several: the content words of a question that asks for several things; the list of such things stands
            in the place of the most probable strip.
    """
    given = list(kept)
    places = set(map(span, given))
    result: dict[tuple[str, int, int], Strip] = {}
    best = max(given, key=lambda strip: strip.score, default=None)
    whole: list[Strip] = []
    if best and neighbours:
        whole = _procedure(given, best, neighbours) if whole_lists else []
        whole = whole or (list_around(best, neighbours, several) if several else [])
    for strip in given:
        if any(_is_within(strip, item) for item in whole):
            result.update((span(item), item) for item in whole)
            continue
        led = led_to(strip, neighbours)
        if led and is_row(led[0]) and any(map(is_row, given)):
            led = []
        lead = lead_in(strip)
        if lead and len(lead.text.split()) < MIN_LEAD_WORDS and _text_between(lead, strip).strip():
            lead = None
        leads_on = whole_lists or not places & set(map(span, led))
        for each in (lead, strip, *(led if leads_on else [])):
            if each is not None:
                result.setdefault(span(each), each)
    return list(result.values())


def _procedure(given: Sequence[Strip], best: Strip, neighbours: Neighbours) -> list[Strip]:
    """The procedure of the most probable strip of the best one's document that is of one."""
    beside = [strip for strip in given if strip.passage.source == best.passage.source]
    ranked = sorted(beside, key=lambda strip: -strip.score)
    return next(filter(None, (procedure_around(strip, neighbours) for strip in ranked)), [])


def with_telling_headings(picked: Sequence[Strip], question: str) -> list[Strip]:
    """The strips, each after its heading if the question asks for what only that tells.

    "In which release was it removed?" is answered by "Changes in 2.52.1" above "Remove rsh:// URI scheme".
    """
    asked = question.strip()
    of_section, of_entry = _SECTION_ASKED.search(asked), _ENTRY_ASKED.search(asked)
    is_telling = _says_when if of_entry else _has_digit
    is_enough = _says_when if _WHEN_ASKED.match(asked) else _has_digit
    result: list[Strip] = []
    for strip in picked:
        heading = _heading_of(strip) if of_section or of_entry else None
        is_needed = heading is not None and is_telling(heading.text) and not is_enough(strip.text)
        if heading is not None and is_needed and heading not in result:
            result.append(heading)
        result.append(strip)
    return result


def _says_when(text: str) -> bool:
    """Whether a text has a date, a year, or the number of a version."""
    return bool(figures_of(text) or _YEAR.search(text))


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _heading_of(strip: Strip) -> Strip | None:
    """The heading of its passage that a strip stands below; None if there is none."""
    blocks = strip.passage.blocks
    above = [block for block in blocks if block.kind is BlockKind.HEADING and block.end <= strip.start]
    return strip_at(strip.passage, above[-1].start, above[-1].end, strip.score) if above else None


def completed_quotations(
    picked: Sequence[Strip], sure: float = 1.0, asked: Set[str] = frozenset()
) -> list[Strip]:
    """The strips, the most probable one with the rest of its short paragraph or item, unless it is sure.

    ``sure`` is the probability from which on a strip is enough by itself. What follows a sentence often has
    what it only leads up to ("It had the number 41"); of a long paragraph it is as much as a short one has. A
    sentence of a long paragraph that refers to the one before ("This also …") stands after it.

    A sure sentence of a short term with its definition is quoted with the rest of it if that has one of the
    words that are ``asked`` for, and the sentence has it not. Every strip is quoted with what qualifies it.
    """
    if not picked:
        return []
    best = max(picked, key=lambda strip: strip.score)
    is_open = best.score < sure or _is_told_by_rest(best, asked)
    made = [_qualified(_completed(strip, is_best=strip is best and is_open)) for strip in picked]
    return [strip for strip in made if not any(_is_part(strip, other) for other in made)]


def _qualified(strip: Strip) -> Strip:
    """A strip with the sentences behind it that make an exception, or say the contrary."""
    end = end_of_qualified(strip)
    return strip if end == strip.end else strip_at(strip.passage, strip.start, end, strip.score)


def _is_told_by_rest(strip: Strip, asked: Set[str]) -> bool:
    """Whether a strip is of a short definition of which the rest has more words that are asked for."""
    block = _block_of(strip)
    if block is None or not is_definition(strip.passage, block):
        return False
    more = asked & terms(strip.passage.text_between(block.start, block.end)) - terms(strip.text)
    return bool(more) and _is_short(strip.passage, block.start, block.end)


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
    if before and _REFERRING.match(strip.text) and _is_short(passage, before[-1].start, end):
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
    return _is_within(strip, other) and span(strip) != span(other)


def _is_within(strip: Strip, other: Strip) -> bool:
    """Whether a strip is a part of another, or all of it."""
    within = other.start <= strip.start and strip.end <= other.end
    return within and strip.passage.id == other.passage.id


def joined(kept: Sequence[Strip]) -> list[Strip]:
    """The strips, with adjacent ones of a passage merged, at the higher score; rows of tables stay apart."""
    merged: list[Strip] = []
    for _, group in groupby(kept, key=lambda strip: strip.passage.id):
        for strip in sorted(group, key=lambda strip: strip.start):
            last = merged[-1] if merged and not is_row(strip) else None
            if (
                last
                and not is_row(last)
                and last.passage.id == strip.passage.id
                and not _text_between(last, strip).strip()
            ):
                merged[-1] = strip_at(strip.passage, last.start, strip.end, max(last.score, strip.score))
            else:
                merged.append(strip)
    return merged


def numbered(kept: Sequence[Strip]) -> list[Evidence]:
    """The strips as evidence, with keys from 1."""
    return [Evidence(key, strip) for key, strip in enumerate(kept, 1)]


def _text_between(first: Strip, second: Strip) -> str:
    """The text between two strips of the same passage, without the markers of list items."""
    between = first.passage.text_between(first.end, second.start)
    return between if LIST_MARKER.fullmatch(between) is None or not second.passage.blocks else ""
