"""A query over one table: what the language model writes of a question, and the text that it has.

It is a ``SELECT`` of SQL without its table: ``SELECT "Part" WHERE "Supplier" = 'Velo Nord' ORDER BY
"Price" DESC LIMIT 1``. ``LIKE 'part'`` holds for a cell with these words, or a date that has this part, and
``SHARE(*)`` is the percentage of the rows that meet the conditions. ``NONE`` says that the table does not
answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

NO_QUERY = "NONE"
"""What is written if the table does not answer the question."""
_TOKEN = re.compile(
    r'\s*(?:"(?P<name>(?:[^"]|"")*)"|\'(?P<text>(?:[^\']|\'\')*)\'|(?P<number>-?\d+(?:\.\d+)?)'
    r"|(?P<word>[A-Za-z]+)|(?P<mark><=|>=|!=|[=<>(),*+-]))"
)
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
COMPARING = frozenset({"<", "<=", ">", ">=", "BETWEEN"})
"""The operators that ask on which side of a number or a date a cell is."""
FUNCTIONS = ("COUNT", "SUM", "AVG", "MIN", "MAX", "SHARE")
PERIODS = ("year", "month")
ARITHMETIC = ("-", "+", "*")


class QueryError(ValueError):
    """A text is no query."""


@dataclass(frozen=True, slots=True)
class ColumnExpression:
    """A column, or two that are subtracted, added or multiplied."""

    column: str
    operator: str = ""
    other: str = ""

    def __str__(self) -> str:
        return (
            f"{quoted(self.column)} {self.operator} {quoted(self.other)}"
            if self.operator
            else quoted(self.column)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it reads."""
        return (self.column, self.other) if self.operator else (self.column,)


@dataclass(frozen=True, slots=True)
class Target:
    """What is selected: a function of :data:`FUNCTIONS`, "" for the cells themselves, of an expression.

    Without an expression the function is of the rows. ``distinct`` counts different values.
    """

    function: str = ""
    expression: ColumnExpression | None = None
    distinct: bool = False

    def __str__(self) -> str:
        if not self.function:
            return str(self.expression)
        of = "*" if self.expression is None else str(self.expression)
        return f"{self.function}({'DISTINCT ' if self.distinct else ''}{of})"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition on the cell of a column.

    ``operator`` is one of :data:`COMPARISONS`, ``LIKE``, ``IN``, ``BETWEEN``, ``IS NULL`` or ``IS NOT NULL``.
    ``values`` are what the cell is compared with, numbers as they are written; ``other`` is the column that
    it is compared with if that is one. ``are_texts`` says that the values are quoted.
    """

    column: str
    operator: str
    values: tuple[str, ...] = ()
    other: str = ""
    are_texts: bool = False

    def __str__(self) -> str:
        literals = [literal(value) if self.are_texts else value for value in self.values]
        match self.operator:
            case "IN":
                right = f"IN ({', '.join(literals)})"
            case "BETWEEN":
                right = f"BETWEEN {' AND '.join(literals)}"
            case "IS NULL" | "IS NOT NULL":
                right = self.operator
            case _:
                right = f"{self.operator} {quoted(self.other) if self.other else literals[0]}"
        return f"{quoted(self.column)} {right}"


@dataclass(frozen=True, slots=True)
class TableQuery:
    """A query: what it selects of which rows, by group, in which order.

    ``limit`` is 0 if all rows are wanted; ``offset`` rows are left out before. ``period`` is one of
    :data:`PERIODS` if the groups are those of the dates of a column, which no model writes.
    """

    targets: tuple[Target, ...]
    conditions: tuple[Condition, ...] = ()
    group: str = ""
    key: Target | None = None
    is_descending: bool = False
    limit: int = 0
    offset: int = 0
    period: str = ""

    def __str__(self) -> str:
        text = f"SELECT {', '.join(map(str, self.targets))}"
        if self.conditions:
            text += f" WHERE {' AND '.join(map(str, self.conditions))}"
        if self.group:
            grouped = quoted(self.group)
            text += f" GROUP BY {f'{self.period.upper()}({grouped})' if self.period else grouped}"
        if self.key:
            text += f" ORDER BY {self.key} {'DESC' if self.is_descending else 'ASC'} LIMIT {self.limit}"
            text += f" OFFSET {self.offset}" if self.offset else ""
        return text

    @property
    def reads_cells(self) -> bool:
        """Whether it only reads cells: it computes nothing, and puts no rows in groups or in an order."""
        return not (self.key or self.group or any(target.function for target in self.targets))

    @property
    def ordering_column(self) -> str:
        """The column in whose order its lines are; "" if they have no order, or that of two columns."""
        expression = self.key.expression if self.key else None
        return "" if expression is None or expression.operator else expression.column

    @property
    def selected(self) -> tuple[str, ...]:
        """The columns that its targets name."""
        return _columns_of(self.targets)

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns that it selects or puts its lines in order by."""
        return _columns_of((*self.targets, *filter(None, [self.key])))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it names, each once."""
        named = list(self.measured)
        for condition in self.conditions:
            named += [condition.column, condition.other]
        return tuple(dict.fromkeys(filter(None, [*named, self.group])))


def _columns_of(targets: Iterable[Target]) -> tuple[str, ...]:
    """The columns that the expressions of targets read, in order."""
    expressions = (target.expression for target in targets if target.expression)
    return tuple(column for each in expressions for column in each.columns)


def quoted(column: str) -> str:
    """The name of a column as a query writes it."""
    return '"' + column.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as a query writes it."""
    return "'" + text.replace("'", "''") + "'"


def parsed_query(text: str) -> TableQuery | None:
    """The query of a text; None for :data:`NO_QUERY`. Raises QueryError."""
    if text.strip() == NO_QUERY:
        return None
    return _Parser(text).query()


@dataclass
class _Parser:
    """Reads a query from its tokens, each with its kind."""

    text: str
    tokens: list[tuple[str, str]] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = list(_tokens(self.text))
        self.tokens.append(("end", ""))

    def query(self) -> TableQuery:
        """The whole query."""
        self.word("SELECT")
        targets = [self.target()]
        while self.took(","):
            targets.append(self.target())
        conditions: list[Condition] = []
        if self.took("WHERE"):
            conditions.append(self.condition())
            while self.took("AND"):
                conditions.append(self.condition())
        group = ""
        if self.took("GROUP"):
            self.word("BY")
            group = self.take("name")
        key, is_descending, limit, offset = None, False, 0, 0
        if self.took("ORDER"):
            self.word("BY")
            key = self.target()
            is_descending = self.took("DESC")
            if not is_descending:
                self.word("ASC")
            self.word("LIMIT")
            limit = int(self.take("number"))
            offset = int(self.take("number")) if self.took("OFFSET") else 0
        self.take("end")
        return TableQuery(tuple(targets), tuple(conditions), group, key, is_descending, limit, offset)

    def target(self) -> Target:
        """What is selected or put in order."""
        kind, value = self.tokens[0]
        if kind == "name":
            return Target(expression=self.expression())
        function = value.upper()
        if kind != "word" or function not in FUNCTIONS:
            raise QueryError(f"unknown: {value!r}")
        self.tokens.pop(0)
        self.word("(")
        distinct = self.took("DISTINCT")
        expression = None if self.took("*") else self.expression()
        self.word(")")
        return Target(function, expression, distinct)

    def expression(self) -> ColumnExpression:
        """A column, or two."""
        column = self.take("name")
        operator = next((mark for mark in ARITHMETIC if self.took(mark)), "")
        return ColumnExpression(column, operator, self.take("name") if operator else "")

    def condition(self) -> Condition:
        """One condition."""
        column = self.take("name")
        if self.took("IS"):
            is_not = self.took("NOT")
            self.word("NULL")
            return Condition(column, "IS NOT NULL" if is_not else "IS NULL")
        if self.took("IN"):
            self.word("(")
            values = [self.take("text")]
            while self.took(","):
                values.append(self.take("text"))
            self.word(")")
            return Condition(column, "IN", tuple(values), are_texts=True)
        if self.took("BETWEEN"):
            kind = self.tokens[0][0]
            low = self.value()
            self.word("AND")
            return Condition(column, "BETWEEN", (low, self.value()), are_texts=kind == "text")
        if self.took("LIKE"):
            return Condition(column, "LIKE", (self.take("text"),), are_texts=True)
        operator = next((mark for mark in COMPARISONS if self.took(mark)), "")
        if not operator:
            raise QueryError(f"no comparison: {self.tokens[0][1]!r}")
        kind, value = self.tokens[0]
        if kind == "name":
            self.tokens.pop(0)
            return Condition(column, operator, other=value)
        return Condition(column, operator, (self.value(),), are_texts=kind == "text")

    def value(self) -> str:
        """A number or a quoted text."""
        return self.take("text") if self.tokens[0][0] == "text" else self.take("number")

    def take(self, kind: str) -> str:
        """The value of the next token, which must be of a kind."""
        found, value = self.tokens.pop(0)
        if found != kind:
            raise QueryError(f"{value!r} where a {kind} should stand")
        return value

    def took(self, word: str) -> bool:
        """Whether the next token is a word or a mark, which is then read."""
        kind, value = self.tokens[0]
        is_it = kind in ("word", "mark") and value.upper() == word
        if is_it:
            self.tokens.pop(0)
        return is_it

    def word(self, word: str) -> None:
        """Read a word or a mark that must stand here."""
        if not self.took(word):
            raise QueryError(f"{self.tokens[0][1]!r} where {word} should stand")


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """The kinds and values of the tokens of a query."""
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise QueryError(f"unreadable from {text[at : at + 20]!r}")
        kind, value = found.lastgroup, found[found.lastgroup]
        at = found.end()
        yield (
            kind,
            value.replace('""', '"')
            if kind == "name"
            else value.replace("''", "'")
            if kind == "text"
            else value,
        )
