"""The conditions of a question over a table: which rows count."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from decimal import Decimal

from localcrag.crag.table_answers.question_words import NumberCondition, QuestionToken
from localcrag.crag.table_answers.table_columns import RowCondition, TableColumns, UnclearError, content
from localcrag.crag.table_answers.table_values import (
    UNITS,
    WORD,
    ColumnKind,
    is_missing,
    month_number,
    root,
    roots,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS, LIGHT_VERBS
from localcrag.types import Aggregate

_MAX_VALUE_WORDS = 8
"""The most words of a cell that a question may name."""
_LEAST_WORDS = frozenset(map(root, word_list("minimum min least mindestbestand mindestmenge minimo")))
"""Words for the least that should be in stock."""
_SEVERAL = re.compile(r"\s*[,;&+/]\s+|\s+and\s+")
"""What stands between the several things that a cell lists: "Ann, Bo"."""
_TO_MONTH = frozenset({("to",), ("until",), ("till",), ("through",)})
"""What stands between the first and the last month of several."""
_MONTH_OF_NAME = re.compile(r"(?<!\d)(?P<year>(?:19|20)\d\d)-(?P<month>0[1-9]|1[0-2])(?![-\d])")
"""The month of a year in the name of a table: "drug-stock-2026-03"."""
_QUARTER = re.compile(r"Q[1-4]", re.IGNORECASE)
_HAVING = frozenset(word_list("with have has had having"))
"""The words before a number of what a row has."""
_SIGNS = {">": "more than", "<": "less than", ">=": "at least", "<=": "at most", "=": "="}
_TEMPORAL_SIGNS = {">": "after", "<": "before", ">=": "since"}


class TableConditions(TableColumns):
    """Accounts for the words of a question that are conditions on cells of the table."""

    def compared(self, condition: NumberCondition) -> RowCondition:
        """A comparison with a number or another column, on the column that the words beside it name."""
        if condition.number is None:
            return self._compared_columns(condition)
        unit = condition.unit
        after = list(self._run(condition.at, 1))
        if not unit and after and self.tokens[after[0]].root in UNITS:
            beside = self.tokens[after[0]].root
            if not any(beside in self.named(column) for column in self.quantities):
                unit = beside
                self.tokens[after[0]].used = True
        before = list(self._run(condition.before - 1, -1))
        if condition.temporal:
            dated = self.of_kind(ColumnKind.YEAR, ColumnKind.DATE)
            column = self.column_said(dated, before) or (dated[0] if len(dated) == 1 else "")
            if (
                not column
                or condition.number != int(condition.number)
                or not 1000 <= condition.number <= 2100
            ):
                raise UnclearError
            values = [None if value is None else _year(value) for value in self.kinds[column].values]
        else:
            candidates = [c for c in self.quantities if not unit or unit in self.units(c)]
            column = self.column_said(candidates, after) or self.column_said(candidates, before)
            if not column and (about := condition.about or self.verb_about()):
                column = self.column_about(candidates, about)
            if not column:
                elsewhere = [at for at in self.question.open_tokens() if at not in self.question.subject]
                column = self.column_said(candidates, elsewhere)
            if not column and unit and len(candidates) == 1:
                column = candidates[0]
            if not column:
                raise UnclearError
            values = [value if isinstance(value, Decimal) else None for value in self.kinds[column].values]
        meets = _comparison(condition.sign, condition.number)
        rows = frozenset(at for at, value in enumerate(values) if value is not None and meets(value))
        number = f"{condition.number:,}" if not condition.temporal else f"{condition.number}"
        shown = f"{number} {condition.unit}".strip()
        sign = (_TEMPORAL_SIGNS if condition.temporal else _SIGNS)[condition.sign]
        return RowCondition(column, f"{self.table.header(column)} {sign} {shown}", rows)

    def _compared_columns(self, condition: NumberCondition) -> RowCondition:
        """A comparison of two columns: "in use above bought"; of the stock if it is "below the minimum".

        If the question names no column to compare, it is the one column beside the other, in its unit.
        """
        said = {self.tokens[at].root for at in condition.bound}
        bounds = [c for c in self.quantities if said <= set(roots(self.table.wording(c)))]
        exact = [c for c in bounds if said == set(roots(self.table.wording(c)))]
        if len(exact or bounds) != 1:
            raise UnclearError
        (bound,) = exact or bounds
        others = [c for c in self.quantities if c != bound and self.kinds[c].unit == self.kinds[bound].unit]
        places = condition.compared or tuple(self._run(condition.before - 1, -1))
        column = self.column_said(others, places)
        if condition.compared and not all(self.tokens[at].used for at in condition.compared):
            raise UnclearError
        if not column and said & _LEAST_WORDS:
            column = self.stocked(others)
        elif not column and len(others) == 1:
            (column,) = others
        if not column:
            raise UnclearError
        pairs = zip(self.kinds[column].values, self.kinds[bound].values, strict=True)
        rows = [
            at
            for at, (value, limit) in enumerate(pairs)
            if isinstance(value, Decimal)
            and isinstance(limit, Decimal)
            and _comparison(condition.sign, limit)(value)
        ]
        shown = f"{self.table.header(column)} {_SIGNS[condition.sign]} {self.table.header(bound)}"
        return RowCondition(column, shown, frozenset(rows))

    def _run(self, at: int, step: int) -> Iterator[int]:
        """The places of the words beside a place, in one direction, up to a verb or the like."""
        while 0 <= at < len(self.tokens):
            token = self.tokens[at]
            if token.low in FUNCTION_WORDS:
                if step > 0 or token.low not in ("a", "an", "the", "of", "is", "was", "are", "in"):
                    return
            elif token.used:
                return
            else:
                yield at
            at += step

    def take_values(self, measure: str) -> None:
        """Account for words that are the whole text of cells, as conditions on their columns."""
        index = self._values(measure)
        longest = min(_MAX_VALUE_WORDS, max(map(len, index), default=0))
        for length in range(longest, 0, -1):
            for start, end, said in list(self._spans(length)):
                columns = [
                    column for column in index.get(said, ()) if not self._is_column(start, end, column)
                ]
                if columns and not any(
                    token.used for token in self.tokens[start:end] if token.low not in FUNCTION_WORDS
                ):
                    self._take_value(self._meant(columns, start, end), said, start, end)
        for at, token in enumerate(self.tokens):
            if token.is_number and not token.used and at:
                self._take_number(at)

    def _values(self, measure: str) -> dict[tuple[str, ...], list[str]]:
        """The columns of text that have a cell of these words."""
        index: dict[tuple[str, ...], list[str]] = {}
        for column in self.of_kind(ColumnKind.TEXT):
            if column != measure:
                for said in {content(cell) for cell in self.cells(column) if not is_missing(cell)} - {()}:
                    index.setdefault(said, []).append(column)
        return index

    def _is_column(self, start: int, end: int, column: str) -> bool:
        """Whether a word is spelled as another column and as no cell: "opened", beside a status "open"."""
        if end - start > 1:
            return False
        word = self.tokens[start].low
        others = (
            WORD.findall(self.table.wording(other).lower()) for other in self.table.columns if other != column
        )
        cells = {cell.strip().lower() for cell in self.cells(column)}
        return word not in cells and any(word in words for words in others)

    def _spans(self, length: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """The spans of so many words that are not accounted for, with words without meaning between them."""
        places = [at for at, token in enumerate(self.tokens) if token.low not in FUNCTION_WORDS]
        for first in range(len(places) - length + 1):
            within = places[first : first + length]
            if not any(self.tokens[at].used for at in within):
                yield within[0], within[-1] + 1, tuple(self.tokens[at].root for at in within)

    def _meant(self, columns: Sequence[str], start: int, end: int) -> str:
        """The one of several columns with a value whose name stands beside it, or alone elsewhere."""
        beside = [self.tokens[at] for at in (start - 1, end) if 0 <= at < len(self.tokens)]
        said = {token.root for token in beside if token.low not in ("on", "at", "in", "of", "by")}
        named = [c for c in self.table.columns if len(self.named(c)) == 1 and self.named(c)[0] in said]
        fitting = [column for column in columns if column in named]
        if len(fitting) == 1:
            return fitting[0]
        if not fitting and len(columns) > 1:
            around = {t.root for at, t in enumerate(self.tokens) if not (t.used or start <= at < end)}
            fitting = [column for column in columns if set(self.named(column)) <= around]
            if len(fitting) == 1:
                return fitting[0]
        before = self.tokens[start - 1].root if start else ""
        is_counted = self.question.operation is Aggregate.COUNT and start - 1 in self.question.subject
        others = [c for c in named if self.named(c) == (before,) and not (is_counted and c == self.label)]
        if len(columns) > 1 or others:
            raise UnclearError
        return columns[0]

    def _take_value(self, column: str, said: tuple[str, ...], start: int, end: int) -> None:
        if any(condition.column == column for condition in self.conditions):
            raise UnclearError
        cells = self.cells(column)
        rows = frozenset(at for at, cell in enumerate(cells) if content(cell) == said)
        shown, sign = cells[min(rows)], "="
        if any(said in map(content, _SEVERAL.split(cell)) for cell in cells if _SEVERAL.search(cell)):
            raise UnclearError
        if self.denies(range(start, end)):
            rows = frozenset(at for at, cell in enumerate(cells) if at not in rows and not is_missing(cell))
            sign = "is not"
        self.conditions.append(RowCondition(column, f"{self.table.header(column)} {sign} {shown}", rows))
        self.value_spans.append((start, end))
        for token in self.tokens[start:end]:
            token.used = True
        named = {*self.named(column), *content(self.table.wording(column))}
        places = (start - 1, end, *(at for at in range(len(self.tokens)) if at not in self.question.subject))
        for at in places:
            if 0 <= at < len(self.tokens) and not self.tokens[at].used:
                word = self.tokens[at].root
                self.tokens[at].used = at not in self.question.subject[-1:] and (
                    word in named or any(is_akin(word, other) for other in named)
                )

    def take_numbers_had(self) -> None:
        """Account for numbers of what the rows that count have: "of cars with 4 cylinders"."""
        for at, token in enumerate(self.tokens):
            if token.is_number and not token.used and at and self.tokens[at - 1].low in _HAVING:
                self._take_number(at)

    def _take_number(self, at: int) -> None:
        """Account for a number beside the name of its column: "building 3", "with 6 cylinders"."""
        text = self.tokens[at].text
        for beside, kinds in ((at - 1, (ColumnKind.NUMBER, ColumnKind.TEXT)), (at + 1, (ColumnKind.NUMBER,))):
            word = self.tokens[beside] if 0 <= beside < len(self.tokens) else None
            if word is None or word.used or beside in self.question.subject:
                continue
            columns = [column for column in self.of_kind(*kinds) if self.named(column) == (word.root,)]
            columns = [c for c in columns if beside < at or c in self.quantities]
            cells = self.cells(columns[0]) if len(columns) == 1 else []
            rows = frozenset(n for n, cell in enumerate(cells) if cell.strip() == text)
            if rows:
                shown = f"{self.table.header(columns[0])} = {text}"
                self.conditions.append(RowCondition(columns[0], shown, rows))
                word.used = self.tokens[at].used = True
                return

    def take_dates(self) -> None:
        """Account for years and months as conditions on a column of years or dates."""
        years = [at for at, token in enumerate(self.tokens) if not token.used and _is_year(token)]
        months = [
            at
            for at, token in enumerate(self.tokens)
            if not token.used and month_number(token.low) and (token.low != "may" or token.text == "May")
        ]
        quarters = [at - 1 for at in years if at and _QUARTER.fullmatch(self.tokens[at - 1].text)]
        if quarters and not self._is_quarter_of_table(quarters[0]):
            raise UnclearError
        run = self._run_of_months(months)
        if quarters or len(years) > 1 or (len(months) > 1 and not run) or not (years or months):
            return
        if not run and self._is_period_of_table(years, months):
            for at in (*years, *months):
                self.tokens[at].used = True
            return
        dated = self.of_kind(ColumnKind.DATE) if months else self.of_kind(ColumnKind.DATE, ColumnKind.YEAR)
        if not dated:
            return
        column = self.column_said(dated, range(len(self.tokens))) or (dated[0] if len(dated) == 1 else "")
        if not column:
            raise UnclearError
        values = self.kinds[column].values
        rows = set(range(len(values)))
        said = []
        named = run or {month_number(self.tokens[at].low) or 0 for at in months}
        if named:
            rows = {n for n in rows if isinstance(value := values[n], date) and value.month in named}
        for at in years:
            rows = {
                n
                for n in rows
                if (value := values[n]) is not None and _year(value) == int(self.tokens[at].text)
            }
        for at in sorted((*months, *years)):
            said += ["to", self.tokens[at].text] if run and at == months[1] else [self.tokens[at].text]
            self.tokens[at].used = True
        self.conditions.append(
            RowCondition(column, f"{self.table.header(column)} in {' '.join(said)}", frozenset(rows))
        )

    def _run_of_months(self, places: Sequence[int]) -> set[int]:
        """The months from the one at the first place to that at the second: "October to December".

        There are none if the words between them, and before the first, do not say so.
        """
        if len(places) != 2:
            return set()
        first, last = (month_number(self.tokens[at].low) or 0 for at in places)
        between = tuple(token.low for token in self.tokens[places[0] + 1 : places[1]])
        before = self.tokens[places[0] - 1].low if places[0] else ""
        is_run = between in _TO_MONTH or (before, between) == ("between", ("and",))
        return set(range(first, last + 1)) if is_run else set()

    def _is_quarter_of_table(self, at: int) -> bool:
        """Account for the quarter at a place and its year; False if no name of the table has both."""
        quarter, year = self.tokens[at : at + 2]
        is_named = any({quarter.root, year.root} <= set(roots(name)) for name in self.table.own_names)
        quarter.used = year.used = is_named
        return is_named

    def _is_period_of_table(self, years: Sequence[int], months: Sequence[int]) -> bool:
        """Whether the table's name has the year and month at some places, and all of its dates are in it."""
        named = {word for name in self.table.names for word in roots(name)}
        dated = self.of_kind(ColumnKind.DATE)
        if self._are_before_name(years, months):
            return True
        if len(dated) < 2 or not all(self.tokens[at].root in named for at in (*years, *months)):
            return False
        days = [day for column in dated for day in self.kinds[column].values if isinstance(day, date)]
        return all(
            all(day.month == month_number(self.tokens[at].low) for at in months)
            and all(day.year == int(self.tokens[at].text) for at in years)
            for day in days
        )

    def _are_before_name(self, years: Sequence[int], months: Sequence[int]) -> bool:
        """Whether the month at a place stands before a word of the name of the table, which is of that month.

        "The March stock list" is the file "drug-stock-2026-03", whatever dates its cells have.
        """
        if len(months) != 1 or any(at != months[0] + 1 for at in years):
            return False
        behind = months[0] + 1 + len(years)
        token = self.tokens[behind] if behind < len(self.tokens) else None
        number = month_number(self.tokens[months[0]].low)
        said = {self.tokens[at].text for at in years}
        return token is not None and any(
            int(found["month"]) == number
            and said <= {found["year"]}
            and token.root in roots(name[: found.start()])
            for name in self.table.names
            if (found := _MONTH_OF_NAME.search(name))
        )

    def denies(self, places: Sequence[int]) -> bool:
        """Whether the "not" of the question is about the words at some places, which then accounts for it."""
        negation = self.question.negation
        if negation < 0:
            return False
        behind, skipped = range(negation + 1, len(self.tokens)), FUNCTION_WORDS | LIGHT_VERBS
        first = next((at for at in behind if self.tokens[at].low not in skipped), None)
        is_about = first in places
        self.denied = self.denied or is_about
        return is_about


def _comparison(sign: str, number: Decimal) -> Callable[[Decimal], bool]:
    """Whether a value compares so with a number."""
    return {
        ">": lambda value: value > number,
        "<": lambda value: value < number,
        ">=": lambda value: value >= number,
        "<=": lambda value: value <= number,
        "=": lambda value: value == number,
    }[sign]


def is_akin(word: str, other: str) -> bool:
    """Whether a verb and a noun are of one stem: "own" and "owner", "win" and "winner"."""
    short, long = sorted((word, other), key=len)
    ending = 3 if long.startswith(short + short[-1:]) else 2
    return len(short) >= 3 and long.startswith(short) and len(long) - len(short) <= ending


def _year(value: object) -> Decimal | None:
    """The year of a date, or a year itself."""
    if isinstance(value, date):
        return Decimal(value.year)
    return value if isinstance(value, Decimal) else None


def _is_year(token: QuestionToken) -> bool:
    """Whether a token is a year in four digits."""
    return token.is_number and re.fullmatch(r"1[5-9]\d\d|20\d\d", token.text) is not None
