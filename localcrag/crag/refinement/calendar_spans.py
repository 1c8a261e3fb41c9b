"""Days that a text or a row of a table tells of by a span: "20–26 April", "From: 20 April", calendar week 17.

Who is on call from 20 April is so on the 23rd, until the next row begins. A row has the span of its dates
"from" and "to", or that from its date to the one of the row below it, or its calendar week. Where all rows
are of the first day of a month, each is of its month.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import date as Day
from datetime import timedelta
from itertools import pairwise

from localcrag.crag.questions.calendar_dates import (
    MONTHS,
    WEEKDAYS,
    are_shared,
    day_of,
    month_and_day,
    month_begun,
    readings_of,
)
from localcrag.crag.questions.query_terms import figures_of
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.crag.refinement.strip_kinds import cells_of, column_names, is_row, named_cell
from localcrag.types import Passage, Strip

_FIRST_OF_MONTH = "01"
Span = tuple[str, str]
"""The first and the last day, each as :func:`.calendar_dates.dates_of` spells it."""

_TO = r"\s*(?:[-–—/]|\b(?:to|until|till|through|bis|au|al|hasta|jusqu['’]au)\b)\s*"
_WEEKDAY = rf"(?:(?:{'|'.join(sorted(WEEKDAYS, key=len, reverse=True))})\b[.,]*\s*)?(?:the )?"
_BETWEEN = re.compile(rf"{_TO}{_WEEKDAY}", re.IGNORECASE)
"""What stands between the first and the last day of a span, each with its month."""
_FIRST_DAY = re.compile(
    rf"(?<![\d.,:/-])(?P<day>\d{{1,2}})(?:\.|st|nd|rd|th)?{_TO}{_WEEKDAY}$", re.IGNORECASE
)
"""The first day of a span before its last day, which has the month of both: "20–" before "26 April"."""
_LAST_DAY = re.compile(rf"{_TO}{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d.:/-])", re.IGNORECASE)
"""The last day after the first one, which has the month of both: "–26" behind "April 20"."""
_FROM = re.compile(
    r"(?:valid |gültig )?(?:from|since|starts?|starting|start date|begins?|beginning"
    r"|week (?:of|commencing|beginning)|first day|arrival|check-?in|as of|effective(?: from)?|ab|von|seit"
    r"|beginn|anreise|du|depuis|début|desde|dal)",
    re.IGNORECASE,
)
_UNTIL = re.compile(
    r"(?:valid |gültig )?(?:to|until|till|ends?|ending|end date|through|last day|departure|check-?out|return"
    r"|bis|ende|abreise|au|fin|jusqu['’]au|hasta|al)",
    re.IGNORECASE,
)
"""The names of columns of the first and of the last day for which a row holds."""
_WEEK = re.compile(
    r"(?:calendar )?week(?: no\.?)?|wk|cw|kw|(?:kalender)?woche|semaine|semana|settimana", re.IGNORECASE
)
"""The name of a column of calendar weeks, or the word before the number of one."""
_NUMBERED_WEEK = re.compile(rf"\b(?:{_WEEK.pattern}) ?(?P<week>\d{{1,2}})\b(?!\s*(?:of|/))", re.IGNORECASE)


def _of_names(names: Iterable[str]) -> re.Pattern[str]:
    """The pattern of a name, or of two that are the ends of a run."""
    name = "|".join(sorted(names, key=len, reverse=True))
    return re.compile(rf"(?P<first>{name})s?\.?(?:{_TO}(?P<last>{name})s?\.?)?")


_RUN_OF_WEEKDAYS, _RUN_OF_MONTHS = _of_names(WEEKDAYS), _of_names(MONTHS)
_LISTED = re.compile(r"\s*(?:,|;|&|\+|\b(?:and|und|et|y|e)\b)\s*")
_PARENTHESIS = re.compile(r"\([^()]*\)")
_MONTH = re.compile(r"\d{4}-\d\d")
_SETS_OF_DAYS = {
    **dict.fromkeys(("daily", "every day", "each day", "all days", "täglich", "tous les jours"), range(1, 8)),
    **dict.fromkeys(("weekdays", "on weekdays", "workdays", "working days", "werktags"), range(1, 6)),
    **dict.fromkeys(("weekend", "weekends", "at weekends", "wochenende"), (6, 7)),
}
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_LEAP_YEAR = 2024
_FIGURE = re.compile(r"[-+−]?\d[\d.,' ]*%?")
MIN_FIGURES, MIN_FIGURE_SHARE = 8, 0.75
"""The fewest numbers in a row of monthly figures that stands nearly alone, and their share of its cells."""
MIN_MONTHLY_ROWS = 3
"""The fewest rows of a passage that are of the first day of a month, and thus each of its month."""


def spans_of(text: str) -> Iterator[Span]:
    """The spans of days in a text: "20–26 April", "1 June to 15 September 2026"."""
    found = [(start, end, next(iter(days))) for start, end, days in readings_of(text) if len(days) == 1]
    for (_, end, first), (start, _, last) in pairwise(found):
        if _BETWEEN.fullmatch(text, end, start):
            yield first, last
    begins = [start for start, _, _ in found]
    for start, end, day in found:
        if before := _FIRST_DAY.search(text[:start]):
            yield f"{day[:-2]}{int(before['day']):02}", day
        elif (behind := _LAST_DAY.match(text, end)) and not any(
            end < other < behind.end() for other in begins
        ):
            yield day, f"{day[:-2]}{int(behind['day']):02}"


_ONLY = re.compile(r"^(?:only |nur )?(?:on |am |an )?|,? only$")
"""What a cell says more than its days of the week: "Sundays only"."""


def weekdays_in(value: str) -> set[int]:
    """The days of the week of a cell that says on which a row holds: "Mo-Fr", "Tuesday to Thursday", "daily".

    They are counted from 1 for Monday; none if the cell says anything else.
    """
    text = _ONLY.sub("", _PARENTHESIS.sub("", value).strip().lower())
    if text in _SETS_OF_DAYS:
        return set(_SETS_OF_DAYS[text])
    return _run(text, _RUN_OF_WEEKDAYS, WEEKDAYS, 7)


def months_in(value: str) -> set[int]:
    """The months of a cell that says in which a row holds, "May to September"; none if it says more."""
    return _run(_PARENTHESIS.sub("", value).strip().lower(), _RUN_OF_MONTHS, MONTHS, 12)


def _run(text: str, of_runs: re.Pattern[str], numbers: Mapping[str, int], count: int) -> set[int]:
    """The numbers of the names in a text of nothing else, and of those between the two ends of a run."""
    found = set[int]()
    for part in _LISTED.split(text):
        match = of_runs.fullmatch(part)
        if match is None:
            return set()
        first = numbers[match["first"]]
        last = numbers[match["last"]] if match["last"] else first
        found |= {
            (number - 1) % count + 1 for number in range(first, (last if last >= first else last + count) + 1)
        }
    return found


def is_within(day: str, span: Span) -> bool:
    """Whether a day is within a span; what has no year is taken for a day of the year that the others have.

    A span that ends earlier in the year than it begins goes on into the next year.
    """
    years = {int(each[:4]) for each in (day, *span) if each[0] != "-"} or {_LEAP_YEAR}
    for year in years:
        first, last = (_in_year(each, year) for each in span)
        if last < first and span[1][0] == "-":
            last = _in_year(span[1], year + 1)
        elif last < first and span[0][0] == "-":
            first = _in_year(span[0], year - 1)
        if any(first <= _in_year(day, at) <= last for at in (year - 1, year, year + 1)):
            return True
    return False


def _in_year(day: str, year: int) -> str:
    """A day in a year, if it has none."""
    return f"{year}{day}" if day[0] == "-" else day


def tells_figure(strip: Strip, figures: Set[str]) -> bool:
    """Whether a strip has one of some figures, or is a row that holds on one of the days among them."""
    return are_shared(figures_of(strip.text), figures) or holds_on(strip, figures)


def holds_on(row: Strip, days: Iterable[str]) -> bool:
    """Whether a row of a table holds on one of some days, since the day is within a span of the row.

    Months ("2015-06") may be among them: a row of monthly figures holds in its month.
    """
    days = list(days)
    if (months := {day for day in days if _MONTH.fullmatch(day)}) and months & months_of_row(row):
        return True
    days = [day for day in days if day[:1] in "-12" and len(day) in (6, 10)]
    if not days or not is_row(row):
        return False
    found = [*spans_of(row.text), *_own_spans(row)]
    return any(is_within(day, span) for day in days for span in found) or _is_in_its_week(row, days)


def _is_of_long_figures(cells: Mapping[str, str]) -> bool:
    """Whether cells are the first day of a month, and so many numbers as fill a good part of a passage."""
    first, *others = cells.values()
    numbers = sum(_FIGURE.fullmatch(value) is not None for value in others)
    return bool(month_begun(first)) and numbers >= max(MIN_FIGURES, MIN_FIGURE_SHARE * len(others))


def months_of_row(row: Strip) -> set[str]:
    """The months of years, "2015-06", that a row of monthly figures stands for.

    It does if a column has the same day of several months in the rows beside it: "01-06-15" or "2015-06-15".
    In long rows, of which few stand in a passage, the first cell is the first day of a month, and most others
    are numbers.
    """
    if not is_row(row):
        return set()
    read = {column: month_and_day(value) for column, value in map(named_cell, cells_of(row))}
    own = {column: told for column, told in read.items() if told[0]}
    beside = [dict(map(named_cell, cells_of(other))) for other in _rows_beside(row)] if own else []
    if len(beside) >= MIN_MONTHLY_ROWS:
        return {month for column, (month, day) in own.items() if _are_monthly(column, day, beside)}
    begun = {month for month, day in own.values() if day == _FIRST_OF_MONTH}
    return begun if begun and all(map(_is_of_long_figures, beside)) else set()


def _are_monthly(column: str, day: str, beside: Sequence[Mapping[str, str]]) -> bool:
    """Whether the cells of a column are all on one day of the month, and of several months."""
    told = [month_and_day(cells.get(column, "")) for cells in beside]
    return {each for _, each in told} == {day} and len({month for month, _ in told}) > 1


def passage_holds_on(passage: Passage, days: Iterable[str]) -> bool:
    """Whether a row of a passage holds on one of some days."""
    asked = list(days)
    return any(holds_on(strip, asked) for strip in strips(passage))


def _own_spans(row: Strip) -> Iterator[Span]:
    """The span of the dates "from" and "to" of a row; if it only has the first, until the next row begins."""
    cells = [named_cell(cell) for cell in cells_of(row)]
    first, last = _date_in(cells, _FROM), _date_in(cells, _UNTIL)
    if first and last:
        yield first, last
    elif first:
        begun = [
            _date_in([named_cell(cell) for cell in cells_of(other)], _FROM) for other in _rows_beside(row)
        ]
        if end := _end_of_turn(first, begun):
            yield first, end


def _rows_beside(row: Strip) -> list[Strip]:
    """The rows of the passage of a row that have its columns."""
    columns = column_names(row)[:2]
    rows = (other for other in strips(row.passage) if is_row(other))
    return [other for other in rows if column_names(other)[:2] == columns]


def _end_of_turn(first: str, begun: Sequence[str]) -> str:
    """The day before the next row begins; the last of rows that are as far apart is as long as they are."""
    days = [_dated(day) for day in begun if day]
    at = _dated(first)
    order = sorted(day for day in days if day)
    if at is None or order != [day for day in days if day]:
        return ""
    following = next((day for day in order if day > at), None)
    steps = {after - before for before, after in pairwise(order)}
    if following is None and len(steps) == 1:
        following = at + steps.pop()
    if following is None:
        return ""
    end = (following - timedelta(days=1)).isoformat()
    return end if first[0] != "-" else end[4:]


def _dated(day: str) -> Day | None:
    """A day as a date, one without a year in a leap year."""
    return day_of(_in_year(day, _LEAP_YEAR))


def _date_in(cells: Sequence[tuple[str, str]], column: re.Pattern[str]) -> str:
    """The day in the first cell whose column has such a name; "" if there is none, or several."""
    for name, value in cells:
        if column.fullmatch(name.strip()):
            found = readings_of(value)
            return next(iter(found[0][2])) if len(found) == 1 and len(found[0][2]) == 1 else ""
    return ""


def _is_in_its_week(row: Strip, days: Sequence[str]) -> bool:
    """Whether a day is in the calendar week of a row, which a cell or the heading above the table has.

    A day without a year is taken for one of the year that the heading, the title or the row has.
    """
    weeks = {
        int(value)
        for name, value in map(named_cell, cells_of(row))
        if _WEEK.fullmatch(name.strip()) and value.isdecimal()
    }
    above = f"{headings_above(row)} {row.passage.title} {row.passage.source}"
    if not weeks:
        weeks = {int(match["week"]) for match in _NUMBERED_WEEK.finditer(headings_above(row))}
    if not weeks:
        return False
    years = _YEAR.findall(f"{row.text} {above}")
    dated = [
        day if day[0] != "-" else f"{year}{day}"
        for day in days
        for year in (years if day[0] == "-" else ("",))
    ]
    return any((day := day_of(each)) is not None and day.isocalendar().week in weeks for each in dated)
