"""The quotations of a later part of a question without what an earlier part was answered with already.

"What does it do, and what is the risk with it?" is mostly answered by one entry of a manual. Below the second
part it says nothing to show the sentence again that stands below the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag.refinement.knowledge_strips import is_within, span, strip_at, strips_of_block
from localcrag.crag.refinement.strip_context import block_index
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.types import Block, Strip


def untold(picked: Sequence[Strip], kept: Sequence[Strip], shown: Sequence[Strip]) -> list[Strip]:
    """The strips picked for a part that is not sure, without those shown, and the rest of their entry.

    The best ones of the part come first, then those of an earlier part by their probability. There are none
    if the best one was shown, or is of another entry than what was.

    Args:
        picked: the strips picked for the part.
        kept: those kept for earlier parts.
        shown: those shown for earlier parts.
    """
    best = best_strip(picked)
    if best is None or not any(_is_beside(best, other) for other in shown):
        return []
    if any(is_within(best, other) for other in shown):
        return []
    own = sorted(picked, key=lambda strip: -strip.score)
    beside = sorted((strip for strip in kept if _is_beside(strip, best)), key=lambda strip: -strip.score)
    every = {span(strip): strip for strip in reversed((*own, *beside))}
    left = (strip for strip in reversed(every.values()) if not any(is_within(strip, s) for s in shown))
    return [replace(strip, score=min(strip.score, best.score)) for strip in left]


def without_repeats(quoted: Sequence[Strip], shown: Sequence[Strip]) -> list[Strip]:
    """The strips without the sentences that they begin with and that were shown, if anything is left."""
    cut = [_cut(strip, shown) for strip in quoted]
    return [strip for strip in cut if strip is not None] or list(quoted)


def _cut(strip: Strip, shown: Sequence[Strip]) -> Strip | None:
    """A strip from its first sentence on that was not shown; None if all of it was."""
    block = _block(strip)
    if block is None or block.end < strip.end:
        return strip
    within = strips_of_block(strip.passage, block)
    own = [each for each in within if strip.start <= each.start and each.end <= strip.end]
    new = [each for each in own if not any(is_within(each, other) for other in shown)]
    if not own or own[:1] == new[:1]:
        return strip
    return strip_at(strip.passage, new[0].start, strip.end, strip.score) if new else None


def _block(strip: Strip) -> Block | None:
    """The block of its passage in which a strip begins."""
    at = block_index(strip)
    return strip.passage.blocks[at] if at >= 0 else None


def _is_beside(strip: Strip, other: Strip) -> bool:
    """Whether two strips are sentences of one block."""
    block = _block(strip)
    return strip.passage.id == other.passage.id and block is not None and block == _block(other)
