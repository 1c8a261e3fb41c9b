"""Days of the calendar in a text, in one spelling: "2 June", "2. Juni", "June 2nd" and "02.06." are one day.

A question names a day in words that a table has in figures. So dates are compared as year, month and day, or
as month and day alone if one of the two has no year. "05/06/2025" is no date to :func:`dates_of`, as it may
be either day; :func:`readings_of` has both, and :func:`are_shared` compares it with each. "23/04/26" is
one day, as there is no month 23.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set
from datetime import date as Day
from functools import lru_cache

_MONTH_NAMES = (
    "january januar janvier enero gennaio jan",
    "february februar février febrero febbraio feb",
    "march märz mars marzo mar mär",
    "april avril abril aprile apr",
    "may mai mayo maggio",
    "june juni juin junio giugno jun",
    "july juli juillet julio luglio jul",
    "august août agosto aug",
    "september septembre septiembre settembre sep sept",
    "october oktober octobre octubre ottobre oct okt",
    "november novembre noviembre nov",
    "december dezember décembre diciembre dicembre dec dez",
)
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
"""The number of a month, by its names and short names in lower case."""
_NAME = rf"(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})"
_DATE = re.compile(
    r"(?<![\w.-])(?:(?P<y1>\d{4})(?P<mark>[-/])(?P<m1>\d\d)(?P=mark)(?P<d1>\d\d)(?!\d|-\d)"
    r"|(?P<d2>\d{1,2})\. ?(?P<m2>\d{1,2})\.(?: ?(?P<y2>\d{4})(?!\d)|(?P<y2s>\d\d)(?!\d)|(?!\d))"
    rf"|(?P<d3>\d{{1,2}})(?:\.|st|nd|rd|th)?(?P<gap>[ -])(?:of |de )?(?P<m3>{_NAME})\b\.?"
    r"(?:(?:,? |(?P=gap))(?P<y3>\d{4})(?!\d)|(?:(?:,? )?['’]|(?<=-...)-)(?P<y3s>\d\d)(?!\d))?"
    rf"|(?P<m4>{_NAME})\.? (?:the )?(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y4>\d{{4}})(?!\d))?)",
    re.IGNORECASE,
)
"""A date: 2025-06-02 or 2025/06/02, 02.06.2025 and 2.6., 2 June 2025, 2-Jun-25, "2. Juni", June 2, 2025."""

_EITHER_ORDER = re.compile(r"(?<![\w./-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d\d)(?![\w/-]|\.\d)")
"""A date in figures whose first one is the day or the month: 05/06/2025, 5-6-25."""
_SHORT = re.compile(
    r"\b(?:on|am|le|el|il) (?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\w/]|[.,:]\d)", re.IGNORECASE
)
"""A day and a month after a word that a day follows: "on 23/4"."""
_WEEKDAY_NAMES = (
    "monday montag lundi lunes lunedì mon mo",
    "tuesday dienstag mardi martes martedì tue tues tu di",
    "wednesday mittwoch mercredi miércoles mercoledì wed mi",
    "thursday donnerstag jeudi jueves giovedì thu thur thurs do",
    "friday freitag vendredi viernes venerdì fri fr",
    "saturday samstag sonnabend samedi sábado sabato sat sa",
    "sunday sonntag dimanche domingo domenica sun su so",
)
WEEKDAYS = {name: number for number, names in enumerate(_WEEKDAY_NAMES, 1) for name in names.split()}
"""The number of a day of the week, from 1 for Monday, by its names and short names in lower case."""
_LONG_WEEKDAYS = "|".join(sorted((name for name in WEEKDAYS if len(name) > 2), key=len, reverse=True))
_ON_WEEKDAY = re.compile(
    rf"\b(?P<name>{_LONG_WEEKDAYS})\b\.?,? (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\w|[.:/–-]\d)",
    re.IGNORECASE,
)
"""A day of the month after that of the week: "Sat 16"."""

_MONTH_OF_YEAR = re.compile(
    rf"\b(?P<name>{_NAME})\.?,? (?P<year>(?:1[5-9]|20)\d\d)(?!\d|[-/.]\d)"
    r"|(?<![\w./-])(?P<month>0?[1-9]|1[0-2])[/.](?P<year2>(?:19|20)\d\d)(?![\w/-])"
    r"|(?<![\w./-])(?P<year3>(?:1[89]|20)\d\d)-(?P<month3>0[1-9]|1[0-2])(?![\w/-])",
    re.IGNORECASE,
)
"""A month of a year: July 2025, Jul 2025, 07/2025, 2025-07."""
_YEAR_AND_MONTH = re.compile(rf"(?P<year>(?:1[5-9]|20)\d\d) (?P<name>{_NAME})\.?", re.IGNORECASE)
"""A month as a column of a time series may have it: "2009 Mar"."""
_MIDNIGHT = re.compile(
    r"[T ](?:00:00(?::00(?:\.0+)?)?Z?|(?:[01]\d|2[0-3]):00:00(?:\.0+)?(?:Z|[+-]\d\d:?\d\d))$"
)
"""The time of day that a date has for want of one: midnight, also as another zone has it, "T07:00:00Z"."""
_OPEN_SPAN = re.compile(
    r"\b(?:after|before|by|since|till|until|up to)\s+(?:the\s+end\s+of\s+)?$", re.IGNORECASE
)
"""What makes a month one end of a span of time."""
_MONTH_NAME = re.compile(rf"\b(?!(?:may|mar|mars|march)\b)(?i:{_NAME})\b")
"""The name of a month, unless it is another word in lower case."""


def month_of(cell: str) -> str:
    """The month of a year that a cell consists of, as "2025-07"; "" if it holds anything else."""
    if turned := _YEAR_AND_MONTH.fullmatch(cell.strip()):
        return f"{turned['year']}-{MONTHS[turned['name'].lower()]:02}"
    found = _MONTH_OF_YEAR.fullmatch(cell.strip())
    return _month(found) if found else ""


def months_asked(question: str) -> set[str]:
    """The months of years that a question names one by one, as "2025-07"; none of a span ("since May")."""
    undated = without_dates(question)
    found = list(_MONTH_OF_YEAR.finditer(undated))
    names = len(_MONTH_NAME.findall(undated))
    is_span = names > len(found) or any(_OPEN_SPAN.search(undated[: match.start()]) for match in found)
    return set() if is_span else set(map(_month, found))


def month_begun(cell: str) -> str:
    """The month of a year on whose first day a cell is, as "2025-07"; "" if it holds anything else.

    Of "01-06-15", which is 1 June or 6 January, one reading is the first of a month. With strokes it is not
    taken, as "01/06/2015" is 6 January where the month is written first.
    """
    figures = _MIDNIGHT.sub("", cell.strip())
    readings = readings_of(figures)
    if len(readings) != 1 or readings[0][:2] != (0, len(figures)):
        return ""
    days = readings[0][2]
    first = next((day for day in sorted(days) if day.endswith("-01") and day[0] != "-"), "")
    return first[:7] if len(days) == 1 or "/" not in figures else ""


def month_and_day(cell: str) -> tuple[str, str]:
    """The month of a year of the day that a cell is, and that day: "2016-05" and "15"; ("", "") of others.

    One that may be either of two days is the first of a month as :func:`month_begun` has it, or none: of
    "05/03/2020" and "06/03/2020" nobody knows here whether they are two days or two months.
    """
    figures = _MIDNIGHT.sub("", cell.strip())
    readings = readings_of(figures)
    days = readings[0][2] if len(readings) == 1 and readings[0][:2] == (0, len(figures)) else set()
    if len(days) != 1:
        return (month, "01") if (month := month_begun(cell)) else ("", "")
    (day,) = days
    return (day[:7], day[8:]) if day[0] != "-" else ("", "")


def _month(found: re.Match[str]) -> str:
    number = found["month"] or found["month3"] or MONTHS[found["name"].lower()]
    return f"{found['year'] or found['year2'] or found['year3']}-{int(number):02}"


def weekday_numbers(text: str) -> set[str]:
    """The days of a text by their day of the week and their number, as "~6-16" for "Saturday 16 May".

    That is how the columns of a roster are named: "Sat 16".
    """
    days = map(day_of, dates_of(text))
    return bare_weekday_numbers(text) | {f"~{day.isoweekday()}-{day.day}" for day in days if day}


def bare_weekday_numbers(text: str) -> set[str]:
    """The days of a text that stand after their day of the week, as :func:`weekday_numbers` spells them."""
    return {f"~{WEEKDAYS[match['name'].lower()]}-{int(match['day'])}" for match in _ON_WEEKDAY.finditer(text)}


def is_day(figure: str) -> bool:
    """Whether a figure is a day: a date with or without its year, or one that may be either of two days."""
    return figure.startswith(("~", "-")) or day_of(figure) is not None or bool(_readings(figure))


def day_of(date: str) -> Day | None:
    """The day of a date in the spelling of :func:`dates_of`; None if it has no year or is no day."""
    try:
        return Day.fromisoformat(date)
    except ValueError:
        return None


def dates_of(text: str) -> set[str]:
    """The dates in a text as "2025-06-02", or "-06-02" if it does not say the year."""
    return {date for _, _, date in _found(text)}


def readings_of(text: str) -> list[tuple[int, int, set[str]]]:
    """The places of the dates in a text, in order, each with the days that it may be.

    "11/02/2026" is 11 February or 2 November; what can be read in one way only has one day.
    """
    found = {(start, end): {date} for start, end, date in _found(text)}
    for match in _EITHER_ORDER.finditer(text):
        days = _readings(match[0])
        if days and not any(start < match.end() and match.start() < end for start, end in found):
            found[match.span()] = set(days)
    return [(start, end, days) for (start, end), days in sorted(found.items())]


def without_dates(text: str) -> str:
    """A text with a space for each date."""
    for start, end, _ in reversed(list(_found(text))):
        text = f"{text[:start]} {text[end:]}"
    return text


def without_days(text: str) -> str:
    """A text with a space for each date, also for one that may be either of two days."""
    for start, end, _ in reversed(readings_of(text)):
        text = f"{text[:start]} {text[end:]}"
    return text


def are_shared(dates: Set[str], others: Set[str]) -> bool:
    """Whether two sets of figures have one in common: a date without a year is that day of any year.

    A date that may be either of two days is shared with each of them, and with one that is written in the
    same order.
    """
    return any(
        date == other
        or (date.startswith("-") and other.endswith(date))
        or (other.startswith("-") and date.endswith(other))
        or _is_reading(date, other)
        or _is_reading(other, date)
        for date in dates
        for other in others
    )


def _is_reading(date: str, other: str) -> bool:
    """Whether a date is one of the days that another one, 05/06/25, may be, or is written in its order."""
    days = _readings(other)
    is_one = any(day == date or (date.startswith("-") and day.endswith(date)) for day in days)
    return is_one or (bool(days) and _readings(date)[:1] == days[:1])


@lru_cache(maxsize=4096)
def _readings(figures: str) -> tuple[str, ...]:
    """The days that figures such as 05/06/25 may be, the one whose day is written first before the other."""
    match = _EITHER_ORDER.fullmatch(figures)
    if match is None:
        return ()
    first, second, year = int(match[1]), int(match[3]), match[4] if len(match[4]) == 4 else f"20{match[4]}"
    return tuple(
        f"{year}-{month:02}-{day:02}"
        for day, month in dict.fromkeys(((first, second), (second, first)))
        if 1 <= month <= 12 and 1 <= day <= 31
    )


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """The dates in a text with the places where each begins and ends, in order."""
    found = list(_spelled(text))
    for match in (*_EITHER_ORDER.finditer(text), *_SHORT.finditer(text)):
        start, end = match.start("first") if match.re is _SHORT else match.start(), match.end()
        days = _readings(f"{match['first']}/{match['second']}/0000" if match.re is _SHORT else match[0])
        is_date = len(days) == 1 and (match.re is _SHORT or match[2] == "/" or len(match[4]) == 4)
        if is_date and not any(first < end and start < last for first, last, _ in found):
            found.append((start, end, days[0].removeprefix("0000")))
    yield from sorted(found)


def _spelled(text: str) -> Iterator[tuple[int, int, str]]:
    """The dates in a text whose notation says which figure is the month."""
    for match in _DATE.finditer(text):
        of = match.groupdict()
        month = of["m1"] or of["m2"] or str(MONTHS[(of["m3"] or of["m4"]).lower()])
        day = next(filter(None, (of["d1"], of["d2"], of["d3"], of["d4"])))
        short = of["y2s"] or of["y3s"]
        short = f"20{short}" if short else ""
        year = of["y1"] or of["y2"] or short or of["y3"] or of["y4"] or ""
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            yield match.start(), match.end(), f"{year}-{int(month):02}-{int(day):02}"
