"""Procedures: a numbered list of which a step was found is read from its first step to its last.

The steps may go over several passages, and pictures and remarks may stand between them. Only a numbered list
is a procedure: of a list of things, one may be the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.step_numbers import marked_start, step_number
from localcrag.crag.refinement.strip_context import STEPS, block_index, is_in_list, lead_in, leads_on
from localcrag.types import Block, BlockKind, Passage, Strip

Neighbours = Callable[[Passage], Sequence[Passage]]
"""The passages just before and after one, in its document."""

MAX_STEPS = 12
"""The most steps, with the items and the code within them, of a procedure that is shown as a whole."""


def procedure_around(strip: Strip, neighbours: Neighbours) -> list[Strip]:
    """The procedure that a strip is a step of or leads in to: what leads in to it, and all its steps.

    Empty if the strip is of none, or of one with more than ``MAX_STEPS``. The steps have the score of the
    strip.
    """
    passage, at = strip.passage, block_index(strip)
    if at < 0:
        return []
    is_lead = passage.blocks[at].kind is BlockKind.PARAGRAPH and not is_in_list(passage.blocks[at])
    if is_lead:
        at += 1
    if at == len(passage.blocks) or not is_in_list(passage.blocks[at]):
        return []
    if is_lead and not leads_on(strip.text, to_code=False):
        return []
    parts = _list_parts(passage, at, neighbours)
    steps = [(part, block) for part, blocks in parts for block in blocks if block.kind in STEPS]
    if len(steps) > MAX_STEPS or not any(step_number(*step) for step in steps):
        return []
    part, first = steps[0]
    lead = strip if is_lead else lead_in(strip_at(part, first.start, first.end, strip.score))
    shown = [strip_at(part, marked_start(part, block), block.end, strip.score) for part, block in steps]
    return [lead, *shown] if lead else shown


def _list_parts(passage: Passage, at: int, neighbours: Neighbours) -> list[tuple[Passage, list[Block]]]:
    """The blocks of the list around the block ``at`` of a passage, by passage."""
    start, end = _bounds(passage.blocks, at)
    parts = [(passage, list(passage.blocks[start:end]))] if start < end else []
    while parts and (before := _part_before(*parts[0], neighbours)):
        parts.insert(0, before)
    while parts and (after := _part_after(*parts[-1], neighbours)):
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


def _part_before(
    passage: Passage, listed: Sequence[Block], neighbours: Neighbours
) -> tuple[Passage, list[Block]] | None:
    """The end of the passage before, if the list of a passage goes on from there by its numbers."""
    if listed[0] is not passage.blocks[0]:
        return None
    first = next(_numbers(passage, listed), 0)
    for other in neighbours(passage):
        if other.start < passage.start and other.page == passage.page and other.blocks:
            start, end = _bounds(other.blocks, len(other.blocks) - 1)
            found = list(other.blocks[start:end])
            if first > 1 and list(_numbers(other, found))[-1:] == [first - 1]:
                return other, found
    return None


def _part_after(
    passage: Passage, listed: Sequence[Block], neighbours: Neighbours
) -> tuple[Passage, list[Block]] | None:
    """The beginning of the next passage, if the list of a passage goes on there by its numbers."""
    if listed[-1] is not passage.blocks[-1]:
        return None
    last = list(_numbers(passage, listed))[-1:]
    for other in neighbours(passage):
        if other.start > passage.start and other.page == passage.page and other.blocks:
            start, end = _bounds(other.blocks, 0)
            found = list(other.blocks[start:end])
            if last and next(_numbers(other, found), 0) == last[0] + 1:
                return other, found
    return None


def _numbers(passage: Passage, listed: Sequence[Block]) -> Iterator[int]:
    """The numbers of the steps among the blocks of a list, in order."""
    return filter(None, (step_number(passage, block) for block in listed))
