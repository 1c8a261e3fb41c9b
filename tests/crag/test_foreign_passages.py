"""Question and passages in different languages: it is said that the evaluator cannot compare them."""

from __future__ import annotations

import pytest

from localcrag.events import Degraded
from localcrag.languages import FOREIGN_PASSAGES
from tests.crag.world import Script, World, of
from tests.fakes.llm import ScriptedEvaluator

GERMAN = "Die Gebühr für ein Boot beträgt 75 Euro im Jahr, und sie ist im März fällig."


@pytest.mark.parametrize(
    ("question", "by_evaluator", "said"),
    [
        ("What is the fee of a boat, and when is it due?", True, [FOREIGN_PASSAGES]),
        ("Wie hoch ist die Gebühr für ein Boot im Jahr?", True, []),
        ("What is the fee of a boat, and when is it due?", False, []),
    ],
)
def test_a_no_of_the_evaluator_is_not_to_be_relied_on_between_languages(
    question: str, by_evaluator: bool, said: list[str]
) -> None:
    world = World(
        {"/hafen.txt": GERMAN},
        Script().model(),
        evaluator=ScriptedEvaluator(lambda *_: 0.01),
        by_evaluator=by_evaluator,
    )
    events = world.run(question)
    reasons = [event.reason for event in of(Degraded, events) if event.part == "grade"]
    assert reasons == said


def test_a_multilingual_evaluator_is_relied_on_between_languages() -> None:
    evaluator = ScriptedEvaluator(lambda *_: 0.01)
    evaluator.multilingual = True
    world = World({"/hafen.txt": GERMAN}, Script().model(), evaluator=evaluator, by_evaluator=True)
    events = world.run("What is the fee of a boat, and when is it due?")
    assert not [event for event in of(Degraded, events) if event.part == "grade"]
