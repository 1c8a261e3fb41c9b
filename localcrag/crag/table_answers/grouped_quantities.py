"""What is asked of each group of rows, held against a table: a sum, an average or a number of rows.

The words of a question are a name of groups, "county", and a question over all rows, "what is the total
cost", which a table must account for as it must without groups; what is left of the question is in the
latter, so that no word is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.table_answers.group_columns import GroupColumns, GroupLabels, is_repeated
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.question_words import tokens_of
from localcrag.crag.table_answers.row_groups import Grouping
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.crag.table_answers.unrivalled_tables import unrivalled
from localcrag.types import Aggregate


@dataclass(frozen=True, slots=True)
class GroupedQuantity:
    """What a question asks of each group.

    Attributes:
        text: the question for it over all rows.
        counts: whether it is a number of rows; else a sum or an average.
        verb: the verb that the text leaves out, "" if there is none.
        noun: what stands for the name of the column in "costs by month", "" if the text has it.
        is_open: whether the verb or the noun tells which column it is, or the table if there is neither.
        is_loose: whether the answer is to be checked.
        is_summed: whether the question says that it asks for a sum.
        is_vague: whether nothing says which column is meant; the only one is doubtful, unless it is money.
        is_pure: whether no column may say how many things a row stands for.
    """

    text: str
    counts: bool = False
    verb: str = ""
    noun: str = ""
    is_open: bool = False
    is_loose: bool = False
    is_summed: bool = False
    is_pure: bool = False
    is_vague: bool = False

    def match(self, table: ParsedTable, grouped: str = "") -> TableMatch | None:
        """How a table answers it over all rows, in groups by the column ``grouped``; None if it does not."""
        form = recognised(self.text)
        if form is None:
            return None
        form = replace(form, grouped=grouped)
        columns = GroupColumns(form, table)
        is_loose = self.is_loose
        if self.counts and columns.counts_things():
            if self.is_pure:
                return None
            is_loose = True
        if self.counts and columns.is_measured():
            return None
        if self.is_open:
            column = columns.only_measure()
            is_doubtful = self.is_vague and not columns.is_amount(column)
            if self.noun or self.verb:
                column, is_doubtful = columns.measure_of(self.noun or self.verb, is_verb=not self.noun)
            if not column:
                return None
            form, is_loose = replace(form, measured=column), is_loose or is_doubtful
        found = matched(form, table)
        if found is None and grouped and self.counts and not columns.counts_things():
            found = matched(replace(form, distinct=True), table)
        if found is None or (found.question.operation is Aggregate.COUNT) is not self.counts:
            return None
        is_sum = found.question.operation is Aggregate.TOTAL
        if is_sum and not self.is_summed and not columns.adds_up(found.column):
            return None
        if not self.is_open or self.noun:
            is_told = columns.takes_verb(self.verb, found.column or found.entity)
            if is_told is None or (self.counts and not is_told):
                return None
            is_loose = is_loose or not is_told
        return replace(found, loose=found.loose or is_loose)


@dataclass(frozen=True, slots=True)
class GroupReading:
    """One way to read a question: the words that name groups, and what is asked of each."""

    group: str
    quantities: tuple[GroupedQuantity, ...]


@dataclass(frozen=True, slots=True)
class GroupQuestion:
    """A question for the group that has the most or the least, or for all groups if ``highest`` is None.

    ``may_be_single`` says that each group may have one row only. ``place`` is the place that is asked for, 2
    of the second highest, and ``count`` the number of groups, 0 if all are to be put in order.
    """

    readings: tuple[GroupReading, ...]
    highest: bool | None
    may_be_single: bool = False
    place: int = 1
    count: int = 1

    def matches(self, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
        """How the tables of a document answer."""
        return unrivalled(tables, self._match)

    def _match(self, table: ParsedTable) -> TableMatch | None:
        for reading in self.readings:
            groups = GroupColumns.of_phrase(table, reading.group).groups()
            for quantity in reading.quantities if groups else ():
                found = quantity.match(table, "" if groups is None or groups.is_period else groups.column)
                if groups and found and (grouped := self._grouped(found, groups)):
                    return grouped
        return None

    def _grouped(self, match: TableMatch, groups: GroupLabels) -> TableMatch | None:
        """The match with its rows in groups; None if its column or a condition is that of the groups.

        The group with the most is only asked for if some have several rows, unless ``may_be_single``.
        """
        conditions = {condition.column for condition in match.conditions}
        if groups.column in {match.column, match.entity} or len(groups.labels) != len(match.rows):
            return None
        if groups.column in conditions and not groups.is_period:
            return None
        columns = GroupColumns(match.question, match.table)
        is_total = match.question.operation is Aggregate.TOTAL
        if (
            groups.is_period
            and is_total
            and not (columns.is_of_events(match.column) or columns.is_of_days(match.column))
        ):
            return None
        rows = [at for at in range(len(match.rows)) if all(at in c.rows for c in match.conditions)]
        is_single = self.highest is not None and not is_repeated(groups.labels, rows)
        if is_single and not self.may_be_single:
            return None
        is_doubtful = bool(match.entity) and _is_repeated(match, groups, rows)
        grouping = Grouping(
            groups.by, groups.labels, self.highest, order=groups.order, place=self.place, count=self.count
        )
        asked = replace(match.question, tokens=[*match.question.tokens, *tokens_of(groups.phrase)])
        return replace(match, question=asked, grouping=grouping, loose=match.loose or is_doubtful)


def _is_repeated(match: TableMatch, groups: GroupLabels, rows: Sequence[int]) -> bool:
    """Whether a group has one of the things that are counted in several rows."""
    things = [(groups.labels[at], match.rows[at].cells.get(match.entity, "")) for at in rows]
    return len(set(things)) < len(things)
