"""When to leave by a timetable: direction, day of the week, a bound on the time and a stop."""

from __future__ import annotations

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.timetables import trip_question
from tests.crag.test_aggregation import passages

THERE = [
    "Trip: 1 · Days: Mo-Fr · Elm Hill: 05:21 · Elm Green: 05:30 · Port station: 06:07",
    "Trip: 3 · Days: Mo-Fr · Elm Hill: 06:11 · Elm Green: 06:20 · Port station: 06:55",
    "Trip: 5 · Days: Mo-Fr (school) · Elm Hill: 06:15 · Elm Green: 06:24 · Port station: 06:59",
    "Trip: 7 · Days: daily · Elm Hill: 08:11 · Elm Green: 08:20 · Port station: 08:55",
]
BACK = [
    "Trip: 2 · Days: Mo-Fr · Port station: 17:35 · Elm Green: 18:02 · Elm Hill: 18:11",
    "Trip: 4 · Days: daily · Port station: 21:35 · Elm Green: 22:02 · Elm Hill: 22:11",
    "Trip: 6 · Days: Fr-Sa · Port station: 23:40 · Elm Green: 00:07 · Elm Hill: 00:16",
]


def _answers(question: str) -> list[str | None]:
    form = trip_question(question)
    tables = [table for rows in (THERE, BACK) for table in tables_of(passages(rows))]
    found = [match for match in form.matches(tables) if match.loose] if form else []
    return [computed.computation.value if (computed := aggregated(match)) else None for match in found]


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("I have to be at Port before seven on a Monday, when do I get on at Elm Hill?", ["06:11"]),
        ("Which bus do I take from Elm Green to be at Port station by 9 am on Sunday?", ["08:20"]),
        ("last bus home from Port on Saturday night", ["23:40"]),
        ("When does the last bus leave Elm Green for Elm Hill on Fridays?", ["00:07"]),
        ("When is the next bus from Port to Elm Green after 18:00 on Tuesday?", ["21:35"]),
        ("first bus from Elm Hill to Port station on weekdays", ["05:21"]),
        ("last bus from Elm to Port on Monday", []),
        ("last bus from Port to Overby on Monday", []),
        ("last bus from Port station", []),
        ("When did the last bus strike in Port end?", []),
        ("What does a ticket from Port to Elm Hill cost on Monday?", []),
    ],
)
def test_when_to_leave(question: str, answers: list[str]) -> None:
    assert _answers(question) == answers


def test_both_directions_are_two_answers() -> None:
    assert _answers("last bus from Elm Green on Monday") == ["08:20", "22:02"]
