"""The row of a table that has the very words of the question."""

from __future__ import annotations

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.rows.phrase_rows import with_phrase_row
from localcrag.types import BlockKind
from tests.crag.values import structured

CODES = (
    "Code: %D · Description: The date using the format %m/%d/%y.",
    "Code: %j · Description: The day of the year (range 001 to 366).",
    "Code: %w · Description: The day of the week, Sunday being 0.",
)
ASKED = "Which code stands for the day of the year in time formats?"


def test_the_row_that_alone_has_a_run_of_the_words_of_the_question_takes_the_place_of_another() -> None:
    made = structured((BlockKind.PARAGRAPH, "Codes:"), *((BlockKind.ROW, row) for row in CODES))
    prose, date, year, _ = strips(made)
    assert with_phrase_row([prose, date], ASKED) == [prose, year]
    assert with_phrase_row([year], ASKED) == [year]
    assert with_phrase_row([date], "Which code is for a date?") == [date]
    assert with_phrase_row([date], "Which code gives the day of the month or the week?") == [date], (
        "two of four"
    )
    assert with_phrase_row([prose], ASKED) == [prose]
    assert with_phrase_row([], ASKED) == []


def test_a_run_that_several_rows_have_tells_none_of_them() -> None:
    twice = structured(
        *((BlockKind.ROW, row) for row in (*CODES, "Code: %J · Description: The day of the year."))
    )
    date = strips(twice)[0]
    assert with_phrase_row([date], ASKED) == [date]
