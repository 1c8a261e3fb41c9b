"""Columns that are the product of two others in each row, as a total cost is, or the sum of all others."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import combinations

from localcrag.crag.table_answers.table_values import Value

MAX_ROUNDING_ERROR = Decimal("0.02")
"""By how much a rounded product may differ from the product of its factors."""


def is_product(totals: Sequence[Value | None], others: Sequence[Sequence[Value | None]]) -> bool:
    """Whether each number of a column is one of a second column times that of a third.

    Not if it is that of another column in all rows.

    Args:
        totals: the values of the column.
        others: those of all other columns of numbers, each as long.
    """
    return any(_are_products(totals, first, second) for first, second in combinations(others, 2))


def is_sum(totals: Sequence[Value | None], others: Sequence[Sequence[Value | None]]) -> bool:
    """Whether each number of a column adds up those of all other columns of numbers, of two or more."""
    rows = zip(*others, strict=True)
    sums = [sum((value for value in row if isinstance(value, Decimal)), Decimal(0)) for row in rows]
    return len(others) > 1 and list(totals) == sums


def _are_products(
    totals: Sequence[Value | None], first: Sequence[Value | None], second: Sequence[Value | None]
) -> bool:
    rows = [row for row in zip(totals, first, second, strict=True) if row[0] is not None]
    return any(total not in (one, other) for total, one, other in rows) and all(
        isinstance(total, Decimal)
        and isinstance(one, Decimal)
        and isinstance(other, Decimal)
        and abs(total - one * other) <= MAX_ROUNDING_ERROR
        for total, one, other in rows
    )
