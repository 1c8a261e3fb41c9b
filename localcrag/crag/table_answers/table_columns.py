"""The columns of a table as a question names them, and what their cells hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from localcrag.crag.table_answers.column_abbreviations import with_names_in_full
from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable, once_per_table, words_apart
from localcrag.crag.table_answers.question_words import QuestionToken
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_totals import TableTotals, totals_of
from localcrag.crag.table_answers.table_values import (
    CURRENCIES,
    MAX_KNOWN_CELLS,
    UNITS,
    WORD,
    ColumnKind,
    ColumnValues,
    root,
    roots,
    values_of_columns,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import (
    FUNCTION_WORDS,
    NAMING_WORDS,
    ORDINAL_NUMBERS,
    QUANTITY_OF_VERB,
    QUANTITY_WORDS,
    SUPERLATIVES,
)
from localcrag.types import Aggregate

EXTREMES = frozenset({Aggregate.HIGHEST, Aggregate.LOWEST, Aggregate.LATEST, Aggregate.EARLIEST})
"""The operations that ask for the most or the least."""
_PARENTHESES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SIGNS = re.compile(r"[€$£%]")
_CONTENT_WORD = re.compile(r"[^\W_]+(?:['’.&+-][^\W_]+)*|%")
_OTHER_THING = re.compile(r"\b(?:of|per|each|not|without)\b|ed\W*$")
"""What makes the last word of a name another thing: the days of "days of grazing", the houses "flooded"."""
_YEAR_WORDS = frozenset(
    map(
        root,
        word_list(
            """
            year built opened founded since established installed born birth renovation constructed
            construction bought purchased launched released published renovated joined made started
            """
        ),
    )
)
"""Words in the name of a column that make a number such as 1986 a year."""
_ID_WORDS = frozenset(map(root, word_list("id number no nr code zip postcode phone telephone ticket")))
"""Words in the name of a column whose numbers only name the rows."""
QUALIFIERS = frozenset(
    map(
        root,
        word_list("mean average avg total worst best previous target sum subtotal") + tuple(SUPERLATIVES),
    )
) - {root("last"), root("first"), root("min")}
"""Words in the name of a column that make it another one: "highest level" is not "level"."""


STOCK_NAMES = tuple(
    re.compile(words, re.IGNORECASE)
    for words in (
        r"stock|lager|bestand|vorr[aä]t|inventory|\bon[ _-]?hand\b|\bleft\b|remaining|available|verfügbar"
        r"|existencias|disponib",
        r"\bqty\b|quantity|anzahl|menge|cantidad|quantité|pieces|stück",
    )
)
"""How a column is named that says how many of a thing there are, the surest names first."""

BEST_SAID = re.compile(r"\b(?P<value>\d+)(?: is| =|=|:)? ?(?:the )?(?P<end>best|worst)\b", re.IGNORECASE)
"""What the name of a column says of its values: "Mark (1 best)", "Score (5 = best)"."""


class UnclearError(Exception):
    """The question can mean two things, or something that the table does not have."""


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition on a cell: its column, the condition in words, and the numbers of the rows that meet it."""

    column: str
    words: str
    rows: frozenset[int]


@dataclass
class TableColumns:
    """A table under a question: its columns, and the words of the question that are accounted for by them.

    ``denied`` says that a condition accounts for the "not" of the question, and ``loose`` that a word of it
    stands nowhere in the table. ``marked`` says that it asks for rows that are marked in
    some way, each of which is one thing. ``value_spans`` are the places of the words that cells hold, and
    ``excluded`` the columns and cells of the rows that do not count. ``is_named_otherwise`` says that the
    question calls the table by what another document says of its name, and ``adds_log`` that it counts hours
    or the like, of which rows of one day each have some.
    """

    question: TableQuestion
    table: ParsedTable
    conditions: list[RowCondition] = field(default_factory=list)
    denied: bool = False
    loose: bool = False
    marked: bool = False
    value_spans: list[tuple[int, int]] = field(default_factory=list)
    excluded: list[tuple[str, str]] = field(default_factory=list)
    is_named_otherwise: bool = False
    adds_log: bool = False

    def __post_init__(self) -> None:
        """Let the columns go by the words of the question that their names abbreviate."""
        self.table, is_doubtful = with_names_in_full(self.table, self.tokens)
        self.loose = self.loose or is_doubtful

    @property
    def tokens(self) -> list[QuestionToken]:
        """The words and numbers of the question."""
        return self.question.tokens

    @property
    def totals(self) -> TableTotals:
        """The rows that add others up."""
        return totals_of(self.table)

    @property
    def rows(self) -> tuple[ParsedRow, ...]:
        """The rows without those that add others up."""
        return rows_without_totals(self.table)

    @property
    def kinds(self) -> dict[str, ColumnValues]:
        """The values of each column."""
        return kinds_of(self.table)

    def cells(self, column: str) -> list[str]:
        """The cells of a column, "" for a row that has none."""
        return [row.cells.get(column, "") for row in self.rows]

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        return names_of(self.table)

    def named(self, column: str) -> tuple[str, ...]:
        """The words of a column's name that a question must have, without units and parentheses."""
        return self._names[column]

    @property
    def label(self) -> str:
        """The first column, whose cells name the rows."""
        return self.table.columns[0]

    @property
    def names_anything(self) -> bool:
        """Whether the first column is called a name and no more, of whatever the rows are."""
        return set(self.named(self.label)) <= NAMING_WORDS

    def of_kind(self, *kinds: ColumnKind) -> list[str]:
        """The columns whose cells are of one of these kinds."""
        return [column for column, values in self.kinds.items() if values.kind in kinds]

    @cached_property
    def quantities(self) -> list[str]:
        """The columns of numbers that measure something: neither names of the rows nor numbers of a list."""
        return [
            column
            for column in self.of_kind(ColumnKind.NUMBER)
            if column != self.label and not (set(self.named(column)) & _ID_WORDS)
        ]

    def column_said(self, candidates: Sequence[str], places: Iterable[int]) -> str:
        """The one column that tokens name, which are then accounted for; "" if they name none.

        Raises UnclearError if they could mean two.
        """
        open_places = [at for at in places if not self.tokens[at].used]
        said = {word for at in open_places for word in meanings(self.tokens[at])}
        said |= set(roots(self.question.superlative))
        touched = [c for c in candidates if said & self._naming_words(c)]
        full = [c for c in touched if said >= {*self.named(c), *qualifiers(self.table.wording(c))}]
        full = [c for c in full if not any(set(self.named(c)) < set(self.named(d)) for d in full)]
        if len(full) > 1:
            spelled = {_singular(self.tokens[at].low) for at in open_places}
            same = [c for c in full if set(map(_singular, WORD.findall(self.table.wording(c)))) <= spelled]
            full = [self._said_first(full)] if len(same) != 1 and self.question.is_lenient else same
            if len(full) != 1:
                raise UnclearError
        if not full:
            if not touched:
                return ""
            full = self._of_totals(touched, said) if len(touched) > 1 else touched
            if len(full) != 1 or (full == touched and not self._names_by_last_word(full[0], said)):
                raise UnclearError
        name = self.table.wording(full[0])
        header = {*roots(name), *content(name)}
        for at in open_places:
            self.tokens[at].used = not header.isdisjoint(meanings(self.tokens[at]))
        return full[0]

    def _said_first(self, columns: Sequence[str]) -> str:
        """Of columns that are all said the one that is said first: "liver deaths" are about the liver.

        The match is then loose.
        """
        self.loose = True
        words = [token.root for token in self.tokens]
        places = {c: min(words.index(word) for word in self.named(c) if word in words) for c in columns}
        return min(columns, key=places.__getitem__)

    def _of_totals(self, columns: Sequence[str], said: Set[str]) -> list[str]:
        """Of columns that words only touch, those that have no other word but "total": it is what is meant.

        "Sleeps the most" is about "sleep_total" beside "sleep_rem". The match is then loose.
        """
        self.loose = True
        return [
            c
            for c in columns
            if {*self.named(c), *qualifiers(self.table.wording(c))} - said == {root("total")}
        ]

    def _naming_words(self, column: str) -> set[str]:
        """The words of a column's name of which a question must have one; of "Total" it is that one."""
        named = set(self.named(column))
        return named - qualifiers(self.table.wording(column)) or named

    def _names_by_last_word(self, column: str, said: Collection[str]) -> bool:
        """Whether a column is meant of whose name only the last word is said: "pairs" of "breeding pairs"."""
        header = self.table.wording(column).lower()
        named = self.named(column)
        whole = _OTHER_THING.search(header) is None
        return whole and named[-1] in said and not qualifiers(header) - set(said)

    def column_about(self, candidates: Sequence[str], about: str) -> str:
        """The one column that is about a quantity, such as the price; "" if there is none or several."""
        words = QUANTITY_WORDS.get(about, frozenset())
        found = [column for column in candidates if set(roots(self.table.wording(column))) & words]
        if not found and about == "price":
            found = [column for column in candidates if self.units(column) & CURRENCIES]
        if len(found) > 1 or (found and qualifiers(self.table.wording(found[0]))):
            raise UnclearError
        self._take_rate(found)
        return found[0] if found else ""

    def _take_rate(self, columns: Sequence[str]) -> None:
        """Account for "per year" if the name of the column that is meant has it: "Cost per year"."""
        words = {word for column in columns for word in roots(self.table.wording(column))}
        for at in self.question.open_tokens():
            token, before = self.tokens[at], self.tokens[at - 1].low if at else ""
            token.used = token.root in words and "per" in (token.low, before)

    def stocked(self, candidates: Sequence[str]) -> str:
        """The one column that says how many of a thing there are, by the surest name; "" if there is none."""
        for pattern in STOCK_NAMES:
            columns = [column for column in candidates if pattern.search(self.table.wording(column))]
            if len(columns) == 1:
                return columns[0]
        return ""

    def verb_about(self) -> str:
        """What the verb is about, which is then accounted for: "which costs the most"."""
        for at in self.question.open_tokens():
            if about := QUANTITY_OF_VERB.get(self.tokens[at].root):
                self.tokens[at].used = True
                return about
        return ""

    def words_in_cells(self) -> set[str]:
        """The words of all cells that are text."""
        columns = self.of_kind(ColumnKind.TEXT)
        return {word for column in columns for cell in self.cells(column) for word in content(cell)}

    def units(self, column: str) -> set[str]:
        """The units of a column: those in its cells and in its name."""
        header = self.table.wording(column)
        return {self.kinds[column].unit} | ({*roots(header), *map(root, _SIGNS.findall(header))} & UNITS)


@once_per_table
def rows_without_totals(table: ParsedTable) -> tuple[ParsedRow, ...]:
    """The rows of a table without those that add others up."""
    return tuple(row for at, row in enumerate(table.rows) if at not in totals_of(table).rows)


def names_of(table: ParsedTable) -> dict[str, tuple[str, ...]]:
    """The words of each column's name that a question must have."""
    return {column: required_words(table.wording(column)) for column in table.columns}


@once_per_table
def kinds_of(table: ParsedTable) -> dict[str, ColumnValues]:
    """The values of each column of a table, of the rows without totals."""
    rows, names = rows_without_totals(table), names_of(table)
    cells = {column: [row.cells.get(column, "") for row in rows] for column in table.columns}
    return values_of_columns(cells, {column for column in table.columns if _YEAR_WORDS & {*names[column]}})


def meanings(token: QuestionToken) -> tuple[str, ...]:
    """The words that a word of a question may stand for: "downtime" is the time that one is down.

    "Third" is that which has the number 3, "travelling" is to travel, and "MeltingPoint" a melting point.
    """
    low = token.low
    if (apart := words_apart(token.text)) != token.text:
        return token.root, *roots(apart)
    if low in ORDINAL_NUMBERS:
        return token.root, ORDINAL_NUMBERS[low]
    stems = [
        first for ending in ("time", "ing") if len(first := low.removesuffix(ending)) > 2 and first != low
    ]
    stems += [stem[:-1] for stem in stems if low.endswith("ing") and stem[-1] == stem[-2]]
    return token.root, *map(root, stems)


def required_words(header: str) -> tuple[str, ...]:
    """The words of a name of a column that a question must have."""
    said = content(_PARENTHESES.sub(" ", header)) or roots(header)
    return tuple(word for word in said if word not in UNITS) or said


@lru_cache(maxsize=MAX_KNOWN_CELLS)
def content(text: str) -> tuple[str, ...]:
    """The words of a text that mean something, for comparison."""
    words = _CONTENT_WORD.findall(text)
    return tuple(root(word) for word in words if word.lower() not in FUNCTION_WORDS)


def qualifiers(header: str) -> set[str]:
    """The words of a name that make it another column; "min" is one before others, and a unit behind them."""
    header = BEST_SAID.sub(" ", header)
    said = roots(header)
    is_least = len(said) > 1 and WORD.findall(header)[0].lower() == "min"
    return (set(said) & QUALIFIERS) | ({said[0]} if is_least else set())


def _singular(word: str) -> str:
    """A word without the ending of a plural: "building" and "built" have one stem, but are two words."""
    return word.lower().removesuffix("s")
