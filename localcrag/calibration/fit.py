"""Fitting: from labelled grades to a scale, a fusion and thresholds.

All are logistic regressions over log-odds: with one input Platt scaling (1999), with three the
:class:`~localcrag.calibration.scale.Fusion`. As Platt does, targets are kept off 0 and 1, so that a few
questions that a judge gets all right do not make it infinitely sure. The thresholds follow section 4.3 of
CRAG (arXiv 2401.15884): sure of relevance from the upper one on, sure of irrelevance below the lower one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localcrag.types import Thresholds

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

PRECISION_ABOVE_UPPER = 0.8
"""The share of the passages at or above ``upper`` that should be right. By labels that name one passage a
question: of the 24 highest apparent errors of the shipped evaluator, read by hand, about four in ten do help
to answer, so that the precision meant is about 0.9."""
MISSED_BELOW_LOWER = 0.1
"""The share of the right passages that may be below ``lower``."""


@dataclass(frozen=True, slots=True)
class Fit:
    """P = sigmoid(inputs · weights + bias), with the thresholds on it."""

    weights: Floats
    bias: float
    thresholds: Thresholds

    def __call__(self, inputs: Floats) -> Floats:
        """P(right) of shape (n,) for inputs of shape (n, number of weights)."""
        import numpy as np

        p: Floats = 1 / (1 + np.exp(-(inputs @ self.weights + self.bias)))
        return p


def fit(inputs: Floats, right: Floats) -> Fit:
    """The regression of labels on inputs, with the thresholds on its P.

    An input that would count against what it says knows nothing: its weight is 0, and the others are
    fitted again without it. A single input keeps its weight, whatever its sign.

    Args:
        inputs: log-odds, or numbers in their place, of shape (n, inputs).
        right: labels, 1 or 0, of shape (n,); both must occur.
    """
    import numpy as np

    used = np.ones(inputs.shape[1], dtype=bool)
    while True:
        weights = np.zeros(inputs.shape[1])
        weights[used], bias = _regression(inputs[:, used], right)
        if weights.min() >= 0 or used.sum() == 1:
            break
        used[int(weights.argmin())] = False
    bare = Fit(weights, bias, Thresholds())
    return Fit(weights, bias, thresholds(bare(inputs), right))


def _regression(inputs: Floats, right: Floats) -> tuple[Floats, float]:
    """Weights and bias. Each passage counts as both labels, in the parts that Platt's targets say."""
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    good = right.sum()
    bad = len(right) - good
    target = np.where(right > 0, (good + 1) / (good + 2), 1 / (bad + 2))
    model = LogisticRegression(C=1e6, max_iter=1000)  # type: ignore[no-untyped-call]
    model.fit(
        np.concatenate([inputs, inputs]),
        np.concatenate([np.ones(len(right)), np.zeros(len(right))]),
        sample_weight=np.concatenate([target, 1 - target]),
    )
    return model.coef_[0], float(model.intercept_[0])


def thresholds(p: Floats, right: Floats) -> Thresholds:
    """The lowest upper with enough precision at or above it; the lower that misses few right ones.

    Passages of one P are on one side of a threshold: precision is counted only where a P ends.

    Args:
        p: probabilities of shape (n,).
        right: labels, 1 or 0, of shape (n,).
    """
    import numpy as np

    order = np.argsort(-p, kind="stable")
    precision = np.cumsum(right[order]) / np.arange(1, len(p) + 1)
    last = np.append(p[order][1:] != p[order][:-1], True)
    enough = np.flatnonzero((precision >= PRECISION_ABOVE_UPPER) & last)
    upper = float(p[order][enough[-1]]) if len(enough) else float(p.max())
    lower = float(np.quantile(p[right > 0], MISSED_BELOW_LOWER)) if right.any() else 0.5
    return Thresholds(upper, min(lower, upper))
