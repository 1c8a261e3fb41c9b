"""Tables whose columns are months, quarters, days of the week or years, put into long form.

``Year: 2019 · Jan: 65 · Feb: 123 · …`` has the values of one variable, the rain, in columns that are values
of another one, the month. Which month was the wettest, or how much rain fell in a year, goes over cells of
several columns, which neither rules nor queries over one column tell. In long form each cell is a row,
``Year: 2019 · month: Jan · rainfall: 65``, over which any of them goes. It is what Wickham calls melting
("Tidy Data", Journal of Statistical Software 59(10), 2014, section 3.1). Each row is cited as the row of the
document that its cell stands in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from localcrag.crag.questions.calendar_dates import MONTHS, WEEKDAYS
from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable, once_per_table
from localcrag.crag.table_answers.row_products import is_sum
from localcrag.crag.table_answers.season_years import season_of
from localcrag.crag.table_answers.table_columns import qualifiers
from localcrag.crag.table_answers.table_totals import totals_of
from localcrag.crag.table_answers.table_values import ColumnKind, column_values
from localcrag.types import HEADER_SEPARATOR

MIN_PERIODS = 3
"""The fewest columns of one kind of period."""
MAX_LONG_ROWS = 20_000
"""The most rows of a table in long form."""
CELL = "cell"
"""What each row of a table in long form is of its document."""
VALUE = "value"
"""The name of the column of the values, in a table without a name."""
_MAX_SHORT = 3
"""The letters of a short name of a month or a day, which in lower case may be another word: "may", "sun"."""
_QUARTER = re.compile(
    r"(?:q|qtr\.? ?|quarter )([1-4])|([1-4])(?:st|nd|rd|th)? ?(?:q|qtr|quarter)|([1-4])\. quartal",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD = re.compile(r"[^\W_]+(?:[/–-]\d+)?")
_BY = re.compile(
    r"[,;:(]? \b(?:by|per|nach|par|for each|of each|in each)\b .*$|\W*\b(?:19|20)\d\d\b\W*$", re.IGNORECASE
)
"""The end of the name of a table that says what its rows and columns are: "Sales by shop", "Hours 2024"."""


@dataclass(frozen=True)
class LongForm:
    """A table in long form, and the keys of the periods that its columns were.

    ``kind`` is what they are: "month", "day", "quarter" or "year".
    """

    table: ParsedTable
    kind: str
    periods: frozenset[str]


def _month(name: str) -> str:
    return str(MONTHS.get(name.casefold().rstrip("."), ""))


def _weekday(name: str) -> str:
    return str(WEEKDAYS.get(name.casefold().rstrip("."), ""))


def _quarter(name: str) -> str:
    found = _QUARTER.fullmatch(name)
    return next(filter(None, found.groups())) if found else ""


def _year(name: str) -> str:
    return name if _YEAR.fullmatch(name) else season_of(name)


_KINDS: Mapping[str, Callable[[str], str]] = {
    "month": _month,
    "day": _weekday,
    "quarter": _quarter,
    "year": _year,
}
"""The kinds of periods, and what tells the key of one from its name; "" of any other name."""


def as_asked(question: str, table: ParsedTable) -> ParsedTable:
    """The table in long form, if it has one and the question names none of the columns; else as it is.

    A question that names one, "the most visitors in 2022", goes over this column.
    """
    long = long_form(table)
    if long is None or _names_period(question, long.kind, long.periods):
        return table
    return long.table


@once_per_table
def long_form(table: ParsedTable) -> LongForm | None:
    """The long form of a table; None if its columns of numbers are not all periods of one kind.

    A first column of numbers tells the rows apart, as one of years does, and columns that add up the others
    are left out. So are rows that add up others.
    """
    kind, keys = _periods_among({column: table.header(column) for column in table.columns})
    return _melted(table, kind, keys) if keys else None


def goes_over_periods(question: str, cells: Mapping[str, str]) -> bool:
    """Whether the cells of a row that have numbers are of periods, of which a question names none.

    Args:
        question: a question for a total, an average or an extreme.
        cells: the cells of a row by the names of their columns.
    """
    kind, keys = _periods_among({name: name for name in cells})
    numbers = [name for name in keys if column_values([cells[name]]).kind is ColumnKind.NUMBER]
    return len(numbers) >= MIN_PERIODS and not _names_period(question, kind, keys.values())


def _periods_among(headers: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The kind of the periods that some columns are, and the keys of these; "" and none without any.

    Args:
        headers: the names of columns as they are read, by columns.
    """
    for kind, key_of in _KINDS.items():
        parts = {column: header.rpartition(HEADER_SEPARATOR) for column, header in headers.items()}
        keys = {column: key for column, (_, _, last) in parts.items() if (key := key_of(last.strip()))}
        if MIN_PERIODS <= len(keys) == len(set(keys.values())):
            return (kind, keys) if len({parts[column][0] for column in keys}) == 1 else ("", {})
    return "", {}


def _melted(table: ParsedTable, kind: str, keys: Mapping[str, str]) -> LongForm | None:
    """The long form of a table some of whose columns are periods, by the keys of these."""
    totals = totals_of(table).rows
    rows = [row for at, row in enumerate(table.rows) if at not in totals]
    values = {c: column_values([row.cells.get(c, "") for row in rows]) for c in table.columns}
    are_numbers = all(values[c].kind is ColumnKind.NUMBER for c in keys)
    if not are_numbers or len({values[c].unit for c in keys}) > 1 or len(rows) * len(keys) > MAX_LONG_ROWS:
        return None
    label = table.columns[0]
    others = [c for c in table.columns if c not in keys]
    numbers = [
        c for c in others if c != label and values[c].kind is ColumnKind.NUMBER and not _has_years(rows, c)
    ]
    added = [values[c].values for c in keys]
    sums = [c for c in numbers if qualifiers(table.wording(c)) or is_sum(values[c].values, added)]
    if label in keys or len(sums) < len(numbers):
        return None
    kept = [c for c in others if c not in sums]
    period = kind if kind not in map(str.casefold, kept) else f"{kind} of column"
    above = next(table.header(c).rpartition(HEADER_SEPARATOR)[0] for c in keys)
    measure = _measure(table, above, (*kept, period))
    names = {c: table.header(c).rpartition(HEADER_SEPARATOR)[2].strip() for c in keys}
    long = tuple(
        ParsedRow(
            {c: row.cells.get(c, "") for c in kept} | {period: names[c], measure: row.cells.get(c, "")},
            row.strip,
        )
        for row in rows
        for c in keys
    )
    made = ParsedTable((*kept, period, measure), long, table.names, table.own_names, counted=CELL)
    return LongForm(made, kind, frozenset(keys.values()))


def _has_years(rows: Sequence[ParsedRow], column: str) -> bool:
    """Whether the numbers of a column are years, which tell rows apart."""
    return all(_YEAR.fullmatch(row.cells.get(column, "")) for row in rows)


def _measure(table: ParsedTable, above: str, taken: tuple[str, ...]) -> str:
    """The name of the column of the values: that above the periods, or the nearest name of the table."""
    named = (_BY.sub("", name).strip() for name in (above, *table.names))
    free = (name for name in named if any(map(str.isalpha, name)) and name not in taken)
    return next(free, VALUE)


def _names_period(question: str, kind: str, periods: Collection[str]) -> bool:
    """Whether a question names one of some periods of a kind, of which the keys are given."""
    key_of = _KINDS[kind]
    words = _WORD.findall(question)
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    said = (each for each in (*words, *pairs) if len(each) > _MAX_SHORT or each[0].isupper())
    return any(key_of(each) in periods for each in said if len(each) > 1)
