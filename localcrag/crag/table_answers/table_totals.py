"""The rows of a table that add others up: "Total", "Total North", "Zwischensumme".

They must not be counted with the rows that they add up; nor must the world and the continents among
countries. The label of such a row says so, and its numbers prove it: they equal the sums of the rows above
it, back to an earlier total, or of those below it. A label that says nothing else is enough, and so is that
of the last row; but if the numbers then contradict it, the rows hold one thing twice, as a pivot table does
whose groups stand among their members.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate

from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable, once_per_table
from localcrag.crag.table_answers.place_names import regions_among_countries
from localcrag.crag.table_answers.table_values import (
    ColumnKind,
    column_values,
    quantity,
    root,
    roots,
    word_list,
)

RATES = frozenset(
    map(root, word_list("temperature rate share percent percentage ratio average mean altitude height"))
)
"""Words for what cannot be added up."""
FLOW_UNITS = frozenset({"h", "min", "km", "kwh"})
FLOW_WORDS = frozenset(
    map(
        root,
        word_list(
            """
            attendance call consumption delivered distance donation driven duration harvested incident
            kilometre mileage night ordered output printed produced production rain rainfall ride sale served
            shipped sold trip usage used visit visitor worked
            """
        ),
    )
)
"""Units and words in the name of a column whose numbers are of one day each, and add up over days."""
EVENT_WORDS = frozenset(
    map(root, word_list("accident birth casualty crash death dead fatality injury killed"))
)
"""Words in the name of a column of what happened once, which adds up over years as well."""
STATE_WORDS = frozenset(
    map(root, word_list("balance count counter level meter odometer reading remaining stand stock"))
)
"""Words in the name of a column whose numbers hold at a time: those of several times are no sum."""
RATE_UNITS = frozenset({"%", "°c", "°f", "km/h", "db"})
MAX_RUNS = 50
"""The most earlier totals from which on the rows above a total are added up, and so with later ones."""
MAX_AVERAGES = 0.4
"""The most rows of a table, as a share, that go over others: if more are "average", that is what they are."""
MAX_LABEL_COLUMNS = 3
"""The first columns, one of which may have the names of the rows."""
MAX_ROUNDING = Decimal("0.01")
"""The share of a total by which rounded numbers may miss it."""
_GERMAN_LABEL = r"(?:gesamt|zwischen|end)?(?:summen?|ergebnis|betrag)|gesamt|insgesamt"
_PARTIAL_LABEL = re.compile(r"sub-?(?:total|sum)s?:?|zwischen(?:summe|ergebnis|betrag):?", re.IGNORECASE)
_AVERAGE_LABEL = re.compile(r"average|mean|all|overall|durchschnitt|mittelwert", re.IGNORECASE)
"""A label of a row that goes over others, and need not be their sum."""
_TOTAL_LABEL = re.compile(
    rf"(?:(?:grand |sub-?|overall )?(?:total|sum)s?|{_GERMAN_LABEL}):?|Σ|∑", re.IGNORECASE
)
_TOTAL_BEGINNING = re.compile(
    r"(?:(?:grand |sub-?)?total|sum|(?:gesamt|zwischen)?summe|gesamt)\b", re.IGNORECASE
)
_TOTAL_END = re.compile(
    r"[\W_](?:(?:sub-?)?totals?|(?:zwischen)?summe|gesamt|insgesamt|ergebnis):?$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TableTotals:
    """The rows of a table that add others up, by their numbers.

    ``rows`` are not counted. ``doubtful`` are rows that are labelled as a total of something, which their
    numbers do not prove; they are counted. ``overall`` is the one row for all of the table, or None, and
    ``proven`` says that its numbers are the sums of others. ``contradicted`` says that there is a row of
    totals whose numbers are not.
    """

    rows: frozenset[int] = frozenset()
    doubtful: frozenset[int] = frozenset()
    overall: int | None = None
    proven: bool = False
    contradicted: bool = False


class _Column:
    """The numbers of a column, and the sums of those that are in no row of totals."""

    def __init__(
        self, values: Sequence[Decimal | None], plain: Sequence[bool], filled: Sequence[bool]
    ) -> None:
        self.values = values
        counted = [value if is_plain else None for value, is_plain in zip(values, plain, strict=True)]
        self._sums = [Decimal(0), *accumulate(value or Decimal(0) for value in counted)]
        missing = [
            value is None and is_plain and is_filled
            for value, is_plain, is_filled in zip(values, plain, filled, strict=True)
        ]
        self._missing = [0, *accumulate(missing)]

    def sum(self, start: int, end: int) -> Decimal:
        """The sum of the rows from one up to another."""
        return self._sums[end] - self._sums[start]

    def is_complete(self, start: int, end: int) -> bool:
        """Whether none of these rows lacks a number here, but for headings of one cell."""
        return self._missing[end] == self._missing[start]


class _Rows:
    """The rows of a table, of which some are labelled as totals."""

    def __init__(self, table: ParsedTable, labelled: Sequence[int]) -> None:
        self.labelled = labelled
        self.count = len(table.rows)
        marked = set(labelled)
        numbers = list(_added_up(table))
        plain = [at not in marked for at in range(self.count)]
        filled = [sum(map(bool, row.cells.values())) > 1 for row in table.rows]
        self.columns = [_Column(values, plain, filled) for values in numbers]

    def has_numbers(self, at: int) -> bool:
        """Whether a row has a number that could be a sum."""
        return any(column.values[at] is not None for column in self.columns)

    def is_proven(self, at: int) -> bool:
        """Whether at least half of the numbers of a row are the sums of the same rows."""
        for start, end in self._runs(at):
            equal = different = 0
            for column in self.columns:
                value, total = column.values[at], column.sum(start, end)
                if value is None or value == total == 0:
                    continue
                is_equal = is_close(value, total)
                equal += is_equal
                different += not is_equal and column.is_complete(start, end)
            if equal and equal >= different:
                return True
        return False

    def is_complete(self, at: int) -> bool:
        """Whether a row has a number in a column where no other one is missing."""
        return any(
            column.values[at] is not None and column.is_complete(0, self.count) for column in self.columns
        )

    def _runs(self, at: int) -> Iterator[tuple[int, int]]:
        """The runs of rows that a row may add up, each as its start and end."""
        place = bisect_left(self.labelled, at)
        for before in (-1, *self.labelled[max(0, place - MAX_RUNS) : place]):
            yield before + 1, at
        for after in (*self.labelled[place + 1 : place + 1 + MAX_RUNS], self.count):
            yield at + 1, after


@once_per_table
def totals_of(table: ParsedTable) -> TableTotals:
    """The rows of a table that add others up."""
    last = len(table.rows) - 1
    labels = [next(iter(row.cells.values()), "").strip() for row in table.rows]
    averages = {at for at, label in enumerate(labels) if _AVERAGE_LABEL.fullmatch(label)}
    if len(averages) > MAX_AVERAGES * len(labels):
        averages = set()
    averages |= _regions(table)
    certain = {
        at
        for at, label in enumerate(labels)
        if _TOTAL_LABEL.fullmatch(label) or (at == last and _TOTAL_BEGINNING.match(label))
    }
    worded = {
        at
        for at, label in enumerate(labels)
        if at not in certain and (_TOTAL_BEGINNING.match(label) or _TOTAL_END.search(label))
    }
    within = {at for at, row in enumerate(table.rows) if at not in certain | worded and _is_group_total(row)}
    marked = certain | worded | within
    if not marked:
        return TableTotals(frozenset(averages))
    rows = _Rows(table, sorted(marked | averages))
    proven = {at for at in marked if rows.is_proven(at)}
    overall = [at for at in certain if not _PARTIAL_LABEL.fullmatch(labels[at])]
    overall = [at for at in overall if _TOTAL_LABEL.fullmatch(labels[at]) or marked == {at}]
    only = overall[0] if len(overall) == 1 else None
    return TableTotals(
        frozenset(averages | certain | proven),
        frozenset(at for at in worded - proven if rows.has_numbers(at)),
        only,
        only in proven,
        any(rows.is_complete(at) for at in certain - proven),
    )


def _regions(table: ParsedTable) -> set[int]:
    """The rows of regions among those of countries: Asia, which has its countries in rows of their own."""
    for column in table.columns[:MAX_LABEL_COLUMNS]:
        names = [row.cells.get(column, "").strip() for row in table.rows]
        if regions := regions_among_countries(names):
            return {at for at, name in enumerate(names) if name in regions}
    return set()


def is_close(total: Decimal, added: Decimal) -> bool:
    """Whether a number is the sum of others, but for what was lost by rounding them."""
    return abs(total - added) <= MAX_ROUNDING * abs(total)


def _is_group_total(row: ParsedRow) -> bool:
    """Whether the total of a group may be said behind its name: "Region: North · Branch: Total"."""
    cells = list(row.cells.values())
    said = next((at for at, cell in enumerate(cells) if at and _TOTAL_LABEL.fullmatch(cell.strip())), None)
    return said is not None and all(quantity(cell) is None for cell in cells[: said + 1])


def _added_up(table: ParsedTable) -> Iterator[list[Decimal | None]]:
    """The numbers of each column that can be added up."""
    for column in table.columns:
        values = column_values(table.cells(column))
        is_rate = set(roots(table.header(column))) & RATES or values.unit in RATE_UNITS
        if values.kind is ColumnKind.NUMBER and not is_rate:
            yield [value if isinstance(value, Decimal) else None for value in values.values]


def adds_up_over_days(header: Set[str], units: Set[str]) -> bool:
    """Whether the numbers of a column, by the words of its name and its units, are of one day each."""
    return bool(header & FLOW_WORDS or units & FLOW_UNITS) and not header & STATE_WORDS
