"""The kind of text that a strip is: a row of a table, code, a question, a mere name."""

from __future__ import annotations

from localcrag.crag.query_terms import terms
from localcrag.types import BlockKind, Passage, Strip

QUESTION_MARKS = ("?", "？", "؟")
"""How a question ends."""
_SENTENCE_ENDS = (*QUESTION_MARKS, ".", "!", ":", "…", "。", "！", "：")
_CLOSING_QUOTES = "\"'”’»)]"
_UNSPOKEN = frozenset({BlockKind.ROW, BlockKind.CODE})


def is_row(strip: Strip) -> bool:
    """Whether a strip is a row of a table."""
    return any(
        block.kind is BlockKind.ROW and (block.start, block.end) == (strip.start, strip.end)
        for block in strip.passage.blocks
    )


def is_code(strip: Strip) -> bool:
    """Whether a strip is code, or a setting of a file of settings."""
    return any(
        block.kind is BlockKind.CODE and block.start <= strip.start < block.end
        for block in strip.passage.blocks
    )


def ends_as_question(text: str) -> bool:
    """Whether a text ends in a question mark, quotation marks aside."""
    return text.rstrip().rstrip(_CLOSING_QUOTES).endswith(QUESTION_MARKS)


def says_more(strip: Strip, question: str) -> bool:
    """Whether a strip says more than the question does, as a mere name that has only its words does not."""
    words = terms(strip.text)
    is_sentence = strip.text.rstrip().rstrip(_CLOSING_QUOTES).endswith(_SENTENCE_ENDS)
    return is_sentence or not words or not words <= terms(question) or is_row(strip) or is_code(strip)


def prose_of(passage: Passage) -> str:
    """The text of a passage without rows of tables and code, whose names and values are of no language."""
    if not passage.blocks:
        return passage.text
    spoken = (block for block in passage.blocks if block.kind not in _UNSPOKEN)
    return "\n".join(passage.text_between(block.start, block.end) for block in spoken)
