"""The forms of questions that code may answer over tables, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Callable

from localcrag.crag.table_answers.column_changes import change_question
from localcrag.crag.table_answers.day_rosters import RosterQuestion, roster_question
from localcrag.crag.table_answers.table_questions import TableQuestion, moved_question, recognised
from localcrag.crag.table_answers.timetables import TripQuestion, trip_question

LookupQuestion = RosterQuestion | TripQuestion
"""The form of a question that a certain kind of table answers, whose matches it finds itself."""
TABLE_FORMS: tuple[Callable[[str], TableQuestion | LookupQuestion | None], ...] = (
    recognised,
    change_question,
    roster_question,
    trip_question,
    moved_question,
)
"""What reads a form from the words of a question; None from those of another form."""
