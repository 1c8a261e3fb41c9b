"""Questions for the column that has the most in one row: "What did we spend most on in 2024?".

The columns are the things that are compared, and the row is that of a year or of another name. It is answered
by the table turned round, so that each column is a row; the row of the document is cited.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.question_words import tokens_of, with_plain_wording
from localcrag.crag.table_answers.row_nouns import COUNTED_WORDS
from localcrag.crag.table_answers.row_products import is_sum
from localcrag.crag.table_answers.table_columns import content, qualifiers
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import (
    CURRENCIES,
    ColumnKind,
    ColumnValues,
    column_values,
    month_number,
    root,
    roots,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import (
    COST_WORDS,
    LOW,
    MEASURE_WORDS,
    QUANTITY_WORDS,
    SUPERLATIVES,
)
from localcrag.crag.table_answers.transposed_tables import transposed
from localcrag.types import Aggregate

MIN_THINGS = 3
"""The fewest columns of which one may have the most, if the question does not name them."""
_MOST = r"(?P<most>most|least|highest|largest|biggest|greatest|lowest|smallest)"
_ROW = r"(?:in|during|for) (?:the year )?(?P<row>[\w-]+(?: [\w-]+)?)"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:on )?what (?:did|do|have|had) (?:we|i|they|you) (?P<noun>spend|spent|pay|paid) (?:the )?{_MOST}"
        rf"(?: money)?(?: (?:on|for))? {_ROW}\W*",
        rf"(?:in|during|for) (?P<row>[\w-]+(?: [\w-]+)?),? (?:on )?what (?:did|do) (?:we|i|they|you)"
        rf" (?P<noun>spend|pay) (?:the )?{_MOST}(?: money)?(?: (?:on|for))?\W*",
        rf"(?:what|which) (?:is|was) (?:the|our|my) (?:single )?{_MOST} (?P<noun>[\w-]+(?: item)?) {_ROW}\W*",
        rf"(?:what|which) (?P<noun>[\w-]+) (?:is|was) (?:the )?{_MOST} {_ROW}\W*",
        rf"(?:what|which) costs? (?:us |me )?(?:the )?(?P<most>most|least)(?P<noun>) {_ROW}\W*",
    )
)
"""How a question asks for what has the most in one row."""
_MONEY_WORDS = COST_WORDS | frozenset(
    map(root, word_list("budget outgoing spending spent paid money bill bills"))
)
"""Words of a question or of the name of a table that say that its numbers are money."""
_UNSPENT = frozenset(
    map(root, word_list("income revenue sale sales turnover earnings profit donation balance saving savings"))
)
"""Words in the name of a column of money that is not spent."""
_MEASURED = COUNTED_WORDS | MEASURE_WORDS - (
    _MONEY_WORDS | QUANTITY_WORDS["earnings"] | QUANTITY_WORDS["worth"]
)
"""Words in the name of a column whose numbers are no parts of one whole with those of others."""


@dataclass(frozen=True, slots=True)
class RowExtremeQuestion:
    """A question for the column with the most, or the least, in the row that ``row`` names.

    ``noun`` is what it calls the columns, or the verb that says what they are of.
    """

    question: str
    noun: str
    row: str
    highest: bool
    superlative: str

    def matches(self, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
        """How the tables of a document answer."""
        for table in tables:
            columns = things_of(table)
            if len(columns) < MIN_THINGS:
                continue
            is_sure = self._is_sure(table, columns)
            found = extreme_of_row(
                table, columns, self.row, self.question, highest=self.highest, superlative=self.superlative
            )
            if found is not None and is_sure is not None:
                yield replace(found, loose=not is_sure)

    def _is_sure(self, table: ParsedTable, columns: Sequence[str]) -> bool | None:
        """Whether the columns are surely of what the question asks for; None if they may not be at all."""
        said = set(roots(self.noun))
        names = {word for name in table.names for word in roots(name)}
        headers = {word for column in columns for word in roots(table.wording(column))}
        are_money = all(column_values(table.cells(column)).unit in CURRENCIES for column in columns)
        is_spent = not said or bool(said & _MONEY_WORDS)
        if said & headers or (is_spent and headers & _UNSPENT):
            return None
        if is_spent:
            return are_money or bool(names & _MONEY_WORDS)
        return bool(said & names) or None


def row_extreme_question(question: str) -> RowExtremeQuestion | None:
    """The form of a question for the column that has the most in one row; None for another question."""
    plain = with_plain_wording(in_english(question)).strip()
    found = next(filter(None, (form.fullmatch(plain) for form in _FORMS)), None)
    if found is None:
        return None
    most = found["most"].lower()
    direction, _ = SUPERLATIVES[most]
    return RowExtremeQuestion(plain, found["noun"] or "", found["row"], direction != LOW, most)


def things_of(table: ParsedTable) -> list[str]:
    """The columns of numbers of one unit that may be compared with each other; none if there are others.

    Columns that add up others are left out, and text beside the numbers is no matter.
    """
    values = {column: column_values(table.cells(column)) for column in table.columns[1:]}
    numbers = {column: each for column, each in values.items() if each.kind is ColumnKind.NUMBER}
    added = [c for c in numbers if qualifiers(table.wording(c)) or _adds_up(c, numbers)]
    found = [column for column in numbers if column not in added]
    said = {word for column in found for word in roots(table.wording(column))}
    are_alike = len({numbers[column].unit for column in found}) == 1
    return found if are_alike and not said & _MEASURED else []


def _adds_up(column: str, numbers: dict[str, ColumnValues]) -> bool:
    others = [values.values for other, values in numbers.items() if other != column]
    return is_sum(numbers[column].values, others)


def extreme_of_row(
    table: ParsedTable, columns: Sequence[str], named: str, question: str, *, highest: bool, superlative: str
) -> TableMatch | None:
    """The column with the most in the one row that is named so; None if there is none, or a cell is empty.

    Args:
        table: the table.
        columns: those of its columns that are compared.
        named: the words that name a row by its first cell.
        question: the question, whose words the match keeps.
        highest: whether the most is asked for, and not the least.
        superlative: the word for it.
    """
    labels = table.cells(table.columns[0])
    places = [at for at, label in enumerate(labels) if _is_called(label, named)]
    turned = transposed(table, by_text=False)
    if len(places) != 1 or turned is None:
        return None
    (at,) = places
    column = turned.columns[at + 1]
    headers = {table.header(column) for column in columns}
    rows = tuple(replace(r, strip=table.rows[at].strip) for r in turned.rows if r.cells[""] in headers)
    values = column_values([row.cells[column] for row in rows])
    if values.kind is not ColumnKind.NUMBER or None in values.values or len(rows) != len(columns):
        return None
    asked = TableQuestion(
        tokens_of(question),
        Aggregate.HIGHEST if highest else Aggregate.LOWEST,
        highest=highest,
        superlative=superlative,
        asking="which",
    )
    return TableMatch(turned, asked, rows, 0, column, values, "", (), original=table)


def _is_called(label: str, named: str) -> bool:
    """Whether a cell has just the words that name a row, or is the same month."""
    is_month = month_number(named) is not None and month_number(label) == month_number(named)
    return is_month or (content(label) == content(named) != ())
