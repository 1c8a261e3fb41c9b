"""Days of the calendar in one spelling."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.calendar_dates import (
    are_shared,
    dates_of,
    month_and_day,
    month_begun,
    month_of,
    months_asked,
    without_dates,
)
from localcrag.crag.questions.query_terms import figures_asked, figures_of


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("How much rain fell on 2 June?", {"-06-02"}),
        ("Wie viel fiel am 2. Juni 2025?", {"2025-06-02"}),
        ("June 2nd, and the 3rd of July 2024", {"-06-02", "2024-07-03"}),
        ("02.06.2025 2.6.2025 2025-06-02 2025/06/02 02.06.25", {"2025-06-02"}),
        ("am 2.6. um 9:00", {"-06-02"}),
        ("20/11/25, 11/20/2025 and on 20/11", {"2025-11-20", "-11-20"}),
        ("20-Nov-2025, 20-Nov-25 and 20 November '25", {"2025-11-20"}),
        ("version 2.6.1, 23.04, 05/06/2025, 31.13.2025 and 2025-06-02-7", set()),
        ("In June we may go; march 2000 miles", set()),
    ],
)
def test_a_day_has_one_spelling(text: str, dates: set[str]) -> None:
    assert dates_of(text) == dates


def test_a_day_without_a_year_is_that_day_of_any_year() -> None:
    assert are_shared({"-06-02"}, {"2025-06-02"}) and are_shared({"2025-06-02"}, {"-06-02"})
    assert not are_shared({"2024-06-02"}, {"2025-06-02"}) and not are_shared({"-06-02"}, {"-06-03"})
    assert not are_shared({"1/2"}, {"11/2"}) and are_shared({"1/2"}, {"1/2"})


def test_a_date_in_either_order_is_shared_with_each_of_its_days() -> None:
    assert are_shared({"05/06/25"}, {"2025-06-05"}) and are_shared({"2025-05-06"}, {"05/06/2025"})
    assert are_shared({"05/06/25"}, {"5/6/2025"}) and not are_shared({"05/06/25"}, {"06/05/2025"})
    assert not are_shared({"05/06/25"}, {"2025-06-06"})


def test_a_column_may_be_named_by_the_day_of_the_week_and_its_number() -> None:
    assert figures_of("Name: Ada · Sat 16: off") == {"~6-16"}
    assert {"~6-16"} <= figures_asked("Who works on Saturday 16 May?") & figures_asked("on 16/05/2026")


@pytest.mark.parametrize(
    ("question", "months"),
    [
        ("beer duty for july 2025", {"2025-07"}),
        (
            "what came in in Jul 2025 and in 08/2025, what may come in May 2026",
            {"2025-07", "2025-08", "2026-05"},
        ),
        ("how many died in March 1855", {"1855-03"}),
        ("between June and July 2025", set()),
        ("since July 2025, until the end of May 2026", set()),
        ("on 14 July 2025, in July, in 2025-07-14 or in 2024/25", set()),
    ],
)
def test_months_of_a_year_are_named_one_by_one(question: str, months: set[str]) -> None:
    assert months_asked(question) == months <= figures_asked(question)


def test_a_cell_is_a_month_in_any_notation() -> None:
    cells = ("2025-07", "07/2025", "7.2025", "July 2025", "Jul. 2025", "Juli 2025", "2025 Jul")
    assert {month_of(cell) for cell in cells} == {"2025-07"}
    assert {month_of(cell) for cell in ("2025-07-14", "2025-13", "July", "since July 2025")} == {""}


def test_the_first_day_of_a_month_begins_it() -> None:
    for cell in ("1855-01-01T08:00:00.000Z", "1855-01-01T00:00", "1855-01-01 07:00:00+01:00"):
        assert month_begun(cell) == "1855-01" and month_and_day(cell) == ("1855-01", "01")
    assert month_begun("1855-01-01T08:30:00Z") == "" and month_begun("1855-01-01T08:00:00") == ""
    cells = ("2015-06-01", "01-06-15", "01.06.2015", "2015/06/01", "1 June 2015", "2015-06-01 00:00:00")
    assert {month_begun(cell) for cell in cells} == {"2015-06"}
    others = ("2015-06-02", "02-06-15", "01/06/2015", "1 June", "from 2015-06-01", "2015-06-01 09:00", "")
    assert {month_begun(cell) for cell in others} == {""}


def test_other_figures_stay_as_they_are() -> None:
    assert without_dates("On 2 June at 9:30.").split() == ["On", "at", "9:30."]
    assert figures_of("On 2 June at 9:30 and 3/4.") == {"-06-02", "9:30", "3/4"}
