"""Days of the calendar in a text, in one spelling: "2 June", "2. Juni", "June 2nd" and "02.06." are one day.

A question names a day in words that a table has in figures. So dates are compared as year, month and day, or
as month and day alone if one of the two has no year. "05/06/2025" is no date here, as it may be either day.
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


def dates_of(text: str) -> set[str]:
    """The dates in a text as "2025-06-02", or "-06-02" if it does not say the year."""
    return {date for _, _, date in _found(text)}


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
