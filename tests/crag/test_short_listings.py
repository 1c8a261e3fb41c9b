"""Short code is quoted as a whole below the sentence that announces it."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.short_listings import MAX_LISTING_CHARACTERS, with_whole_listings
from localcrag.types import BlockKind
from tests.crag.values import structured

LEAD = "Now find the cell of this plot. The formula is:"
FORMULA = "c = (int)((P-S)*4/W)"
LETTERS = "c = cell of the field\nW = width of a cell\nP = place of the plot"
CODE = f"{FORMULA}\nwhere:\n{LETTERS}"


def quoted(lead: str, code: str) -> list[tuple[str, float]]:
    found = strips(structured((BlockKind.PARAGRAPH, lead), (BlockKind.CODE, code)))
    (width,) = (strip for strip in found if strip.text.startswith("W ="))
    place = next(strip for strip in found if strip.text.startswith("P ="))
    picked = [replace(width, score=0.4), replace(place, score=0.6)]
    return [(strip.text, strip.score) for strip in with_whole_listings(picked)]


def test_a_line_of_a_short_listing_is_quoted_with_all_of_it() -> None:
    assert quoted(LEAD, CODE) == [(CODE, 0.6)]


def test_long_code_and_code_that_nothing_announces_are_quoted_in_part() -> None:
    parts = [("W = width of a cell", 0.4), ("P = place of the plot", 0.6)]
    assert quoted("The cells are numbered.", CODE) == parts
    extra = "\n".join(f"x{n} = value {n}" for n in range(MAX_LISTING_CHARACTERS // 10))
    assert quoted(LEAD, f"{extra}\n{LETTERS}") == parts
