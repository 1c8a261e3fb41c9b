"""SQL conditions for LanceDB, compiled from the typed tree of :mod:`localcrag.filters`.

LanceDB's own expression builder has no ``IS NULL`` and no prefix test in this release, so conditions are
SQL text; every name and every literal in it comes from :func:`name` or :func:`literal`. A property test
compares the compiled text with :func:`localcrag.filters.matches`.

A field has a column for each type that its values have. A list of texts is one text there, with a
separator around each, and a date is a text of which the day is compared.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from localcrag.filters import (
    DAY_PATTERN,
    And,
    Comparison,
    FieldType,
    Filter,
    Literal,
    Membership,
    Not,
    Operator,
    Or,
    comparable,
    type_of,
)
from localcrag.types import MetaValue

META_PREFIX, ALSO_PREFIX = "meta_", "also_"
"""The prefixes of the columns of a field: of its first type, and of the others (``also_number_year``)."""
LIST_SEPARATOR = "\x1f"
"""What stands before, between and after the texts of a list in its column."""
FieldColumns = Mapping[str, Mapping[FieldType, str]]
"""The columns of each field, by the type of their values."""
_AFTER_DAY = "~"
"""What sorts behind everything that may follow the day in a text that is a date."""
_DAY_PATTERN = DAY_PATTERN.pattern.replace("(?![^T ])", "([T ]|$)")
"""The same for LanceDB, whose expressions look neither ahead nor behind."""


def compile(filter: Filter, columns: FieldColumns, *, negated: bool = False) -> str:
    """The condition of a filter whose fields and types were checked, or of its negation.

    SQL has three truth values and the filter language two: a negation is carried down to the comparisons,
    where ``IS NOT TRUE`` turns both "false" and "unknown" into true.
    """
    match filter:
        case Not(part):
            return compile(part, columns, negated=not negated)
        case And(parts) | Or(parts):
            word = " AND " if isinstance(filter, And) is not negated else " OR "
            return "(" + word.join(compile(part, columns, negated=negated) for part in parts) + ")"
        case Comparison(field, how, value):
            negated = negated is not (how is Operator.UNEQUAL)
            how = Operator.EQUAL if how is Operator.UNEQUAL else how
            condition = _any(_comparisons(columns[field], how, value))
        case Membership(field, values):
            condition = _any(_members(columns[field], values))
    return f"(({condition}) IS NOT TRUE)" if negated else f"({condition})"


def equals(column: str, value: MetaValue) -> str:
    """The condition that the column holds this value. Raises ValueError as :func:`literal` does."""
    return f"{name(column)} = {literal(value)}"


def one_of(column: str, values: Iterable[MetaValue]) -> str:
    """The condition that the column holds one of the values; false if there are none."""
    listed = ", ".join(literal(value) for value in values)
    return f"{name(column)} IN ({listed})" if listed else "false"


class Expression(str):
    """SQL text that stands where a column's name could, and is made of names and literals of this module."""

    __slots__ = ()


def name(column: str) -> str:
    """The column's name in backticks. Raises ValueError for a name that cannot stand in them."""
    if isinstance(column, Expression):
        return str(column)
    if "`" in column or "\0" in column:
        raise ValueError(f"not a column name: {column!r}")
    return f"`{column}`"


def literal(value: MetaValue) -> str:
    """The value as SQL text: text in single quotes, its own doubled; a number with all its digits.

    Raises ValueError for a NaN or an infinity.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"no literal for {value!r}")
    return repr(value)


def listed(texts: Iterable[str]) -> str:
    """The texts of a list as they stand in its column."""
    cleaned = (text.replace(LIST_SEPARATOR, " ") for text in texts)
    return LIST_SEPARATOR + "".join(text + LIST_SEPARATOR for text in cleaned)


def unlisted(cell: str) -> list[str]:
    """The texts of a list that stands in a column."""
    return cell.strip(LIST_SEPARATOR).split(LIST_SEPARATOR)


def _any(conditions: Iterable[str]) -> str:
    """The condition that one of these holds; false if there are none."""
    return " OR ".join(conditions) or "false"


def _comparisons(columns: Mapping[FieldType, str], how: Operator, value: Literal) -> Iterator[str]:
    """The conditions of a comparison, one for each column whose values it can hold for."""
    for kind in comparable(type_of(value), how):
        if kind not in columns:
            continue
        operand = name(columns[kind])
        if kind is FieldType.LIST:
            yield _list_condition(operand, how, str(value))
        elif isinstance(value, date):
            yield f"regexp_like({operand}, {literal(_DAY_PATTERN)}) AND {_day_condition(operand, how, value)}"
        elif how is Operator.CONTAINS:
            yield f"contains({operand}, {literal(value)})"
        elif how is Operator.STARTS_WITH:
            yield f"starts_with({operand}, {literal(value)})"
        else:
            yield f"{_number_or(operand)} {how} {_value(value)}"


def _members(columns: Mapping[FieldType, str], values: Iterable[Literal]) -> Iterator[str]:
    """The conditions of a membership: plain values by column, and each date and each list by itself."""
    plain: dict[FieldType, list[str]] = {}
    for value in values:
        if not isinstance(value, date) and (kind := type_of(value)) in columns:
            plain.setdefault(kind, []).append(_value(value))
        if isinstance(value, date):
            yield from (f"({one})" for one in _comparisons(columns, Operator.EQUAL, value))
        elif isinstance(value, str) and FieldType.LIST in columns:
            yield _list_condition(name(columns[FieldType.LIST]), Operator.EQUAL, value)
    for kind, written in plain.items():
        yield f"{_number_or(name(columns[kind]))} IN ({', '.join(written)})"


def _list_condition(operand: str, how: Operator, text: str) -> str:
    """The condition that one of the texts of a list equals, contains or begins with this one."""
    if LIST_SEPARATOR in text:
        return "false"
    before = "" if how is Operator.CONTAINS else LIST_SEPARATOR
    after = LIST_SEPARATOR if how is Operator.EQUAL else ""
    return f"contains({operand}, {literal(before + text + after)})"


def _day_condition(operand: str, how: Operator, day: date) -> str:
    """The comparison of the day with which a text begins that is a date."""
    first, last = literal(day.isoformat()), literal(day.isoformat() + _AFTER_DAY)
    match how:
        case Operator.EQUAL:
            return f"{operand} >= {first} AND {operand} < {last}"
        case Operator.LESS | Operator.AT_LEAST:
            return f"{operand} {how} {first}"
        case _:
            return f"{operand} {'<' if how is Operator.AT_MOST else '>'} {last}"


def _number_or(operand: str) -> str:
    """The column to compare; page numbers, which are integers there, are cast to floats."""
    return f"CAST({operand} AS DOUBLE)" if operand == name("page") else operand


def _value(value: MetaValue) -> str:
    """The value to compare with; numbers as floats."""
    numeric = isinstance(value, int) and not isinstance(value, bool)
    return literal(float(value) if numeric else value)
