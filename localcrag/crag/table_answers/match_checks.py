"""Whether what a question asks of a table makes sense: what must not be counted, added up or compared."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from localcrag.crag.table_answers.row_nouns import COUNTED_WORDS, RowNouns
from localcrag.crag.table_answers.table_columns import (
    EXTREMES,
    RowCondition,
    UnclearError,
    qualifiers,
)
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_totals import (
    RATE_UNITS,
    RATES,
    is_close,
)
from localcrag.crag.table_answers.table_values import (
    TEMPORAL,
    ColumnKind,
    column_values,
    month_number,
    root,
    roots,
)
from localcrag.crag.table_answers.table_vocabulary import QUANTITY_WORDS
from localcrag.types import Aggregate

_NUMBER_OF = re.compile(r"number|how many|no\. of .+|number of .+|anzahl.*", re.IGNORECASE)
"""The name of a column that says how many of a thing there are, if "number" does not number the rows."""
_OVER_ALL = re.compile(r"(?:all|alle|tous|toutes|todos|todas) [^\W\d_].*s|alle [^\W\d_].*", re.IGNORECASE)
"""A cell that names all things which the rows beside it have one by one: "All natural disasters"."""


class MatchChecks(RowNouns):
    """Refuses results that would say something else than they seem to."""

    def check(self, match: TableMatch) -> None:
        """Raise UnclearError for a result that would say something else than it seems to."""
        asked = match.question
        if asked.operation in (Aggregate.TOTAL, Aggregate.AVERAGE):
            header = set(roots(self.table.wording(match.column)))
            if said := qualifiers(self.table.wording(match.column)):
                is_total = asked.operation is Aggregate.TOTAL and said == {root("total")}
                is_named = len(self.named(match.column)) > 1 or bool(asked.measured) or asked.is_lenient
                if not is_total or not (is_named or self.is_product(match.column)):
                    raise UnclearError
            if asked.operation is Aggregate.TOTAL and (header & RATES or match.values.unit in RATE_UNITS):
                raise UnclearError
            self._check_times(match)
        if asked.operation is not Aggregate.COUNT:
            self._check_all(match)
        named = (set(self.named(column)) for column in self.quantities)
        holds_numbers = any(words & COUNTED_WORDS for words in named) or any(
            _NUMBER_OF.fullmatch(self.table.wording(column))
            for column in self.of_kind(ColumnKind.NUMBER)
            if column != self.label
        )
        names_rows = self.marked and match.entity == self.label and self.names_rows(self.label)
        compares_columns = any(condition.bound for condition in asked.conditions)
        counts_rows = asked.distinct or asked.listing or names_rows or compares_columns or asked.of_rows
        if asked.operation is Aggregate.COUNT and holds_numbers and not counts_rows:
            raise UnclearError
        if asked.operation is Aggregate.COUNT and match.entity and not asked.distinct:
            cells = [cell for cell in self.cells(match.entity) if cell]
            if len(cells) / 2 < len(set(cells)) < len(cells):
                raise UnclearError
        if asked.operation is Aggregate.COUNT and not asked.listing and self._counts_periods(match):
            raise UnclearError
        self._check_one_row(match)
        if asked.operation in EXTREMES and match.entity and self.differs_within(match):
            if self._names_amount(match.column):
                raise UnclearError
            self.loose = self.loose or not asked.says_has

    def _counts_periods(self, match: TableMatch) -> bool:
        """Whether rows of months or years would be counted for what there is of in them: visits, by month."""
        cells = self.cells(self.label)
        are_periods = self.label in self.of_kind(ColumnKind.YEAR) or all(map(month_number, cells))
        return are_periods and not match.entity and not self.question.of_rows and bool(self.quantities)

    def differs_within(self, match: TableMatch) -> bool:
        """Whether the rows that count have several numbers for one cell of the column that is asked for."""
        values: dict[str, set[object]] = {}
        cells = self.cells(match.entity)
        for at in (n for n in range(len(cells)) if all(n in c.rows for c in match.conditions)):
            values.setdefault(cells[at], set()).add(match.values.values[at])
        return any(len(found) > 1 for found in values.values())

    def _check_one_row(self, match: TableMatch) -> None:
        """Refuse to look for the most in one row that the question names, to count it, or to add up one day.

        "The biggest cost in 2022" is told by no row of costs by the year, nor "How many costs were there?".
        """
        met = [n for n in range(len(self.rows)) if all(n in c.rows for c in match.conditions)]
        named = [condition for condition in match.conditions if condition.column == self.label]
        counts = match.question.operation is Aggregate.COUNT and len(match.conditions) == 1
        is_counted = counts and any(" = " in each.words for each in named)
        is_of_named = is_counted or bool(named and match.question.operation in EXTREMES)
        if len(met) == 1 and (is_of_named or self.adds_log):
            raise UnclearError

    def _names_amount(self, column: str) -> bool:
        """Whether the most is asked for of a column that the question names, and not what is longest itself.

        "The longest days late" of a group may be those of one row, or all of them.
        """
        about = self.question.about
        if about in ("", "deaths"):
            return True
        said = {token.root for token in self.tokens}
        is_named = bool(said & set(self.named(column))) and about not in ("age", "time", "merit")
        return is_named and not set(roots(self.table.wording(column))) & QUANTITY_WORDS.get(
            about, frozenset()
        )

    def adds_unproven_totals(self, match: TableMatch) -> bool:
        """Whether a column is added up that is called a total, and is not known to be that of its own row."""
        is_total = root("total") in qualifiers(self.table.wording(match.column))
        return match.question.operation is Aggregate.TOTAL and is_total and not self.is_product(match.column)

    def _check_all(self, match: TableMatch) -> None:
        """Refuse rows that go over others of their column, "All disasters", which no condition leaves out."""
        column = match.entity or self.label
        met = [n for n in range(len(self.rows)) if all(n in c.rows for c in match.conditions)]
        cells = {self.rows[n].cells.get(column, "") for n in met}
        if len(cells) > 1 and any(map(_OVER_ALL.fullmatch, cells)):
            raise UnclearError

    def checked_totals(self, match: TableMatch) -> TableMatch:
        """The match, unless a row of totals says that rows are counted twice or that one is itself a total.

        The total of the whole table is then what its row of totals says.
        """
        totals = self.totals
        if (
            match.question.operation is Aggregate.TOTAL
            and not match.conditions
            and totals.overall is not None
        ):
            said = column_values(self.table.cells(match.column)).values
            value = said[totals.overall] if said else None
            added = sum((each for each in match.values.values if isinstance(each, Decimal)), Decimal(0))
            if isinstance(value, Decimal) and value != added:
                if totals.proven and not is_close(value, added):
                    raise UnclearError
                return self._read_total(match, totals.overall, value)
        kept = [at for at in range(len(self.table.rows)) if at not in totals.rows]
        counted = [kept[at] for at in range(len(kept)) if all(at in c.rows for c in match.conditions)]
        if (totals.contradicted and len(counted) > 1) or totals.doubtful & set(counted):
            raise UnclearError
        return match

    def _read_total(self, match: TableMatch, at: int, value: Decimal) -> TableMatch:
        """The match whose one row is that of the totals."""
        row = self.table.rows[at]
        column, label = next(iter(row.cells.items()))
        condition = RowCondition(column, f"{self.table.header(column)} = {label}", frozenset({0}))
        values = replace(match.values, values=(value,))
        return replace(match, rows=(row,), totals=0, values=values, conditions=(condition,))

    def _check_times(self, match: TableMatch) -> None:
        """Refuse to add up one thing at several times: the members of each year are no members altogether.

        What is of one day each, as hours of work, adds up.
        """
        dated = self.of_kind(*TEMPORAL)
        varying = [c for c in dated if len({v for v in self.kinds[c].values if v is not None}) > 1]
        conditioned = {match.question.grouped, *(condition.column for condition in match.conditions)}
        if match.question.costing == "moved":
            return
        if not set(varying) - conditioned or self.is_of_events(match.column):
            return
        years = set(self.of_kind(ColumnKind.YEAR))
        if self.is_of_days(match.column) and not years & set(varying):
            return
        cells = self.cells(self.label)
        is_repeated = self.label in varying or len(set(cells)) < len(cells)
        is_over_times = is_repeated or self.is_panel(match.question.grouped)
        if match.question.operation is not Aggregate.TOTAL or not is_over_times:
            return
        if not self._says_all_rows() or any(map(self.is_panel, self.of_kind(ColumnKind.TEXT))):
            raise UnclearError
        self.loose = True

    def _says_all_rows(self) -> bool:
        """Whether a question names all rows by the table's own name: "of all call-outs together"."""
        ends = {word for name in self.table.own_names for word in roots(name)[-1:]}
        pairs = zip(self.tokens, self.tokens[1:], strict=False)
        return any(one.low == "all" and root(other.text.replace("-", "")) in ends for one, other in pairs)
