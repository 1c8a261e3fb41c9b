"""The option of a command that is asked for by its purpose is among the hits that go on to grading."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.asked_options import with_asked_option
from localcrag.types import BlockKind, Hit
from tests.crag.values import structured

TEXTS = (
    "weekno: Returns the week of the year of a calendar, which starts on Monday.",
    "-c: Produce a calendar of weeks. It is long, and tells of much else beside.",
    "-m: Produce a calendar whose first column is Monday rather than Sunday.",
    "-v: Be verbose.",
)


@pytest.mark.parametrize(
    ("question", "last"),
    [
        ("Which option starts the columns of the calendar on Monday?", 2),
        ("What flag makes it print the calendar of weeks?", 1),
        ("How do I start the calendar on Monday?", 0),
        ("Which option makes coffee?", 0),
    ],
)
def test_the_option_whose_purpose_is_asked_for_is_the_last_hit(question: str, last: int) -> None:
    passages = [replace(structured((BlockKind.ITEM, text)), id=str(at)) for at, text in enumerate(TEXTS)]
    hits = [Hit(each, 0.0) for each in passages]
    assert [hit.passage.id for hit in with_asked_option(hits[:1], hits, question)] == [str(last)]
