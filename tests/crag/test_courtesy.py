"""Which messages are courtesies, and that nothing is searched for them."""

from __future__ import annotations

import pytest

from localcrag.crag.pipeline import NO_QUESTION
from localcrag.crag.questions.condense import condense
from localcrag.crag.questions.courtesy import is_courtesy
from localcrag.events import Retrieved, result_of
from localcrag.types import Status, Turn
from tests.crag.world import Script, World, answer, of
from tests.fakes.llm import ScriptedModel


@pytest.mark.parametrize(
    ("text", "courtesy"),
    [
        ("thanks", True),
        ("Thank you very much!", True),
        ("ok, great, thanks a lot", True),
        ("Good morning", False),
        ("hello everyone", True),
        ("danke schön", True),
        ("Vielen Dank für die Hilfe!", True),
        ("merci beaucoup", True),
        ("Gracias.", True),
        ("谢谢!", True),
        ("非常感谢您", True),
        ("ok, and this one?", False),
        ("ok explain that again", False),
        ("thanks, the fee", False),
        ("谢谢的费用", False),
        ("the help", False),
        ("", False),
    ],
)
def test_a_message_that_thanks_or_greets_is_a_courtesy(text: str, courtesy: bool) -> None:
    assert is_courtesy(text) is courtesy


def test_nothing_is_searched_for_a_courtesy() -> None:
    world = World({"/thanks.txt": "Many thanks to all who helped."}, Script().model())
    events = world.run("thanks a lot")
    assert of(Retrieved, events) == [] and world.model.asked == []
    assert (answer(events).status, answer(events).text) == (Status.NOT_FOUND, NO_QUESTION)


def test_a_courtesy_is_no_topic_of_a_follow_up() -> None:
    turns = [Turn("user", text) for text in ("Was kostet die Fähre nach Kiel?", "Danke!")]
    steps = condense(ScriptedModel(), turns, "Und für Kinder?", extractive=True)
    assert result_of(steps).question == "kostet Fähre Kiel: Und für Kinder?"
