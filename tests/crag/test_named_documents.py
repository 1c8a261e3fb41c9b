"""Rows that begin alike in several documents are told apart by the document that a question names."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.named_documents import of_named_document
from localcrag.types import BlockKind, Strip
from tests.crag.values import structured

WASHER, DRYER = "/brunvik-w7-washing-machine.pdf", "/brunvik-d7-dryer.pdf"


def made(source: str, text: str, score: float) -> Strip:
    passage = structured((BlockKind.ROW, text))
    [strip] = strips(replace(passage, source=source, id=source, document=source))
    return replace(strip, score=score)


def test_the_row_of_the_document_that_a_question_names_is_left() -> None:
    washer = made(WASHER, "Code: E31 · Meaning: Drum is unbalanced", 0.7)
    dryer = made(DRYER, "Code: E31 · Meaning: Heat exchanger is dirty", 0.5)
    other = made(DRYER, "Code: E32 · Meaning: Filter is full", 0.4)
    assert of_named_document([washer, dryer], "E31 on the dryer") == [dryer]
    assert of_named_document([washer, dryer], "E31 on the washing machine") == [washer, dryer]
    assert of_named_document([washer, dryer], "What does E31 mean?") == [washer, dryer]
    assert of_named_document([washer, other], "E31 on the dryer") == [washer, other]
    assert of_named_document([], "E31 on the dryer") == []
