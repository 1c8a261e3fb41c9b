"""The nouns by which a question calls the rows of a table: one of its columns, its name, or a common word."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from pathlib import PurePath

from localcrag.crag.table_answers.partial_values import PERIOD_OF
from localcrag.crag.table_answers.table_columns import EXTREMES, UnclearError
from localcrag.crag.table_answers.table_measures import TableMeasures
from localcrag.crag.table_answers.table_names import ends_name
from localcrag.crag.table_answers.table_totals import EVENT_WORDS, adds_up_over_days
from localcrag.crag.table_answers.table_values import (
    CURRENCIES,
    TEMPORAL,
    UNITS,
    ColumnKind,
    root,
    roots,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import COST_WORDS, MEASURE_WORDS, PERSONS, QUANTITY_WORDS
from localcrag.types import Aggregate

_DURATIONS = frozenset({"s", "min", "h"})
"""The units of what takes time, which adds up over days as money does."""
COUNTED_WORDS = frozenset(
    map(root, word_list("quantity qty stock count pieces unit units anzahl menge stück"))
)
"""Words in the name of a column that says how many of a thing there are, so that rows do not."""
_ANY_PERSON = frozenset(map(root, word_list("person people")))
_ROW_WORDS = frozenset(
    map(
        root,
        word_list(
            "one thing item entry line article product device deal offer option artikel posten eintrag gerät "
            "produkt angebot"
        ),
    )
)
"""What a question may call a row, whatever it is."""
_ENTRY_WORDS = frozenset(map(root, word_list("entry record row eintrag zeile")))
"""What any question may call a row, one that counts rows as well."""
_UNDATED = re.compile(
    r"(?:[\W_]+(?:\d+|q[1-4]|january|february|march|april|may|june|july|august|september|october|november|december|all|complete|data|dataset|full|list|table))+$",
    re.IGNORECASE,
)
"""The year, quarter or month at the end of a name."""
_NUMBERED = re.compile(r"(?P<what>[^\W\d_]{3,})[-_ ]?(?:nr|no|number|nummer|id|code)\.?", re.IGNORECASE)
"""The name of a column that tells rows apart by a number, and of what they are: "Artikelnr.", "ticket_id"."""
_NAMED = re.compile(r"(?P<what>[^\W\d_]{3,})[-_ ]name", re.IGNORECASE)
"""The name of a column that names the rows, and of what they are: "State Name"."""
MAX_PLACE = 24
"""The highest number of a row within something, such as a lesson within a day."""


class RowNouns(TableMeasures):
    """Accounts for the noun that a question has for the rows."""

    def numbering(self, at: int, columns: Sequence[str]) -> str:
        """The column that names or numbers what a word says, "" if there is none.

        There is none if a column has just that name.
        """
        word = self.tokens[at].root
        if any(self.named(column) == (word,) for column in columns):
            return ""
        for pattern in (_NAMED, _NUMBERED):
            matches = ((column, pattern.fullmatch(self.table.wording(column))) for column in columns)
            found = [column for column, match in matches if match and root(match["what"]) == word]
            if found:
                return found[0] if len(found) == 1 else ""
        return ""

    def of_period(self, at: int) -> str:
        """The one column of dates of which each is in another period: the month of "1855-01-01".

        It is accounted for; "" if there is none.
        """
        period = PERIOD_OF.get(self.tokens[at].root)
        dated = self.of_kind(ColumnKind.DATE)
        if period is None or len(dated) != 1 or self.of_kind(ColumnKind.YEAR):
            return ""
        met = [n for n in range(len(self.rows)) if all(n in c.rows for c in self.conditions)]
        periods = [period(day) for n in met if isinstance(day := self.kinds[dated[0]].values[n], date)]
        if len(set(periods)) < len(periods) or len(periods) < len(met):
            return ""
        self.tokens[at].used = True
        return dated[0]

    def counts_a_value(self) -> bool:
        """Whether what is counted are the rows of one value, as the altos of a column "Voice".

        Not if a column measures something, of which there may be several in a row, nor if the value names a
        row.
        """
        if len(self.conditions) != 1 or self.question.conditions:
            return False
        if any(map(self._may_count, self.quantities)):
            return False
        (value,) = self.conditions
        return value.column != self.label and len(value.rows) > 1

    def _may_count(self, column: str) -> bool:
        """Whether the numbers of a column may say how many there are of something, and measure nothing."""
        values = self.kinds[column]
        is_whole = all(value >= 0 == value % 1 for value in values.values if isinstance(value, Decimal))
        return is_whole and not (values.unit or set(roots(self.table.wording(column))) & MEASURE_WORDS)

    def take_numbered_rows(self, column: str) -> None:
        """Account for rows that are called by the column of their numbers: each has one "lesson", the third.

        The match is then loose. Raises UnclearError if the column may say how many there are, as "lessons".
        """
        values = [value for value in self.kinds[column].values if value is not None]
        header, plural = self.table.wording(column).lower(), f"{self.table.wording(column)}s".lower()
        is_singular = not header.endswith("s") and any(token.low == plural for token in self.tokens)
        are_places = all(value in range(1, MAX_PLACE + 1) for value in values)
        if not (is_singular and are_places and self.conditions and not self.question.in_total):
            raise UnclearError
        self.loose = True

    def take_row_word(self, at: int) -> None:
        """Account for a noun that means a row.

        It is the last word of the table's name, as of "lift-incidents-2026", or a person if the rows are
        named by persons: any word for one if a cell says which of them count, else "person" alone. Where the
        column that names the rows has no name itself, any word does for the one with the most. In the end it
        may be a word that the table does not have (:meth:`.PartialValues.may_drop_subject`).
        """
        token = self.tokens[at]
        prefix = roots(self.table.prefix)
        ends = [_UNDATED.sub("", name.rstrip()) for name in self.table.own_names]
        plural = [name for name in ends if name.lower().endswith("s")]
        singular = [name[:-1] for name in plural]
        is_named = any(token.root in roots(name)[-1:] for name in (*plural, *singular))
        is_named = is_named or token.root in prefix[-1:] or ends_name(token.low, self.table)
        is_row = token.root in _ENTRY_WORDS
        is_any = token.root in _ROW_WORDS and self.question.operation is not Aggregate.COUNT
        persons = PERSONS - {root("name")} | _ANY_PERSON if self.conditions else _ANY_PERSON
        is_person = token.root in persons and set(self.named(self.label)) & PERSONS
        is_unnamed = not self.label and self.question.operation in EXTREMES and self.names_rows(self.label)
        is_known = is_named or is_row or is_any or is_person or is_unnamed
        is_extreme = self.question.operation in EXTREMES
        if not is_known and not (self.may_name_rows(at) if is_extreme else self.may_drop_subject()):
            if self.question.is_lenient:
                return
            raise UnclearError
        if self._is_of_heading(token.root):
            raise UnclearError
        token.used = True

    def _is_of_heading(self, word: str) -> bool:
        """Whether rows are counted as what only a heading is called: those of "Vaccine" below "Dogs"."""
        if self.question.operation is not Aggregate.COUNT or self.conditions or self.names_anything:
            return False
        file = PurePath(self.table.source).stem
        headings = [name for name in self.table.own_names if name != file]
        is_of_heading = any(word in roots(name)[-1:] for name in headings) and word not in roots(file)
        return is_of_heading and self.names_rows(self.label) and word not in self.named(self.label)

    def is_of_events(self, column: str) -> bool:
        """Whether the numbers of a column are of what happened once, which adds up: money, time, deaths.

        So is what two other columns make together, as units and what each costs.
        """
        header = set(roots(self.table.wording(column)))
        has_price = any(set(roots(self.table.wording(other))) & COST_WORDS for other in self.quantities)
        is_money = header & (COST_WORDS | EVENT_WORDS) or (has_price and self.is_product(column))
        return bool(is_money or self.units(column) & (CURRENCIES | _DURATIONS))

    def is_of_days(self, column: str) -> bool:
        """Whether the numbers of a column are of one day each, by its name, or by that of the table.

        The latter tells it of a column whose own name is only a unit or that of a number: "kg", "quantity".
        """
        header = set(roots(self.table.wording(column)))
        if header & COUNTED_WORDS or header <= UNITS | QUANTITY_WORDS["weight"]:
            header |= {word for name in self.table.own_names for word in roots(name)}
        return adds_up_over_days(header, self.units(column))

    def is_panel(self, column: str) -> bool:
        """Whether the rows are of several things at the same times each: the members of each club each year.

        The things are those that a column names. Two of them have the same times then, of which there are
        several.
        """
        for dated in self.of_kind(*TEMPORAL) if column else ():
            times: dict[str, set[object]] = {}
            for cell, value in zip(self.cells(column), self.kinds[dated].values, strict=True):
                times.setdefault(cell, set()).add(value)
            several = [frozenset(values) for values in times.values() if len(values) > 1]
            if dated != column and len(set(several)) < len(several):
                return True
        return False

    def names_rows(self, column: str) -> bool:
        """Whether the cells of a column are texts of which each is another."""
        cells = self.cells(column)
        return self.kinds[column].kind is ColumnKind.TEXT and len(set(cells)) == len(cells)
