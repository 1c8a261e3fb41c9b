"""Wider filters, to be offered if a filter may be the reason why no answer was found."""

from __future__ import annotations

from collections.abc import Iterator

from localcrag.filters.tree import And, Filter


def relaxations(filter: Filter) -> list[Filter | None]:
    """The ways to relax a filter, the least first: without each of its conditions, then no filter (None).

    Every passage that passes the filter passes each of these. They are only offered, never applied unasked.
    """
    conditions = list(dict.fromkeys(_conditions(filter)))
    if len(conditions) == 1:
        return [None]
    return [*(_all(conditions[:i] + conditions[i + 1 :]) for i in range(len(conditions))), None]


def _conditions(filter: Filter) -> Iterator[Filter]:
    """The conditions that must all hold, however their conjunctions are nested."""
    if isinstance(filter, And):
        for part in filter.parts:
            yield from _conditions(part)
    else:
        yield filter


def _all(conditions: list[Filter]) -> Filter:
    """The conjunction of the conditions."""
    return conditions[0] if len(conditions) == 1 else And(tuple(conditions))
