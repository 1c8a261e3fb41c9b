"""The syntax tree of a filter, the check of its fields and types, and its meaning."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from localcrag.errors import FilterError
from localcrag.types import MetaValue, Passage


class FieldType(StrEnum):
    """The type of the values of a field."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "true or false"


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
    value: MetaValue
    column: int = dataclasses.field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """``field in (values)``; ``column`` is its column in the text, from 1."""

    field: str
    values: tuple[MetaValue, ...]
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

BUILT_IN: Mapping[str, FieldType] = MappingProxyType(
    {
        "source": FieldType.TEXT,
        "title": FieldType.TEXT,
        "page": FieldType.NUMBER,
        "heading": FieldType.TEXT,
    }
)
"""The fields that every passage has; ``page`` is missing if the format has no pages."""

KEYWORDS = ("and", "or", "not", "in", "contains", "startswith", "true", "false")
"""The words of the language, which are not names of fields."""
_KEY_PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_key(name: str) -> bool:
    """Whether a meta key of this name can be filtered by: no built-in field, no word of the language."""
    return bool(_KEY_PATTERN.fullmatch(name)) and name not in BUILT_IN and name.lower() not in KEYWORDS


def type_of(value: MetaValue) -> FieldType:
    """The type of a value."""
    if isinstance(value, bool):
        return FieldType.BOOLEAN
    return FieldType.TEXT if isinstance(value, str) else FieldType.NUMBER


def check(filter: Filter, fields: Mapping[str, FieldType]) -> None:
    """Check the fields of a filter and the types of their values.

    Raises FilterError for a field that is not among ``fields``, a value of another type than its field, and
    an operator that the type does not have.
    """
    for leaf in leaves(filter):
        kind = check_field(leaf.field, fields, where=f"column {leaf.column}: ")
        values = leaf.values if isinstance(leaf, Membership) else (leaf.value,)
        for value in values:
            if type_of(value) is not kind:
                raise FilterError(
                    f"column {leaf.column}: {leaf.field!r} is {_described(kind)}, "
                    f"and {_shown(value)} is {_described(type_of(value))}",
                    hint=f"write {leaf.field} {_example(kind)}",
                )
        if isinstance(leaf, Comparison) and leaf.operator not in _OPERATORS_OF[kind]:
            raise FilterError(
                f"column {leaf.column}: {leaf.field!r} is {_described(kind)}, which has no {leaf.operator}",
                hint=f"write {leaf.field} {_example(kind)}",
            )


def check_field(name: str, fields: Mapping[str, FieldType], *, where: str = "") -> FieldType:
    """The type of a field; ``where`` begins the message of the error.

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


def _value(passage: Passage, name: str) -> MetaValue | None:
    """The value of a field of a passage; None if the passage lacks it."""
    builtin: Mapping[str, MetaValue | None] = {
        "source": passage.source,
        "title": passage.title,
        "page": passage.page,
        "heading": passage.heading,
    }
    return builtin[name] if name in builtin else passage.meta.get(name)


def _compare(how: Operator, had: MetaValue | None, wanted: MetaValue) -> bool:
    """Whether the comparison holds; False if the value is missing or of another type."""
    if had is None or type_of(had) is not type_of(wanted):
        return False
    if isinstance(had, str) and isinstance(wanted, str):
        return _COMPARE_BY[how](had, wanted)
    return _COMPARE_BY[how](float(had), float(wanted))


_COMPARE_BY: Mapping[Operator, Callable[..., bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
    Operator.CONTAINS: operator.contains,
    Operator.STARTS_WITH: str.startswith,
}
_ORDER_OPERATORS = frozenset(Operator) - {Operator.CONTAINS, Operator.STARTS_WITH}
_OPERATORS_OF: Mapping[FieldType, frozenset[Operator]] = {
    FieldType.TEXT: frozenset(Operator),
    FieldType.NUMBER: _ORDER_OPERATORS,
    FieldType.BOOLEAN: frozenset({Operator.EQUAL, Operator.UNEQUAL}),
}


def _described(kind: FieldType) -> str:
    return "a number" if kind is FieldType.NUMBER else kind.value


def _example(kind: FieldType) -> str:
    return {
        FieldType.TEXT: '= "…" or contains "…"',
        FieldType.NUMBER: "= 3 or < 10",
        FieldType.BOOLEAN: "= true",
    }[kind]


def _shown(value: MetaValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, str) else f"{value:g}"
