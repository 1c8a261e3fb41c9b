"""The kind of text that a strip is."""

from __future__ import annotations

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_kinds import prose_of, says_more
from localcrag.types import BlockKind
from tests.crag.values import passage, structured


def test_a_name_that_has_only_words_of_the_question_says_nothing() -> None:
    def says(text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> bool:
        (strip,) = strips(structured((kind, text)))
        return says_more(strip, "How do I show progress bars while I wait?")

    assert not says("Progress Bars")
    assert says("Progress bars show.") and says("Progress bars of Rich") and says("Yes, you may")
    assert says("Progress bar", BlockKind.ROW) and says("progress.bar", BlockKind.CODE)


def test_rows_and_code_are_no_prose() -> None:
    found = structured((BlockKind.PARAGRAPH, "Fees."), (BlockKind.ROW, "A: b"), (BlockKind.CODE, "x = 1"))
    assert prose_of(found) == "Fees."
    assert prose_of(passage("Plain.")) == "Plain."
