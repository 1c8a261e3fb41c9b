"""The column that a question over a table is about: it is compared, added up or averaged."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from localcrag.crag.table_answers.column_merit import is_better_high, takes_time
from localcrag.crag.table_answers.money_columns import MoneyColumns, root_set
from localcrag.crag.table_answers.question_words import ColumnChange
from localcrag.crag.table_answers.row_products import is_sum
from localcrag.crag.table_answers.running_balances import is_running_balance
from localcrag.crag.table_answers.table_columns import UnclearError
from localcrag.crag.table_answers.table_questions import generic_about
from localcrag.crag.table_answers.table_totals import adds_up_over_days
from localcrag.crag.table_answers.table_values import (
    TEMPORAL,
    UNITS,
    ColumnKind,
    root,
    roots,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import (
    COUNTED_THINGS,
    FUNCTION_WORDS,
    QUANTITY_WORDS,
    SPENDING_VERBS,
)
from localcrag.types import Aggregate

MIN_MOVES = 2
"""The fewest rows whose amounts are what came or went."""
MIN_COUNTER_STEPS = 5
"""The fewest steps from one reading to the next by which a column shows that it only grows."""
_PER = re.compile(
    r"\b(?:per|each|pro|je|par|por)\b|/|^(?:price|cost|rate|fee|preis|prix|precio)\b", re.IGNORECASE
)
"""What is in the name of a column of rates: "Price per day" is in no days."""
_TOTAL = root("total")
_HAS_THE = (["has", "the"], ["have", "the"], ["had", "the"])


_NUMBER_WORDS = root_set("number quantity qty count pieces anzahl menge stück nombre cantidad")
"""Words that name a column of how many of a thing there are."""
_WEIGHTS = frozenset({"mg", "g", "kg", "t"})
_TIMES_OF_VERBS = {
    root(verb): words
    for verbs, words in (
        ("start begin", root_set("start begin from beginn")),
        ("end finish", root_set("end finish until ende")),
        ("leave depart", root_set("departure departs depart leaves leave abfahrt")),
        ("arrive", root_set("arrival arrives arrive ankunft")),
    )
    for verb in word_list(verbs)
}
"""The names of columns of times that verbs are about."""


class TableMeasures(MoneyColumns):
    """Finds the column of numbers, dates or times that a question is about."""

    def measure(self) -> str:
        """The column that is compared or added up; "" if rows are counted. May make a count a total."""
        asked = self.question
        everywhere = range(len(self.tokens))
        if asked.change is not None:
            return self._changed(asked.change)
        if asked.measured:
            return self._added_up(asked.measured)
        match asked.operation:
            case Aggregate.COUNT:
                if asked.in_total and (column := self.number_said()):
                    if not all(self.tokens[at].used for at in asked.subject[-1:]):
                        raise UnclearError
                    asked.operation = Aggregate.TOTAL
                    return self._added_up(column)
                if asked.in_total and (column := self._of_unit_said()):
                    asked.operation = Aggregate.TOTAL
                    return column
                if not (asked.listing or asked.distinct) and (
                    column := self.events_of() or self._numbers_of() or self._logged()
                ):
                    asked.operation = Aggregate.TOTAL
                    return column
                return ""
            case Aggregate.TOTAL if asked.costing == "moved":
                return self._moved()
            case Aggregate.TOTAL if asked.costing:
                said = self.column_said(self.quantities, everywhere) if asked.costing == "sum" else ""
                return self._added_up(said or self.costs())
            case Aggregate.TOTAL:
                column = self.total_said() or self.column_said(self.quantities, everywhere)
                column = column or self._amount() or self._total_of_rows()
                if not column and asked.spending:
                    column = self.column_about(self.quantities, "spending") or self.fees()
                    if not column:
                        raise UnclearError
                    for at in asked.subject:
                        token = self.tokens[at]
                        token.used = token.low not in SPENDING_VERBS or self.is_about(token.root)
                column = column or self.money_said()
                if not column and not asked.spending and asked.asking == "how much":
                    column, self.loose = self.fees(), True
                    if not column:
                        raise UnclearError
                if not column and not asked.spending:
                    self.check_counted()
                    asked.operation = Aggregate.COUNT
                    asked.subject = asked.open_tokens()
                if column:
                    self.take_words_for_money(column)
                return self._added_up(column) if column else ""
            case Aggregate.AVERAGE:
                column = self.column_said(self.quantities, everywhere)
                return self._added_up(column)
            case _ if asked.about == "merit":
                column = self.column_said(self.quantities, everywhere)
                asked.highest = self._is_better_high(column) is (asked.operation is Aggregate.HIGHEST)
                asked.operation = Aggregate.HIGHEST if asked.highest else Aggregate.LOWEST
            case Aggregate.LATEST | Aggregate.EARLIEST:
                column = self._temporal_measure()
            case _:
                column = self._rate_about(asked.about) or self.column_said(self.quantities, everywhere)
                if column and asked.about == "weight" and not self._weighs(column):
                    raise UnclearError
                about = asked.about or (self.verb_about() if not column else "")
                about = about or generic_about(asked.superlative)
                column = self._paced(column) if about == "speed" else column
                if not column and about:
                    column = self.column_about(self.quantities, about)
                    self._take_quantity(column, about)
                if not column and not asked.about:
                    column = self.money_said()
                if not column and not asked.about and self._names_nothing_after():
                    column = self.quantities[0] if len(self.quantities) == 1 else ""
                if not column and not asked.about:
                    column = self._sum_of_row()
        if not column:
            raise UnclearError
        return column

    def _paced(self, column: str) -> str:
        """The column for the fastest or the slowest, which is turned round if it has how long things take.

        Without a ``column`` that is said, it is the only one that has that, unless one has a speed.
        """
        asked, words = self.question, QUANTITY_WORDS["speed"]
        timed = [each for each in self.quantities if takes_time(self.table.wording(each))]
        has_speed = any(words & set(roots(self.table.wording(each))) for each in self.quantities)
        found = column or (timed[0] if len(timed) == 1 and not has_speed else "")
        if found in timed:
            asked.highest = not asked.highest
            asked.operation = Aggregate.HIGHEST if asked.highest else Aggregate.LOWEST
        return found

    def _total_of_rows(self) -> str:
        """The one column called a total that is proven to be one of its row; "" if there is none."""
        columns = self.quantities if self.question.asking == "what" else []
        return next((c for c in columns if self.named(c) == (_TOTAL,) and self.is_product(c)), "")

    def _amount(self) -> str:
        """The column that "amount of" names, if those words do not only say how many; "" if there is none."""
        places = [at for at, token in enumerate(self.tokens[:-1]) if token.low == "amount" and token.used]
        places = [at for at in places if self.tokens[at + 1].low == "of"]
        for at in places:
            self.tokens[at].used = False
        column = self.column_said(self.quantities, places)
        for at in places:
            self.tokens[at].used = True
        return column

    def _temporal_measure(self) -> str:
        """The column of dates or years for the latest, the earliest, the oldest."""
        asked = self.question
        candidates = self.of_kind(*TEMPORAL)
        if column := self.column_said(candidates, range(len(self.tokens))):
            return column
        if asked.about == "age":
            ages = [column for column in self.quantities if self.named(column) == (root("age"),)]
            dated = self.column_about(candidates, "age")
            if ages and not dated:
                asked.highest = not asked.highest
                asked.operation = Aggregate.HIGHEST if asked.highest else Aggregate.LOWEST
                return ages[0]
            return "" if ages else dated
        return candidates[0] if len(candidates) == 1 else self._time_of_verb(candidates)

    def _time_of_verb(self, candidates: Sequence[str]) -> str:
        """The one column of times that a verb is about, which is then accounted for: "starts earliest"."""
        for at in self.question.open_tokens():
            words = _TIMES_OF_VERBS.get(self.tokens[at].root, frozenset())
            found = [column for column in candidates if set(self.named(column)) & words]
            if len(found) == 1:
                self.tokens[at].used = True
                return found[0]
        return ""

    def _added_up(self, column: str) -> str:
        """The column to add up: of those that the unit which is said may mean, the one that is no counter's.

        Raises UnclearError if there is none, or several.
        """
        if not column:
            raise UnclearError
        named = set(self.named(column))
        others = [c for c in self.quantities if c != column and named <= UNITS & self._own_units(c)]
        fitting = [c for c in (column, *others) if not (self._is_counter(c) or self._is_balance(c))]
        if len(fitting) != 1:
            raise UnclearError
        return fitting[0]

    def _changed(self, change: ColumnChange) -> str:
        """The column of a change, which the table got last.

        Raises UnclearError if nothing rose, or fell. Unless it is asked for in per cent the match is loose.
        """
        column = self.table.columns[-1]
        values = [value for value in self.kinds[column].values if isinstance(value, Decimal)]
        if not any(value > 0 if self.question.highest else value < 0 for value in values):
            raise UnclearError
        self.loose = self.loose or not change.is_share
        return column

    def _is_balance(self, column: str) -> bool:
        """Whether a column is the running balance of others."""
        others = [self.kinds[other].values for other in self.quantities if other != column]
        return is_running_balance(self.table.wording(column), self.kinds[column].values, others)

    def _moved(self) -> str:
        """The one column of amounts that is filled in the rows whose cells the question names.

        Raises UnclearError unless all others, but for a running balance, are empty there. The match is loose.
        """
        self.take_values("")
        amounts = [column for column in self.quantities if not self._is_balance(column)]
        met = [at for at in range(len(self.rows)) if all(at in c.rows for c in self.conditions)]
        filled = [c for c in amounts if all(self.kinds[c].values[at] is not None for at in met)]
        partly = [c for c in amounts if any(self.kinds[c].values[at] is not None for at in met)]
        if not self.conditions or len(met) < MIN_MOVES or len(amounts) < 2 or not filled == partly != []:
            raise UnclearError
        if len(filled) != 1:
            raise UnclearError
        self.loose = True
        return filled[0]

    def _of_unit_said(self, *, by_day: bool = False) -> str:
        """The one column in the unit that is counted, which is then accounted for: "how many minutes".

        "" if there is none, or if its numbers must be of one day each (``by_day``) and are not.
        """
        places = [at for at in self.question.subject if self.tokens[at].root in UNITS]
        said = {self.tokens[at].root for at in places}
        found = [c for c in self.quantities if said & self._own_units(c) and not self._is_counter(c)]
        if len(said) != 1 or len(found) != 1:
            return ""
        (column,) = found
        if by_day and not adds_up_over_days(set(roots(self.table.wording(column))), self.units(column)):
            return ""
        for at in places:
            self.tokens[at].used = True
        return column

    def _logged(self) -> str:
        """The column in the unit that is counted, if its numbers are of one day each, as in a log of work.

        It is accounted for, and the match is loose: one row may be meant. "" if there is none.
        """
        column = self._of_unit_said(by_day=True) if self.of_kind(ColumnKind.DATE) else ""
        if column:
            self.loose = self.adds_log = True
        return column

    def _own_units(self, column: str) -> set[str]:
        """The units of a column; none of one that says how much there is of another thing per unit."""
        return set[str]() if _PER.search(self.table.wording(column)) else self.units(column)

    def _weighs(self, column: str) -> bool:
        """Whether the numbers of a column are weights, by its name or unit, or what is heavy is named so.

        The "heaviest load" is of the column "Load"; the "heaviest mammal of the sleep data" is of no sleep.
        """
        words = set(roots(self.table.wording(column)))
        behind = (after for token, after in pairwise(self.tokens) if token.low == self.question.superlative)
        return any(token.root in words for token in behind) or bool(
            words & QUANTITY_WORDS["weight"] or self.units(column) & _WEIGHTS
        )

    def _rate_about(self, about: str) -> str:
        """The one column of a rate that is about a quantity, if one is asked for; "" if there is none."""
        if all(token.low != "per" for token in self.tokens):
            return ""
        rates = [column for column in self.quantities if "per" in self.table.wording(column).lower().split()]
        return self.column_about(rates, about) if about else ""

    def _sum_of_row(self) -> str:
        """The column that adds up all others of its row: of "which line is the largest"; "" if none does."""
        for column in self.quantities:
            others = [self.kinds[other].values for other in self.quantities if other != column]
            if is_sum(self.kinds[column].values, others):
                return column
        return ""

    def _numbers_of(self) -> str:
        """The one column that says how many there are of what the table is about; "" if there is none.

        None says so if the question counts what the rows are named by: articles are no pieces. Numbers that
        only grow are those of a list.
        """
        head = [self.tokens[at].root for at in self.question.subject[-1:]]
        names = {word for name in self.table.own_names for word in roots(name)}
        if not head or head[0] not in names or head[0] in self.named(self.label):
            return ""
        found = [
            column
            for column in self.of_kind(ColumnKind.NUMBER)
            if column != self.label and set(roots(self.table.wording(column))) <= _NUMBER_WORDS
        ]
        numbers = (value for column in found for value in self.kinds[column].values)
        values = [value for value in numbers if isinstance(value, Decimal)]
        is_list = all(before < after for before, after in pairwise(values))
        return found[0] if len(found) == 1 and not is_list else ""

    def _is_counter(self, column: str) -> bool:
        """Whether a column has the readings of a counter, or of one for each thing: they only grow."""
        dated = self.of_kind(ColumnKind.DATE)
        values = self.kinds[column].values
        for by in dated:
            order = [
                at
                for at, day in enumerate(self.kinds[by].values)
                if day is not None and isinstance(values[at], Decimal)
            ]
            order.sort(key=lambda at: str(self.kinds[by].values[at]))
            for thing in ("", *self.of_kind(ColumnKind.TEXT)):
                runs: dict[str, list[Decimal]] = {}
                for at in order:
                    value = values[at]
                    if isinstance(value, Decimal):
                        runs.setdefault(self.rows[at].cells.get(thing, ""), []).append(value)
                steps = [after - before for run in runs.values() for before, after in pairwise(run)]
                if (
                    len(steps) >= MIN_COUNTER_STEPS
                    and min(steps) >= 0
                    and 5 * steps.count(Decimal(0)) <= len(steps)
                ):
                    return True
        return False

    def _take_quantity(self, column: str, about: str) -> None:
        """Account for the quantity itself: "the coldest year of the temperature data" of a column "temp"."""
        for at in self.question.open_tokens() if column else []:
            words = QUANTITY_WORDS.get(about, frozenset()) | COUNTED_THINGS.get(about, frozenset())
            self.tokens[at].used = self.tokens[at].root in words

    def _is_better_high(self, column: str) -> bool:
        """Whether more of a column is better. Raises UnclearError if that is not clear from its name."""
        values = (
            [value for value in self.kinds[column].values if isinstance(value, Decimal)] if column else []
        )
        is_better = is_better_high(self.table.wording(column), self.table.names, values) if column else None
        if is_better is None:
            raise UnclearError
        return is_better

    def _names_nothing_after(self) -> bool:
        """Whether no word follows "most" that would say what: "which island has the most?"."""
        words = [token.low for token in self.tokens]
        last = self.question.superlative.split()[-1]
        at = words.index(last)
        if last not in ("most", "least", "fewest") or words[max(0, at - 2) : at] not in _HAS_THE:
            return False
        return at + 1 == len(words) or words[at + 1] in FUNCTION_WORDS
