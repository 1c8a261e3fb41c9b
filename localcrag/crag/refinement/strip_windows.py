"""Windows: runs of consecutive strips, for answers that go over several sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from localcrag.crag.refinement.knowledge_strips import strip_at, strips
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.crag.refinement.strip_kinds import ends_as_question, is_code, is_row
from localcrag.types import Passage, Strip

WINDOW_SENTENCES = 3
"""The number of sentences in a window."""


def windows(passage: Passage, size: int = WINDOW_SENTENCES) -> list[Strip]:
    """A passage as strips of ``size`` consecutive sentences with the score 0, all below the same heading.

    The last below a heading may have fewer, and so may one that would end with a question of the document.
    None goes on behind a paragraph that ends with one: what stands below it may be no more than a name. The
    settings of a window are of one block, and rows of tables are no window with other text.
    """
    made = []
    for _, below in groupby(strips(passage), key=_together):
        for cut in _parted(below):
            for at in range(0, len(cut), size):
                group = cut[at : at + size]
                while len(group) > 1 and ends_as_question(group[-1].text):
                    group.pop()
                made.append(strip_at(passage, group[0].start, group[-1].end))
    return made


def _parted(cut: Iterable[Strip]) -> Iterator[list[Strip]]:
    """Strips in runs, of which each ends where a paragraph of several sentences ends with a question."""
    run: list[Strip] = []
    for strip in cut:
        run.append(strip)
        if ends_as_question(strip.text) and _ends_paragraph(strip):
            yield run
            run = []
    if run:
        yield run


def _ends_paragraph(strip: Strip) -> bool:
    """Whether a strip is the last sentence of its block, and not the first."""
    return any(block.start < strip.start and strip.end == block.end for block in strip.passage.blocks)


def _together(strip: Strip) -> tuple[str, bool, int]:
    """What strips have in common that may stand in one window: headings, being rows, the block of code."""
    within = (block.start for block in strip.passage.blocks if block.start <= strip.start < block.end)
    return headings_above(strip), is_row(strip), next(within, 0) if is_code(strip) else 0
