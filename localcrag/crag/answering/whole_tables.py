"""Small tables that are read as a whole, since a question asks for all their rows or compares their columns.

"Which fees are there?" is answered by every row of the table of fees, and "What is the difference between the
Bakka and the Urb?" by every row that has both. A judge of single rows keeps some of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.questions.question_extent import things_asked_for
from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.strip_context import block_index, headings_above
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import column_names, is_row
from localcrag.crag.rows.row_lookup import is_one_of_many
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.types import Block, BlockKind, Strip

MAX_ROWS, MAX_TABLE_CHARACTERS = 8, 800
"""The largest table that is shown as a whole."""
_COMPARES = re.compile(
    r"\b(?:differences?|differs?|compare[ds]?|comparison|versus|vs|unterschiede?|unterscheide[nt]|différences?"
    r"|diferencias?)\b",
    re.IGNORECASE,
)
_DIGIT = re.compile(r"\d")


def with_whole_table(picked: Sequence[Strip], question: str) -> list[Strip]:
    """The strips; in the place of the rows of a passage all those of the small table that is asked for.

    It is the table of the most probable strip. The rows have its score.
    """
    best = best_strip(picked)
    rows = _rows_around(best) if best and is_row(best) else []
    if best is None or not (_asks_for_all(question, best) or _compares(question, best)):
        return list(picked)
    if not 1 < len(rows) <= MAX_ROWS or sum(row.end - row.start for row in rows) > MAX_TABLE_CHARACTERS:
        return list(picked)
    others = [strip for strip in picked if strip.passage.id != best.passage.id or not is_row(strip)]
    return [*rows, *others]


def _rows_around(strip: Strip) -> list[Strip]:
    """The rows of the table of a row that its passage has."""
    passage, at = strip.passage, block_index(strip)
    above = takewhile(_is_row, reversed(passage.blocks[:at]))
    table = [*reversed(list(above)), *takewhile(_is_row, passage.blocks[at:])]
    return [strip_at(passage, block.start, block.end, strip.score) for block in table]


def _is_row(block: Block) -> bool:
    return block.kind is BlockKind.ROW


def _asks_for_all(question: str, row: Strip) -> bool:
    """Whether a question asks for several things that a table has, and names none of them, nor a number."""
    asked = things_asked_for(question)
    named = terms(" ".join((headings_above(row), *_columns(row))))
    is_of_such = any(is_akin(word, other) for word in asked for other in named)
    return is_of_such and not _DIGIT.search(question) and is_one_of_many(question, row)


def _compares(question: str, row: Strip) -> bool:
    """Whether a question compares two columns of a table."""
    if not _COMPARES.search(question):
        return False
    asked = terms(question)
    return sum(bool(named) and named <= asked for named in map(terms, _columns(row))) > 1


def _columns(row: Strip) -> list[str]:
    """The names of the columns of a row."""
    return list(filter(None, column_names(row)))
