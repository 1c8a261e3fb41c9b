"""Rows of other things than the one whose code a question has."""

from __future__ import annotations

import pytest

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.rows.coded_rows import without_other_codes
from localcrag.types import BlockKind
from tests.crag.values import structured

ROWS = (
    "Group: Generator · Model: Voltane G8 · 5 days: 32.00",
    "Group: Generator · Model: Voltane G30 · 5 days: 75.00",
    "Group: Generator · Model: Voltane G300 · 5 days: 99.00",
    "Zone: Menning · Trip: 55",
)


@pytest.mark.parametrize(
    ("question", "left"),
    [
        ("What is the Voltane G30 for 5 days?", [1, 3]),
        ("Is the G30 or the G8 cheaper?", [0, 1, 3]),
        ("What is the Voltane G50 for 5 days?", [0, 1, 2, 3]),
        ("What is a generator for 5 days?", [0, 1, 2, 3]),
    ],
)
def test_rows_with_another_code_are_left_out(question: str, left: list[int]) -> None:
    found = strips(structured(*((BlockKind.ROW, text) for text in ROWS)))
    assert [found.index(strip) for strip in without_other_codes(found, question)] == left


def test_prose_is_kept() -> None:
    found = strips(
        structured((BlockKind.PARAGRAPH, "The generators are in the shed."), (BlockKind.ROW, ROWS[1]))
    )
    assert without_other_codes(found, "Where is the Voltane G30?") == list(found)
