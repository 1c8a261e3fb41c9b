"""SQL conditions for LanceDB, compiled from the typed tree of :mod:`localcrag.filters`.

LanceDB's own expression builder has no ``IS NULL`` and no prefix test in this release, so conditions are
SQL text; every name and every literal in it comes from :func:`name` or :func:`literal`. A property test
compares the compiled text with :func:`localcrag.filters.matches`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from localcrag.filters import BUILT_IN, And, Comparison, Filter, Membership, Not, Operator, Or
from localcrag.types import MetaValue

META_PREFIX = "meta_"
"""The prefix of the column of a meta key."""


def compile(filter: Filter, *, negated: bool = False) -> str:
    """The condition of a filter whose fields and types were checked, or of its negation.

    SQL has three truth values and the filter language two: a negation is carried down to the comparisons,
    where ``IS NOT TRUE`` turns both "false" and "unknown" into true.
    """
    match filter:
        case Not(part):
            return compile(part, negated=not negated)
        case And(parts) | Or(parts):
            word = " AND " if isinstance(filter, And) is not negated else " OR "
            return "(" + word.join(compile(part, negated=negated) for part in parts) + ")"
        case Comparison(_, Operator.UNEQUAL, _):
            negated = not negated
    condition = _leaf(filter)
    return f"(({condition}) IS NOT TRUE)" if negated else f"({condition})"


def equals(column: str, value: MetaValue) -> str:
    """The condition that the column holds this value. Raises ValueError as :func:`literal` does."""
    return f"{name(column)} = {literal(value)}"


def one_of(column: str, values: Iterable[MetaValue]) -> str:
    """The condition that the column holds one of the values; false if there are none."""
    listed = ", ".join(literal(value) for value in values)
    return f"{name(column)} IN ({listed})" if listed else "false"


def name(column: str) -> str:
    """The column's name in backticks. Raises ValueError for a name that cannot stand in them."""
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


def column(field: str) -> str:
    """The column of a field of the filter language."""
    return field if field in BUILT_IN else META_PREFIX + field


def _leaf(leaf: Filter) -> str:
    """The condition of one comparison, without its negation."""
    match leaf:
        case Membership(field, values):
            return f"{_operand(field)} IN ({', '.join(_value(value) for value in values)})"
        case Comparison(field, Operator.CONTAINS, value):
            return f"contains({_operand(field)}, {_value(value)})"
        case Comparison(field, Operator.STARTS_WITH, value):
            return f"starts_with({_operand(field)}, {_value(value)})"
        case Comparison(field, Operator.UNEQUAL, value):
            return f"{_operand(field)} = {_value(value)}"
        case Comparison(field, how, value):
            return f"{_operand(field)} {how} {_value(value)}"
    raise AssertionError(leaf)


def _operand(field: str) -> str:
    """The column to compare; page numbers, which are integers there, are cast to floats."""
    operand = name(column(field))
    return f"CAST({operand} AS DOUBLE)" if field == "page" else operand


def _value(value: MetaValue) -> str:
    """The value to compare with; numbers as floats."""
    numeric = isinstance(value, int) and not isinstance(value, bool)
    return literal(float(value) if numeric else value)
