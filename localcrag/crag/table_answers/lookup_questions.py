"""The forms of questions that code may answer over tables, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable

from localcrag.crag.table_answers.column_changes import change_question
from localcrag.crag.table_answers.compared_values import ComparedQuestion, compared_question
from localcrag.crag.table_answers.day_rosters import RosterQuestion, roster_question
from localcrag.crag.table_answers.group_questions import group_question, single_group_question
from localcrag.crag.table_answers.grouped_quantities import GroupQuestion
from localcrag.crag.table_answers.row_extremes import RowExtremeQuestion, row_extreme_question
from localcrag.crag.table_answers.share_questions import ShareQuestion, share_question
from localcrag.crag.table_answers.superlative_rows import SuperlativeRowQuestion, superlative_row_question
from localcrag.crag.table_answers.table_questions import TableQuestion, moved_question, recognised
from localcrag.crag.table_answers.timetables import TripQuestion, trip_question

LookupQuestion = (
    RosterQuestion
    | TripQuestion
    | GroupQuestion
    | ComparedQuestion
    | ShareQuestion
    | SuperlativeRowQuestion
    | RowExtremeQuestion
)
"""The form of a question that a certain kind of table answers, whose matches it finds itself."""
TABLE_FORMS: tuple[Callable[[str], TableQuestion | LookupQuestion | None], ...] = (
    group_question,
    compared_question,
    share_question,
    recognised,
    single_group_question,
    superlative_row_question,
    row_extreme_question,
    change_question,
    roster_question,
    trip_question,
    moved_question,
)
"""What reads a form from the words of a question; None from those of another form."""


def asks_over_groups(question: str) -> bool:
    """Whether a question asks for groups of rows, for one of two values or for a share, understood or not."""
    forms = (group_question, compared_question, share_question)
    return any(read(question) is not None for read in forms)
