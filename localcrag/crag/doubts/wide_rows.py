"""Rows of so many columns that being about the same thing says little of whether they tell what is asked for.

"name: Lesotho · capital: Maseru · …" of sixty columns looks like the answer to every question about Lesotho.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.crag.rows.named_cells import CellQuery, terms_within
from localcrag.crag.table_answers.column_abbreviations import words_in_full
from localcrag.types import Strip

MAX_CELLS = 16
"""The most cells of a row that a reader takes in at a glance."""


def is_wide_without_column(question: str, shown: Sequence[Strip]) -> bool:
    """Whether the best strip is a wide row, and the question names none of its columns.

    A column whose value the question has names the row, and is not what is asked for.
    """
    best = max(shown, key=lambda strip: strip.score, default=None)
    if best is None or not is_row(best):
        return False
    cells = [named_cell(cell) for cell in cells_of(best)]
    if len(cells) <= MAX_CELLS:
        return False
    asked, words = CellQuery.of(question), terms(question)
    return not any(
        terms_within(f"{column} {words_in_full(column)}") & words
        for column, value in cells
        if not asked.named_by(column, value)
    )
