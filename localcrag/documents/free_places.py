"""The free places between the words of lines: where several lines leave the same ones free, columns end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Number = TypeVar("Number", int, float)
FAR = 1_000_000_000
"""Farther than any place of a line: where what is free before its first word begins, after its last ends."""


def free_places(filled: Sequence[tuple[Number, Number]]) -> list[tuple[Number, Number]]:
    """The free places around some filled ones, from the far left to the far right."""
    places: list[tuple[Number, Number]] = []
    free: Number = -FAR
    for start, end in filled:
        places.append((free, start))
        free = end
    places.append((free, FAR))
    return places


def common_places(
    spans: Sequence[tuple[Number, Number]], others: Sequence[tuple[Number, Number]], least: Number
) -> list[tuple[Number, Number]]:
    """The common parts of two ordered lists of places that are at least ``least`` wide."""
    found = []
    i = j = 0
    while i < len(spans) and j < len(others):
        start, end = max(spans[i][0], others[j][0]), min(spans[i][1], others[j][1])
        if end - start >= least:
            found.append((start, end))
        if spans[i][1] < others[j][1]:
            i += 1
        else:
            j += 1
    return found
