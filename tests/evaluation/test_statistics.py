"""Figures and their bootstrap intervals, against hand-made values and another implementation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from localcrag.evaluation.statistics import (
    Auc,
    CalibrationError,
    Floats,
    Pairs,
    Quantile,
    Ratio,
    Statistic,
    differences,
    intervals,
)


def value(statistic: Statistic, *weights: float) -> float:
    return float(statistic(np.array([weights]))[0])


def ratio(above: list[float], below: list[float]) -> Ratio:
    return Ratio(np.array(above, float), np.array(below, float))


def pairs(rows: list[tuple[float, int, int]]) -> Pairs:
    p, right, question = zip(*rows, strict=True)
    return Pairs(np.array(p, float), np.array(right, float), np.array(question))


def random_pairs(questions: int, seed: int = 0) -> Pairs:
    random = np.random.default_rng(seed)
    question = np.repeat(np.arange(questions), 5)
    p = random.integers(0, 11, len(question)) / 10
    return Pairs(p, (random.random(len(p)) < p).astype(float), question)


def test_a_ratio_counts_a_question_as_often_as_it_was_drawn() -> None:
    precision = ratio([1, 2, 0], [2, 2, 1])
    assert value(precision, 1, 1, 1) == pytest.approx(3 / 5)
    assert value(precision, 0, 1, 2) == pytest.approx(2 / 4)
    assert math.isnan(value(ratio([0], [0]), 1))


def test_quantiles() -> None:
    times = Quantile(np.array([5.0, 1.0, 3.0, 2.0]), 0.5)
    assert value(times, 1, 1, 1, 1) == 2.0
    assert value(times, 2, 0, 1, 1) == 3.0
    assert value(Quantile(np.arange(1.0, 101.0), 0.95), *[1] * 100) == 95.0


def test_auc_is_that_of_scikit_learn_ties_and_repetitions_too() -> None:
    from sklearn.metrics import roc_auc_score

    random, made = np.random.default_rng(1), random_pairs(30)
    for _ in range(5):
        weights = random.integers(0, 4, 30).astype(float)
        each = weights[made.question]
        assert value(Auc(made), *weights) == pytest.approx(
            roc_auc_score(made.right, made.p, sample_weight=each)
        )


def test_auc_of_one_class_is_not_defined() -> None:
    assert math.isnan(value(Auc(pairs([(0.5, 1, 0), (0.2, 1, 0)])), 1))


def test_calibration_error_by_hand() -> None:
    made = pairs([(0.95, 1, 0), (0.91, 0, 0), (0.12, 0, 1), (1.0, 1, 1)])
    top = abs((0.95 + 0.91 + 1.0) / 3 - 2 / 3) * 3 / 4
    assert value(CalibrationError(made), 1, 1) == pytest.approx(top + 0.12 / 4)
    assert value(CalibrationError(made), 1, 0) == pytest.approx(abs(0.93 - 0.5))


def test_an_interval_is_that_of_the_mean() -> None:
    """Of a mean of 400 coin flips the bootstrap interval is the normal one, about."""
    flips: Floats = np.tile([1.0, 0.0], 200)
    [found] = intervals([Ratio(flips, np.ones(400))], 400)
    assert found.value == 0.5
    assert found.low == pytest.approx(0.5 - 1.96 * 0.025, abs=0.006)
    assert found.high == pytest.approx(0.5 + 1.96 * 0.025, abs=0.006)
    assert [found] == intervals([Ratio(flips, np.ones(400))], 400), "the same draws every time"


def test_many_questions_are_drawn_in_rounds_with_the_same_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    made = random_pairs(40)
    [whole] = intervals([Auc(made)], 40)
    monkeypatch.setattr("localcrag.evaluation.statistics._MAX_CELLS", 4 * len(made) * 300)
    [parts] = intervals([Auc(made)], 40)
    assert parts.value == whole.value
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), abs=0.02)


def test_a_difference_is_paired() -> None:
    """What makes questions hard cancels out: the figures' own intervals overlap, the difference is sure."""
    random = np.random.default_rng(0)
    hard = random.random(60)
    first, second = Ratio(hard, np.ones(60)), Ratio(hard + 0.05, np.ones(60))
    own = intervals([first, second], 60)
    assert own[0].high > own[1].low
    [gap] = differences([(first, second)], 60)
    assert gap.value == pytest.approx(0.05) and gap.excludes_zero
    [none] = differences([(first, first)], 60)
    assert (none.value, none.low, none.high, none.excludes_zero) == (0, 0, 0, False)


def test_what_most_draws_leave_undefined_has_no_interval() -> None:
    [found] = intervals([ratio([1.0] + [0.0] * 9, [1.0] + [0.0] * 9)], 10)
    assert found.value == 1.0
    assert not math.isnan(found.low), "one in ten questions is drawn in two draws of three"
    [rare] = intervals([ratio([0.0] * 10, [0.0] * 10)], 10)
    assert math.isnan(rare.value) and math.isnan(rare.low)
