"""What the last version of a document tells, in place of what an earlier one does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.current_versions import of_last_version
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind, Strip
from tests.crag.values import structured

DRAFT, RULES, OLD, NEW = "/rules_draft.md", "/rules-2026.docx", "/fees-2025-26.pdf", "/fees-2026-27.xlsx"


def made(source: str, text: str, score: float, *, kind: BlockKind = BlockKind.ROW) -> Strip:
    [strip] = strips(replace(structured((kind, text)), source=source, id=f"{source} {text}"))
    return replace(strip, score=score)


@pytest.mark.parametrize(
    ("question", "first", "second", "sources"),
    [
        ("17, Sat: back when?", (DRAFT, "Age: 17 · Sat: 23:00"), (RULES, "Age: 17 · Sat: 23:30"), [RULES]),
        ("17, Sat: back when?", (OLD, "Age: 17 · Sat: 23:00"), (NEW, "Age: 17 · Sat: 23:30"), [NEW]),
        (
            "17, Sat: back when?",
            (RULES, "Age: 17 · Sat: 23:30"),
            (DRAFT, "Age: 17 · Sat: 23:00"),
            [RULES, DRAFT],
        ),
        (
            "17, Sat: back when?",
            (DRAFT, "Age: 17 · Sat: 23:00"),
            (RULES, "Age: 16 · Sat: 22:30"),
            [DRAFT, RULES],
        ),
        (
            "draft, 17: when?",
            (DRAFT, "Age: 17 · Sat: 23:00"),
            (RULES, "Age: 17 · Sat: 23:30"),
            [DRAFT, RULES],
        ),
        ("17 in 2025: when?", (OLD, "Age: 17 · Sat: 23:00"), (NEW, "Age: 17 · Sat: 23:30"), [OLD, NEW]),
    ],
)
def test_a_row_of_an_earlier_version(
    question: str, first: tuple[str, str], second: tuple[str, str], sources: list[str]
) -> None:
    kept = [made(*first, 0.3), made(*second, 0.1)]
    assert [strip.passage.source for strip in of_last_version(kept, question)] == sources


def test_a_sentence_of_an_earlier_version_that_the_last_one_lacks_is_kept() -> None:
    kind = BlockKind.PARAGRAPH
    kept = [
        made(DRAFT, "The kitchen opens at 6.", 0.3, kind=kind),
        made(RULES, "The house opens at 7.", 0.2, kind=kind),
    ]
    assert of_last_version(kept, "When does the kitchen open?") == kept
    assert of_last_version([], "When?") == []


def test_a_row_of_the_last_version_that_was_not_kept_stands_in_the_place_of_the_draft() -> None:
    question = "17 yr old, Saturday, back when?"
    draft = made(DRAFT, "Age: 17 · Sat: 23:00", 0.6)
    other, row = made(RULES, "Age: 16 · Sat: 22:30", 0.1), made(RULES, "Age: 17 · Sat: 23:30", 0.1)
    seen = [strip.passage for strip in (draft, other, row)]
    assert [(strip.text, strip.score) for strip in of_last_version([draft], question, seen)] == [
        (row.text, 0.6)
    ]
    assert of_last_version([draft], question, [draft.passage, other.passage]) == [draft]
    assert of_last_version([draft], "draft, 17: when?", seen) == [draft]
