"""Why evidence that looks sure should be checked all the same: the reasons in one place.

To a judge of relevance each of these looks like an answer: a row where the question goes over all rows, text
without anything of the type that is asked for, what a later text may have changed, another thing than the one
that is named, and what is only spoken of.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag.doubts.expected_answers import lacks_expected
from localcrag.crag.doubts.one_of_rows import goes_over_rows
from localcrag.crag.doubts.outdated import may_be_outdated
from localcrag.crag.doubts.told_in_passing import told_in_passing
from localcrag.crag.doubts.told_names import name_in_code_elsewhere, names_other_row, names_told_elsewhere
from localcrag.crag.doubts.told_numbers import is_of_other_month
from localcrag.crag.doubts.told_others import tells_of_another
from localcrag.crag.doubts.told_settings import is_barely_named
from localcrag.crag.doubts.untold_columns import is_doubted_without_column, is_wide_without_column
from localcrag.crag.refinement.stated_defaults import lacks_default
from localcrag.crag.state import QuestionState
from localcrag.types import Strip


def has_doubts(state: QuestionState, kept: Sequence[Strip], shown: Sequence[Strip]) -> bool:
    """Whether there is a reason to check evidence, however probable it is.

    Args:
        state: the question and what was graded for it.
        kept: the strips that were kept as evidence.
        shown: those of them that may be shown.
    """
    question, seen = state.question, [grade.hit.passage for grade in state.grades]
    return (
        goes_over_rows(state, kept)
        or lacks_expected(question, shown)
        or may_be_outdated(question, shown, seen)
        or bool(names_told_elsewhere(question, shown))
        or names_other_row(question, shown, seen)
        or name_in_code_elsewhere(question, shown, seen)
        or is_barely_named(question, shown)
        or told_in_passing(question, shown)
        or tells_of_another(question, shown)
        or is_wide_without_column(question, shown)
        or is_doubted_without_column(question, shown)
        or is_of_other_month(shown, question)
        or lacks_default(question, shown, state.adapters.store.neighbours)
    )
