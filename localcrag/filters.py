"""The filter language of ``--filter``: ``team = "x" and (page < 10 or not title contains "draft")``.

::

    filter     = all { "or" all }
    all        = negated { "and" negated }
    negated    = "not" negated | "(" filter ")" | comparison
    comparison = field ( "=" | "!=" | "<" | "<=" | ">" | ">=" ) value
               | field ( "contains" | "startswith" ) string
               | field [ "not" ] "in" "(" value { "," value } ")"
    value      = string | number | "true" | "false"

A field is ``source``, ``title``, ``page``, ``heading``, or a key that was given with ``--meta``. A
string stands in single or double quotes; the quote itself is written twice. Words of the language may
be in capitals. Text compares by character, case included, and numbers as 64-bit floats. Logic has two
values: a passage that lacks a field equals nothing, is neither less nor greater, and ``!=`` is exactly
``not =``.

A parsed filter is a value; :mod:`localcrag.index.sql` compiles it for the index, and :func:`matches`
says what it means. The grammar is small enough that a parser of one screen is lighter than a library,
and its errors name the column and what was expected there.
"""

from __future__ import annotations

import dataclasses
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
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

MAX_COMPARISONS = 100
MAX_VALUES = 1000
MAX_DEPTH = 40

_WORDS = ("and", "or", "not", "in", "contains", "startswith", "true", "false")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<string>"(?:[^"]|"")*"|'(?:[^']|'')*')
      | (?P<word>[A-Za-z_][A-Za-z0-9_-]*)
      | (?P<symbol><=|>=|!=|=|<|>|\(|\)|,)""",
    re.VERBOSE,
)


def parse(text: str) -> Filter:
    """The filter that ``text`` spells.

    Raises FilterError with the column, and what was expected there.
    """
    return _Parser(text).whole()


def is_key(name: str) -> bool:
    """Whether a filter can speak of a meta key of this name: no built-in field, no word of the language."""
    return bool(_KEY.fullmatch(name)) and name not in BUILT_IN and name.lower() not in _WORDS


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


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    column: int

    def is_(self, *texts: str) -> bool:
        return self.kind in ("word", "symbol") and self.text.lower() in texts


class _Parser:
    """Recursive descent over the tokens of one filter."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._comparisons = 0

    def whole(self) -> Filter:
        parsed = self._any(0)
        if self._next.kind != "end":
            raise self._unexpected("`and`, `or`, or the end")
        return parsed

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def _takes(self, *texts: str) -> bool:
        if self._next.is_(*texts):
            self._take()
            return True
        return False

    def _any(self, depth: int) -> Filter:
        parts = [self._all(depth)]
        while self._takes("or"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self, depth: int) -> Filter:
        parts = [self._negated(depth)]
        while self._takes("and"):
            parts.append(self._negated(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _negated(self, depth: int) -> Filter:
        if depth > MAX_DEPTH:
            raise FilterError(f"column {self._next.column}: the filter is nested deeper than {MAX_DEPTH}")
        if self._takes("not"):
            return Not(self._negated(depth + 1))
        if self._takes("("):
            inner = self._any(depth + 1)
            self._expect(")", "`and`, `or`, or `)`")
            return inner
        return self._comparison()

    def _comparison(self) -> Filter:
        name = self._next
        if name.kind != "word" or name.text.lower() in _WORDS:
            raise self._unexpected("a field name, `not`, or `(`")
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            raise FilterError(f"column {name.column}: more than {MAX_COMPARISONS} comparisons")
        self._take()
        if self._takes("not"):
            self._expect("in", "`in`")
            return Not(self._members(name))
        if self._takes("in"):
            return self._members(name)
        sign = self._next
        if not sign.is_(*Operator):
            raise self._unexpected("a comparison: = != < <= > >= contains startswith in")
        how = Operator(self._take().text.lower())
        if how in (Operator.CONTAINS, Operator.STARTS_WITH) and self._next.kind != "string":
            raise self._unexpected(f'a string after {how}, such as "draft"')
        return Comparison(name.text, how, self._literal(), name.column)

    def _members(self, name: _Token) -> Membership:
        self._expect("(", "`(`")
        values = [self._literal()]
        while self._takes(","):
            values.append(self._literal())
        self._expect(")", "`,` or `)`")
        if len(values) > MAX_VALUES:
            raise FilterError(f"column {name.column}: more than {MAX_VALUES} values in one list")
        return Membership(name.text, tuple(values), name.column)

    def _literal(self) -> MetaValue:
        token = self._next
        if token.kind == "string":
            quote = token.text[0]
            value: MetaValue = token.text[1:-1].replace(quote * 2, quote)
        elif token.kind == "number":
            value = _number(token)
        elif token.is_("true", "false"):
            value = token.text.lower() == "true"
        else:
            raise self._unexpected('a value: "text" in quotes, a number, true or false')
        self._take()
        return value

    def _expect(self, text: str, expected: str) -> None:
        if not self._takes(text):
            raise self._unexpected(expected)

    def _unexpected(self, expected: str) -> FilterError:
        token = self._next
        found = "the end of the filter" if token.kind == "end" else repr(token.text[:40])
        return FilterError(
            f"column {token.column}: expected {expected}, found {found}",
            hint="""example: --filter 'team = "x" and page < 10'""",
        )


def _number(token: _Token) -> MetaValue:
    whole = token.text.lstrip("+-").isdigit() and len(token.text) < 16
    value = int(token.text) if whole else float(token.text)
    if not math.isfinite(value):
        raise FilterError(f"column {token.column}: {token.text} is too large a number")
    return value


def _tokens(text: str) -> Sequence[_Token]:
    found, at = [], 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or token.lastgroup is None:
            raise _stray(text, at)
        if token.lastgroup != "space":
            found.append(_Token(token.lastgroup, token.group(), at + 1))
        at = token.end()
    return [*found, _Token("end", "", len(text) + 1)]


def _stray(text: str, at: int) -> FilterError:
    if text[at] in "\"'":
        return FilterError(f"column {at + 1}: this {text[at]} is never closed")
    return FilterError(
        f"column {at + 1}: {text[at]!r} has no meaning here",
        hint="text stands in quotes; comparisons are = != < <= > >= contains startswith in",
    )
