"""Procedures and lists that are read from their first item to their last, since one of it was found.

A numbered list is a procedure. Its steps may go over several passages, and pictures and remarks may stand
between them. Of a list of things one may be the answer: it is read as a whole if a question asks for all.
Steps may be told in the sentences of a paragraph as well.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import strip_at, strips_of_block
from localcrag.crag.refinement.step_numbers import marked_start, step_number
from localcrag.crag.refinement.strip_context import (
    STEPS,
    Neighbours,
    block_index,
    headings_above,
    is_definition,
    is_in_list,
    lead_in,
    leads_on,
)
from localcrag.types import Block, BlockKind, Passage, Strip

MAX_STEPS = 12
"""The most steps, with the items and the code within them, of a procedure that is shown as a whole."""
MAX_LIST_CHARACTERS = 1200
"""The longest list of things that is shown as a whole."""
MAX_SHORT_ITEMS, MAX_SHORT_LIST_CHARACTERS = 6, 400
"""The most items and characters of a short list, which is not torn."""
MIN_STEPS_TOLD = 2
"""The fewest sentences that begin as a step does in a paragraph that tells a procedure."""
_STEP_TOLD = re.compile(
    r"(?:First(?:ly)?|(?:And )?[Tt]hen|Next|Second(?:ly)?|Third(?:ly)?|After (?:that|this)|Afterwards|Finally"
    r"|Lastly|Last of all|In the end|At last|Zuerst|Zunächst|Als [Ee]rstes|Dann|Danach|Anschließend"
    r"|Schließlich|Zuletzt|Zum Schluss|D['’]abord|Ensuite|Puis|Enfin|Primero|Después|Luego|Por último)\b"
)
"""How a sentence begins that tells a step of a procedure, in English, German, French and Spanish."""
MIN_ITEMS_PICKED = 2
"""How many items of a list must be chosen for the list to be shown as a whole."""


def procedure_around(strip: Strip, neighbours: Neighbours) -> list[Strip]:
    """The procedure that a strip is a step of or leads in to: what leads in to it, and all its steps.

    Empty if the strip is of none, or of one with more than ``MAX_STEPS``. The steps have the score of the
    strip.
    """
    steps = _items_around(strip, neighbours)
    return _with_lead(strip, steps) if any(step_number(*step) for step in steps) else []


def with_told_steps(picked: Sequence[Strip]) -> list[Strip]:
    """The strips; one of a paragraph that tells steps in sentences becomes all of these sentences.

    Two of the sentences or more begin as steps do ("First …", "Then …", "Finally …"). Those between belong to
    them, and so does a strip before them that was picked. They are at most ``MAX_LIST_CHARACTERS`` long.
    """
    return [_told_steps(strip) or strip for strip in picked]


def _told_steps(strip: Strip) -> Strip | None:
    """The sentences of a strip's paragraph from its first step to its last; None if it tells none."""
    passage, at = strip.passage, block_index(strip)
    if at < 0 or passage.blocks[at].kind is not BlockKind.PARAGRAPH:
        return None
    sentences = strips_of_block(passage, passage.blocks[at])
    steps = [each for each in sentences if _STEP_TOLD.match(each.text)]
    if len(steps) < MIN_STEPS_TOLD:
        return None
    start, end = min(strip.start, steps[0].start), steps[-1].end
    if strip.end > end or end - start > MAX_LIST_CHARACTERS:
        return None
    return strip_at(passage, start, end, strip.score)


def list_around(strip: Strip, neighbours: Neighbours, asked: Set[str]) -> list[Strip]:
    """The list that a strip is an item of or leads in to, with what leads in to it.

    Empty if the strip is of none, or of one with more than ``MAX_STEPS`` items or ``MAX_LIST_CHARACTERS``;
    and if neither the sentence nor the headings above it have any of the content words that are ``asked``
    for: "Advantages include:" is a list of advantages. The items have the score of the strip.
    """
    shown = _with_lead(strip, _items_around(strip, neighbours))
    if sum(item.end - item.start for item in shown) > MAX_LIST_CHARACTERS:
        return []
    above = " ".join((headings_above(strip), *(each.text for each in shown[:1])))
    return shown if asked & terms(above) else []


def list_of_evidence(picked: Sequence[Strip], kept: Sequence[Strip], neighbours: Neighbours) -> list[Strip]:
    """The list that several pieces of evidence are items of, with what leads in to it; empty if none is.

    Two of its items are ``picked``, and it is short, or half of its items were ``kept``: an item between two
    that were chosen belongs to them, and so does a step between two steps. Options with their definitions
    stand for themselves.
    """
    for strip in sorted(picked, key=lambda strip: -strip.score):
        items = _items_around(strip, neighbours)
        shown = _with_lead(strip, items)
        listed = [(part.id, block) for part, block in items if block.kind is BlockKind.ITEM]
        of_picked, of_kept = (sum(_is_of(item, each) for item in listed) for each in (picked, kept))
        long = sum(item.end - item.start for item in shown)
        is_short = len(listed) <= MAX_SHORT_ITEMS and long <= MAX_SHORT_LIST_CHARACTERS
        is_kept = 2 * of_kept >= len(listed) and long <= MAX_LIST_CHARACTERS
        is_kept = is_kept and not any(is_definition(part, block) for part, block in items)
        if of_picked >= MIN_ITEMS_PICKED and (is_short or is_kept):
            return shown
    return []


def is_of_short_list(strip: Strip, other: Strip) -> bool:
    """Whether two strips of a passage are items of one short list, or one of them leads in to it."""
    blocks = strip.passage.blocks
    first, last = sorted((block_index(strip), block_index(other)))
    start = first + _is_before_list(blocks[first])
    if first < 0 or not all(map(is_in_list, blocks[start : last + 1])):
        return False
    start, end = _bounds(blocks, last)
    items = sum(block.kind is BlockKind.ITEM for block in blocks[start:end])
    length = blocks[end - 1].end - blocks[start].start
    return items <= MAX_SHORT_ITEMS and length <= MAX_SHORT_LIST_CHARACTERS


def _is_of(item: tuple[str, Block], strips: Sequence[Strip]) -> bool:
    """Whether any of some strips is of an item, which is given with the id of its passage."""
    passage, block = item
    return any(s.passage.id == passage and block.start <= s.start and s.end <= block.end for s in strips)


def _items_around(strip: Strip, neighbours: Neighbours) -> list[tuple[Passage, Block]]:
    """The items, and the code in them, of the list that a strip is of or leads in to; none of a long one."""
    passage, at = strip.passage, block_index(strip)
    if at < 0:
        return []
    is_lead = _is_before_list(passage.blocks[at])
    at += is_lead
    if at == len(passage.blocks) or not is_in_list(passage.blocks[at]):
        return []
    if is_lead and not leads_on(strip.text, to_code=False):
        return []
    parts = _list_parts(passage, at, neighbours)
    steps = [(part, block) for part, blocks in parts for block in blocks if block.kind in STEPS]
    return steps if len(steps) <= MAX_STEPS else []


def _is_before_list(block: Block) -> bool:
    return block.kind is BlockKind.PARAGRAPH and not is_in_list(block)


def _with_lead(strip: Strip, items: Sequence[tuple[Passage, Block]]) -> list[Strip]:
    """The items as they are shown, after what leads in to them, which may be the strip itself."""
    if not items:
        return []
    part, first = items[0]
    is_lead = _is_before_list(strip.passage.blocks[block_index(strip)])
    lead = strip if is_lead else lead_in(strip_at(part, first.start, first.end, strip.score))
    shown = [strip_at(part, marked_start(part, block), block.end, strip.score) for part, block in items]
    return [lead, *shown] if lead else shown


def _list_parts(passage: Passage, at: int, neighbours: Neighbours) -> list[tuple[Passage, list[Block]]]:
    """The blocks of the list around the block ``at`` of a passage, by passage."""
    start, end = _bounds(passage.blocks, at)
    parts = [(passage, list(passage.blocks[start:end]))] if start < end else []
    while parts and (before := _part_beside(*parts[0], neighbours, after=False)):
        parts.insert(0, before)
    while parts and (after := _part_beside(*parts[-1], neighbours, after=True)):
        parts.append(after)
    return parts


def _bounds(blocks: Sequence[Block], at: int) -> tuple[int, int]:
    """The indices of the first block of the list around a block, and of the first one behind it."""
    start = end = at
    while start > 0 and is_in_list(blocks[start - 1]):
        start -= 1
    while end < len(blocks) and is_in_list(blocks[end]):
        end += 1
    return start, end


def _part_beside(
    passage: Passage, listed: Sequence[Block], neighbours: Neighbours, *, after: bool
) -> tuple[Passage, list[Block]] | None:
    """The part of the list of a passage in the next one or the one before, by the numbers of its steps."""
    here, there, step = (-1, 0, 1) if after else (0, -1, -1)
    numbers = _numbers(passage, listed)
    if listed[here] is not passage.blocks[here] or not numbers:
        return None
    for other in neighbours(passage):
        if (other.start > passage.start) is after and other.page == passage.page and other.blocks:
            start, end = _bounds(other.blocks, range(len(other.blocks))[there])
            found = list(other.blocks[start:end])
            others = _numbers(other, found)
            if others and others[there] == numbers[here] + step:
                return other, found
    return None


def _numbers(passage: Passage, listed: Sequence[Block]) -> list[int]:
    """The numbers of the steps among the blocks of a list, in order."""
    return [number for block in listed if (number := step_number(passage, block))]
