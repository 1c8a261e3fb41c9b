"""Whether a table answers a question: every word of the question must be accounted for by it.

A word is a name of a column, a value in a cell, a number that a cell is compared with, or part of the name
of the table. One word that is none of these, or that two columns could mean, and there is no match: the
question then takes its usual way, which is never wrong in a new manner.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cached_property

from localcrag.crag.parsed_tables import ParsedRow, ParsedTable
from localcrag.crag.table_questions import (
    FUNCTION_WORDS,
    QUANTITY_WORDS,
    SUPERLATIVES,
    NumberCondition,
    QuestionToken,
    TableQuestion,
    generic_about,
)
from localcrag.crag.table_values import (
    CURRENCIES,
    TEMPORAL,
    UNITS,
    WORD,
    ColumnKind,
    ColumnValues,
    column_values,
    is_missing,
    month_number,
    root,
    roots,
)
from localcrag.types import Aggregate

_PARENTHESES = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_LISTING = re.compile(r"[,&/+]|\band\b|\bor\b")
"""A name that lists several things, of which a question may mean one."""
_TOTAL_LABEL = re.compile(
    r"(?:grand |sub-?|overall )?(?:total|sum)s?:?|all|overall|average|mean|Σ|∑", re.IGNORECASE
)
_TOTAL_BEGINNING = re.compile(r"(?:(?:grand |sub-?)?total|sum)\b", re.IGNORECASE)
_YEAR_WORDS = frozenset(
    map(
        root,
        "year built opened founded since established installed born birth renovation constructed construction "
        "bought purchased launched released published renovated joined made started".split(),
    )
)
_ID_WORDS = frozenset(map(root, "id number no nr code zip postcode phone telephone ticket".split()))
_QUALIFIERS = frozenset(
    map(
        root,
        {*SUPERLATIVES, "mean", "average", "total", "worst", "best", "previous", "target", "sum", "subtotal"},
    )
) - {root("last"), root("first")}
"""Words in the name of a column that make it another one: "highest level" is not "level"."""
_RATES = frozenset(
    map(root, "temperature rate share percent percentage ratio average mean altitude height".split())
)
"""Words for what cannot be added up."""
_RATE_UNITS = frozenset({"%", "°c", "°f", "km/h", "db"})
_PERSONS = frozenset(
    map(
        root,
        "name person owner leader responsible engineer observer reporter contact member employee author teacher "
        "player driver student winner manager customer client guest candidate runner salesperson".split(),
    )
)
_PLACES = frozenset(map(root, "place location site city town island country region station".split()))
_ROW_WORDS = frozenset(map(root, "one thing item entry line".split()))
"""What a question may call a row, whatever it is."""
_MAX_VALUE_WORDS = 8


@dataclass(frozen=True, slots=True)
class RowCondition:
    """A condition on a cell: its column, the condition in words, and the numbers of the rows that meet it."""

    column: str
    words: str
    rows: frozenset[int]


@dataclass(frozen=True, slots=True)
class TableMatch:
    """How a table answers a question.

    ``rows`` are those of the table without the ``totals`` rows that add them up. ``column`` is the one that
    is compared or added up, with its ``values``; it is "" if rows are counted. ``entity`` is the column
    whose values are counted or asked for, or "".
    """

    table: ParsedTable
    question: TableQuestion
    rows: tuple[ParsedRow, ...]
    totals: int
    column: str
    values: ColumnValues
    entity: str
    conditions: tuple[RowCondition, ...]


class _Unclear(Exception):
    """The question can mean two things, or something that the table does not have."""


def matched(question: TableQuestion, table: ParsedTable) -> TableMatch | None:
    """How the table answers the question; None if a word of it is not accounted for, or could mean two things."""
    copied = replace(question, tokens=[replace(token) for token in question.tokens])
    try:
        return _Matching(copied, table).result()
    except _Unclear:
        return None


@dataclass
class _Matching:
    question: TableQuestion
    table: ParsedTable
    conditions: list[RowCondition] = field(default_factory=list)

    @property
    def tokens(self) -> list[QuestionToken]:
        return self.question.tokens

    def result(self) -> TableMatch:
        asked = self.question
        if len(self.rows) < 2:
            raise _Unclear
        for condition in asked.conditions:
            self.conditions.append(self._compared(condition))
        column = self._measure()
        self._take_values(column)
        entity = self._entity(column)
        if asked.operation in _EXTREMES and entity != self.label:
            self._column([self.label], asked.open_tokens())
        self._take_dates()
        self._take_flags(column)
        self._take_names()
        if asked.open_tokens():
            raise _Unclear
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
        )
        self._check(match)
        return match

    # ------------------------------------------------------------------------------ the table

    @cached_property
    def rows(self) -> tuple[ParsedRow, ...]:
        """The rows without those that add others up, by the first cell."""
        last = len(self.table.rows) - 1
        return tuple(row for at, row in enumerate(self.table.rows) if not _is_total(row, last=at == last))

    @cached_property
    def kinds(self) -> dict[str, ColumnValues]:
        """The values of each column."""
        return {
            column: column_values(self.cells(column), years=bool(_YEAR_WORDS & set(self.named(column))))
            for column in self.table.columns
        }

    def cells(self, column: str) -> list[str]:
        return [row.cells.get(column, "") for row in self.rows]

    @cached_property
    def _names(self) -> dict[str, tuple[str, ...]]:
        return {column: _required(self.table.header(column)) for column in self.table.columns}

    def named(self, column: str) -> tuple[str, ...]:
        """The words of a column's name that a question must have, without units and parentheses."""
        return self._names[column]

    @property
    def label(self) -> str:
        """The first column, whose cells name the rows."""
        return self.table.columns[0]

    def of_kind(self, *kinds: ColumnKind) -> list[str]:
        return [column for column, values in self.kinds.items() if values.kind in kinds]

    @cached_property
    def quantities(self) -> list[str]:
        """The columns of numbers that measure something: neither names of the rows nor numbers of a list."""
        return [
            column
            for column in self.of_kind(ColumnKind.NUMBER)
            if column != self.label and not (set(self.named(column)) & _ID_WORDS)
        ]

    # ------------------------------------------------------------------------------ names of columns

    def _column(self, candidates: Sequence[str], places: Iterable[int]) -> str:
        """The one column that tokens name, which are then accounted for; "" if they name none.

        Raises _Unclear if they could mean two.
        """
        open_places = [at for at in places if not self.tokens[at].used]
        said = {self.tokens[at].root for at in open_places} | set(roots(self.question.superlative))
        touched = [column for column in candidates if said & (set(self.named(column)) - _QUALIFIERS)]
        full = [column for column in touched if said >= set(self.named(column))]
        full = [c for c in full if not any(set(self.named(c)) < set(self.named(d)) for d in full)]
        if len(full) > 1:
            spelled = {_singular(self.tokens[at].low) for at in open_places}
            full = [
                c
                for c in full
                if {_singular(w.lower()) for w in WORD.findall(self.table.header(c))} <= spelled
            ]
            if len(full) != 1:
                raise _Unclear
        if not full:
            if not touched:
                return ""
            (only, *others) = touched
            if others or not self._names_by_last_word(only, said):
                raise _Unclear
            full = [only]
        name = self.table.header(full[0])
        header = {*roots(name), *_content(name)}
        for at in open_places:
            self.tokens[at].used = self.tokens[at].root in header
        return full[0]

    def _names_by_last_word(self, column: str, said: Collection[str]) -> bool:
        """Whether a column is meant though only the last word of its name is said: "pairs" of "breeding pairs"."""
        header = self.table.header(column).lower()
        named = self.named(column)
        whole = re.search(r"\b(?:of|per|each|not|without)\b", header) is None and not header.rstrip(
            " )"
        ).endswith("ed")
        return whole and named[-1] in said and not (set(named) & _QUALIFIERS) - set(said)

    def _about(self, candidates: Sequence[str], about: str) -> str:
        """The one column that is about a quantity, such as the price; "" if there is none or several."""
        words = QUANTITY_WORDS.get(about, frozenset())
        found = [column for column in candidates if set(roots(self.table.header(column))) & words]
        if not found and about == "price":
            found = [column for column in candidates if self._units(column) & CURRENCIES]
        if len(found) > 1 or (found and set(self.named(found[0])) & _QUALIFIERS):
            raise _Unclear
        return found[0] if found else ""

    def _units(self, column: str) -> set[str]:
        """The units of a column: those in its cells and in its name."""
        return {self.kinds[column].unit} | (set(roots(self.table.header(column))) & UNITS)

    # ------------------------------------------------------------------------------ the measure

    def _measure(self) -> str:
        """The column that is compared or added up; "" if rows are counted. May make a count a total."""
        asked = self.question
        everywhere = range(len(self.tokens))
        match asked.operation:
            case Aggregate.COUNT:
                if asked.in_total and (column := self._column(self.quantities, everywhere)):
                    if not all(self.tokens[at].used for at in asked.subject[-1:]):
                        raise _Unclear
                    asked.operation = Aggregate.TOTAL
                    return column
                return ""
            case Aggregate.TOTAL:
                column = self._column(self.quantities, everywhere)
                if not column and asked.spending:
                    column = self._about(self.quantities, "spending")
                    if not column:
                        raise _Unclear
                    for at in asked.subject:
                        self.tokens[at].used = True
                if not column and not asked.spending:
                    asked.operation = Aggregate.COUNT
                    asked.subject = asked.open_tokens()
                return column
            case Aggregate.AVERAGE:
                column = self._column(self.quantities, everywhere)
            case Aggregate.LATEST | Aggregate.EARLIEST:
                column = self._temporal_measure()
            case _:
                column = self._column(self.quantities, everywhere)
                about = asked.about or (self._verb_about() if not column else "")
                about = about or generic_about(asked.superlative)
                if not column and about:
                    column = self._about(self.quantities, about)
                if not column and not asked.about and self._names_nothing_after():
                    column = self.quantities[0] if len(self.quantities) == 1 else ""
        if not column:
            raise _Unclear
        return column

    def _temporal_measure(self) -> str:
        """The column of dates or years for the latest, the earliest, the oldest."""
        asked = self.question
        candidates = self.of_kind(*TEMPORAL)
        if column := self._column(candidates, range(len(self.tokens))):
            return column
        if asked.about == "age":
            ages = [column for column in self.quantities if self.named(column) == (root("age"),)]
            dated = self._about(candidates, "age")
            if ages and not dated:
                asked.highest = not asked.highest
                asked.operation = Aggregate.HIGHEST if asked.highest else Aggregate.LOWEST
                return ages[0]
            return "" if ages else dated
        return candidates[0] if len(candidates) == 1 else ""

    def _verb_about(self) -> str:
        """What the verb is about, which is then accounted for: "which costs the most"."""
        for at in self.question.open_tokens():
            if self.tokens[at].root == root("cost"):
                self.tokens[at].used = True
                return "price"
        return ""

    def _names_nothing_after(self) -> bool:
        """Whether no word follows "most" that would say what: "which island has the most?"."""
        words = [token.low for token in self.tokens]
        last = self.question.superlative.split()[-1]
        at = words.index(last)
        if last not in ("most", "least", "fewest") or words[max(0, at - 2) : at] not in _HAS_THE:
            return False
        return at + 1 == len(words) or words[at + 1] in FUNCTION_WORDS

    # ------------------------------------------------------------------------------ conditions

    def _compared(self, condition: NumberCondition) -> RowCondition:
        """A comparison with a number, on the column that the words beside it name."""
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
            column = self._column(dated, before) or (dated[0] if len(dated) == 1 else "")
            if (
                not column
                or condition.number != int(condition.number)
                or not 1000 <= condition.number <= 2100
            ):
                raise _Unclear
            values = [None if value is None else _year(value) for value in self.kinds[column].values]
        else:
            candidates = [c for c in self.quantities if not unit or unit in self._units(c)]
            column = self._column(candidates, after) or self._column(candidates, before)
            if not column and (about := condition.about or self._verb_about()):
                column = self._about(candidates, about)
            if not column:
                elsewhere = [at for at in self.question.open_tokens() if at not in self.question.subject]
                column = self._column(candidates, elsewhere)
            if not column and unit and len(candidates) == 1:
                column = candidates[0]
            if not column:
                raise _Unclear
            values = [value if isinstance(value, Decimal) else None for value in self.kinds[column].values]
        meets = _comparison(condition.sign, condition.number)
        rows = frozenset(at for at, value in enumerate(values) if value is not None and meets(value))
        number = f"{condition.number:,}" if not condition.temporal else f"{condition.number}"
        shown = f"{number} {condition.unit}".strip()
        sign = (_TEMPORAL_SIGNS if condition.temporal else _SIGNS)[condition.sign]
        return RowCondition(column, f"{self.table.header(column)} {sign} {shown}", rows)

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

    def _take_values(self, measure: str) -> None:
        """Account for words that are the whole text of cells, as conditions on their columns."""
        index = self._values(measure)
        longest = min(_MAX_VALUE_WORDS, max(map(len, index), default=0))
        for length in range(longest, 0, -1):
            for start, end, said in list(self._spans(length)):
                columns = index.get(said)
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
                for said in {_content(cell) for cell in self.cells(column) if not is_missing(cell)} - {()}:
                    index.setdefault(said, []).append(column)
        return index

    def _spans(self, length: int) -> Iterator[tuple[int, int, tuple[str, ...]]]:
        """The spans of so many words that are not accounted for, with words without meaning between them."""
        places = [at for at, token in enumerate(self.tokens) if token.low not in FUNCTION_WORDS]
        for first in range(len(places) - length + 1):
            within = places[first : first + length]
            if not any(self.tokens[at].used for at in within):
                yield within[0], within[-1] + 1, tuple(self.tokens[at].root for at in within)

    def _meant(self, columns: Sequence[str], start: int, end: int) -> str:
        """The one of several columns with a value whose name stands beside it; a name of another one is refused."""
        beside = [self.tokens[at] for at in (start - 1, end) if 0 <= at < len(self.tokens)]
        said = {token.root for token in beside if token.low not in ("on", "at", "in", "of", "by")}
        named = [c for c in self.table.columns if len(self.named(c)) == 1 and self.named(c)[0] in said]
        fitting = [column for column in columns if column in named]
        if len(fitting) == 1:
            return fitting[0]
        before = self.tokens[start - 1].root if start else ""
        if len(columns) > 1 or any(self.named(c) == (before,) for c in named):
            raise _Unclear
        return columns[0]

    def _take_value(self, column: str, said: tuple[str, ...], start: int, end: int) -> None:
        if any(condition.column == column for condition in self.conditions):
            raise _Unclear
        cells = self.cells(column)
        rows = frozenset(at for at, cell in enumerate(cells) if _content(cell) == said)
        shown = cells[min(rows)]
        self.conditions.append(RowCondition(column, f"{self.table.header(column)} = {shown}", rows))
        for token in self.tokens[start:end]:
            token.used = True
        places = (start - 1, end, *(at for at in range(len(self.tokens)) if at not in self.question.subject))
        for at in places:
            if 0 <= at < len(self.tokens) and not self.tokens[at].used:
                self.tokens[at].used = at not in self.question.subject[-1:] and any(
                    _is_akin(self.tokens[at].root, word) for word in self.named(column)
                )

    def _take_number(self, at: int) -> None:
        """Account for a number behind the name of its column: "building 3"."""
        before = self.tokens[at - 1]
        columns = [
            column
            for column in self.of_kind(ColumnKind.NUMBER, ColumnKind.TEXT)
            if self.named(column) == (before.root,) and (before.root,) != ()
        ]
        text = self.tokens[at].text
        rows = frozenset(n for c in columns for n, cell in enumerate(self.cells(c)) if cell.strip() == text)
        if len(columns) == 1 and rows:
            self.conditions.append(
                RowCondition(columns[0], f"{self.table.header(columns[0])} = {text}", rows)
            )
            before.used = self.tokens[at].used = True

    def _take_dates(self) -> None:
        """Account for years and months as conditions on a column of years or dates."""
        years = [at for at, token in enumerate(self.tokens) if not token.used and _is_year(token)]
        months = [
            at
            for at, token in enumerate(self.tokens)
            if not token.used and month_number(token.low) and (token.low != "may" or token.text == "May")
        ]
        if len(years) > 1 or len(months) > 1 or not (years or months):
            return
        dated = self.of_kind(ColumnKind.DATE) if months else self.of_kind(ColumnKind.DATE, ColumnKind.YEAR)
        if not dated:
            return
        column = self._column(dated, range(len(self.tokens))) or (dated[0] if len(dated) == 1 else "")
        if not column:
            raise _Unclear
        values = self.kinds[column].values
        rows = set(range(len(values)))
        said = []
        for at in months:
            month = month_number(self.tokens[at].low)
            rows = {n for n in rows if isinstance(value := values[n], date) and value.month == month}
        for at in years:
            rows = {
                n
                for n in rows
                if (value := values[n]) is not None and _year(value) == int(self.tokens[at].text)
            }
        for at in sorted((*months, *years)):
            said.append(self.tokens[at].text)
            self.tokens[at].used = True
        self.conditions.append(
            RowCondition(column, f"{self.table.header(column)} in {' '.join(said)}", frozenset(rows))
        )

    def _take_flags(self, measure: str) -> None:
        """Account for the name of a column of yes and no: a row counts if it says yes."""
        for column in self.of_kind(ColumnKind.FLAG):
            places = [at for at in self.question.open_tokens() if self.tokens[at].root in self.named(column)]
            if (
                places
                and {self.tokens[at].root for at in places} == set(self.named(column))
                and column != measure
            ):
                values = self.kinds[column].values
                rows = frozenset(at for at, value in enumerate(values) if value is True)
                self.conditions.append(RowCondition(column, f"{self.table.header(column)} = yes", rows))
                for at in places:
                    self.tokens[at].used = True

    # ------------------------------------------------------------------------------ what is asked for

    def _entity(self, measure: str) -> str:
        """The column whose values are counted, or of which one is asked for; "" if that is the row itself.

        Raises _Unclear if the question names something else.
        """
        asked = self.question
        others = [column for column in self.table.columns if column != measure]
        flags = self.of_kind(ColumnKind.FLAG)
        subject = [at for at in asked.subject if not self.tokens[at].used]
        head = [at for at in subject[-1:] if asked.operation in _NAMING]
        if asked.operation in _NAMING and asked.asking in ("who", "where", "when"):
            return self._asked_for(asked.asking, others, measure)
        entity = (
            self._column([column for column in others if column not in flags], subject) if subject else ""
        )
        if entity:
            if (
                asked.operation is Aggregate.COUNT
                and self.kinds[entity].kind is ColumnKind.NUMBER
                and entity != self.label
            ):
                raise _Unclear
            return entity
        if head:
            self._take_row_word(head[0])
        elif asked.operation is Aggregate.COUNT and not subject:
            raise _Unclear
        if asked.operation is not Aggregate.COUNT and not subject:
            open_places = asked.open_tokens()
            names = [c for c in others if c == self.label or self.kinds[c].kind is ColumnKind.TEXT]
            return self._column(names, open_places)
        return ""

    def _asked_for(self, asking: str, others: Sequence[str], measure: str) -> str:
        """The column that answers who, where or when."""
        if asking == "when":
            if measure in self.of_kind(*TEMPORAL):
                return ""
            found = [column for column in others if self.kinds[column].kind in TEMPORAL]
        else:
            words = _PERSONS if asking == "who" else _PLACES
            found = [column for column in others if set(self.named(column)) & words]
        if len(found) != 1:
            raise _Unclear
        for at in self.question.open_tokens():
            self.tokens[at].used = any(_is_akin(self.tokens[at].root, word) for word in self.named(found[0]))
        return found[0]

    def _take_row_word(self, at: int) -> None:
        """Account for a noun that means a row: the last word of the table's name, "incidents" of "lift-incidents"."""
        token = self.tokens[at]
        prefix = roots(self.table.prefix)
        nearest = roots(self.table.names[0])[-1:] if self.table.names else ()
        plural = bool(self.table.names) and self.table.names[0].rstrip().lower().endswith("s")
        if (plural and token.root in nearest) or token.root in prefix[-1:]:
            token.used = True
        elif token.root in _ROW_WORDS and self.question.operation is not Aggregate.COUNT:
            token.used = True
        else:
            raise _Unclear

    def _take_names(self) -> None:
        """Account for words of the table's names, of its file and of its document's title.

        A word that occurs in cells is a condition that was not understood, and so is one of several things or
        years that a name lists.
        """
        within = {
            word
            for column in self.of_kind(ColumnKind.TEXT)
            for cell in self.cells(column)
            for word in _content(cell)
        }
        single = [name for name in self.table.names if not _LISTING.search(name)]
        known = {word for name in (*single, self.table.prefix) for word in (*roots(name), *_content(name))}
        years = {word for name in self.table.names for word in roots(name) if word.isdecimal()}
        for at in self.question.open_tokens():
            token = self.tokens[at]
            one_of_years = token.is_number and len(years) > 1
            token.used = token.root in known and token.root not in within and not one_of_years

    # ------------------------------------------------------------------------------ sense

    def _check(self, match: TableMatch) -> None:
        """Raise _Unclear for a result that would say something else than it seems to."""
        asked = match.question
        if asked.operation in (Aggregate.TOTAL, Aggregate.AVERAGE):
            header = set(roots(self.table.header(match.column)))
            if header & _QUALIFIERS:
                raise _Unclear
            if asked.operation is Aggregate.TOTAL and (header & _RATES or match.values.unit in _RATE_UNITS):
                raise _Unclear
            self._check_times(match)
        if asked.operation is Aggregate.COUNT and not match.entity:
            counted = {root(word) for word in ("quantity", "stock", "count", "pieces")}
            if any(set(self.named(column)) & counted for column in self.quantities):
                raise _Unclear
        if asked.operation is Aggregate.COUNT and match.entity and not asked.distinct:
            cells = [cell for cell in self.cells(match.entity) if cell]
            if len(cells) / 2 < len(set(cells)) < len(cells):
                raise _Unclear
        if asked.operation in _EXTREMES and match.entity and not asked.about:
            values: dict[str, set[object]] = {}
            for cell, value in zip(self.cells(match.entity), match.values.values, strict=True):
                values.setdefault(cell, set()).add(value)
            if any(len(found) > 1 for found in values.values()):
                raise _Unclear

    def _check_times(self, match: TableMatch) -> None:
        """Refuse to add up one thing at several times: the members of each year are no members altogether."""
        dated = self.of_kind(*TEMPORAL)
        varying = [c for c in dated if len({v for v in self.kinds[c].values if v is not None}) > 1]
        conditioned = {condition.column for condition in match.conditions}
        if not set(varying) - conditioned or self._units(match.column) & CURRENCIES:
            return
        money = QUANTITY_WORDS["spending"] | QUANTITY_WORDS["price"]
        if set(roots(self.table.header(match.column))) & money:
            return
        if match.question.operation is Aggregate.TOTAL and self.label in varying:
            raise _Unclear
        cells = self.cells(self.label)
        if match.question.operation is Aggregate.TOTAL and len(set(cells)) < len(cells):
            raise _Unclear


_EXTREMES = frozenset({Aggregate.HIGHEST, Aggregate.LOWEST, Aggregate.LATEST, Aggregate.EARLIEST})
_NAMING = _EXTREMES | {Aggregate.COUNT}
"""The operations whose question names what is counted, or which one is asked for."""
_HAS_THE = (["has", "the"], ["have", "the"], ["had", "the"])
_SIGNS = {">": "more than", "<": "less than", ">=": "at least", "<=": "at most", "=": "="}

_TEMPORAL_SIGNS = {">": "after", "<": "before", ">=": "since"}


def _comparison(sign: str, number: Decimal) -> Callable[[Decimal], bool]:
    """Whether a value compares so with a number."""
    return {
        ">": lambda value: value > number,
        "<": lambda value: value < number,
        ">=": lambda value: value >= number,
        "<=": lambda value: value <= number,
        "=": lambda value: value == number,
    }[sign]


def _is_total(row: ParsedRow, *, last: bool) -> bool:
    """Whether a row adds up others: its first cell says so."""
    first = next(iter(row.cells.values()), "").strip()
    return bool(_TOTAL_LABEL.fullmatch(first)) or (last and bool(_TOTAL_BEGINNING.match(first)))


def _required(header: str) -> tuple[str, ...]:
    """The words of a name of a column that a question must have."""
    said = _content(_PARENTHESES.sub(" ", header)) or roots(header)
    return tuple(word for word in said if word not in UNITS) or said


def _content(text: str) -> tuple[str, ...]:
    """The words of a text that mean something, for comparison."""
    words = re.findall(r"[^\W_]+(?:['’.&+-][^\W_]+)*|%", text)
    return tuple(root(word) for word in words if word.lower() not in FUNCTION_WORDS)


def _singular(word: str) -> str:
    """A word without the ending of a plural: "building" and "built" have one stem, but are two words."""
    return word.removesuffix("s")


def _is_akin(word: str, other: str) -> bool:
    """Whether a verb and a noun are of one stem: "own" and "owner"."""
    short, long = sorted((word, other), key=len)
    return len(short) >= 3 and long.startswith(short) and len(long) - len(short) <= 2


def _year(value: object) -> Decimal | None:
    """The year of a date, or a year itself."""
    if isinstance(value, date):
        return Decimal(value.year)
    return value if isinstance(value, Decimal) else None


def _is_year(token: QuestionToken) -> bool:
    """Whether a token is a year in four digits."""
    return token.is_number and re.fullmatch(r"1[5-9]\d\d|20\d\d", token.text) is not None
