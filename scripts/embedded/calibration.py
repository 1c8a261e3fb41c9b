"""From scores to probabilities and to the two thresholds of CRAG.

Platt scaling (1999) with one temperature and one bias; the thresholds follow section 4.3 of CRAG
(arXiv 2401.15884): sure of relevance above the upper, sure of irrelevance below the lower.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

PRECISION_ABOVE_UPPER = 0.8
"""By labels that name one passage per question. Of the 24 highest apparent errors, read by hand, about four
in ten do help to answer, so that the precision meant is about 0.9."""
MISSED_BELOW_LOWER = 0.1


@dataclass(frozen=True)
class Calibration:
    """p = sigmoid(logit / temperature + bias), and the thresholds on p."""

    temperature: float
    bias: float
    upper: float
    lower: float

    def probability(self, logits: np.ndarray) -> np.ndarray:
        """P(relevant) of shape (n,) for logits (n,)."""
        return 1 / (1 + np.exp(-(np.asarray(logits) / self.temperature + self.bias)))


@dataclass(frozen=True)
class Fusion:
    """Weights of a logistic combination of features, in their order, with the thresholds on its P."""

    weights: tuple[float, ...]
    bias: float
    upper: float
    lower: float

    def probability(self, features: np.ndarray) -> np.ndarray:
        """P(relevant) of shape (n,) for features (n, number of weights)."""
        return 1 / (1 + np.exp(-(features @ np.asarray(self.weights) + self.bias)))


def thresholds(p: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """(upper, lower): enough precision at or above upper, 10 % of the relevant below lower."""
    order = np.argsort(-p)
    precision = np.cumsum(labels[order]) / np.arange(1, len(p) + 1)
    good = np.flatnonzero(precision >= PRECISION_ABOVE_UPPER)
    upper = p[order][good[-1]] if len(good) else p.max()
    lower = np.quantile(p[labels > 0], MISSED_BELOW_LOWER) if labels.any() else 0.5
    return float(upper), float(min(lower, upper))


def calibrate(logits: np.ndarray, labels: np.ndarray) -> Calibration:
    """Fit temperature, bias and thresholds on held-out logits and labels of shape (n,)."""
    fitted = LogisticRegression(C=1e6).fit(logits[:, None], labels)
    temperature = 1 / max(float(fitted.coef_[0, 0]), 1e-3)
    scaled = Calibration(temperature, float(fitted.intercept_[0]), 0.5, 0.5)
    upper, lower = thresholds(scaled.probability(logits), labels)
    return Calibration(scaled.temperature, scaled.bias, upper, lower)


def fuse(features: np.ndarray, labels: np.ndarray) -> Fusion:
    """Fit a logistic fusion on features (n, k) and labels (n,).

    A judge that would count against what it says knows nothing: its weight is 0, the others are
    fitted again without it.
    """
    used = np.ones(features.shape[1], dtype=bool)
    while True:
        fitted = LogisticRegression(C=1e6, max_iter=1000).fit(features[:, used], labels)
        weights = np.zeros(features.shape[1])
        weights[used] = fitted.coef_[0]
        if weights.min() >= 0 or used.sum() == 1:
            break
        used[int(weights.argmin())] = False
    fusion = Fusion(tuple(map(float, weights)), float(fitted.intercept_[0]), 0.5, 0.5)
    upper, lower = thresholds(fusion.probability(features), labels)
    return Fusion(fusion.weights, fusion.bias, upper, lower)


def cross_validated_auc(
    features: np.ndarray, labels: np.ndarray, groups: Sequence[int], folds: int = 5
) -> float:
    """AUC of a logistic fusion whose predictions come from folds that never saw the same question."""
    fold = np.asarray(groups) % folds
    p = np.zeros(len(labels))
    for f in range(folds):
        test = fold == f
        if test.any() and len(set(labels[~test])) == 2:
            p[test] = fuse(features[~test], labels[~test]).probability(features[test])
    return auc(labels, p)


def auc(labels: np.ndarray, scores: np.ndarray) -> float:
    """Area under the ROC curve; NaN where only one label occurs."""
    return float(roc_auc_score(labels, scores)) if len(set(map(float, labels))) == 2 else float("nan")


def calibration_error(p: np.ndarray, labels: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error over equal-width bins (Guo et al. 2017)."""
    place = np.minimum((p * bins).astype(int), bins - 1)
    gaps = [abs(p[place == b].mean() - labels[place == b].mean()) * np.mean(place == b) for b in set(place)]
    return float(sum(gaps))
