"""Scales, fusions and thresholds: known truths are found again, and too little is refused."""

from __future__ import annotations

import numpy as np
import pytest

from localcrag.calibration.fit import thresholds
from localcrag.calibration.scale import FINE_FLOOR, Fusion, Scale, log_odds, rescaled, sigmoid
from localcrag.errors import EvaluationError
from localcrag.evaluation.cross_validation import Material, fitted
from localcrag.types import Thresholds

IN_USE = Thresholds(0.7, 0.3)


def material(questions: int = 200, slope: float = 0.5, bias: float = -1.0, seed: int = 0) -> Material:
    """A judge whose log-odds are twice too sure, and too kind: the truth is ``slope`` · them + ``bias``."""
    random = np.random.default_rng(seed)
    odds = random.normal(0, 3, questions * 5)
    right = (random.random(len(odds)) < 1 / (1 + np.exp(-(slope * odds + bias)))).astype(float)
    return Material(odds[:, None], right, np.repeat(np.arange(questions), 5), 1 / (1 + np.exp(-odds)), IN_USE)


def test_a_known_scale_is_found_and_believed_more() -> None:
    found = fitted(material(1000))
    assert found.fit.weights[0] == pytest.approx(0.5, abs=0.05)
    assert found.fit.bias == pytest.approx(-1.0, abs=0.1)
    assert found.better
    assert found.before.calibration_error > 0.15 > 0.04 > found.after.calibration_error
    assert found.after.auc == pytest.approx(found.before.auc, abs=0.01), "a scale changes no order"


def test_the_thresholds_mean_what_they_promise_on_questions_not_seen() -> None:
    found = fitted(material(1000))
    assert found.after.precision_above == pytest.approx(0.8, abs=0.06)
    assert found.after.missed_below == pytest.approx(0.1, abs=0.04)
    assert found.fit.thresholds.lower < found.fit.thresholds.upper


def test_thresholds_by_hand() -> None:
    p = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    right = np.array([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    assert thresholds(p, right).upper == 0.5, "four of five are right from 0.5 on"
    assert thresholds(p, right).lower == pytest.approx(0.5), "one tenth of the right ones are hardly below"
    hopeless = np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    assert thresholds(p, hopeless).upper == 0.9, "where no bound is precise enough, the highest"


def test_passages_of_one_p_are_on_one_side_of_a_threshold() -> None:
    found = thresholds(np.array([0.9, 0.5, 0.5, 0.5]), np.array([1.0, 1.0, 0.0, 0.0]))
    assert found.upper == 0.9


def test_an_input_that_knows_nothing_gets_no_weight() -> None:
    made = material(400)
    random = np.random.default_rng(1)
    contrary = -made.inputs[:, :1] + random.normal(0, 1, made.inputs.shape)
    both = Material(np.hstack([made.inputs, contrary]), made.right, made.question, made.p, made.thresholds)
    assert fitted(both).fit.weights[1] == 0.0


def test_a_few_questions_judged_all_right_do_not_make_it_infinitely_sure() -> None:
    odds = np.tile([3.0, -3.0, -3.0], 25)
    right = (odds > 0).astype(float)
    made = Material(odds[:, None], right, np.repeat(np.arange(25), 3), 1 / (1 + np.exp(-odds)), IN_USE)
    fit = fitted(made).fit
    assert 0.9 < float(fit(np.array([[3.0]]))[0]) < 0.99


def flipped(made: Material) -> Material:
    return Material(-made.inputs, made.right, made.question, made.p, made.thresholds)


def with_right(made: Material, right: object) -> Material:
    return Material(made.inputs, np.array(right, float), made.question, made.p, made.thresholds)


@pytest.mark.parametrize(
    ("made", "word"),
    [
        (material(19), "only 19 labelled questions, at least 20"),
        (flipped(material()), "no better than chance"),
        (with_right(material(), np.zeros(1000)), "a right passage was graded for only 0 of 200"),
        (with_right(material(), [1, 1, 1, 1] + [0] * 996), "a right passage was graded for only 1 of 200"),
        (with_right(material(), np.ones(1000)), "all 1000 graded passages are right"),
    ],
)
def test_too_little_to_fit(made: Material, word: str) -> None:
    with pytest.raises(EvaluationError, match=word) as caught:
        fitted(made)
    assert caught.value.hint


def test_a_scale_on_a_scale() -> None:
    first = Scale(temperature=2.0, bias=0.5)
    second = first.then(3.0, -1.0)
    number = 1.7
    assert second.of(number) == pytest.approx(sigmoid(3.0 * log_odds(first.of(number), 1e-12) - 1.0))
    assert Scale()(0.3) == pytest.approx(0.3)


@pytest.mark.parametrize("p", [1e-9, 0.2, 1 - 1e-9, 1.0])
def test_a_scale_gives_in_use_what_was_fitted(p: float) -> None:
    """Also of a judge that is as good as sure: its log-odds are cut off in the same place."""
    slope, bias = 0.1, -0.9
    scale = Scale().then(slope, bias)
    assert scale(p) == pytest.approx(sigmoid(slope * log_odds(p, FINE_FLOOR) + bias))


@pytest.mark.parametrize("number", [-4.0, 0.0, 0.3, 5.0])
def test_a_fusion_gives_the_same_on_another_scale_of_its_evaluator(number: float) -> None:
    fitted_on, used = Scale(0.9, -1.3), Scale(2.5, 0.4)
    fusion = Fusion(0.84, 0.3, 5.3, -3.4)
    again = rescaled(fusion, fitted_on, used)
    assert again(used.of(number), 0.7, 0.5) == pytest.approx(fusion(fitted_on.of(number), 0.7, 0.5))
    assert rescaled(fusion, used, used) == fusion
