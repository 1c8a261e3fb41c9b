"""The dates in the cells of a column, as they are written: "2023-05-01", "09-JAN-13", "7/23/2018 1:47p"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime, time

from localcrag.crag.questions.calendar_dates import MONTHS

_YEAR = r"(?P<year>\d{4}|\d{2})"
_CLOCK = r"(?:,? +(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)? ?(?P<half>[ap]\.?m?\.?)?)?"
_SLASHED = re.compile(
    rf"(?P<first>\d{{1,2}})(?:/(?P<second>\d{{1,2}})/{_YEAR}|-(?P<dashed>\d{{1,2}})-(?P<full>\d{{4}})){_CLOCK}",
    re.IGNORECASE,
)
"""Days of which it is not said whether the month stands first."""
_DOTTED = re.compile(rf"(?P<day>\d{{1,2}})\. ?(?P<month>\d{{1,2}})\. ?(?P<year>\d{{4}}){_CLOCK}")
_DAY_FIRST = re.compile(
    rf"(?P<day>\d{{1,2}})(?:(?:st|nd|rd|th)?\.? |-)(?P<name>[^\W\d_]{{3,10}})(?:\.?,? |-){_YEAR}{_CLOCK}",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(
    rf"(?P<name>[^\W\d_]{{3,10}})\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}}){_CLOCK}",
    re.IGNORECASE,
)
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})/(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}}){_CLOCK}")
_COMPACT = re.compile(r"(?P<year>(?:19|20)\d\d)(?P<month>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])")
_MIN_COMPACT = 3
"""How many different cells must be such numbers if these are to be days: "20210704"."""
_MIN_MONTHS = 4
"""How many months tell that the other number, which is always 1, is the day."""
_MONTH_ONLY = re.compile(
    r"(?P<name>[^\W\d_]{3,10})\.? (?P<of>\d{4})"
    r"|(?P<year>\d{4})(?:-(?P<month>\d{2})| (?P<named>[^\W\d_]{3,10})\.?)"
    r"|(?P<number>0?[1-9]|1[0-2])[./](?P<behind>(?:19|20)\d\d)"
)
"""A month of a year: "Mar 2025", "2025-03", "03.2025" as an expiry is printed."""
_SPAN = re.compile(r"(?P<begin>\d{4}-\d\d-\d\d(?: \d\d:\d\d)?) to \d[\d: -]*(?: .{1,40})?")
"""When something begins and ends, as the events of a calendar are read."""
_LATEST_SHORT_YEAR = 68
"""The last year of this century that is written with two digits; "69" is 1969, as POSIX has it."""


def dates_of_cells(cells: Sequence[str]) -> tuple[date, ...] | None:
    """The dates of some cells, all of a month, or else all of days, or points in time if each tells one.

    None if a cell is no date, or none says which number of "05/03/2024" is the month.
    """
    if len({*cells}) >= _MIN_COMPACT and (compact := _compact(cells)):
        return compact
    slashed = [match for cell in cells if (match := _SLASHED.fullmatch(cell))]
    day_first = _is_day_first(slashed)
    if slashed and day_first is None:
        return None
    try:
        found = [_date(cell, day_first=bool(day_first)) for cell in cells]
    except (ValueError, KeyError):
        return None
    if len({is_month for is_month, _ in found}) > 1:
        return None
    dates = tuple(each for _, each in found)
    if all(isinstance(each, datetime) for each in dates):
        return dates
    return tuple(each.date() if isinstance(each, datetime) else each for each in dates)


def _is_day_first(slashed: Sequence[re.Match[str]]) -> bool | None:
    """Whether the day stands before the month; None if no number tells.

    One tells that is more than 12, or the same 1 in each of several months: "01/1/1980", "02/1/1980".
    """
    pairs = [(int(match["first"]), int(match["second"] or match["dashed"])) for match in slashed]
    places = [{*numbers} for numbers in zip(*pairs, strict=True)]
    above = [max(numbers) > 12 for numbers in places]
    ones = [numbers == {1} for numbers in places]
    if any(above):
        return above[0] if not all(above) else None
    if any(ones) and max(map(len, places)) >= _MIN_MONTHS:
        return ones[0]
    return None


def _compact(cells: Sequence[str]) -> tuple[date, ...] | None:
    """The days of cells that are all numbers such as "20210704"; None of others."""
    found = [_COMPACT.fullmatch(cell) for cell in cells]
    try:
        days = tuple(date(int(m["year"]), int(m["month"]), int(m["day"])) for m in found if m)
    except ValueError:
        return None
    return days if len(days) == len(cells) else None


def _date(text: str, *, day_first: bool) -> tuple[bool, date]:
    """Whether a cell tells no more than a month, and its date; raises ValueError or KeyError for no date."""
    if match := _MONTH_ONLY.fullmatch(text):
        name = match["name"] or match["named"]
        month = MONTHS[name.casefold()] if name else int(match["month"] or match["number"])
        return True, date(int(match["of"] or match["year"] or match["behind"]), month, 1)
    if match := _SLASHED.fullmatch(text):
        first, second = int(match["first"]), int(match["second"] or match["dashed"])
        day, month = (first, second) if day_first else (second, first)
        return False, _at(match, date(_year(match["year"] or match["full"]), month, day))
    if match := _DOTTED.fullmatch(text) or _YEAR_FIRST.fullmatch(text):
        return False, _at(match, date(int(match["year"]), int(match["month"]), int(match["day"])))
    if match := _DAY_FIRST.fullmatch(text) or _MONTH_FIRST.fullmatch(text):
        return False, _at(
            match, date(_year(match["year"]), MONTHS[match["name"].casefold()], int(match["day"]))
        )
    if match := _SPAN.fullmatch(text):
        text = match["begin"]
    if len(text) == 10:
        return False, date.fromisoformat(text)
    if len(text) >= 16 and text[4] == text[7] == "-":
        return False, datetime.fromisoformat(text).replace(tzinfo=None)
    raise ValueError(text)


def _at(match: re.Match[str], day: date) -> date:
    """A day, or the point in time that a cell tells of it."""
    if match["hour"] is None:
        return day
    hour, half = int(match["hour"]), (match["half"] or "").casefold()
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return datetime.combine(day, time(hour, int(match["minute"])))


def _year(text: str) -> int:
    """A year of four digits, or of two."""
    year = int(text)
    if len(text) == 4:
        return year
    return year + (2000 if year <= _LATEST_SHORT_YEAR else 1900)
