"""Quantities in units of one kind are compared by their value."""

from __future__ import annotations

import pytest

from localcrag.crag.table_answers.unit_scales import quantities_of, shared_quantities


@pytest.mark.parametrize(
    ("question", "told", "shared"),
    [
        ("How long at 3 kW?", "Load: 3000 W", True),
        ("How long at 3 kW?", "Load: 2000 W", False),
        ("How much is 1.5 kg?", "1500 g", True),
        ("half an hour", "30 minutes", True),
        ("two hours", "120 min", True),
        ("five weeks ahead", "35 days", True),
        ("2 years", "24 months", True),
        ("a room of 20 m²", "20 m", False),
        ("3 kW", "3000 m", False),
        ("It lasts at 3 kW", "1 t", False),
    ],
)
def test_a_quantity_is_the_same_in_another_unit(question: str, told: str, shared: bool) -> None:
    assert bool(shared_quantities(question, told)) is shared


def test_a_number_in_groups_is_one() -> None:
    assert set(quantities_of("3,000 W and 3 000 W").values()) == set(quantities_of("3 kW").values())
