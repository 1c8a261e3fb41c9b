"""A row of many columns is to be checked unless the question names one of them."""

from __future__ import annotations

from localcrag.crag.doubts.wide_rows import MAX_CELLS, is_wide_without_column
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind
from tests.crag.values import structured


def test_a_wide_row_answers_what_its_columns_name() -> None:
    others = " · ".join(f"code {letter}: {letter * 2}" for letter in "abcdefghijklmnop"[:MAX_CELLS])
    wide = strips(structured((BlockKind.ROW, f"name: Lesotho · capital: Maseru · {others}")))
    narrow = strips(structured((BlockKind.ROW, "name: Lesotho · capital: Maseru")))
    assert is_wide_without_column("What are people from Lesotho called?", wide)
    assert not is_wide_without_column("What is the capital of Lesotho?", wide)
    assert not is_wide_without_column("What are people from Lesotho called?", narrow)
    assert not is_wide_without_column("What are people from Lesotho called?", [])
    joined = strips(structured((BlockKind.ROW, f"name: Tin · AtomicRadius: 217 · {others}")))
    assert not is_wide_without_column("Which radius does tin have?", joined)
    assert is_wide_without_column("How warm is tin?", joined)
