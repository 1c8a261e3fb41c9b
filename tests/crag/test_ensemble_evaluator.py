"""Two evaluators judge together where the first is in doubt."""

from __future__ import annotations

import math

import pytest

from localcrag.calibration.scale import Fusion
from localcrag.crag.ensemble_evaluator import SURE_PROBABILITY, EnsembleEvaluator
from tests.fakes.llm import ScriptedEvaluator

QUESTION = "How much bandwidth may it take?"
FIRST, SECOND = "It may take two megabits.", "Nothing is said of that."
FUSION = Fusion(evaluator=0.5, model=1.0, similarity=0.0, bias=-0.2)


def ensemble(
    first: dict[str, float], second: dict[str, float]
) -> tuple[EnsembleEvaluator, ScriptedEvaluator]:
    """An ensemble of evaluators with these scores, and the second of them."""
    asked = ScriptedEvaluator(lambda _, text: second[text])
    return EnsembleEvaluator(ScriptedEvaluator(lambda _, text: first[text]), asked, FUSION), asked


def test_in_doubt_the_log_odds_of_both_are_added_up() -> None:
    judge, _ = ensemble({FIRST: 0.2, SECOND: 0.3}, {FIRST: 0.8, SECOND: 0.1})
    nearer, other = judge.score(QUESTION, [FIRST, SECOND])
    z = 0.5 * math.log(0.2 / 0.8) + math.log(0.8 / 0.2) - 0.2
    assert nearer == pytest.approx(1 / (1 + math.exp(-z)), abs=1e-5)
    assert other < 0.3 < nearer


def test_the_second_is_not_asked_if_a_text_surely_answers() -> None:
    judge, asked = ensemble({FIRST: SURE_PROBABILITY, SECOND: 0.3}, {})
    assert judge.score(QUESTION, [FIRST, SECOND]) == [SURE_PROBABILITY, 0.3]
    assert judge.score(QUESTION, []) == []
    assert not asked.tokens.evaluated


def test_texts_in_other_languages_are_left_to_the_first() -> None:
    german = "Wie viel Bandbreite darf die Übertragung der Daten höchstens in Anspruch nehmen?"
    judge, asked = ensemble({FIRST: 0.2, SECOND: 0.3}, {})
    judge.evaluator.multilingual = True  # type: ignore[misc]
    assert judge.score(german, [FIRST, SECOND]) == [0.2, 0.3]
    assert not asked.tokens.evaluated
