"""Fitting of a scale, a fusion and thresholds to labelled grades.

Scale and fusion are logistic regressions over log-odds: with one input it is Platt scaling (Platt 1999),
with three the :class:`~localcrag.calibration.scale.Fusion`. As in Platt's paper, the targets are not quite 0
and 1, so that a judge that is right on all of a few questions does not become infinitely sure. The
thresholds are those of section 4.3 of CRAG (arXiv 2401.15884): relevance is sure from the upper one on, and
irrelevance below the lower one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localcrag.types import Thresholds

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

MIN_PRECISION_ABOVE_UPPER = 0.8
"""The smallest share of right passages among those at or above ``upper``, by labels that name one passage for
each question. Of the 24 highest apparent errors of the shipped evaluator, read by hand, about four in ten do
help to answer; so the true precision is about 0.9."""
MAX_MISSED_BELOW_LOWER = 0.1
"""The largest share of the right passages that may be below ``lower``."""


@dataclass(frozen=True, slots=True)
class Fit:
    """A fitted regression, P = sigmoid(inputs · weights + bias), with thresholds on P."""

    weights: Floats
    bias: float
    thresholds: Thresholds

    def __call__(self, inputs: Floats) -> Floats:
        """P(right) of shape (n,) for inputs of shape (n, number of weights)."""
        import numpy as np

        p: Floats = 1 / (1 + np.exp(-(inputs @ self.weights + self.bias)))
        return p


def fit(inputs: Floats, right: Floats) -> Fit:
    """The logistic regression of labels on inputs, with thresholds on its P.

    An input with a negative weight gets the weight 0, and the others are fitted again without it. A single
    input keeps its weight, whatever its sign.

    Args:
        inputs: log-odds, or other numbers of the judges, of shape (n, inputs).
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
    """The weights, of shape (inputs,), and the bias of a regression on Platt's targets.

    A target t between 0 and 1 is expressed by two samples: one labelled 1 with the weight t, and one
    labelled 0 with the weight 1 - t.
    """
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
    """The thresholds on P that have the wanted precision and miss few right passages.

    ``upper`` is the lowest probability at or above which the precision is at least
    ``MIN_PRECISION_ABOVE_UPPER``, or the highest probability if there is none. ``lower`` is the quantile of
    the right passages below which ``MAX_MISSED_BELOW_LOWER`` of them are, but not above ``upper``. Passages
    with the same P are on the same side of a threshold.

    Args:
        p: probabilities of shape (n,).
        right: labels, 1 or 0, of shape (n,).
    """
    import numpy as np

    order = np.argsort(-p, kind="stable")
    precision = np.cumsum(right[order]) / np.arange(1, len(p) + 1)
    last = np.append(p[order][1:] != p[order][:-1], True)
    enough = np.flatnonzero((precision >= MIN_PRECISION_ABOVE_UPPER) & last)
    upper = float(p[order][enough[-1]]) if len(enough) else float(p.max())
    lower = float(np.quantile(p[right > 0], MAX_MISSED_BELOW_LOWER)) if right.any() else 0.5
    return Thresholds(upper, min(lower, upper))
