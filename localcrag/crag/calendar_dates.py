"""Days of the calendar in a text, in one spelling: "2 June", "2. Juni", "June 2nd" and "02.06." are one day.

A question names a day in words that a table has in figures. So dates are compared as year, month and day, or
as month and day alone if one of the two has no year. "05/06/2025" is no date to :func:`dates_of`, as it may
be either day; :func:`readings_of` has both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Set

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
_MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()}
_NAME = rf"(?:{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_DATE = re.compile(
    r"(?<![\w.-])(?:(?P<y1>\d{4})(?P<mark>[-/])(?P<m1>\d\d)(?P=mark)(?P<d1>\d\d)(?!\d|-\d)"
    r"|(?P<d2>\d{1,2})\. ?(?P<m2>\d{1,2})\.(?: ?(?P<y2>\d{4})(?!\d)|(?P<y2s>\d\d)(?!\d)|(?!\d))"
    rf"|(?P<d3>\d{{1,2}})(?:\.|st|nd|rd|th)? (?:of |de )?(?P<m3>{_NAME})\b\.?(?:,? (?P<y3>\d{{4}})(?!\d))?"
    rf"|(?P<m4>{_NAME})\.? (?:the )?(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<y4>\d{{4}})(?!\d))?)",
    re.IGNORECASE,
)
"""A date: 2025-06-02 or 2025/06/02, 02.06.2025 and 2.6., 2 June 2025 and "2. Juni", June 2, 2025."""


_EITHER_ORDER = re.compile(r"(?<![\w./-])(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d\d)(?![\w/-]|\.\d)")
"""A date in figures whose first one is the day or the month: 05/06/2025, 5-6-25."""


def dates_of(text: str) -> set[str]:
    """The dates in a text as "2025-06-02", or "-06-02" if it does not say the year."""
    return {date for _, _, date in _found(text)}


def readings_of(text: str) -> list[tuple[int, int, set[str]]]:
    """The places of the dates in a text, in order, each with the days that it may be.

    "11/02/2026" is 11 February or 2 November; what can be read in one way only has one day.
    """
    found = {(start, end): {date} for start, end, date in _found(text)}
    for match in _EITHER_ORDER.finditer(text):
        first, second, year = int(match[1]), int(match[3]), match[4]
        days = {
            f"{year if len(year) == 4 else f'20{year}'}-{month:02}-{day:02}"
            for day, month in ((first, second), (second, first))
            if 1 <= month <= 12 and 1 <= day <= 31
        }
        if days and not any(start < match.end() and match.start() < end for start, end in found):
            found[match.span()] = days
    return [(start, end, days) for (start, end), days in sorted(found.items())]


def without_dates(text: str) -> str:
    """A text with a space for each date."""
    for start, end, _ in reversed(list(_found(text))):
        text = f"{text[:start]} {text[end:]}"
    return text


def are_shared(dates: Set[str], others: Set[str]) -> bool:
    """Whether two sets of figures have one in common: a date without a year is that day of any year."""
    return any(
        date == other
        or (date.startswith("-") and other.endswith(date))
        or (other.startswith("-") and date.endswith(other))
        for date in dates
        for other in others
    )


def _found(text: str) -> Iterator[tuple[int, int, str]]:
    """The dates in a text with the places where each begins and ends."""
    for match in _DATE.finditer(text):
        of = match.groupdict()
        month = of["m1"] or of["m2"] or str(_MONTHS[(of["m3"] or of["m4"]).lower()])
        day = next(filter(None, (of["d1"], of["d2"], of["d3"], of["d4"])))
        short = f"20{of['y2s']}" if of["y2s"] else ""
        year = of["y1"] or of["y2"] or short or of["y3"] or of["y4"] or ""
        if 1 <= int(month) <= 12 and 1 <= int(day) <= 31:
            yield match.start(), match.end(), f"{year}-{int(month):02}-{int(day):02}"
