"""The strips that a passage is decomposed into.

A strip is one sentence within a block (a paragraph, an item of a list), a row of a table or a piece of code.
It keeps its span in the document's stored text, so that a citation points at the strip and not at the
passage.
"""

from __future__ import annotations

from localcrag.crag.refinement.strip_kinds import ends_as_question
from localcrag.crag.refinement.strip_spans import spans_of_block, spans_of_passage
from localcrag.types import Block, Passage, Strip


def strips(passage: Passage) -> list[Strip]:
    """The strips of a passage with the score 0, in order; see :mod:`.strip_spans` for where they are cut."""
    origin = passage.start
    return [strip_at(passage, origin + start, origin + end) for start, end in spans_of_passage(passage)]


def strips_of_block(passage: Passage, block: Block) -> list[Strip]:
    """The strips of one block of a passage with the score 0, in order; none of a heading or furniture."""
    origin = passage.start
    return [strip_at(passage, origin + start, origin + end) for start, end in spans_of_block(passage, block)]


def statements(passage: Passage) -> list[Strip]:
    """The strips of a passage that are no questions.

    A question in a document may be much like the one that is asked, and answers nothing.
    """
    return [strip for strip in strips(passage) if not ends_as_question(strip.text)]


def whole(passage: Passage, score: float) -> Strip:
    """A whole passage as a single strip with the given score."""
    return strip_at(passage, passage.start, passage.start + len(passage.text), score)


def wholes(passage: Passage) -> list[Strip]:
    """A passage as a single strip with the score 0; none if all its blocks are headings or furniture."""
    return [whole(passage, 0.0)] if strips(passage) else []


def strip_at(passage: Passage, start: int, end: int, score: float = 0.0) -> Strip:
    """The strip of a passage at the characters ``[start, end)`` of its page's stored text."""
    return Strip(passage, start, end, passage.text_between(start, end), score)


def span(strip: Strip) -> tuple[str, int, int]:
    """The place of a strip: the id of its passage, and its start and end."""
    return strip.passage.id, strip.start, strip.end


def is_within(strip: Strip, other: Strip) -> bool:
    """Whether a strip is a part of another, or all of it."""
    return strip.passage.id == other.passage.id and other.start <= strip.start and strip.end <= other.end
