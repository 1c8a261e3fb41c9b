"""The order of the prompts: question first for a model that was trained so, question last for any other."""

from __future__ import annotations

import pytest

from localcrag.crag import prompts
from localcrag.crag.judges.yes_no_choices import ask_each, ask_jointly
from localcrag.crag.prompt_layout import IndependentLayout, JointLayout, JointPassages
from localcrag.types import Evidence, Passage, Prompt, Strip
from tests.fakes.llm import ScriptedModel, text_of

QUESTION = "When does the ferry leave?"
TEXTS = ["The ferry leaves at nine.", "The ferry is white."]
PASSAGES = [
    Passage(f"p{number}", f"p{number}", f"/{number}.txt", "", "", None, 0, len(text), text)
    for number, text in enumerate(TEXTS)
]
EVIDENCE = [
    Evidence(key, Strip(passage, 0, len(passage.text), passage.text, 1.0))
    for key, passage in enumerate(PASSAGES, 1)
]


def places(prompt: Prompt, *texts: str) -> list[int]:
    """Where the texts stand in a prompt, in order; each stands there once."""
    said = text_of(prompt)
    assert all(said.count(text) == 1 for text in texts)
    return [said.index(text) for text in texts]


@pytest.mark.parametrize("trained", [True, False])
@pytest.mark.parametrize("task", ["grade", "grade jointly", "answer", "answer jointly"])
def test_the_question_stands_before_the_passages_only_for_a_trained_model(task: str, trained: bool) -> None:
    joint = JointPassages(list(PASSAGES))
    made = {
        "grade": lambda: prompts.grade(QUESTION, TEXTS[0], trained=trained),
        "grade jointly": lambda: prompts.grade_joint(QUESTION, TEXTS, 2, trained=trained),
        "answer": lambda: IndependentLayout(trained).answer(QUESTION, EVIDENCE),
        "answer jointly": lambda: JointLayout(joint, trained).answer(QUESTION, EVIDENCE),
    }
    question, passage = places(made[task](), QUESTION, TEXTS[0])
    assert (question < passage) is trained


def test_any_other_model_reads_the_number_of_a_passage_before_its_text() -> None:
    number, text, other = places(prompts.answer(QUESTION, EVIDENCE), "[2] ", TEXTS[1], TEXTS[0])
    assert other < number < text


@pytest.mark.parametrize("trained", [True, False])
def test_a_model_is_asked_in_the_order_that_it_knows(trained: bool) -> None:
    model = ScriptedModel(trained=trained)
    ask_each(model, QUESTION, TEXTS[:1])
    ask_jointly(model, QUESTION, JointPassages(), PASSAGES)
    alone, *together = [text for _, text in model.asked]
    assert alone == text_of(prompts.grade(QUESTION, TEXTS[0], trained=trained))
    assert together == [
        text_of(prompts.grade_joint(QUESTION, TEXTS, place, trained=trained)) for place in (1, 2)
    ]
