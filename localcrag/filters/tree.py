"""A filter as a value: what it is made of, which fields it may speak of, and what it means."""

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
    """What a field holds."""

    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "true or false"


class Operator(StrEnum):
    """The comparisons."""

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
    """``field operator value``; ``column`` is where it stands in the text, from 1."""

    field: str
    operator: Operator
    value: MetaValue
    column: int = dataclasses.field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Membership:
    """``field in (values)``."""

    field: str
    values: tuple[MetaValue, ...]
    column: int = dataclasses.field(default=1, compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    part: Filter


@dataclass(frozen=True, slots=True)
class And:
    parts: tuple[Filter, ...]


@dataclass(frozen=True, slots=True)
class Or:
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
"""The fields that every passage has; ``page`` is missing where the format has no pages."""

WORDS = ("and", "or", "not", "in", "contains", "startswith", "true", "false")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def is_key(name: str) -> bool:
    """Whether a filter can speak of a meta key of this name: no built-in field, no word of the language."""
    return bool(_KEY.fullmatch(name)) and name not in BUILT_IN and name.lower() not in WORDS


def type_of(value: MetaValue) -> FieldType:
    if isinstance(value, bool):
        return FieldType.BOOLEAN
    return FieldType.TEXT if isinstance(value, str) else FieldType.NUMBER


def check(filter: Filter, fields: Mapping[str, FieldType]) -> None:
    """Raises FilterError for a field that is not among ``fields``, or a comparison that its type has not."""
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
        if isinstance(leaf, Comparison) and leaf.operator not in _ALLOWED[kind]:
            raise FilterError(
                f"column {leaf.column}: {leaf.field!r} is {_described(kind)}, which has no {leaf.operator}",
                hint=f"write {leaf.field} {_example(kind)}",
            )


def check_field(name: str, fields: Mapping[str, FieldType], *, where: str = "") -> FieldType:
    """The type of the field. Raises FilterError, naming the known ones, where there is no such field."""
    if name not in fields:
        raise FilterError(
            f"{where}there is no field {name!r} to filter by", hint=f"fields here: {', '.join(fields)}"
        )
    return fields[name]


def leaves(filter: Filter) -> Iterator[Leaf]:
    """The comparisons, in the order they were written."""
    match filter:
        case Not(part):
            yield from leaves(part)
        case And(parts) | Or(parts):
            for part in parts:
                yield from leaves(part)
        case _:
            yield filter


def matches(filter: Filter, passage: Passage) -> bool:
    """Whether the passage passes: the meaning of the language."""
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
    builtin: Mapping[str, MetaValue | None] = {
        "source": passage.source,
        "title": passage.title,
        "page": passage.page,
        "heading": passage.heading,
    }
    return builtin[name] if name in builtin else passage.meta.get(name)


def _compare(how: Operator, had: MetaValue | None, wanted: MetaValue) -> bool:
    if had is None or type_of(had) is not type_of(wanted):
        return False
    if isinstance(had, str) and isinstance(wanted, str):
        return _TESTS[how](had, wanted)
    return _TESTS[how](float(had), float(wanted))


_TESTS: Mapping[Operator, Callable[..., bool]] = {
    Operator.EQUAL: operator.eq,
    Operator.LESS: operator.lt,
    Operator.AT_MOST: operator.le,
    Operator.GREATER: operator.gt,
    Operator.AT_LEAST: operator.ge,
    Operator.CONTAINS: operator.contains,
    Operator.STARTS_WITH: str.startswith,
}
_ORDERED = frozenset(Operator) - {Operator.CONTAINS, Operator.STARTS_WITH}
_ALLOWED: Mapping[FieldType, frozenset[Operator]] = {
    FieldType.TEXT: frozenset(Operator),
    FieldType.NUMBER: _ORDERED,
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
