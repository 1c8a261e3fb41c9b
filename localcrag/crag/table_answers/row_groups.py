"""What a match computes for groups of its rows, or for a part of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Grouping:
    """The groups of the rows of a match.

    ``by`` is what the groups are called, and ``labels`` the name of the group of each row, "" of a row that
    is in none. ``highest`` says which end is asked for, None if all groups are. ``is_compared`` says that
    the question names the two groups of which one is asked for. ``order`` are texts to sort the groups by, if
    they are periods. ``place`` is the place that is asked for, 2 of the second highest, and ``count`` the
    number of groups, 0 if all are to be put in order.
    """

    by: str
    labels: tuple[str, ...]
    highest: bool | None = None
    is_compared: bool = False
    order: Mapping[str, str] = field(default_factory=dict)
    place: int = 1
    count: int = 1


@dataclass(frozen=True, slots=True)
class RowShare:
    """The part of the rows of a match whose share is asked for, and the conditions on it in words."""

    rows: frozenset[int]
    words: tuple[str, ...]
