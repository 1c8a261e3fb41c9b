"""What the codes in a row mean, from a legend of its document."""

from __future__ import annotations

import pytest

from localcrag.crag.answering.row_legends import with_legends
from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.types import Block, BlockKind, Passage, Strip

ROTA = "name: Ostrow · Mon 6: E · Tue 7: N · Sat 11: X"
OTHER = "name: Brandl · Mon 6: N · Tue 7: E · Sat 11: E"


def document(*pieces: tuple[BlockKind, str]) -> Passage:
    """A passage of some blocks."""
    text, blocks = "", list[Block]()
    for kind, piece in pieces:
        blocks.append(Block(kind, len(text), len(text) + len(piece)))
        text += f"{piece}\n"
    return Passage("p", "h", "/rota.csv", "rota", "", None, 0, len(text), text, 0, blocks=tuple(blocks))


def first_row(passage: Passage) -> Strip:
    """The first block of a passage as a strip."""
    return strip_at(passage, passage.blocks[0].start, passage.blocks[0].end, 0.5)


def explained(question: str, *pieces: tuple[BlockKind, str], row: str = ROTA) -> list[str]:
    """What is shown beside a row for a question, of a document with that row and some pieces."""
    passage = document((BlockKind.ROW, row), (BlockKind.ROW, OTHER), *pieces)
    return [strip.text for strip in with_legends([first_row(passage)], question, lambda _: ())[1:]]


@pytest.mark.parametrize(
    ("question", "legend"),
    [
        ("What is Ostrow's shift on Saturday 11?", ["X = free"]),
        ("When does Ostrow work on Tuesday?", ["N = night (22:00-06:00)"]),
        ("What is Ostrow's rota?", ["E = early", "N = night (22:00-06:00)", "X = free"]),
    ],
)
def test_the_codes_that_are_asked_for_are_explained(question: str, legend: list[str]) -> None:
    lines = ("E = early", "L = late", "N = night (22:00-06:00)", "X = free")
    assert explained(question, *((BlockKind.ROW, line) for line in lines)) == legend


def test_a_table_of_codes_explains_them() -> None:
    key = "Code: N · Meaning: night", "Code: X · Meaning: free"
    assert explained("Tuesday?", *((BlockKind.ROW, row) for row in key)) == ["Code: N · Meaning: night"]


def test_a_line_below_the_table_explains_them() -> None:
    line = "E early is not told so, but N – night, X – free"
    assert explained("What about Tuesday?", (BlockKind.PARAGRAPH, line)) == [line]
    assert explained("What about Monday?", (BlockKind.PARAGRAPH, line)) == []


@pytest.mark.parametrize("row", ["name: Ostrow · Tue 7: night", "name: Ostrow · Tue 7: Z"])
def test_nothing_is_explained_that_is_no_code_of_the_legend(row: str) -> None:
    assert explained("Tuesday?", (BlockKind.ROW, "N = night"), row=row) == []


def test_a_code_among_other_cells_is_explained_if_its_column_is_asked_for() -> None:
    row = "item: Leukostat · stock: 9 · place: F · expiry: 2026-05 · price: 14.60"
    legend = BlockKind.PARAGRAPH, "F = fridge, C = cupboard"
    assert explained("When does Leukostat expire?", legend, row=row) == []
    assert explained("In which place is Leukostat?", legend, row=row) == [legend[1]]


def test_a_legend_may_stand_in_the_next_passage_and_is_shown_once() -> None:
    row, key = document((BlockKind.ROW, ROTA)), document((BlockKind.PARAGRAPH, "X = free, N = night"))
    beside = Passage("q", *[getattr(key, name) for name in key.__slots__[1:]])
    shown = with_legends([first_row(row)], "Ostrow", lambda passage: [beside] if passage.id == "p" else [row])
    assert [strip.text for strip in shown] == [ROTA, "X = free, N = night"]
    assert with_legends(shown, "Ostrow", lambda passage: [beside] if passage.id == "p" else [row]) == shown
