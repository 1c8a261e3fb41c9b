"""The cascade's band: the narrowest that leaves the grades as good, found again on known judges."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localcrag.calibration.band import JudgedPair, narrowest_band
from localcrag.calibration.scale import Scale, log_odds, moved, sigmoid
from localcrag.errors import EvaluationError
from localcrag.evaluation.cross_validation import fitted_band
from localcrag.types import Thresholds

IN_USE = Thresholds(0.7, 0.1)


def both(model: float, questions: int = 300, seed: int = 0) -> JudgedPair:
    """An evaluator whose P is what it says, and a language model that is right with this probability."""
    random = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-random.normal(-1, 2, questions * 5)))
    right = random.random(len(p)) < p
    return JudgedPair(p, random.random(len(p)) < model, right, np.repeat(np.arange(questions), 5))


def by_hand(p: list[float], asked: list[int], right: list[int]) -> JudgedPair:
    return JudgedPair(np.array(p), np.array(asked, bool), np.array(right, bool), np.arange(len(p)))


def test_the_language_model_is_asked_just_where_the_evaluator_is_wrong() -> None:
    made = by_hand([0.1, 0.3, 0.4, 0.6, 0.9], [1, 1, 1, 1, 1], [0, 0, 1, 0, 1])
    assert narrowest_band(made, 0.0) == Thresholds(upper=0.9, lower=0.4)


def test_a_margin_leaves_out_what_it_allows() -> None:
    made = by_hand([0.1, 0.3, 0.4, 0.6, 0.9], [1, 1, 1, 1, 1], [0, 0, 1, 0, 1])
    found = narrowest_band(made, 0.4)
    assert ((found.lower <= made.p) & (made.p < found.upper)).sum() == 1


def test_an_evaluator_that_is_better_everywhere_never_asks() -> None:
    made = both(0.5)
    found = narrowest_band(made, 0.0)
    assert not ((found.lower <= made.p) & (made.p < found.upper)).any()


def test_a_perfect_language_model_is_asked_almost_always_without_a_margin_and_less_with_one() -> None:
    made = both(1.0)
    shares = [fitted_band(made, IN_USE, margin).after.asked.value for margin in (0.0, 0.02, 0.05)]
    assert shares[0] > 0.8 > shares[1] > shares[2] > 0.1


@pytest.mark.parametrize("model", [0.8, 0.9, 0.97])
def test_it_holds_on_questions_not_seen(model: float) -> None:
    found = fitted_band(both(model, 1000), IN_USE, 0.02)
    assert found.holds
    assert found.after.difference.value == pytest.approx(found.after.accuracy.value - found.model, abs=1e-9)
    assert found.model == pytest.approx(model, abs=0.02)
    assert found.after.asked.value < 1


def test_the_fit_is_better_only_where_it_asks_less_or_the_band_in_use_does_not_hold() -> None:
    made = both(0.97, 600)
    everything, nothing = Thresholds(1.0, 0.0), Thresholds(0.5, 0.5)
    assert fitted_band(made, everything, 0.02).better
    assert fitted_band(made, nothing, 0.02).better, "the evaluator alone is no match for this model"
    found = fitted_band(made, everything, 0.02)
    assert not replace(found, before=found.after).better


def test_too_few_questions_are_refused() -> None:
    with pytest.raises(EvaluationError, match="only 19 labelled questions"):
        fitted_band(both(0.9, 19), IN_USE, 0.02)


def test_a_band_follows_the_evaluator_to_another_scale() -> None:
    """The same passages are inside, whatever the scale; one half stays within or at the edge."""
    first, second = Scale(2.0, -0.5), Scale(1.0, 0.3)
    band = Thresholds(0.8, 0.1)
    found = moved(band, first, second)
    for p in (0.05, 0.09, 0.11, 0.5, 0.79, 0.81):
        there = second.of((log_odds(p) - first.bias) * first.temperature)
        assert (found.lower <= there < found.upper) == (band.lower <= p < band.upper)
    assert moved(band, first, first) == band
    assert moved(Thresholds(1.0, 0.0), first, second) == Thresholds(1.0, 0.0)
    shifted = moved(Thresholds(0.55, 0.45), Scale(), Scale(1.0, 5.0))
    assert shifted.lower == 0.5 and shifted.upper == pytest.approx(sigmoid(log_odds(0.55) + 5))
