"""Whether a table answers a question: every word of the question must be accounted for by it.

A word is a name of a column, a value in a cell, a number that a cell is compared with, or part of the name
of the table. One word that is none of these, or that two columns could mean, and there is no match: the
question then takes its usual way, which is never wrong in a new manner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from localcrag.crag.table_answers.match_checks import MatchChecks
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.row_groups import Grouping
from localcrag.crag.table_answers.row_labels import parts_of_names
from localcrag.crag.table_answers.table_columns import (
    EXTREMES,
    RowCondition,
    UnclearError,
    content,
    required_words,
)
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import (
    TEMPORAL,
    ColumnKind,
    ColumnValues,
    root,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS, PERSONS
from localcrag.types import Aggregate

MAX_LEFT_OUT = 4
"""The most words of a question that may be left out, if any may."""
_PLACES = frozenset(map(root, word_list("place location site city town island country region station")))
_MOST = frozenset(("most", "least", "fewest"))
_NAMING = EXTREMES | {Aggregate.COUNT}
"""The operations whose question names what is counted, or which one is asked for."""


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


class _Matching(MatchChecks):
    """One question held against one table."""

    def result(self) -> TableMatch:
        asked = self.question
        if len(self.rows) < 2:
            raise UnclearError
        self.take_lacking()
        for condition in asked.conditions:
            compared = self.compared(condition)
            self.conditions += [compared] if compared not in self.conditions else []
        self.take_parts_of_cells()
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
            self._column_named([self.label], asked.open_tokens())
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
        if is_denial_open or (asked.listing and not self.conditions):
            raise UnclearError
        if asked.is_lenient:
            self._take_numbers()
        if open_places := asked.open_tokens():
            self._leave_out(open_places)
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
        if (
            asked.is_lenient
            and asked.operation in EXTREMES
            and match.entity
            and (self.is_of_events(column) or self._sums_most(column))
            and self.differs_within(match)
        ):
            match = self._summed_by_entity(match)
        self.check(match)
        is_doubtful = self.loose or self.adds_unproven_totals(match)
        return self.checked_totals(replace(match, loose=is_doubtful))

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
        entity = self._column_named([column for column in others if column not in flags], subject)
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
        elif asked.operation is Aggregate.COUNT and not (
            subject or self.counts_a_value() or asked.is_lenient
        ):
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
            return self._column_named(names, open_places)
        return ""

    def _column_named(self, candidates: Sequence[str], places: Sequence[int]) -> str:
        """The one column that tokens name; "" if they name none, or several and words may be left out."""
        try:
            return self.column_said(candidates, places) if places else ""
        except UnclearError:
            if not self.question.is_lenient:
                raise
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

    def _take_numbers(self) -> None:
        """Account for numbers behind a word that the name of one column of numbers has: "a score of 100"."""
        for at in self.question.open_tokens():
            if not self.tokens[at].is_number:
                continue
            before = next((t for t in reversed(self.tokens[:at]) if t.low not in FUNCTION_WORDS), None)
            found = [c for c in self.quantities if before is not None and before.root in self.named(c)]
            value = Decimal(self.tokens[at].low) if self.tokens[at].low.isdecimal() else None
            if before is None or value is None or len(found) != 1:
                continue
            (column,) = found
            rows = frozenset(n for n, each in enumerate(self.kinds[column].values) if each == value)
            if rows:
                words = f"{self.table.header(column)} = {self.tokens[at].low}"
                self.conditions.append(RowCondition(column, words, rows))
                self.tokens[at].used = before.used = True

    def _leave_out(self, places: Sequence[int]) -> None:
        """Leave words of the question out that stand nowhere in the table. The match is then loose.

        Raises UnclearError unless that is allowed, the words are few and no numbers, and something else of
        the question says which rows count.
        """
        asked = self.question
        counts_all = asked.operation is Aggregate.COUNT and not self.conditions
        has_number = any(self.tokens[at].is_number for at in places)
        if not asked.is_lenient or counts_all or has_number or len(places) > MAX_LEFT_OUT:
            raise UnclearError
        self.loose = True

    def _sums_most(self, column: str) -> bool:
        """Whether the most is asked for, and not what is highest, of a column that adds up over days."""
        return not self.question.about and self.question.superlative in _MOST and self.is_of_days(column)

    def _summed_by_entity(self, match: TableMatch) -> TableMatch:
        """The match with the sums of the rows of each one of which the most or the least is asked for."""
        asked, column = match.question, match.entity
        grouping = Grouping(self.table.wording(column), tuple(self.cells(column)), asked.highest)
        summed = replace(asked, operation=Aggregate.TOTAL, grouped=column)
        return replace(match, question=summed, entity="", grouping=grouping)
