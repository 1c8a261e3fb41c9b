"""The numbers that stand before the items of a list, which are no part of their blocks."""

from __future__ import annotations

import re

from localcrag.types import Block, BlockKind, Passage

MAX_MARKER_CHARACTERS = 8
_NUMBER = re.compile(r"(?:^|(?<=\s))\(?(\d{1,2})[.)]\s*$")


def step_number(passage: Passage, block: Block) -> int:
    """The number that stands before an item of a list; 0 if there is none."""
    found = _marker(passage, block)
    return int(found.group(1)) if found else 0


def marked_start(passage: Passage, block: Block) -> int:
    """Where a block begins with the number before it, if it has one, as an offset in the text of the page."""
    found = _marker(passage, block)
    return block.start - len(found.group()) if found else block.start


def _marker(passage: Passage, block: Block) -> re.Match[str] | None:
    """The number before an item, which is not the end of what stands above: "by default (3)"."""
    if block.kind is not BlockKind.ITEM:
        return None
    above = max((other.end for other in passage.blocks if other.end <= block.start), default=passage.start)
    before = max(above, block.start - MAX_MARKER_CHARACTERS)
    return _NUMBER.search(passage.text_between(before, block.start))
