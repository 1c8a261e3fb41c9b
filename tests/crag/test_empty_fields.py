"""A field that is asked for and empty is told to be so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.empty_fields import empty_fields
from localcrag.crag.refinement.knowledge_strips import strips, whole
from localcrag.types import BlockKind
from tests.crag.values import passage, structured

LOCKERS = structured(
    (BlockKind.ROW, "Locker: L1 · Owner: Anna Berg · Key: K-11 · Deposit: 20"),
    (BlockKind.ROW, "Locker: L2 · Owner: Boris Lind · Deposit: —"),
    (BlockKind.ROW, "Locker: L3 · Key: K-13"),
    (BlockKind.ROW, "Locker: L4 · Key: null · Deposit: 25"),
)
CHAIR = "Name: Petra Ahlgren\nPhone:\nDeputy: —\nRoom: 4"


@pytest.mark.parametrize(
    ("question", "row", "empty"),
    [
        ("Who owns locker L3?", 2, ["Owner"]),
        ("Which key belongs to locker L2?", 1, ["Key"]),
        ("What is the deposit for L2?", 1, ["Deposit"]),
        ("What is the deposit for L1?", 0, []),
        ("Which key opens L3?", 2, []),
        ("Which key and which deposit has L3?", 2, []),
        ("Does L3 need a deposit?", 2, []),
        ("Which key opens L4?", 3, ["Key"]),
        ("Who has a locker?", 2, []),
    ],
)
def test_a_column_that_the_named_row_lacks_is_empty(question: str, row: int, empty: list[str]) -> None:
    found = [replace(strip, score=0.9 if at == row else 0.1) for at, strip in enumerate(strips(LOCKERS))]
    assert empty_fields(found, question) == empty


@pytest.mark.parametrize(
    ("question", "empty"),
    [
        ("Who is the deputy of the chair?", ["Deputy"]),
        ("What is the phone number of the chair?", ["Phone"]),
        ("What is the room of the chair?", []),
    ],
)
def test_a_label_without_a_value_is_an_empty_field(question: str, empty: list[str]) -> None:
    assert empty_fields([whole(passage(CHAIR), 0.9)], question) == empty


def test_a_label_above_what_it_leads_to_is_no_empty_field() -> None:
    told = "Documents:\nthe passport and a photograph\nFee: 20"
    assert empty_fields([whole(passage(told), 0.9)], "Which documents are needed?") == []
    assert empty_fields([whole(passage(f"{CHAIR}\nDeputy: Ann"), 0.9)], "Who is the deputy?") == []
    assert empty_fields([], "Who is the deputy?") == []


@pytest.mark.parametrize(
    ("question", "empty"),
    [
        ("Who is the executor of the will?", ["executor name"]),
        ("What is the name of the executor?", ["executor name"]),
        ("Within how many days must the executor report?", []),
        ("Who is to be told?", []),
    ],
)
def test_what_a_template_leaves_open_is_an_empty_field(question: str, empty: list[str]) -> None:
    text = "I appoint … (executor name), who reports within 30 days, or … (substitute executor name)."
    assert empty_fields([whole(passage(text), 0.9)], question) == empty
