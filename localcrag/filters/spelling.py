"""Spelling a filter as text, such that parsing the text gives the same filter."""

from __future__ import annotations

from datetime import date

from localcrag.filters.tree import And, Comparison, Filter, Literal, Membership, Not, Or

_MAX_EXACT_CHARACTERS = 15
"""Digits and sign of the longest whole number that the parser reads exactly, not as a 64-bit float."""


def spelled(filter: Filter) -> str:
    """The filter as a user would write it; ``parse(spelled(filter)) == filter`` for every parsed filter."""
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
    """A part of a filter, in parentheses if its operator binds more loosely than the one around it."""
    text = spelled(part)
    return f"({text})" if isinstance(part, loose) else text


def _listed(values: tuple[Literal, ...]) -> str:
    return f"({', '.join(map(_literal, values))})"


def _literal(value: Literal) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    if isinstance(value, date):
        return value.isoformat()
    whole = isinstance(value, int) and len(str(value)) <= _MAX_EXACT_CHARACTERS
    return str(value) if whole else repr(float(value))
