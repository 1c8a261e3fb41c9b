"""The product's calibration and metrics on the arrays that training works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localcrag.calibration.fit import fit
from localcrag.calibration.scale import Fusion, Scale
from localcrag.evaluation.statistics import Auc, CalibrationError, Floats, Pairs, Statistic, Whole
from localcrag.types import Thresholds

FOLDS = 5
MIN_SLOPE = 1e-3
"""A judge whose scores say nothing, or the opposite, still gets a scale: an almost flat one."""


@dataclass(frozen=True)
class Calibrated:
    """An evaluator's scale, and the thresholds on its probabilities."""

    scale: Scale
    thresholds: Thresholds

    def probabilities(self, logits: Floats) -> Floats:
        """P(relevant) of shape (n,) for logits (n,)."""
        return np.array([self.scale.of(float(logit)) for logit in logits])


@dataclass(frozen=True)
class Fused:
    """A fusion of evaluator, language model and cosine, and the thresholds on its probabilities."""

    fusion: Fusion
    thresholds: Thresholds


def calibrate(logits: Floats, labels: Floats) -> Calibrated:
    """Scale and thresholds, fitted to held-out logits and labels, both of shape (n,)."""
    fitted = fit(logits[:, None], labels)
    scale = Scale().then(max(float(fitted.weights[0]), MIN_SLOPE), fitted.bias)
    return Calibrated(scale, fitted.thresholds)


def fuse(features: Floats, labels: Floats) -> Fused:
    """The fusion fitted to features (n, 3): log-odds of the evaluator, of the language model, and cosine."""
    fitted = fit(features, labels)
    evaluator, model, similarity = map(float, fitted.weights)
    return Fused(Fusion(evaluator, model, similarity, fitted.bias), fitted.thresholds)


def cross_validated_auc(features: Floats, labels: Floats, questions: Whole) -> float:
    """AUC of a fit whose predictions come from folds that never saw the same question.

    Args:
        features: shape (n, inputs).
        labels: 1 or 0, shape (n,).
        questions: the number of each pair's question, shape (n,).
    """
    fold = questions % FOLDS
    p = np.zeros(len(labels))
    for number in range(FOLDS):
        test = fold == number
        if test.any() and len(set(labels[~test])) == 2:
            p[test] = fit(features[~test], labels[~test])(features[test])
    return auc(labels, p)


def auc(labels: Floats, scores: npt.ArrayLike) -> float:
    """The area under the ROC curve of scores (n,) for labels (n,); NaN if only one label occurs."""
    return _figure(Auc, labels, np.asarray(scores, np.float64))


def calibration_error(p: Floats, labels: Floats) -> float:
    """The expected calibration error of probabilities (n,) for labels (n,)."""
    return _figure(CalibrationError, labels, p)


def _figure(statistic: Callable[[Pairs], Statistic], labels: Floats, scores: Floats) -> float:
    """One figure of the product over all pairs, each counted once."""
    pairs = Pairs(scores, labels, np.zeros(len(labels), np.intp))
    return float(statistic(pairs)(np.ones((1, 1)))[0])
