"""Recomposition: the strips that were kept become evidence that can be read.

A strip is kept for what it says, and read with what it was written with: the sentence that leads in to its
list, the code that it leads to, the rest of its short paragraph (:mod:`.completed_quotations`), the heading
that alone tells what is asked (:mod:`.telling_headings`). Neighbours become one piece again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import groupby

from localcrag.crag.refinement.knowledge_strips import is_within, span, strip_at
from localcrag.crag.refinement.procedures import list_around, list_of_evidence, procedure_around
from localcrag.crag.refinement.strip_context import Neighbours, lead_above, led_to
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.refinement.strip_spans import LIST_MARKER
from localcrag.types import Evidence, Strip

MIN_LEAD_WORDS = 4
"""The fewest words of what leads in to a list if it is shown above another item than the first: "You need:"
says nothing without the whole list, "The following is not covered:" does."""


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
    best = best_strip(given)
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
