"""What a query gives: its lines, each with the rows of the table that it was made from."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import ROUND_HALF_UP, Decimal

from localcrag.crag.questions.query_terms import folded
from localcrag.crag.table_answers.table_values import Value, is_missing, quantity, roots, usual_digits
from localcrag.crag.table_queries.query_table import QueryColumn, QueryTable, plain_value
from localcrag.crag.table_queries.table_query import (
    ColumnExpression,
    Condition,
    QueryError,
    TableQuery,
    Target,
)

_NUMBER = re.compile(r"[+-]?\d(?:[\d.,' \u00a0\u202f]*\d)?")
_TO_DECIMAL_COMMA = str.maketrans(".,", ",.")
_AVERAGE_DIGITS = 2
_SHARE_DIGITS = Decimal("0.1")

Measured = Decimal | date | datetime | time
"""What can be put in order."""


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A line of a result: what each target gives, and the rows that it was made from."""

    texts: tuple[str, ...]
    rows: tuple[int, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The lines of a result, the rows that meet the conditions, and of these how many had no value.

    ``ties`` is the number of further rows or groups that share the last place, ``all_share`` says that all
    have one value.
    """

    lines: tuple[ResultLine, ...]
    rows: tuple[int, ...]
    without_value: int = 0
    ties: int = 0
    all_share: bool = False


def result_of(query: TableQuery, table: QueryTable) -> QueryResult:
    """The result of a query. Raises QueryError if it asks of a column what that has not."""
    missing = [name for name in query.columns if name not in table.columns]
    if missing:
        raise QueryError(f"no column {missing[0]}")
    rows = rows_of(query, table)
    if query.group:
        return _grouped(query, table, rows)
    if any(target.function for target in query.targets):
        return _aggregated(query, table, rows)
    return _selected(query, table, rows)


def rows_of(query: TableQuery, table: QueryTable) -> list[int]:
    """The rows that meet the conditions of a query, in order."""
    return [
        at for at in range(table.size) if all(_meets(table, condition, at) for condition in query.conditions)
    ]


# ---------------------------------------------------------------------------------- the kinds of results


def _selected(query: TableQuery, table: QueryTable, rows: list[int]) -> QueryResult:
    """The cells of some rows, in order if the query says so."""
    counted, ties, all_share = rows, 0, False
    keys: dict[int, Measured] = {}
    if query.key:
        if query.key.function or query.key.expression is None:
            raise QueryError("an order of groups without groups")
        keys = _measures(query.key.expression, table, rows)
        counted, ties, all_share = _in_order(query, list(keys), keys.__getitem__)
    else:
        first = query.targets[0].expression
        assert first is not None
        filled = [at for at in rows if not is_missing(_text(first, table, at))]
        counted = filled
    lines = tuple(
        ResultLine(
            tuple(_text(target.expression, table, at) for target in query.targets if target.expression),
            (at,),
            _text(query.key.expression, table, at) if query.key and query.key.expression else "",
        )
        for at in counted
    )
    without = len(rows) - (len(keys) if query.key else len(counted))
    return QueryResult(lines, tuple(rows), without, ties, all_share)


def _aggregated(query: TableQuery, table: QueryTable, rows: list[int]) -> QueryResult:
    """One line over all rows that meet the conditions."""
    texts, without, named = [], 0, tuple(rows)
    for target in query.targets:
        text, of_rows = _computed(target, table, rows)
        texts.append(text)
        if target.function != "SHARE":
            without = max(without, len(rows) - _with_value(target, table, rows, of_rows))
            named = tuple(of_rows)
    return QueryResult((ResultLine(tuple(texts), named),), tuple(rows), without)


def _with_value(target: Target, table: QueryTable, rows: list[int], named: list[int]) -> int:
    """How many rows a target has a value of; ``named`` are those that it is made from."""
    if target.function in ("MIN", "MAX") and target.expression is not None:
        return len(_measures(target.expression, table, rows))
    return len(named)


def _grouped(query: TableQuery, table: QueryTable, rows: list[int]) -> QueryResult:
    """A line for each group of rows with the same cell, in order if the query says so."""
    column = table.columns[query.group]
    groups: dict[str, list[int]] = {}
    spelled: dict[str, str] = {}
    for at in rows:
        cell = _period_of(column, at, query.period) if query.period else column.cells[at]
        if not is_missing(cell):
            key = folded(cell) if " " not in cell else cell.casefold()
            spelled.setdefault(key, cell)
            groups.setdefault(key, []).append(at)
    keys: dict[str, Measured] = {}
    order, ties, all_share = list(groups), 0, False
    if query.key:
        for name, members in groups.items():
            value = _measure(query.key, table, members)
            if value is not None:
                keys[name] = value
        order, ties, all_share = _in_order(query, list(keys), keys.__getitem__)
    lines = []
    for name in order:
        texts = [
            spelled[name] if _is_group(target, query.group) else _computed(target, table, groups[name])[0]
            for target in query.targets
        ]
        key = _computed(query.key, table, groups[name])[0] if query.key else ""
        lines.append(ResultLine(tuple(texts), tuple(groups[name]), key))
    grouped = sum(map(len, groups.values()))
    return QueryResult(tuple(lines), tuple(rows), len(rows) - grouped, ties, all_share)


def _period_of(column: QueryColumn, at: int, period: str) -> str:
    """The year, or the month of it, of a date; "" of a cell that has none."""
    value = _value(column, at)
    if not isinstance(value, date):
        return ""
    return f"{value:%Y}" if period == "year" else f"{value:%B %Y}"


def _in_order(query: TableQuery, places: Sequence, value_of: Callable) -> tuple[list, int, bool]:  # type: ignore[type-arg]
    """The places that are wanted, how many others share the last one, and whether all share one value."""
    ranked = sorted(places, key=value_of, reverse=query.is_descending)
    chosen = ranked[query.offset : query.offset + (query.limit or len(ranked))]
    if not chosen:
        return [], 0, False
    last = value_of(chosen[-1])
    tied = [place for place in ranked[query.offset + len(chosen) :] if value_of(place) == last]
    return [*chosen, *tied], len(tied), len(ranked) > 1 and value_of(ranked[0]) == value_of(ranked[-1])


def _is_group(target: Target, group: str) -> bool:
    return not target.function and target.expression is not None and target.expression.column == group


# ---------------------------------------------------------------------------------- conditions


def _meets(table: QueryTable, condition: Condition, at: int) -> bool:
    """Whether a row meets a condition; a missing cell meets none but IS NULL and !=.

    A cell that lists several things is equal to each of them.
    """
    column = table.columns[condition.column]
    cell, operator = column.cells[at], condition.operator
    if operator in ("IS NULL", "IS NOT NULL"):
        return is_missing(cell) is (operator == "IS NULL")
    if condition.other:
        other = table.columns[condition.other]
        left, right = _value(column, at), _value(other, at)
        if type(left) is type(right) and left is not None:
            return _compared(left, operator, right)
        return operator in ("=", "!=") and (_folded(cell) == _folded(other.cells[at])) is (operator == "=")
    if operator == "IN":
        return any(_is_or_lists(column, cell, value) for value in condition.values)
    if operator == "LIKE":
        return _has(column, at, condition.values[0])
    if is_missing(cell):
        return operator == "!="
    if operator in ("=", "!=") and condition.are_texts:
        is_equal = _is_or_lists(column, cell, condition.values[0]) or (
            _literal(column, condition.values[0]) is not None
            and _literal(column, condition.values[0]) == _value(column, at)
        )
        return is_equal is (operator == "=")
    value = _value(column, at)
    bounds = [_literal(column, each) for each in condition.values]
    if value is None or any(bound is None for bound in bounds):
        if operator in ("=", "!=") and value is None:
            return (_folded(cell) == _folded(condition.values[0])) is (operator == "=")
        return False
    if operator == "BETWEEN":
        return _compared(value, ">=", bounds[0]) and _compared(value, "<=", bounds[1])
    return _compared(value, operator, bounds[0])


def _is_or_lists(column: QueryColumn, cell: str, value: str) -> bool:
    """Whether a cell is a value, or one of several things that it lists is: "7, 14" has the line 14."""
    return _folded(cell) == _folded(value) or _folded(value) in column.things.get(cell, ())


def _compared(left: Value, operator: str, right: Value | None) -> bool:
    """A comparison of two values; False if they are not of one kind."""
    if isinstance(left, datetime) and isinstance(right, date) and not isinstance(right, datetime):
        left = left.date()
    if right is None or type(left) is not type(right):
        return False
    match operator:
        case "=":
            return left == right
        case "!=":
            return left != right
        case "<":
            return left < right  # type: ignore[operator]
        case "<=":
            return left <= right  # type: ignore[operator]
        case ">":
            return left > right  # type: ignore[operator]
        case _:
            return left >= right  # type: ignore[operator]


def _has(column: QueryColumn, at: int, part: str) -> bool:
    """Whether a cell has some words, or a date a part."""
    value = _value(column, at)
    if isinstance(value, date | datetime | time):
        return part in plain_value(value)
    own, words = column.roots.get(column.cells[at], ()), roots(part)
    spans = range(len(own) - len(words) + 1)
    return bool(words) and any(own[start : start + len(words)] == words for start in spans)


def _literal(column: QueryColumn, text: str) -> Value | None:
    """What a query compares a column with, as a value of its kind."""
    sample = next((value for value in column.typed.values if value is not None), None)
    try:
        if isinstance(sample, Decimal):
            found = quantity(text)
            return found[0] if found else Decimal(text)
        if isinstance(sample, datetime | date):
            return date.fromisoformat(text if len(text) > 7 else f"{text}-01")
        if isinstance(sample, time):
            return time.fromisoformat(text.zfill(5))
    except (ValueError, ArithmeticError):
        return None
    return None


def _folded(cell: str) -> str:
    return " ".join(cell.split()).casefold()


# ---------------------------------------------------------------------------------- values


def _value(column: QueryColumn, at: int) -> Value | None:
    return column.typed.values[at] if at < len(column.typed.values) else None


def _measures(expression: ColumnExpression, table: QueryTable, rows: Iterable[int]) -> dict[int, Measured]:
    """The values of an expression in the rows that have one. Raises QueryError if no row has one."""
    found: dict[int, Measured] = {}
    for at in rows:
        values = [_value(table.columns[column], at) for column in expression.columns]
        if any(value is None for value in values) or any(isinstance(value, bool) for value in values):
            continue
        first, *others = values
        if not others:
            found[at] = first  # type: ignore[assignment]
        elif (value := _arithmetic(first, expression.operator, others[0])) is not None:
            found[at] = value
    return found


def _arithmetic(left: Value | None, operator: str, right: Value | None) -> Decimal | None:
    """Two values subtracted, added or multiplied; the difference of two days is in days."""
    if isinstance(left, Decimal) and isinstance(right, Decimal):
        return left - right if operator == "-" else left + right if operator == "+" else left * right
    if operator == "-" and isinstance(left, date) and isinstance(right, date):
        if isinstance(left, datetime) and isinstance(right, datetime):
            return Decimal(round((left - right).total_seconds() / 3600))
        return Decimal((left - right).days) if type(left) is type(right) else None
    if operator == "-" and isinstance(left, time) and isinstance(right, time):
        return Decimal((left.hour - right.hour) * 60 + left.minute - right.minute)
    return None


def _measure(target: Target, table: QueryTable, rows: Sequence[int]) -> Measured | None:
    """The value of a function over some rows; None if no row has one."""
    if target.function == "COUNT" and target.expression is None:
        return Decimal(len(rows))
    if target.expression is None:
        raise QueryError(f"{target.function} of all rows")
    if target.function == "COUNT":
        column = table.columns[target.expression.column]
        filled = [_folded(column.cells[at]) for at in rows if not is_missing(column.cells[at])]
        return Decimal(len(set(filled)) if target.distinct else len(filled))
    values = list(_measures(target.expression, table, rows).values())
    if not values and not all(table.columns[each].is_ordered for each in target.expression.columns):
        raise QueryError(f"{target} over a column without values")
    if not values:
        return None
    if target.function in ("MIN", "MAX"):
        return (min if target.function == "MIN" else max)(values)
    numbers = [value for value in values if isinstance(value, Decimal)]
    if len(numbers) < len(values) or target.function not in ("SUM", "AVG"):
        raise QueryError(f"{target} over a column without numbers")
    total = sum(numbers, Decimal(0))
    return total if target.function == "SUM" else total / len(numbers)


def _computed(target: Target, table: QueryTable, rows: Sequence[int]) -> tuple[str, list[int]]:
    """What a target gives over some rows, in words, and the rows that it is made from."""
    if target.function == "SHARE":
        share = Decimal(100 * len(rows)) / max(1, table.size)
        return f"{share.quantize(_SHARE_DIGITS, ROUND_HALF_UP):f} %", list(rows)
    if not target.function:
        assert target.expression is not None
        texts = list(dict.fromkeys(_text(target.expression, table, at) for at in rows))
        return "; ".join(texts), list(rows)
    value = _measure(target, table, rows)
    if value is None:
        return "", []
    if target.function == "COUNT":
        if target.expression is None:
            return f"{value:,f}", list(rows)
        column = table.columns[target.expression.column]
        return f"{value:,f}", [at for at in rows if not is_missing(column.cells[at])]
    assert target.expression is not None
    measures = _measures(target.expression, table, rows)
    if target.function in ("MIN", "MAX"):
        best = [at for at, each in measures.items() if each == value]
        return _text(target.expression, table, best[0]), best
    return _figure(target, table, value), list(measures)


def _text(expression: ColumnExpression, table: QueryTable, at: int) -> str:
    """The cell of a row, or what two of its cells make."""
    column = table.columns[expression.column]
    if not expression.operator:
        return " ".join(column.cells[at].split())
    value = _measures(expression, table, [at]).get(at)
    return "" if value is None else _figure(Target(expression=expression), table, value)


def _figure(target: Target, table: QueryTable, value: Measured) -> str:
    """A number as the cells of its column are written."""
    assert target.expression is not None
    column = table.columns[target.expression.column]
    if not isinstance(value, Decimal):
        return plain_value(value)
    if not column.is_number:
        return f"{value:f}"
    if target.function == "AVG":
        digits = usual_digits(column.typed.values) + _AVERAGE_DIGITS
        shown = f"{value.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP):,f}"
        shown = shown.rstrip("0").rstrip(".") if "." in shown else shown
    else:
        shown = f"{value:,f}"
    if column.typed.decimal_comma:
        shown = shown.translate(_TO_DECIMAL_COMMA)
    if target.expression.operator == "*":
        return shown
    return _NUMBER.sub(lambda _: shown, column.cells[_first_filled(column)], count=1)


def _first_filled(column: QueryColumn) -> int:
    return next(at for at, value in enumerate(column.typed.values) if value is not None)
