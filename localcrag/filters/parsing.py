"""From text to a filter: recursive descent, with errors that name the column."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from localcrag.errors import FilterError
from localcrag.filters.tree import KEYWORDS, And, Comparison, Filter, Literal, Membership, Not, Operator, Or
from localcrag.types import MetaValue

MAX_COMPARISONS = 100
"""Number of comparisons in one filter."""
MAX_VALUES = 1000
"""Number of values in one list."""
MAX_DEPTH = 40
"""Number of parentheses and negations inside one another."""

_TOKEN_PATTERN = re.compile(
    r"""(?P<space>\s+)
      | (?P<date>[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?![\w.-]))
      | (?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
      | (?P<string>"(?:[^"]|"")*"|'(?:[^']|'')*')
      | (?P<word>[A-Za-z_][A-Za-z0-9_-]*)
      | (?P<symbol><=|>=|!=|=|<|>|\(|\)|,)""",
    re.VERBOSE,
)


def parse(text: str) -> Filter:
    """Parse a filter.

    Raises FilterError with the column of the error, from 1, and with what was expected there.
    """
    return _Parser(text).whole()


@dataclass(frozen=True, slots=True)
class _Token:
    """One token of a filter; ``column`` counts from 1."""

    kind: str
    text: str
    column: int

    def is_(self, *texts: str) -> bool:
        """Whether the token is one of these words or symbols, in any case."""
        return self.kind in ("word", "symbol") and self.text.lower() in texts


class _Parser:
    """A recursive-descent parser over the tokens of one filter."""

    def __init__(self, text: str) -> None:
        self._tokens = list(_tokens(text))
        self._at = 0
        self._comparisons = 0

    def whole(self) -> Filter:
        """Parse all tokens as one filter."""
        parsed = self._any(0)
        if self._next.kind != "end":
            raise self._unexpected("`and`, `or`, or the end")
        return parsed

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        """Consume the next token, and return it; the end is never consumed."""
        token = self._next
        self._at += token.kind != "end"
        return token

    def _takes(self, *texts: str) -> bool:
        """Consume the next token if it is one of these; returns whether it was."""
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
            raise FilterError(
                f"column {self._next.column}: the filter is nested deeper than {MAX_DEPTH}",
                hint="take out parentheses that are not needed",
            )
        if self._takes("not"):
            return Not(self._negated(depth + 1))
        if self._takes("("):
            inner = self._any(depth + 1)
            self._expect(")", "`and`, `or`, or `)`")
            return inner
        return self._comparison()

    def _comparison(self) -> Filter:
        name = self._next
        if name.kind != "word" or name.text.lower() in KEYWORDS:
            raise self._unexpected("a field name, `not`, or `(`")
        self._comparisons += 1
        if self._comparisons > MAX_COMPARISONS:
            raise FilterError(
                f"column {name.column}: more than {MAX_COMPARISONS} comparisons",
                hint="compare one field with many values by `in`: year in (2023, 2024)",
            )
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
            raise FilterError(
                f"column {name.column}: more than {MAX_VALUES} values in one list",
                hint="split the list into several with `or`, or attach a field with --meta to filter by",
            )
        return Membership(name.text, tuple(values), name.column)

    def _literal(self) -> Literal:
        token = self._next
        if token.kind == "string":
            quote = token.text[0]
            value: Literal = token.text[1:-1].replace(quote * 2, quote)
        elif token.kind == "number":
            value = _number(token)
        elif token.kind == "date":
            value = _date(token)
        elif token.is_("true", "false"):
            value = token.text.lower() == "true"
        else:
            raise self._unexpected('a value: "text" in quotes, a number, a date, true or false')
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
        raise FilterError(
            f"column {token.column}: {token.text} is too large a number",
            hint="give a number below 1e308, or text in quotes",
        )
    return value


def _date(token: _Token) -> date:
    try:
        return date(*map(int, token.text.split("-")))
    except ValueError:
        raise FilterError(
            f"column {token.column}: there is no day {token.text}",
            hint="a date is year, month and day: 2024-06-01; text stands in quotes",
        ) from None


def _tokens(text: str) -> Sequence[_Token]:
    found, at = [], 0
    while at < len(text):
        token = _TOKEN_PATTERN.match(text, at)
        if token is None or token.lastgroup is None:
            raise _stray(text, at)
        if token.lastgroup != "space":
            found.append(_Token(token.lastgroup, token.group(), at + 1))
        at = token.end()
    return [*found, _Token("end", "", len(text) + 1)]


def _stray(text: str, at: int) -> FilterError:
    """The error for a character that begins no token."""
    if text[at] in "\"'":
        return FilterError(
            f"column {at + 1}: this {text[at]} is never closed",
            hint='a quote within a text is written twice: "say ""yes"""',
        )
    return FilterError(
        f"column {at + 1}: {text[at]!r} has no meaning here",
        hint="text stands in quotes; comparisons are = != < <= > >= contains startswith in",
    )
