"""Cross-validation of what was fitted: how good a scale, a fusion or a band is on questions it never saw.

Scales and fusions are tried on folds that share no question with the ones they were fitted to, bands on the
half of the questions that they were not fitted to, both ways round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localcrag.calibration.band import JudgedPair, narrowest_band, within
from localcrag.calibration.fit import Fit, fit
from localcrag.errors import EvaluationError
from localcrag.evaluation.statistics import (
    Auc,
    CalibrationError,
    Floats,
    Interval,
    Pairs,
    Ratio,
    Whole,
    differences,
    intervals,
)
from localcrag.types import Thresholds

Mask = npt.NDArray[np.bool_]

FOLDS = 5
LEAST_QUESTIONS = 20


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
    whole = fit(material.inputs, material.right)
    if whole.weights.max() <= 0:
        raise EvaluationError(
            "these grades tell right passages from wrong ones no better than chance",
            hint="there is nothing to calibrate: choose another --grader, or another model",
        )
    p = np.zeros(len(material.p))
    above, below = np.zeros(len(p), dtype=bool), np.zeros(len(p), dtype=bool)
    for learn, test in folds:
        part = fit(material.inputs[learn], material.right[learn])
        p[test] = part(material.inputs[test])
        above[test], below[test] = p[test] >= part.thresholds.upper, p[test] < part.thresholds.lower
    known = material.thresholds
    return Fitted(
        whole,
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


@dataclass(frozen=True, slots=True)
class Tried:
    """A band tried on passages it was not fitted to: shares of them, and the accuracy it lost or gained."""

    accuracy: Interval
    asked: Interval
    difference: Interval


@dataclass(frozen=True, slots=True)
class FittedBand:
    """A band, what it and the one in use are worth, and how accurate each judge is alone."""

    band: Thresholds
    before: Tried
    after: Tried
    evaluator: float
    model: float
    margin: float
    questions: int
    passages: int

    @property
    def holds(self) -> bool:
        """Whether the cascade was as accurate as asking every time, to within the margin."""
        return self.after.difference.value >= -self.margin

    @property
    def better(self) -> bool:
        """It holds, and asks less than the band in use, or that one does not hold."""
        cheaper = self.after.asked.value < self.before.asked.value
        return self.holds and (cheaper or self.before.difference.value < -self.margin)


def fitted_band(both: JudgedPair, in_use: Thresholds, margin: float) -> FittedBand:
    """The band for all these passages, and what bands fitted to one half are worth on the other.

    Raises EvaluationError where there are too few questions.
    """
    questions = np.unique(both.question)
    if len(questions) < LEAST_QUESTIONS:
        raise EvaluationError(
            f"only {len(questions)} labelled questions, at least {LEAST_QUESTIONS} are needed",
            hint="label more questions; each needs a source or a passage, or answerable false",
        )
    half = np.random.default_rng(0).permutation(questions)[: len(questions) // 2]
    first = np.isin(both.question, half)
    inside = np.zeros(len(both.p), dtype=bool)
    for learn in (first, ~first):
        inside[~learn] = within(both.p[~learn], narrowest_band(both.of(learn), margin))
    return FittedBand(
        band=narrowest_band(both, margin),
        before=_tried(both, within(both.p, in_use)),
        after=_tried(both, inside),
        evaluator=float(both.own.mean()),
        model=float(both.asked.mean()),
        margin=margin,
        questions=len(questions),
        passages=len(both.p),
    )


def _tried(both: JudgedPair, inside: Mask) -> Tried:
    number = np.unique(both.question, return_inverse=True)[1]
    count = int(number.max()) + 1

    def share(of: Mask) -> Ratio:
        return Ratio(np.bincount(number, of, count).astype(float), np.bincount(number).astype(float))

    cascade = share(np.where(inside, both.asked, both.own))
    accuracy, asked = intervals([cascade, share(inside)], count)
    [difference] = differences([(share(both.asked), cascade)], count)
    return Tried(accuracy, asked, difference)
