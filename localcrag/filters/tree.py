"""The syntax tree of a filter, the check of its fields and types, and its meaning."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from types import MappingProxyType

from localcrag.errors import FilterError
from localcrag.types import FieldValue, MetaValue, Passage

Literal = MetaValue | date
"""A value that a filter compares with; an unquoted 2024-06-01 is a date."""


class FieldType(StrEnum):
    """The type of a value; a field may have values of several types.

    A date is that of a literal only: in documents it is text, of which the day is compared.
    """

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "true or false"
    LIST = "list"
    DATE = "date"


class Operator(StrEnum):
    """The operators of comparisons."""

    EQUAL = "="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    GREATER = ">"
    AT_LEAST = ">="
    CONTAINS = "contains"
    STARTS_WITH = "startswith"


@dataclass(frozen=True, slots=True)
class Comparison:
    """``field operator value``; ``column`` is its column in the text, from 1."""

    field: str
    operator: Operator
    value: Literal
    column: int = dataclasses.field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """``field in (values)``; ``column`` is its column in the text, from 1."""

    field: str
    values: tuple[Literal, ...]
    column: int = dataclasses.field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    """``not part``."""

    part: Filter


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of two or more parts."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of two or more parts."""

    parts: tuple[Filter, ...]


Leaf = Comparison | Membership
Filter = Comparison | Membership | Not | And | Or

FieldTypes = Mapping[str, frozenset[FieldType]]
"""The names of fields with the types of their values."""
BUILT_IN: FieldTypes = MappingProxyType(
    {
        "source": frozenset({FieldType.TEXT}),
        "title": frozenset({FieldType.TEXT}),
        "page": frozenset({FieldType.NUMBER}),
        "heading": frozenset({FieldType.TEXT}),
    }
)
"""The fields that every passage has; ``page`` is missing if the format has no pages."""

KEYWORDS = ("and", "or", "not", "in", "contains", "startswith", "true", "false")
"""The words of the language, which are not names of fields."""
_KEY_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_key(name: str) -> bool:
    """Whether a meta key of this name can be filtered by: no built-in field, no word of the language."""
    return bool(_KEY_PATTERN.fullmatch(name)) and name not in BUILT_IN and name.lower() not in KEYWORDS


def type_of(value: FieldValue | Literal) -> FieldType:
    """The type of a value."""
    match value:
        case bool():
            return FieldType.BOOLEAN
        case str():
            return FieldType.TEXT
        case date():
            return FieldType.DATE
        case tuple():
            return FieldType.LIST
        case _:
            return FieldType.NUMBER


def comparable(literal: FieldType, how: Operator = Operator.EQUAL) -> frozenset[FieldType]:
    """The types of values that a literal of a type can be compared with in this way.

    A comparison with a list holds if it holds for one of its texts; lists are neither less nor greater.
    """
    if how not in _OPERATORS_OF[literal]:
        return frozenset()
    if literal not in (FieldType.TEXT, FieldType.DATE):
        return frozenset({literal})
    return frozenset({FieldType.TEXT} if how in _ORDERINGS else {FieldType.TEXT, FieldType.LIST})


def check(filter: Filter, fields: FieldTypes) -> None:
    """Check the fields of a filter and the types of their values.

    Raises FilterError for a field that is not among ``fields``, a value of a type that its field has in no
    document, and an operator that the type does not have.
    """
    for leaf in leaves(filter):
        kinds = check_field(leaf.field, fields, where=f"column {leaf.column}: ")
        hint = f"write {leaf.field} {' or '.join(_EXAMPLES[kind] for kind in FieldType if kind in kinds)}"
        values = leaf.values if isinstance(leaf, Membership) else (leaf.value,)
        for value in values:
            if not comparable(type_of(value)) & kinds:
                raise FilterError(
                    f"column {leaf.column}: {leaf.field!r} is {_described(*kinds)}, "
                    f"and {_shown(value)} is {_described(type_of(value))}",
                    hint=hint,
                )
        if isinstance(leaf, Comparison) and not comparable(type_of(leaf.value), leaf.operator) & kinds:
            raise FilterError(
                f"column {leaf.column}: {leaf.field!r} is {_described(*kinds)}, which has no {leaf.operator}",
                hint=hint,
            )


def check_field(name: str, fields: FieldTypes, *, where: str = "") -> frozenset[FieldType]:
    """The types of a field; ``where`` begins the message of the error.

    Raises FilterError, which names the known fields, if there is no such field.
    """
    if name not in fields:
        raise FilterError(
            f"{where}there is no field {name!r} to filter by", hint=f"fields here: {', '.join(fields)}"
        )
    return fields[name]


def leaves(filter: Filter) -> Iterator[Leaf]:
    """The comparisons of a filter, in the order in which they were written."""
    match filter:
        case Not(part):
            yield from leaves(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield filter


def matches(filter: Filter, passage: Passage) -> bool:
    """Whether a passage passes a filter; this defines the meaning of the language."""
    match filter:
        case Not(part):
            return not matches(part, passage)
        case And(parts):
            return all(matches(part, passage) for part in parts)
        case Or(parts):
            return any(matches(part, passage) for part in parts)
        case Membership(name, values):
            return any(_compare(Operator.EQUAL, _value(passage, name), value) for value in values)
        case Comparison(name, Operator.UNEQUAL, value):
            return not _compare(Operator.EQUAL, _value(passage, name), value)
        case Comparison(name, how, value):
            return _compare(how, _value(passage, name), value)


def _value(passage: Passage, name: str) -> FieldValue | None:
    """The value of a field of a passage; None if the passage lacks it."""
    builtin: Mapping[str, FieldValue | None] = {
        "source": passage.source,
        "title": passage.title,
        "page": passage.page,
        "heading": passage.heading,
    }
    return builtin[name] if name in builtin else passage.meta.get(name)


def _compare(how: Operator, had: FieldValue | None, wanted: Literal) -> bool:
    """Whether the comparison holds; False if the value is missing or of a type that it cannot hold for."""
    if had is None or type_of(had) not in comparable(type_of(wanted), how):
        return False
    if isinstance(had, tuple):
        text = str(wanted)  # a date in ISO form
        return any(_COMPARE_BY[how](item, text) for item in had)
    if isinstance(wanted, date):
        return bool(DAY_PATTERN.match(str(had))) and _COMPARE_BY[how](str(had)[:10], wanted.isoformat())
    if isinstance(had, str) or isinstance(wanted, str):
        return _COMPARE_BY[how](had, wanted)
    return _COMPARE_BY[how](float(had), float(wanted))


DAY_PATTERN = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?![^T ])")
"""The beginning of a text that is a date, or a date and a time."""


_COMPARE_BY: Mapping[Operator, Callable[..., bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
    Operator.CONTAINS: operator.contains,
    Operator.STARTS_WITH: str.startswith,
}
_ORDERINGS = frozenset({Operator.LESS, Operator.AT_MOST, Operator.GREATER, Operator.AT_LEAST})
_ORDER_OPERATORS = frozenset(Operator) - {Operator.CONTAINS, Operator.STARTS_WITH}
_OPERATORS_OF: Mapping[FieldType, frozenset[Operator]] = {
    FieldType.TEXT: frozenset(Operator),
    FieldType.NUMBER: _ORDER_OPERATORS,
    FieldType.DATE: _ORDER_OPERATORS,
    FieldType.BOOLEAN: frozenset({Operator.EQUAL, Operator.UNEQUAL}),
}
_EXAMPLES: Mapping[FieldType, str] = {
    FieldType.TEXT: '= "…" or contains "…"',
    FieldType.NUMBER: "= 3 or < 10",
    FieldType.BOOLEAN: "= true",
    FieldType.LIST: '= "…" or contains "…"',
}


def _described(*kinds: FieldType) -> str:
    names = {FieldType.NUMBER: "a number", FieldType.LIST: "a list of texts", FieldType.DATE: "a date"}
    return " or ".join(names.get(kind, kind.value) for kind in FieldType if kind in kinds)


def _shown(value: Literal) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, date):
        return value.isoformat()
    return repr(value) if isinstance(value, str) else f"{value:g}"
