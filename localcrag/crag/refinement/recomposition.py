"""Recomposition: the strips that were kept become evidence that can be read.

A strip is kept for what it says, and read with what it was written with: the sentence that leads in to its
list, the code that it leads to, the rest of its short paragraph. Neighbours become one piece again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import groupby

from localcrag.crag.questions.calendar_dates import dates_of, without_dates
from localcrag.crag.questions.query_terms import figures_of, terms
from localcrag.crag.refinement.knowledge_strips import is_within, span, strip_at, strips_of_block
from localcrag.crag.refinement.mail_senders import sender_line
from localcrag.crag.refinement.naming_headings import naming_heading
from localcrag.crag.refinement.procedures import (
    is_of_short_list,
    list_around,
    list_of_evidence,
    procedure_around,
)
from localcrag.crag.refinement.qualifications import end_of_qualified
from localcrag.crag.refinement.strip_context import (
    ANSWERING_KINDS,
    Neighbours,
    heading_blocks_above,
    headings_above,
    is_definition,
    lead_above,
    led_to,
    passage_before,
)
from localcrag.crag.refinement.strip_kinds import column_names, is_row
from localcrag.crag.refinement.strip_spans import LIST_MARKER
from localcrag.labelled_lines import line_ends
from localcrag.languages import reading_width
from localcrag.types import HEADING_SEPARATOR, Block, BlockKind, Evidence, Passage, Strip

MIN_LEAD_WORDS = 4
"""The fewest words of what leads in to a list if it is shown above another item than the first: "You need:"
says nothing without the whole list, "The following is not covered:" does."""
MAX_COMPLETED_WIDTH = 320
"""The widest paragraph that is quoted in whole where one of its sentences answers."""
_WHICH = r"\b(?:which|what(?: (?:is|was) the)?|welche[rsmn]?|quel(?:le)?)"
_SECTION_ASKED = re.compile(
    rf"{_WHICH} (?:chapter|kapitel|section|abschnitt|article|artikel|paragraph|clause)\b", re.IGNORECASE
)
_ENTRY_ASKED = re.compile(
    rf"{_WHICH} (?:(?:[\w.+-]+ ){{0,2}}(?:version|release|edition|ausgabe)"
    r"|year|jahr|month|monat|week|woche|day|tag|date)\b"
    r"|^(?:(?:since|until|by|seit|bis|ab|depuis) )?(?:when|wann|quand|cuándo|quando)\b",
    re.IGNORECASE,
)
"""What a question asks that a heading may answer: the number of a section, the release or day of an entry."""
_BESIDE_ENTRY = re.compile(
    r"\b(?:changes?|in|version|release[sd]?|on|of|v)\b|v?\d+(?:[.:_-]\w+)*|\b(?:mon|tue|wed|thu|fri|sat|sun)\w*"
    r"|[\W_]",
    re.IGNORECASE,
)
"""What may stand in a heading beside a date without saying anything more."""
MAX_PASSAGES_BACK, MAX_PASSAGES_TO_TITLE = 6, 16
"""How many passages before that of a strip are looked through for its headings, and for the title."""
_CASE = re.compile(
    r"\b(more than|less than|fewer than|under|over|above|below|up to|at least|at most|from|between|within"
    r"|until|after|mehr als|weniger als|unter|über|ab|bis(?: zu)?|mindestens|höchstens|zwischen|nach|plus de"
    r"|moins de|jusqu['’]à|entre|au moins|au plus|dès|après|más de|menos de|hasta|desde|dentro de)"
    r"\s+(?:\d[\d.,]*\s+(?:and|to|und|bis|et|y)\s+)?\d[\d.,]*\s?([^\W\d]{1,12}|[%€£$°])",
    re.IGNORECASE,
)
"""A case that something holds in, with its bound and unit: "more than 60 days", "entre 60 et 30 jours"."""
_WHEN_ASKED = re.compile(
    r"(?:(?:since|until|by|seit|bis|ab|depuis) )?(?:when|wann|quando?|cu[áa]ndo)\b", re.I
)
_OF_ENTRY = re.compile(r"\bthis (?:is the (?:\w+ )?)?(?:release|version|edition)\b", re.I)
"""How a text speaks of the entry that it stands in, whose heading tells which that is."""
_EVENT_ASKED = re.compile(
    rf"\b(?:in|since|with|from|as of|until|seit|mit|ab|bis|dans|depuis|avec) {_WHICH}\b", re.I
)
"""How a question asks in which release or on which day something happened."""
_NUMBERED_ENTRY = re.compile(
    r"\b(?:v|version|release|edition|ausgabe|week|woche|kw|semaine|day|tag|year|jahr|month|monat)\.? ?\d",
    re.I,
)
_CLOCK = re.compile(r"(?<![\w.:-])[0-2]?\d:[0-5]\d(?::\d\d)?(?![\d:])")
"""The time of a day: "09:05"."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
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


def with_surroundings(
    kept: Iterable[Strip],
    neighbours: Neighbours | None = None,
    *,
    whole_lists: bool = False,
    several: Set[str] = frozenset(),
    evidence: Sequence[Strip] = (),
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
        evidence: all strips that were found to help; a list of which half of the items are among them, or a
            short one of which several are ``kept``, is shown as a whole.
    """
    given = list(kept)
    places = set(map(span, given))
    result: dict[tuple[str, int, int], Strip] = {}
    best = max(given, key=lambda strip: strip.score, default=None)
    whole: list[Strip] = []
    if best and neighbours:
        whole = _procedure(given, best, neighbours) if whole_lists else []
        whole = whole or (list_around(best, neighbours, several) if several else [])
        whole = whole or list_of_evidence(given, evidence, neighbours)
    for strip in given:
        if any(is_within(strip, item) for item in whole):
            result.update((span(item), item) for item in whole)
            continue
        led = led_to(strip, neighbours)
        if led and is_row(led[0]) and any(map(is_row, given)):
            led = []
        lead = lead_above(strip)
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


def with_telling_headings(
    picked: Sequence[Strip], question: str, neighbours: Neighbours | None = None
) -> list[Strip]:
    """The strips, each after its heading if the question asks for what only that tells.

    "In which release was it removed?" is answered by "Changes in 2.52.1" above "Remove rsh:// URI scheme". Of
    the headings above a strip it is the nearest one that tells: "Removed" may stand between the two. Rows of
    the same columns that stand below different headings are told apart by these alone. "Which hook …?" is
    answered by the heading that names it (:mod:`.naming_headings`), and "who thought of it?", if best by a
    sentence of a mail that says "I", below the line that says from whom it is (:mod:`.mail_senders`).

    Args:
        picked: the strips, in their order.
        question: the question.
        neighbours: if given, a heading may stand in an earlier passage.
    """
    asked = question.strip()
    of_section, of_entry = _SECTION_ASKED.search(asked), _ENTRY_ASKED.search(asked)
    is_when = _WHEN_ASKED.match(asked) is not None
    is_telling = _dates_entry if is_when else _says_when if of_entry else _has_digit
    is_enough = _has_digit if of_section else _says_when if is_when else _names_number
    of_event = of_entry is not None and _EVENT_ASKED.search(asked) is not None
    rows = [strip for strip in picked if is_row(strip)]
    best = max(picked, key=lambda strip: strip.score, default=None)
    result: list[Strip] = []
    for strip in picked:
        heading = None
        if of_section or of_entry:
            above = _headings_of(strip, neighbours)
            heading = next((each for each in above if is_telling(each.text)), None)
            is_told = is_enough(strip.text) and not _OF_ENTRY.search(strip.text)
            if heading and is_told and not (of_event and _names_entry(heading.text)):
                heading = None
        else:
            heading = naming_heading(strip, asked, _headings_of(strip, neighbours, to_title=True))
        if heading is None and strip is best:
            heading = sender_line(strip, asked, neighbours)
        if heading is None and any(_is_told_apart_by_heading(strip, row) for row in rows if is_row(strip)):
            heading = next(_headings_of(strip, None), None)
        if heading is not None and span(heading) not in map(span, result):
            result.append(heading)
        result.append(strip)
    return result


def _is_told_apart_by_heading(row: Strip, other: Strip) -> bool:
    """Whether two rows have the same columns and stand below different headings."""
    return column_names(row) == column_names(other) and headings_above(row) != headings_above(other)


def _names_entry(heading: str) -> bool:
    """Whether a heading is nothing but the day or the version of an entry: "3.3.0 – 2026-01-08"."""
    return not _BESIDE_ENTRY.sub("", without_dates(heading)).strip() and _says_when(heading)


def _dates_entry(heading: str) -> bool:
    """Whether a heading has a date, a year, or the number of a release; that of a contract is none."""
    dated = dates_of(heading) or _YEAR.search(heading) or _NUMBERED_ENTRY.search(heading)
    return bool(dated) or _names_entry(heading)


def _says_when(text: str) -> bool:
    """Whether a text has a date, a year, or the number of a version; the time of a day is not enough."""
    text = _CLOCK.sub(" ", text)
    return bool(figures_of(text) or _YEAR.search(text))


def _names_number(text: str) -> bool:
    """Whether a text has a date, a year, or a version, an edition or a week by its number."""
    return _says_when(text) or _NUMBERED_ENTRY.search(text) is not None


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _headings_of(strip: Strip, neighbours: Neighbours | None, *, to_title: bool = False) -> Iterator[Strip]:
    """The headings above a strip, the nearest first, as far as they can be shown.

    With ``to_title`` the last one is that with the title of the page, though it be of the level of others.
    """
    passage, inner = strip.passage, heading_blocks_above(strip)
    for block in reversed(inner):
        yield strip_at(passage, block.start, block.end, strip.score)
    outer = [text for text in passage.heading.split(HEADING_SEPARATOR) if text]
    outer += [passage.title] if to_title and passage.title else []
    lowest = min((block.level for block in inner), default=None)
    for _ in range(MAX_PASSAGES_TO_TITLE if to_title else MAX_PASSAGES_BACK):
        before = passage_before(passage, neighbours) if outer else None
        if before is None:
            return
        passage = before
        for block in reversed(passage.blocks):
            text = " ".join(passage.text_between(block.start, block.end).split())
            is_above = lowest is None or block.level < lowest or (to_title and text == passage.title)
            if block.kind is BlockKind.HEADING and is_above and text in outer:
                lowest = block.level
                outer.remove(text)
                yield strip_at(passage, block.start, block.end, strip.score)


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
