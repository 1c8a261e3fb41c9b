"""A question that finds nothing names the passages that come nearest."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from localcrag.crag.answering.closest_passages import say_closest
from localcrag.crag.state import QuestionState
from localcrag.events import Closest, Degraded, Event, Finished
from localcrag.languages import FOREIGN_PASSAGES
from localcrag.types import Answer, Grade, Status
from tests.crag.values import grade
from tests.crag.world import Script, World, of
from tests.fakes.llm import ScriptedEvaluator

GERMAN = {
    f"/{name}.txt": f"Die Gebühr für {name} beträgt 75 Euro im Jahr, und sie ist im März fällig."
    for name in ("Boote", "Jollen", "Flöße")
}
FEE = "What is the fee of a boat, and when is it due?"


def named(grades: Sequence[Grade], *foreign: Sequence[Grade]) -> list[str]:
    """The texts of the passages that are named, in order; ``foreign`` are grades between two languages."""
    world = World({}, Script().model())
    asked = [QuestionState(world.adapters, world.options, "q?", "q?", grades=list(grades))]
    for some in foreign:
        state = QuestionState(world.adapters, world.options, "q?", "q?", grades=list(some))
        state.foreign = True
        asked.append(state)
    events = list(say_closest(grades, asked))
    return [each.hit.passage.text for event in of(Closest, events) for each in event.grades]


def test_the_best_of_the_bad_are_named_best_first_and_each_once() -> None:
    grades = [grade(p, text=f"text {p}") for p in (0.02, None, 0.09, 0.09, 0.05, 0.001)]
    assert named(grades) == ["text 0.09", "text 0.05"]


def test_nothing_is_named_that_is_not_worth_a_look() -> None:
    assert named([grade(0.001), grade(None)]) == []


def test_between_languages_no_grade_tells_passages_apart_and_the_first_found_are_named() -> None:
    found = [grade(p, text=text) for p, text in ((0.0, "eins"), (0.004, "zwei"), (0.9, "drei"))]
    assert named([], found) == ["eins", "zwei"]
    assert named([grade(0.4, text="of another part")], found) == ["eins", "zwei"]


def run(question: str, score: float) -> tuple[list[Event], Answer]:
    world = World(GERMAN, Script().model(), evaluator=ScriptedEvaluator(lambda *_: score), by_evaluator=True)
    events = world.run(question)
    [finished] = of(Finished, events)
    return events, finished.answer


@pytest.mark.parametrize(("question", "names"), [(FEE, 2), ("Wie hoch ist die Gebühr für Boote?", 0)])
def test_the_loop_names_them_and_the_answer_keeps_them(question: str, names: int) -> None:
    events, answer = run(question, 0.0)
    assert answer.status is Status.NOT_FOUND and len(answer.closest) == names
    assert [event.grades for event in of(Closest, events)] == ([answer.closest] if names else [])
    for near in answer.to_dict()["closest"]:  # type: ignore[union-attr]
        text = GERMAN[near["source"]]  # type: ignore[call-overload, index]
        assert text[near["start"] : near["end"]] == near["text"]  # type: ignore[call-overload, index]


def test_an_answer_that_was_found_names_none() -> None:
    _, answer = run("Wie hoch ist die Gebühr für Boote?", 0.95)
    assert answer.status is not Status.NOT_FOUND and answer.closest == ()


@pytest.mark.parametrize(
    ("question", "said"), [("Wer reparierte den alten Kran?", 1), ("crane repair cost", 0)]
)
def test_a_question_in_plain_letters_is_looked_at_once_nothing_was_found(question: str, said: int) -> None:
    world = World(
        {"/crane.txt": "The crane was mended by the crew in the spring, and it has been in use since."},
        Script().model(),
        evaluator=ScriptedEvaluator(lambda *_: 0.0),
        by_evaluator=True,
    )
    events = world.run(question)
    assert [event.reason for event in of(Degraded, events) if event.part == "grade"] == [
        FOREIGN_PASSAGES
    ] * said
    assert len(of(Closest, events)) == said
