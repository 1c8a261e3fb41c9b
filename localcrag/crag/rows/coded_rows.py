"""Rows of other things than the one whose code a question has: the generator G8, where G30 is asked about.

To a judge of relevance the rows of two price lists read alike, and that of another model may seem the more
probable one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.codes import codes_of
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.types import Strip

_DIGIT = re.compile(r"\d")


def without_other_codes(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The strips without rows that have no code of the question, but something else in a column of it.

    All are kept if no row has one.

    Args:
        kept: the strips that were found.
        question: the question; only its codes with a digit count, as "G30" and "A1043".
    """
    codes = [re.escape(code) for code in codes_of(question) if _DIGIT.search(code)]
    if not codes:
        return list(kept)
    said = re.compile(rf"(?<![^\W_])(?:{'|'.join(codes)})(?![^\W_])")
    rows = [strip for strip in kept if is_row(strip)]
    coded = {column for row in rows for column, value in map(named_cell, cells_of(row)) if said.search(value)}
    return [
        strip
        for strip in kept
        if not is_row(strip)
        or said.search(strip.text)
        or coded.isdisjoint(column for column, _ in map(named_cell, cells_of(strip)) if column)
    ]
