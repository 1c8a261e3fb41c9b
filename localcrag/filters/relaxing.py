"""Wider filters, to be offered where a filter may be what keeps an answer from being found."""

from __future__ import annotations

from collections.abc import Iterator

from localcrag.filters.tree import And, Filter


def relaxations(filter: Filter) -> list[Filter | None]:
    """The ways to relax a filter, least first: without each of its conditions, then without any (None).

    Whatever passes the filter passes each of these. Nothing applies them unasked.
    """
    conditions = list(dict.fromkeys(_conditions(filter)))
    if len(conditions) == 1:
        return [None]
    return [*(_all(conditions[:i] + conditions[i + 1 :]) for i in range(len(conditions))), None]


def _conditions(filter: Filter) -> Iterator[Filter]:
    """What must hold together, however it was nested."""
    if isinstance(filter, And):
        for part in filter.parts:
            yield from _conditions(part)
    else:
        yield filter


def _all(conditions: list[Filter]) -> Filter:
    return conditions[0] if len(conditions) == 1 else And(tuple(conditions))
