"""From a filter back to text, such that parsing it gives the same filter."""

from __future__ import annotations

from localcrag.filters.tree import And, Comparison, Filter, Membership, Not, Or
from localcrag.types import MetaValue

_LONGEST_WHOLE = 15
"""Digits and sign of a whole number that the parser reads exactly; a longer one is a 64-bit float."""


def spelled(filter: Filter) -> str:
    """The filter as a user would write it: ``parse(spelled(filter)) == filter`` for what was parsed."""
    match filter:
        case Or(parts):
            return " or ".join(_inside(part, Or) for part in parts)
        case And(parts):
            return " and ".join(_inside(part, Or, And) for part in parts)
        case Not(Membership(field, values)):
            return f"{field} not in {_listed(values)}"
        case Not(part):
            return f"not {_inside(part, Or, And)}"
        case Membership(field, values):
            return f"{field} in {_listed(values)}"
        case Comparison(field, how, value):
            return f"{field} {how} {_literal(value)}"


def _inside(part: Filter, *loose: type[And] | type[Or]) -> str:
    """A part of something, in parentheses where it would not hold together without them."""
    text = spelled(part)
    return f"({text})" if isinstance(part, loose) else text


def _listed(values: tuple[MetaValue, ...]) -> str:
    return f"({', '.join(map(_literal, values))})"


def _literal(value: MetaValue) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    whole = isinstance(value, int) and len(str(value)) <= _LONGEST_WHOLE
    return str(value) if whole else repr(float(value))
