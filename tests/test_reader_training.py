"""What the reader learns from: short answers said as sentences, and questions that nothing answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from training.labelled_documents import DocumentQuestion, ReadDocument
from training.reader_measure import Asked, rows, scale_of
from training.verbalised import read_asked, read_said, said_of, short_answers, write_said
from training.written_answers import UNANSWERABLE_SET, document_answers

from localcrag.crag.reader import Reading
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.errors import ConstraintError
from localcrag.types import BlockKind
from tests.crag.values import structured
from tests.fakes.llm import ScriptedModel

ROW = BlockKind.ROW
PASSAGE = structured(
    (ROW, "Machine: B40 · Descaling: every 400 cups"),
    (ROW, "Machine: B60 · Descaling: every 700 cups"),
    (ROW, "Machine: C10 · Descaling: never"),
)
DOCUMENT = ReadDocument("machines.md", (PASSAGE,), tuple(strips(PASSAGE)))
ANSWERED = DocumentQuestion("descaling interval b60", "700 cups", DOCUMENT, (1,), ())
UNANSWERED = DocumentQuestion("What does the B40 cost?", "", DOCUMENT, (), (0,))
SAID = "The B60 is descaled every 700 cups."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (SAID, SAID),
        (f"Sentence: {SAID[:-1]}", SAID),
        ("The B60 is descaled every 600 cups.", ""),
        ("700 cups", ""),
        (ConstraintError("no line"), ""),
    ],
)
def test_a_short_answer_becomes_a_sentence_only_with_all_of_its_words(
    line: str | Exception, said: str
) -> None:
    model = ScriptedModel(lines=[line])
    assert said_of(model, DOCUMENT.strips[1].text, ANSWERED.question, ANSWERED.answer) == said


def test_what_was_said_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    asked, file = short_answers([ANSWERED, UNANSWERED]), tmp_path / "said.jsonl"
    assert asked == [(DOCUMENT.strips[1].text, ANSWERED.question, "700 cups")]
    assert list(write_said(ScriptedModel(lines=[SAID]), asked, file)) == [1]
    assert list(write_said(ScriptedModel(lines=["No."]), [("A", "why?", "so")], file)) == [1]
    assert read_asked(file) == {asked[0][1:]: SAID, ("why?", "so"): ""}
    assert read_said(file) == {asked[0][1:]: SAID}
    assert read_said(tmp_path / "none.jsonl") == {}


def test_answers_are_said_sentences_beside_what_only_seems_to_answer() -> None:
    answered, unanswered = document_answers(
        [ANSWERED, UNANSWERED], {(ANSWERED.question, ANSWERED.answer): SAID}
    )
    others = {DOCUMENT.strips[0].text, DOCUMENT.strips[2].text}
    assert answered.evidence == (DOCUMENT.strips[1].text,) and set(answered.distractors) == others
    assert answered.sentences == ((SAID, (0,)),)
    assert unanswered.dataset == UNANSWERABLE_SET and not unanswered.evidence and not unanswered.sentences
    assert unanswered.distractors[0] == DOCUMENT.strips[0].text, "what tempts stands first"
    others_said = document_answers([ANSWERED, UNANSWERED], {("x", "y"): "z"})
    assert [each.dataset for each in others_said] == [UNANSWERABLE_SET], "only what was said is learnt"


def test_the_scale_and_the_figures_are_those_of_what_was_read() -> None:
    telling = DOCUMENT.strips[1]
    right = Reading(0.7, SAID, (telling,))
    wrong = Reading(0.6, "The B40 is descaled every 400 cups.", (DOCUMENT.strips[0],))
    asked = [
        *(Asked("q", DOCUMENT.strips, "700 cups", telling.text, each) for each in (right, right, wrong)),
        *(Asked("q", DOCUMENT.strips, "", "", Reading(p)) for p in (0.1, 0.2, 0.65)),
    ]
    [row] = rows(asked)
    assert row.figures["declined"] == pytest.approx(2 / 3) and row.figures["declined wrongly"] == 0
    assert row.figures["gold contained"] == row.figures["right strip"] == pytest.approx(2 / 3)
    assert row.figures["auc"] == pytest.approx(8 / 9)
    scale = scale_of(asked)
    assert scale(0.7) > scale(0.6) > scale(0.2)
