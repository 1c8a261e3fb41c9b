"""Quotations of short code as a whole: the formula with the line that explains one of its letters.

The code below "The formula is:" is judged in pieces, of which any may be the most probable one. Only all of
it is what the sentence announces.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag.refinement.knowledge_strips import span, strip_at
from localcrag.crag.refinement.strip_context import block_index, lead_in
from localcrag.crag.refinement.strip_kinds import is_code
from localcrag.types import Strip

MAX_LISTING_CHARACTERS = 320
"""The longest code that is quoted as a whole."""
_COLONS = (":", "：")


def with_whole_listings(picked: Sequence[Strip]) -> list[Strip]:
    """The strips, with short code in the place of each part of it, if a sentence announces it."""
    found: dict[tuple[str, int, int], Strip] = {}
    for strip in map(_listing, picked):
        known = found.get(span(strip), strip)
        found[span(strip)] = max(known, strip, key=lambda each: each.score)
    return list(found.values())


def _listing(strip: Strip) -> Strip:
    """The code that a strip is a part of, if it is short and a sentence announces it; else the strip."""
    lead = lead_in(strip) if is_code(strip) else None
    if lead is None or not lead.text.rstrip().endswith(_COLONS):
        return strip
    block = strip.passage.blocks[block_index(strip)]
    if block.end - block.start > MAX_LISTING_CHARACTERS:
        return strip
    return strip_at(strip.passage, block.start, block.end, strip.score)
