"""Days of the calendar in one spelling."""

from __future__ import annotations

import pytest

from localcrag.crag.calendar_dates import are_shared, dates_of, without_dates
from localcrag.crag.query_terms import figures_of


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("How much rain fell on 2 June?", {"-06-02"}),
        ("Wie viel fiel am 2. Juni 2025?", {"2025-06-02"}),
        ("June 2nd, and the 3rd of July 2024", {"-06-02", "2024-07-03"}),
        ("02.06.2025 2.6.2025 2025-06-02 2025/06/02 02.06.25", {"2025-06-02"}),
        ("am 2.6. um 9:00", {"-06-02"}),
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


def test_other_figures_stay_as_they_are() -> None:
    assert without_dates("On 2 June at 9:30.").split() == ["On", "at", "9:30."]
    assert figures_of("On 2 June at 9:30 and 3/4.") == {"-06-02", "9:30", "3/4"}
