"""Days that a text or a row tells of by a span: a range of dates, a turn, a calendar week."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.calendar_spans import holds_on, is_within, months_in, spans_of, weekdays_in
from localcrag.crag.refinement.knowledge_strips import strips
from tests.crag.test_row_lookup import table


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("20–26 April", [("-04-20", "-04-26")]),
        ("from 1 June to 15 September 2026", [("-06-01", "2026-09-15")]),
        ("1.6.–15.9.", [("-06-01", "-09-15")]),
        ("April 20-26, 2026", [("-04-20", "-04-26")]),
        ("Sat 16 May to Sun 17 May", [("-05-16", "-05-17")]),
        ("2026-04-20 – 2026-04-26", [("2026-04-20", "2026-04-26")]),
        ("on 4 May and on 6 June", []),
    ],
)
def test_spans_of_days_are_read(text: str, spans: list[tuple[str, str]]) -> None:
    assert list(dict.fromkeys(spans_of(text))) == spans


@pytest.mark.parametrize(
    ("day", "span", "within"),
    [
        ("-04-23", ("2026-04-20", "2026-04-26"), True),
        ("2025-04-23", ("2026-04-20", "2026-04-26"), False),
        ("2026-07-01", ("-06-01", "2026-09-15"), True),
        ("2026-12-31", ("-12-24", "-01-06"), True),
        ("-02-02", ("2025-12-24", "2026-01-06"), False),
    ],
)
def test_a_day_is_within_a_span(day: str, span: tuple[str, str], within: bool) -> None:
    assert is_within(day, span) is within


def test_a_row_holds_from_its_day_until_the_next_one_begins() -> None:
    turns = strips(table(*(f"From: {day} · First: {who}" for day, who in (
        ("13 April", "Ada"), ("20 April", "Ben"), ("27 April", "Cleo")
    ))))  # fmt: skip
    assert [holds_on(row, {"2026-04-23"}) for row in turns] == [False, True, False]
    assert [holds_on(row, {"-05-03"}) for row in turns] == [False, False, True]
    assert not any(holds_on(row, {"-05-04"}) for row in turns)
    stays = strips(
        table("Arrival: 1 May · Departure: 4 May · Guest: Ada", "Arrival: 9 May · Departure: 12 May")
    )
    assert [holds_on(row, {"2026-05-03"}) for row in stays] == [True, False]


def test_a_row_of_monthly_figures_holds_in_its_month() -> None:
    monthly = [f"date: 1855-{month:02}-01 · disease: {month}" for month in (2, 3, 4)]
    assert [holds_on(row, {"1855-03"}) for row in strips(table(*monthly))] == [False, True, False]
    daily = strips(table(*monthly, "date: 1855-04-02 · disease: 9"))
    assert not any(holds_on(row, {"1855-03"}) for row in daily)
    assert not any(holds_on(row, {"1855-03"}) for row in strips(table(*monthly[:2])))
    middle = [f"Date: 2016-{month:02}-15 · WTI: {month}" for month in (1, 2, 3)]
    assert [holds_on(row, {"2016-01"}) for row in strips(table(*middle))] == [True, False, False]
    strokes = [f"date: {number:02}/03/2020 · cases: {number}" for number in (5, 6, 7)]
    assert not any(holds_on(row, {"2020-05"}) for row in strips(table(*strokes)))
    stations = [f"Date: 2016-01-15 · Station: {name}" for name in "ABC"]
    assert not any(holds_on(row, {"2016-01"}) for row in strips(table(*stations)))


def test_a_long_row_of_figures_holds_in_its_month_also_alone() -> None:
    figures = " · ".join(f"series {number}: {number}.5" for number in range(10))
    (row,) = strips(table(f"Date: 2016-05-01 · {figures}"))
    assert holds_on(row, {"2016-05"}) and not holds_on(row, {"2016-06"})
    (told,) = strips(table(f"Date: 2016-05-01 · Note: a meeting · {figures[:30]}"))
    assert not holds_on(told, {"2016-05"})
    (daily,) = strips(table(f"Date: 2016-05-02 · {figures}"))
    assert not holds_on(daily, {"2016-05"})


def test_a_row_holds_in_its_calendar_week() -> None:
    weeks = strips(table("Week: 17 · Who: Ada", "Week: 18 · Who: Ben", heading="Plan of 2026"))
    assert [holds_on(row, {"-04-23"}) for row in weeks] == [True, False]
    of_heading = [replace(row, passage=replace(row.passage, heading="Week 17")) for row in weeks]
    assert not holds_on(of_heading[1], {"2026-04-23"})


@pytest.mark.parametrize(
    ("value", "days"),
    [
        ("Mo-Fr", {1, 2, 3, 4, 5}),
        ("Mo-Fr (school)", {1, 2, 3, 4, 5}),
        ("Tuesday to Thursday", {2, 3, 4}),
        ("Sat, Sun", {6, 7}),
        ("Fri–Mon", {5, 6, 7, 1}),
        ("daily", {1, 2, 3, 4, 5, 6, 7}),
        ("Monday meeting", set()),
    ],
)
def test_days_of_the_week_of_a_cell(value: str, days: set[int]) -> None:
    assert weekdays_in(value) == days


def test_months_of_a_cell() -> None:
    assert months_in("May to July") == {5, 6, 7} and months_in("Nov–Feb") == {11, 12, 1, 2}
    assert months_in("in May") == set()
