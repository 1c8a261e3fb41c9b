"""From labelled grades to a scale, a fusion and thresholds.

All are logistic regressions over log-odds: with one input Platt scaling (1999), with three the
fusion of :mod:`localcrag.crag.graders`. As Platt does, targets are kept off 0 and 1, so that a few
questions which a judge gets all right do not make it infinitely sure. How good a fit is comes from
folds that never saw the same question.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localcrag.errors import EvaluationError
from localcrag.evaluation.statistics import Auc, CalibrationError, Floats, Pairs, Whole
from localcrag.types import Thresholds

Mask = npt.NDArray[np.bool_]

FOLDS = 5
LEAST_QUESTIONS = 20
PRECISION_ABOVE_UPPER = 0.8
"""What share of the passages at or above ``upper`` should be right."""
MISSED_BELOW_LOWER = 0.1
"""What share of the right passages may be below ``lower``."""


@dataclass(frozen=True, slots=True)
class Material:
    """Graded passages: ``inputs`` of shape (n, inputs), the label and the number of the question, (n,).

    ``p`` and ``thresholds`` are what the judge says of them now.
    """

    inputs: Floats
    right: Floats
    question: Whole
    p: Floats
    thresholds: Thresholds


@dataclass(frozen=True, slots=True)
class Fit:
    """P = sigmoid(inputs · weights + bias), with the thresholds on it."""

    weights: Floats
    bias: float
    thresholds: Thresholds

    def __call__(self, inputs: Floats) -> Floats:
        p: Floats = 1 / (1 + np.exp(-(inputs @ self.weights + self.bias)))
        return p


@dataclass(frozen=True, slots=True)
class Quality:
    """How far grades can be believed, and what the thresholds on them mean.

    ``precision_above`` is the share of the ``above`` passages at or over the upper threshold that
    are right (NaN where there is none), ``missed_below`` the share of all right passages under the
    lower one.
    """

    calibration_error: float
    log_loss: float
    auc: float
    above: int
    precision_above: float
    missed_below: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fit to so many questions and graded passages, with its quality from folds beside the one in use."""

    fit: Fit
    before: Quality
    after: Quality
    questions: int
    passages: int

    @property
    def better(self) -> bool:
        return self.after.log_loss < self.before.log_loss


def fitted(material: Material) -> Fitted:
    """Fit, and say what it is worth.

    Raises EvaluationError where there is too little to fit, or where the judge tells right from
    wrong no better than chance.
    """
    folds = _folds(material)
    fit = _fit(material.inputs, material.right)
    if fit.weights.max() <= 0:
        raise EvaluationError(
            "these grades tell right passages from wrong ones no better than chance",
            hint="there is nothing to calibrate: choose another --grader, or another model",
        )
    p = np.zeros(len(material.p))
    above, below = np.zeros(len(p), dtype=bool), np.zeros(len(p), dtype=bool)
    for learn, test in folds:
        part = _fit(material.inputs[learn], material.right[learn])
        p[test] = part(material.inputs[test])
        above[test], below[test] = p[test] >= part.thresholds.upper, p[test] < part.thresholds.lower
    known = material.thresholds
    return Fitted(
        fit,
        before=_quality(material, material.p, material.p >= known.upper, material.p < known.lower),
        after=_quality(material, p, above, below),
        questions=len(set(material.question)),
        passages=len(p),
    )


def _folds(material: Material) -> list[tuple[Whole, Whole]]:
    """Five folds by question, right passages in each. Raises EvaluationError where that cannot be."""
    from sklearn.model_selection import StratifiedGroupKFold

    questions, right = len(set(material.question)), int(material.right.sum())
    holding = len(set(material.question[material.right > 0]))
    hint = "label more questions; each needs a source or a passage, or answerable false"
    if questions < LEAST_QUESTIONS:
        raise EvaluationError(
            f"only {questions} labelled questions, at least {LEAST_QUESTIONS} are needed", hint=hint
        )
    if holding < FOLDS:
        raise EvaluationError(
            f"a right passage was graded for only {holding} of {questions} questions, "
            f"at least {FOLDS} are needed",
            hint=hint,
        )
    if right == len(material.right):
        raise EvaluationError(
            f"all {right} graded passages are right by their labels: there is nothing to tell apart",
            hint="name the passages that answer, not their document alone",
        )
    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=0)  # type: ignore[no-untyped-call]
    splits = folds.split(material.inputs, material.right, material.question)  # type: ignore[no-untyped-call]
    return [(learn, test) for learn, test in splits if len(test)]


def _fit(inputs: Floats, right: Floats) -> Fit:
    """The regression; an input that would count against what it says knows nothing: its weight is 0."""
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
    """The lowest upper with enough precision at or above it; the lower that misses few right ones."""
    order = np.argsort(-p, kind="stable")
    precision = np.cumsum(right[order]) / np.arange(1, len(p) + 1)
    last = np.append(p[order][1:] != p[order][:-1], True)
    enough = np.flatnonzero((precision >= PRECISION_ABOVE_UPPER) & last)
    upper = float(p[order][enough[-1]]) if len(enough) else float(p.max())
    lower = float(np.quantile(p[right > 0], MISSED_BELOW_LOWER)) if right.any() else 0.5
    return Thresholds(upper, min(lower, upper))


def _quality(material: Material, p: Floats, above: Mask, below: Mask) -> Quality:
    pairs = Pairs(p, material.right, material.question)
    once = np.ones((1, int(material.question.max()) + 1))
    sure = np.clip(p, 1e-6, 1 - 1e-6)
    losses = np.where(material.right > 0, np.log(sure), np.log(1 - sure))
    return Quality(
        calibration_error=float(CalibrationError(pairs)(once)[0]),
        log_loss=float(-losses.mean()),
        auc=float(Auc(pairs)(once)[0]),
        above=int(above.sum()),
        precision_above=float(material.right[above].mean()) if above.any() else float("nan"),
        missed_below=float(material.right[below].sum() / material.right.sum()),
    )
