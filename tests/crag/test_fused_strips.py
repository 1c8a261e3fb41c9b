"""Strips are judged by evaluator and language model together; the model is asked about the best few."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from localcrag.calibration.scale import StripFusion, log_odds, sigmoid
from localcrag.crag.judges.fused_strips import ASKED_STRIPS, FusedStrips
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.errors import ConstraintError
from tests.crag.values import passage
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel

FUSION = StripFusion(evaluator=0.5, model=1.0, bias=-0.2, unasked=-2.0)
BIRDS = (
    "The coots were counted on Monday morning by two of the wardens.",
    "The snipe was seen on the far bank by somebody who was passing.",
    "It rained all of that day, and the boats were left at the jetty.",
    "Nils Akker was ill for a week, so that nobody could take his place.",
    "Tea was had in the hut, and the lists were written out by the stove.",
)
CUT = strips(passage(" ".join(BIRDS)))
BY_EVALUATOR = dict(zip(BIRDS, (0.6, 0.5, 0.3, 0.2, 0.1), strict=True))


def evaluator() -> ScriptedEvaluator:
    return ScriptedEvaluator(lambda _, text: BY_EVALUATOR[text])


def denies_the_first(prompt: str, _options: Sequence[str]) -> Sequence[float] | Exception:
    return [0.1, 0.9] if BIRDS[0] in prompt else [0.8, 0.2]


def fused(p: float, told: float) -> float:
    return sigmoid(0.5 * log_odds(p) + told - 0.2)


def test_the_model_is_asked_about_the_best_strips_and_may_put_another_first() -> None:
    model = ScriptedModel(choose=denies_the_first)
    scores = FusedStrips(model, evaluator(), FUSION).score("What was counted?", CUT)
    assert len(model.asked) == ASKED_STRIPS == 3
    told = [log_odds(0.1), log_odds(0.8), log_odds(0.8), -2.0, -2.0]
    expected = [fused(p, word) for p, word in zip(BY_EVALUATOR.values(), told, strict=True)]
    assert scores == pytest.approx(expected)
    assert scores.index(max(scores)) == 1


def test_a_strip_that_the_model_fails_on_counts_as_one_it_is_not_asked_about() -> None:
    model = ScriptedModel(choose=lambda *_: ConstraintError("broken"))
    scores = FusedStrips(model, evaluator(), FUSION).score("What was counted?", CUT)
    assert scores == pytest.approx([fused(p, -2.0) for p in BY_EVALUATOR.values()])


def test_in_another_language_a_multilingual_evaluator_judges_alone() -> None:
    german = strips(passage("Die Gebühr für ein Boot beträgt 75 Euro im Jahr. Sie ist im April zu zahlen."))
    judge = ScriptedEvaluator(lambda *_: 0.4)
    judge.multilingual = True
    model = ScriptedModel(choose=denies_the_first)
    assert FusedStrips(model, judge, FUSION).score("What is the fee?", german) == [0.4, 0.4]
    assert model.asked == []


def test_no_strips_ask_nobody() -> None:
    model = ScriptedModel(choose=denies_the_first)
    assert FusedStrips(model, evaluator(), FUSION).score("What was counted?", []) == []
    assert model.asked == []
