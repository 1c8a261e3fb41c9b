"""Columns of a running balance, which is never added up: the one before it, and what came and went."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise

from localcrag.crag.table_answers.table_values import Value, root, roots, word_list

MIN_STEPS = 3
"""The fewest steps of a column by which its numbers show that it is a balance."""
_BALANCE_WORDS = frozenset(
    map(root, word_list("balance running cumulative saldo solde kontostand kassenstand"))
)
"""Words in the name of such a column."""


def is_running_balance(
    header: str, values: Sequence[Value | None], others: Sequence[Sequence[Value | None]]
) -> bool:
    """Whether a column is a running balance, by its name or since it adds other columns up.

    Args:
        header: the name of the column.
        values: its values, in the order of the rows.
        others: those of the other columns of numbers.
    """
    if set(roots(header)) & _BALANCE_WORDS:
        return True
    own = [value if isinstance(value, Decimal) else None for value in values]
    amounts = [[value if isinstance(value, Decimal) else Decimal(0) for value in column] for column in others]
    amounts = [*amounts, [Decimal(0)] * len(own)]
    return any(_adds_up(own, came, went) for came in amounts for went in amounts if came is not went)


def _adds_up(balance: Sequence[Decimal | None], came: Sequence[Decimal], went: Sequence[Decimal]) -> bool:
    """Whether each number of a column is the one before it, with what came and without what went."""
    moved = 0
    for at, (before, after) in enumerate(pairwise(balance), 1):
        if before is None or after is None:
            continue
        if after - before != came[at] - went[at]:
            return False
        moved += after != before
    return moved >= MIN_STEPS
