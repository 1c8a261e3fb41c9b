"""The row of a table with a cell that a question spells, where nothing that was found has it.

"How much did *Viet Nam* produce?" is answered by the row of Viet Nam if by any, however little the judge
makes of a row of numbers, and not by a probable row of something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from localcrag.crag.questions.codes import names_of
from localcrag.crag.questions.query_terms import STOP_WORDS, folded
from localcrag.crag.refinement.knowledge_strips import strip_at, strips
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.types import Passage, Strip

MAX_SCORE = 0.5
"""The probability from which on what was found stays, whatever it has."""
LEAST_SCORE = 0.1
"""The probability of such a row where nothing was found."""
MIN_CHARACTERS = 3
"""The fewest characters of a name."""


def with_spelled_row(kept: Sequence[Strip], question: str, passages: Iterable[Passage]) -> list[Strip]:
    """The strips; in their place, the one row among some passages that has a name which the question spells.

    They stay if one of them has the name, or is more probable than not. Where there are none, the name has
    several words, or a capital inside it. Of several names the longest counts: "Journal of Applied
    Econometrics", and not the rows of "Econometrics".
    """
    best = max((strip.score for strip in kept), default=LEAST_SCORE)
    if best >= MAX_SCORE:
        return list(kept)
    spelled = set(names_of(question))
    rows = {
        row.text: (row, names)
        for passage in passages
        for row in strips(passage)
        if is_row(row) and (names := _names_of(row, question))
    }
    longest = max((name for _, names in rows.values() for name in names), key=len, default="")
    are_parts = all(name in longest for _, names in rows.values() for name in names)
    named = [(row, names) for row, names in rows.values() if longest in names] if are_parts else []
    if len(named) != 1:
        return list(kept)
    [(row, names)] = named
    if not kept and not any(part in name for part in spelled for name in names):
        return []
    if any(name.casefold() in strip.text.casefold() for name in names for strip in kept):
        return list(kept)
    return [strip_at(row.passage, row.start, row.end, best)]


def _names_of(row: Strip, question: str) -> set[str]:
    """The cells of a row that a question spells as they are written, and that are names."""
    return {value for cell in cells_of(row) if is_spelled_in(value := named_cell(cell)[1].strip(), question)}


def is_spelled_in(value: str, question: str) -> bool:
    """Whether a question has a value behind its first word, as a name: with a capital, or foreign letters."""
    if value.casefold() not in question.casefold():
        return False
    if len(value) < MIN_CHARACTERS or not any(map(str.isalpha, value)) or folded(value) in STOP_WORDS:
        return False
    found = re.search(rf"(?<!\w){re.escape(value)}(?!\w)", question, re.IGNORECASE)
    if found is None or not found.start():
        return False
    return not found[0].islower() or (not value.isascii() and found[0] == value)
