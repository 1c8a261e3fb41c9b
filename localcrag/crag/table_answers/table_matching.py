"""Whether a table answers a question: every word of the question must be accounted for by it.

A word is a name of a column, a value in a cell, a number that a cell is compared with, or part of the name
of the table. One word that is none of these, or that two columns could mean, and there is no match: the
question then takes its usual way, which is never wrong in a new manner.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable
from localcrag.crag.table_answers.row_groups import Grouping, RowShare
from localcrag.crag.table_answers.row_labels import parts_of_names
from localcrag.crag.table_answers.row_nouns import COUNTED_WORDS, RowNouns
from localcrag.crag.table_answers.table_columns import (
    EXTREMES,
    RowCondition,
    UnclearError,
    content,
    qualifiers,
    required_words,
)
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_totals import (
    RATE_UNITS,
    RATES,
    is_close,
)
from localcrag.crag.table_answers.table_values import (
    TEMPORAL,
    ColumnKind,
    ColumnValues,
    column_values,
    month_number,
    root,
    roots,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS, PERSONS, QUANTITY_WORDS
from localcrag.types import Aggregate

_PLACES = frozenset(map(root, word_list("place location site city town island country region station")))
_NUMBER_OF = re.compile(r"number|how many|no\. of .+|number of .+|anzahl.*", re.IGNORECASE)
"""The name of a column that says how many of a thing there are, if "number" does not number the rows."""
_OVER_ALL = re.compile(r"(?:all|alle|tous|toutes|todos|todas) [^\W\d_].*s|alle [^\W\d_].*", re.IGNORECASE)
"""A cell that names all things which the rows beside it have one by one: "All natural disasters"."""
_NAMING = EXTREMES | {Aggregate.COUNT}
"""The operations whose question names what is counted, or which one is asked for."""


@dataclass(frozen=True, slots=True)
class TableMatch:
    """How a table answers a question.

    ``rows`` are those of the table without the ``totals`` rows that add them up. ``column`` is the one that
    is compared or added up, with its ``values``; it is "" if rows are counted. ``entity`` is the column
    whose values are counted or asked for, or "". ``loose`` says that a word of the question stands nowhere in
    the table, so that its answer is to be checked. ``is_named`` says that another document of the knowledge
    base says what the question calls the table. ``original`` is the table of the document if ``table`` is
    that one turned round, so that its columns are rows. ``grouping`` are the groups of rows for each of which
    something is computed, and ``share`` the part of the rows whose share is.
    """

    table: ParsedTable
    question: TableQuestion
    rows: tuple[ParsedRow, ...]
    totals: int
    column: str
    values: ColumnValues
    entity: str
    conditions: tuple[RowCondition, ...]
    loose: bool = False
    is_named: bool = False
    original: ParsedTable | None = None
    grouping: Grouping | None = None
    share: RowShare | None = None


def matched(question: TableQuestion, table: ParsedTable) -> TableMatch | None:
    """How the table answers the question; None if a word is not accounted for, or could mean two things."""
    copied = replace(question, tokens=[replace(token) for token in question.tokens])
    try:
        return _Matching(copied, table).result()
    except UnclearError:
        return None


def may_mean(match: TableMatch, other: ParsedTable) -> bool:
    """Whether a question may as well mean another table of the document: it names as many of its columns.

    Not if the question names the table that was matched, or a cell of it.
    """
    said = {token.root for token in match.question.tokens if token.low not in FUNCTION_WORDS}
    if match.question.costing == "sum":
        said.discard(root("amount"))
    if match.conditions or said & {word for name in match.table.own_names for word in content(name)}:
        return False
    known, others = (
        {words for column in table.columns if said >= set(words := required_words(table.wording(column)))}
        for table in (match.table, other)
    )
    return bool(others) and known <= others


class _Matching(RowNouns):
    """One question held against one table."""

    def result(self) -> TableMatch:
        asked = self.question
        if len(self.rows) < 2:
            raise UnclearError
        self.take_lacking()
        for condition in asked.conditions:
            compared = self.compared(condition)
            self.conditions += [compared] if compared not in self.conditions else []
        self.take_numbers_had()
        column = self.measure()
        self.take_values(column)
        self.take_compounds()
        self.take_sexes()
        self.take_excluded()
        self.take_partial_names(column)
        self.take_kin(column)
        self.take_events()
        if asked.operation is Aggregate.COUNT:
            self.take_meanings()
            self.take_initials()
            self.take_other_names()
        entity = self._entity(column)
        if asked.operation in EXTREMES and entity != self.label:
            self.column_said([self.label], asked.open_tokens())
        self.take_all_of()
        self.take_dates()
        self.take_flags(column)
        self.take_stock()
        self.take_expired()
        self.take_names()
        self.take_light_verbs()
        if asked.operation in EXTREMES:
            self.take_unit_of_most(column)
            self.take_per_head()
        self.take_rest(column)
        if asked.change is not None:
            self.take_modifiers()
        if asked.about == "time":
            self.take_contents(column)
        is_denial_open = asked.negation >= 0 and not self.denied
        if asked.open_tokens() or is_denial_open or (asked.listing and not self.conditions):
            raise UnclearError
        values = self.kinds[column] if column else ColumnValues(ColumnKind.TEXT)
        match = TableMatch(
            self.table,
            self.question,
            self.rows,
            len(self.table.rows) - len(self.rows),
            column,
            values,
            entity,
            tuple(self.conditions),
            self.loose,
            self.is_named_otherwise,
        )
        self._check(match)
        is_doubtful = self.loose or self._adds_unproven_totals(match)
        return self._checked_totals(replace(match, loose=is_doubtful))

    # ------------------------------------------------------------------------------ what is asked for

    def _entity(self, measure: str) -> str:
        """The column whose values are counted, or of which one is asked for; "" if that is the row itself.

        Raises UnclearError if the question names something else.
        """
        asked = self.question
        others = [column for column in self.table.columns if column != measure]
        flags = self.of_kind(ColumnKind.FLAG)
        subject = [at for at in asked.subject if not self.tokens[at].used]
        head = [at for at in subject[-1:] if asked.operation in _NAMING]
        if asked.operation in _NAMING and asked.asking in ("who", "where", "when"):
            return self._asked_for(asked.asking, others, measure)
        if head and asked.operation in EXTREMES and (dated := self.of_period(head[0])):
            return dated
        if head and (numbered := self.numbering(head[0], others)):
            self.tokens[head[0]].used = True
            cells = self.cells(numbered)
            return "" if numbered == self.label and len(set(cells)) == len(cells) else numbered
        entity = (
            self.column_said([column for column in others if column not in flags], subject) if subject else ""
        )
        if entity:
            if (
                asked.operation is Aggregate.COUNT
                and self.kinds[entity].kind is ColumnKind.NUMBER
                and entity != self.label
            ):
                self.take_numbered_rows(entity)
                return ""
            return entity
        if head:
            self.take_row_word(head[0])
        elif asked.of_rows or (self.counts_persons and not subject):
            return ""
        elif asked.operation is Aggregate.COUNT and not subject and not self.counts_a_value():
            raise UnclearError
        if asked.operation is not Aggregate.COUNT and not subject:
            open_places = asked.open_tokens()
            if asked.operation in EXTREMES and (
                dated := next(filter(None, map(self.of_period, open_places)), "")
            ):
                return dated
            names = [c for c in others if c == self.label or self.kinds[c].kind is ColumnKind.TEXT]
            if asked.operation in EXTREMES:
                names += [c for c in others if c not in names and self.named(c) == (root("year"),)]
            return self.column_said(names, open_places)
        return ""

    def _asked_for(self, asking: str, others: Sequence[str], measure: str) -> str:
        """The column that answers who, where or when."""
        if asking == "when":
            if measure in self.of_kind(*TEMPORAL):
                return ""
            found = [column for column in others if self.kinds[column].kind in TEMPORAL]
        else:
            words = PERSONS if asking == "who" else _PLACES
            found = [column for column in others if set(self.named(column)) & words]
            if (self.question.listing or set(found) == {*parts_of_names(self.table)}) and self.label in found:
                found = [self.label]
        if len(found) != 1:
            raise UnclearError
        for at in self.question.open_tokens():
            self.tokens[at].used = any(is_akin(self.tokens[at].root, word) for word in self.named(found[0]))
        return found[0]

    # ------------------------------------------------------------------------------ sense

    def _check(self, match: TableMatch) -> None:
        """Raise UnclearError for a result that would say something else than it seems to."""
        asked = match.question
        if asked.operation in (Aggregate.TOTAL, Aggregate.AVERAGE):
            header = set(roots(self.table.wording(match.column)))
            if said := qualifiers(self.table.wording(match.column)):
                is_total = asked.operation is Aggregate.TOTAL and said == {root("total")}
                is_named = len(self.named(match.column)) > 1 or bool(asked.measured)
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
        if asked.operation in EXTREMES and match.entity and self._differs_within(match):
            if self._names_amount(match.column):
                raise UnclearError
            self.loose = self.loose or not asked.says_has

    def _counts_periods(self, match: TableMatch) -> bool:
        """Whether rows of months or years would be counted for what there is of in them: visits, by month."""
        cells = self.cells(self.label)
        are_periods = self.label in self.of_kind(ColumnKind.YEAR) or all(map(month_number, cells))
        return are_periods and not match.entity and not self.question.of_rows and bool(self.quantities)

    def _differs_within(self, match: TableMatch) -> bool:
        """Whether the rows that count have several numbers for one cell of the column that is asked for."""
        values: dict[str, set[object]] = {}
        cells = self.cells(match.entity)
        for at in (n for n in range(len(cells)) if all(n in c.rows for c in match.conditions)):
            values.setdefault(cells[at], set()).add(match.values.values[at])
        return any(len(found) > 1 for found in values.values())

    def _check_one_row(self, match: TableMatch) -> None:
        """Refuse to look for the most in one row that the question names: "the biggest cost in 2022"."""
        met = [n for n in range(len(self.rows)) if all(n in c.rows for c in match.conditions)]
        named = [condition.column for condition in match.conditions]
        if match.question.operation in EXTREMES and len(met) == 1 and self.label in named:
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

    def _adds_unproven_totals(self, match: TableMatch) -> bool:
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

    def _checked_totals(self, match: TableMatch) -> TableMatch:
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
