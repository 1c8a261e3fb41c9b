"""The pattern of all queries over a table that compare nothing but what a question says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from localcrag.crag.table_answers.table_values import ColumnKind, Value
from localcrag.crag.table_queries.query_table import QueryColumn, QueryTable, plain_value
from localcrag.crag.table_queries.said_values import SaidValues
from localcrag.crag.table_queries.table_query import NO_QUERY, literal, quoted

MAX_CONDITIONS = 3
"""The most conditions of a query."""
Measured = Any
"""A number, a day or a time of day; the values of a column and their bounds are of one type."""


def query_pattern(table: QueryTable, said: SaidValues) -> str:
    """The regular expression, of the library ``regex``, that every query over a table matches.

    Columns are compared with what the question says of them, or with any of their cells if these are few;
    sums and averages are of numbers, an order is of what has one.
    """
    columns = list(table.columns.values())
    parts = {"column": _any(map(quoted, table.columns))}
    if numbers := _any(quoted(column.name) for column in columns if column.is_number):
        parts["number"] = numbers
        parts["summed"] = "(?&number)(?: [+*-] (?&number))?"
    if ordered := _any(quoted(column.name) for column in columns if column.is_ordered):
        parts["ordered"] = ordered
    two = ["(?&ordered) - (?&ordered)"] if ordered else []
    two += [r"(?&number) [+*] (?&number)"] if numbers else []
    sums = [r"(?:SUM|AVG)\((?&summed)\)"] if numbers else []
    extremes = [r"(?:MIN|MAX)\((?&ordered)\)"] if ordered else []
    parts["cell"] = _or(["(?&column)", *two])
    parts["total"] = _or([r"COUNT\(\*\)", r"COUNT\(DISTINCT (?&column)\)", *sums, *extremes])
    parts["condition"] = _or(_conditions(table, said))
    defined = "".join(rf"(?P<{name}>{pattern})" for name, pattern in parts.items())
    limits = _any([*map(str, range(1, 11)), *(n for n in said.numbers if n.isdigit() and n != "0")])
    place = rf"(?:ASC|DESC) LIMIT {limits}(?: OFFSET [1-9])?"
    where = rf"(?: WHERE (?&condition)(?: AND (?&condition)){{0,{MAX_CONDITIONS - 1}}})?"
    kinds = [
        rf"(?:(?&total)(?:, (?&total))?|SHARE\(\*\)){where}",
        rf"(?&cell)(?:, (?&cell))?{where}"
        + (rf"(?: ORDER BY {_or(['(?&ordered)', *two])} {place})?" if ordered else ""),
        rf"(?&column)(?:, (?&total))?{where} GROUP BY (?&column)(?: ORDER BY (?&total) {place})?",
    ]
    return rf"(?(DEFINE){defined})(?:SELECT {_or(kinds)}|{NO_QUERY})"


def _conditions(table: QueryTable, said: SaidValues) -> Iterator[str]:
    """The patterns of all conditions on the columns of a table that any row may meet."""
    for name, column in table.columns.items():
        tests = [r"IS (?:NOT )?NULL"] if len(column.filled) < len(column.cells) else []
        if cells := dict.fromkeys((*said.cells.get(name, ()), *column.listed)):
            one = _any(map(literal, cells))
            tests += [rf"!?= {one}", *([rf"IN \({one}(?:, {one}){{1,3}}\)"] if len(cells) > 1 else [])]
        texts = [*said.parts.get(name, ())]
        if column.is_number:
            tests += _comparisons(column, {number: Decimal(number) for number in said.numbers})
        elif column.typed.kind is ColumnKind.DATE:
            tests += _comparisons(column, {literal(day): date.fromisoformat(day) for day in said.days})
            held = [plain_value(value) for value in column.typed.values if value is not None]
            texts += [period for period in said.periods if any(period in value for value in held)]
        elif column.typed.kind is ColumnKind.TIME:
            tests += _comparisons(column, {literal(each): time.fromisoformat(each) for each in said.times})
        if texts:
            tests.append(rf"LIKE {_any(map(literal, texts))}")
        alike = [
            each.name for each in table.columns.values() if each.kind == column.kind and each is not column
        ]
        if column.is_ordered and alike:
            tests.append(rf"(?:<|>|=|!=) {_any(map(quoted, alike))}")
        if tests:
            yield rf"{re.escape(quoted(name))} {_or(tests)}"


def _comparisons(column: QueryColumn, bounds: Mapping[str, Measured]) -> Iterator[str]:
    """The patterns of the comparisons of a column with what a question says that any of its values meets.

    "More than 100,000" is nothing that a column of percentages has.
    """
    values = {_day_of(value) for value in column.typed.values if value is not None}
    if not values:
        return
    low, high = min(values), max(values)
    for operators, held in (
        ("!?=", [text for text, bound in bounds.items() if bound in values]),
        ("<", [text for text, bound in bounds.items() if low < bound]),
        ("<=", [text for text, bound in bounds.items() if low <= bound]),
        (">", [text for text, bound in bounds.items() if high > bound]),
        (">=", [text for text, bound in bounds.items() if high >= bound]),
    ):
        if held:
            yield rf"{operators} {_any(held)}"
    first = [text for text, bound in bounds.items() if bound <= high]
    last = [text for text, bound in bounds.items() if bound >= low]
    if first and last:
        yield rf"BETWEEN {_any(first)} AND {_any(last)}"


def _day_of(value: Value) -> Measured:
    """A value as bounds are compared with it: of a point in time its day."""
    return value.date() if isinstance(value, datetime) else value


def _any(texts: Iterable[str]) -> str:
    """The pattern of one of some texts; "" of none."""
    escaped = [re.escape(text) for text in texts]
    return rf"(?:{'|'.join(escaped)})" if escaped else ""


def _or(patterns: Iterable[str]) -> str:
    """The pattern of one of some patterns."""
    return rf"(?:{'|'.join(patterns)})"
