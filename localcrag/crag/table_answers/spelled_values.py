"""Values that a question spells otherwise than the cells: "women", "Gram-negative", "volcanoes", "died"."""

from __future__ import annotations

from decimal import Decimal
from itertools import takewhile

from localcrag.crag.table_answers.partial_values import PartialValues
from localcrag.crag.table_answers.table_columns import EXTREMES, RowCondition, UnclearError, content
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.crag.table_answers.table_totals import EVENT_WORDS
from localcrag.crag.table_answers.table_values import (
    TEMPORAL,
    ColumnKind,
    is_missing,
    month_number,
    root,
    roots,
    word_list,
)
from localcrag.types import Aggregate

SEX_WORDS = frozenset(map(root, word_list("gender sex geschlecht sexe")))
"""Words in the name of a column that says who is a man and who is a woman."""
_WOMEN = frozenset(word_list("female f w woman women weiblich"))
_MEN = frozenset(word_list("male m man men männlich"))
SPELLINGS_OF_SEX = {root("women"): _WOMEN, root("female"): _WOMEN, root("men"): _MEN, root("male"): _MEN}
"""What the cells of such a column hold of those whom a word names, by its root."""
SEXES = frozenset(SPELLINGS_OF_SEX)
"""Words for the sex of persons, by their roots."""
_OF_EVENTS = frozenset(map(root, word_list("date day time year month of")))
"""Words in the name of a column of dates that do not say what happened."""
_NOUN_OF_EVENT = {"died": root("death")}
"""The nouns of events that do not begin as their verbs do."""
_STRONG_VERBS = frozenset(word_list("born bought built died held met paid sent sold"))
"""Participles without the ending of others."""
_HEADS = frozenset(map(root, word_list("head capita person inhabitant resident citizen")))
"""Of whom there is one in a rate for each: "per head"."""
MIN_COMMON_LETTERS = 5
"""The fewest letters with which two words of one kin begin: "volcanoes", "volcanic"."""
MAX_OTHER_LETTERS = 3
"""The most letters in which each of them goes on otherwise."""
MIN_ROWS_OF_KIND = 2
"""How many rows on average have each value of a column that says of which kind they are."""


class SpelledValues(PartialValues):
    """Accounts for words that mean a value which the cells of a column have in other words.

    ``counts_persons`` says that what is counted are women or men.
    """

    counts_persons: bool = False

    def take_compounds(self) -> None:
        """Account for a value behind the name of its column in one word: "Gram-negative"."""
        for at in self.question.open_tokens():
            first, mark, value = self.tokens[at].text.partition("-")
            if not mark or not value:
                continue
            said = content(value.replace("-", " "))
            columns = [
                column
                for column in self.of_kind(ColumnKind.TEXT)
                if root(first) in roots(self.table.wording(column))
                and any(content(cell) == said for cell in self.cells(column))
            ]
            if len(columns) == 1:
                self._take_value(columns[0], said, at, at + 1)

    def take_sexes(self) -> None:
        """Account for women and men if one column has the sex of each person, in one spelling."""
        columns = [c for c in self.of_kind(ColumnKind.TEXT) if set(roots(self.table.wording(c))) & SEX_WORDS]
        for at in self.question.open_tokens() if len(columns) == 1 else ():
            spellings = SPELLINGS_OF_SEX.get(self.tokens[at].root, frozenset())
            texts = {c.strip() for c in self.cells(columns[0]) if c.strip().casefold() in spellings}
            if len(texts) != 1:
                continue
            if self.denies([at]) or any(condition.column == columns[0] for condition in self.conditions):
                raise UnclearError
            self._require(columns[0], *texts)
            self.tokens[at].used = self.counts_persons = True
            self.value_spans.append((at, at + 1))

    def take_kin(self, measure: str) -> None:
        """Account for a word of the kin of the one value that begins so: "volcanoes", "Volcanic activity".

        The value must be one of a column of kinds. The match is then loose.
        """
        if self.question.listing:
            return
        known = self._words_of_names() | self.words_in_cells()
        kinds = [
            column for column in self.of_kind(ColumnKind.TEXT) if column != measure and self._is_kind(column)
        ]
        for at in self.question.open_tokens():
            token = self.tokens[at]
            if token.is_number or token.root in known:
                continue
            found = {
                (column, cell.strip())
                for column in kinds
                for cell in set(self.cells(column))
                if any(_are_kin(token.root, root(word)) for word in cell.split()[:1])
            }
            if len(found) != 1 or self.denies([at]):
                continue
            ((column, text),) = found
            if all(condition.column != column for condition in self.conditions):
                self._require(column, text)
                self.value_spans.append((at, at + 1))
                token.used = self.loose = True

    def _is_kind(self, column: str) -> bool:
        """Whether the cells of a column say of which kind a row is, as several rows have each value."""
        cells = self.cells(column)
        return MIN_ROWS_OF_KIND * len(set(cells)) <= len(cells)

    def take_events(self) -> None:
        """Account in a count for a verb that says of which event a column has the date: "died", "death_date".

        A row counts if it has a date there. A year or a month of the question is left to that column.
        """
        said = [token for token in self.tokens if token.is_number or month_number(token.low)]
        if self.question.operation is not Aggregate.COUNT or said:
            return
        within = self.words_in_cells()
        for at in self.question.open_tokens():
            is_verb = self.tokens[at].low.endswith("ed") or self.tokens[at].low in _STRONG_VERBS
            if not is_verb or self.tokens[at].root in within:
                continue
            event = _NOUN_OF_EVENT.get(self.tokens[at].low, self.tokens[at].root)
            columns = [
                column
                for column in self.of_kind(*TEMPORAL)
                if any(is_akin(event, word) for word in {*self.named(column)} - _OF_EVENTS)
            ]
            if len(columns) != 1 or at in self.question.subject[:1] or self.denies([at]):
                continue
            cells = self.cells(columns[0])
            rows = frozenset(place for place, cell in enumerate(cells) if not is_missing(cell))
            if len(rows) < len(cells):
                shown = f"with a value of {self.table.header(columns[0])}"
                self.conditions.append(RowCondition(columns[0], shown, rows))
            self.tokens[at].used = True

    def events_of(self) -> str:
        """The one column of the events that are counted: deaths, each of which happened once; "" if none."""
        head = [self.tokens[at] for at in self.question.subject[-1:]]
        found = [
            column
            for column in self.quantities
            if head and self.named(column) == (head[0].root,) and head[0].root in EVENT_WORDS
        ]
        if len(found) != 1:
            return ""
        head[0].used = True
        return found[0]

    def number_said(self) -> str:
        """The column that says how many there are of what is counted; "" if there is none.

        Raises UnclearError if there are several.
        """
        return self._part_counted() or self.column_said(self.quantities, range(len(self.tokens)))

    def _part_counted(self) -> str:
        """The column of those of a thing that are so: "alive", beside "lambs", if living lambs are counted.

        Its numbers are nowhere more than those of the thing. "" if there is none.
        """
        pair = self.question.subject
        said = [(self.tokens[at].root,) for at in pair]
        columns = [[c for c in self.quantities if self.named(c) == words] for words in said]
        if len(pair) != 2 or [len(found) for found in columns] != [1, 1]:
            return ""
        values = [self.kinds[found[0]].values for found in columns]
        are_parts = all(
            isinstance(part, Decimal) and isinstance(whole, Decimal) and part <= whole
            for part, whole in zip(*values, strict=True)
        )
        for at in pair if are_parts else ():
            self.tokens[at].used = True
        return columns[0][0] if are_parts else ""

    def take_per_head(self) -> None:
        """Account for "per head" in a question for the most of a column; the match is then loose."""
        words = [token.low for token in self.tokens]
        if self.question.operation not in EXTREMES or words.count("per") != 1:
            return
        at = words.index("per")
        pair = self.tokens[at : at + 2]
        if len(pair) == 2 and not any(token.used for token in pair) and pair[1].root in _HEADS:
            for token in pair:
                token.used = self.loose = True


def _are_kin(word: str, other: str) -> bool:
    """Whether two words begin alike and go on otherwise for a few letters only."""
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False)))
    return common >= MIN_COMMON_LETTERS and max(len(word), len(other)) - common <= MAX_OTHER_LETTERS
