"""Cross-validation: the quality of a fitted scale, fusion or band on questions it was not fitted to.

Scales and fusions are tested on folds that share no question with the folds they were fitted to. Bands are
fitted to each half of the questions and tested on the other half.
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

FOLD_COUNT = 5
MIN_QUESTIONS = 20
"""The least number of labelled questions that can be fitted to."""


@dataclass(frozen=True, slots=True)
class Material:
    """Graded passages to fit to.

    ``inputs`` has shape (passages, inputs); ``right``, the label (1 or 0), ``question``, the number of the
    question, and ``p``, the judge's present confidence, have shape (passages,). ``thresholds`` are those in
    use for ``p``.
    """

    inputs: Floats
    right: Floats
    question: Whole
    p: Floats
    thresholds: Thresholds


@dataclass(frozen=True, slots=True)
class Quality:
    """The quality of grades, and of the thresholds on them.

    ``above`` is the number of passages at or above the upper threshold, ``precision_above`` the share of
    them that is right (NaN if there are none), and ``missed_below`` the share of all right passages that
    lies below the lower threshold. ``log_loss`` is in nats per passage.
    """

    calibration_error: float
    log_loss: float
    auc: float
    above: int
    precision_above: float
    missed_below: float


@dataclass(frozen=True, slots=True)
class Fitted:
    """A fit, with its quality in cross-validation (``after``) and that of the grades in use (``before``).

    ``questions`` and ``passages`` are the numbers of those it was fitted to.
    """

    fit: Fit
    before: Quality
    after: Quality
    questions: int
    passages: int

    @property
    def better(self) -> bool:
        """Whether the fit has a lower log loss than the grades in use."""
        return self.after.log_loss < self.before.log_loss


def fitted(material: Material) -> Fitted:
    """Fit to all passages, and measure the quality of such a fit in cross-validation.

    Raises EvaluationError if there is too little to fit to, or if the judge tells right passages from
    wrong ones no better than chance.
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
    """The folds, as (rows to fit to, rows to test on): no question is in two, and each has right passages.

    Raises EvaluationError if there are too few questions, or too few or only right passages.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    questions, right = len(set(material.question)), int(material.right.sum())
    holding = len(set(material.question[material.right > 0]))
    hint = "label more questions; each needs a source or a passage, or answerable false"
    if questions < MIN_QUESTIONS:
        raise EvaluationError(
            f"only {questions} labelled questions, at least {MIN_QUESTIONS} are needed", hint=hint
        )
    if holding < FOLD_COUNT:
        raise EvaluationError(
            f"a right passage was graded for only {holding} of {questions} questions, "
            f"at least {FOLD_COUNT} are needed",
            hint=hint,
        )
    if right == len(material.right):
        raise EvaluationError(
            f"all {right} graded passages are right by their labels: there is nothing to tell apart",
            hint="name the passages that answer, not their document alone",
        )
    folds = StratifiedGroupKFold(FOLD_COUNT, shuffle=True, random_state=0)  # type: ignore[no-untyped-call]
    splits = folds.split(material.inputs, material.right, material.question)  # type: ignore[no-untyped-call]
    return [(learn, test) for learn, test in splits if len(test)]


def _quality(material: Material, p: Floats, above: Mask, below: Mask) -> Quality:
    """The quality of these probabilities; the masks tell which lie above or below the thresholds."""
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
    """The quality of a cascade with one band.

    ``accuracy`` is that of the cascade, ``asked`` the share of passages that the language model is asked
    about, and ``difference`` the accuracy of the cascade minus that of asking about every passage.
    """

    accuracy: Interval
    asked: Interval
    difference: Interval


@dataclass(frozen=True, slots=True)
class FittedBand:
    """A fitted band with its quality (``after``) and that of the band in use (``before``).

    ``evaluator`` and ``model`` are the accuracies of the two judges alone; ``margin`` is the accuracy that
    the cascade may lose. ``questions`` and ``passages`` are the numbers of those the band was fitted to.
    """

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
        """Whether the cascade is as accurate as asking about every passage, to within the margin."""
        return self.after.difference.value >= -self.margin

    @property
    def better(self) -> bool:
        """Whether the band holds, and either asks less than the band in use or that one does not hold."""
        cheaper = self.after.asked.value < self.before.asked.value
        return self.holds and (cheaper or self.before.difference.value < -self.margin)


def fitted_band(both: JudgedPair, in_use: Thresholds, margin: float) -> FittedBand:
    """Fit a band to all passages, and measure bands fitted to one half of the questions on the other half.

    ``in_use`` is the band to compare with, ``margin`` the accuracy that the cascade may lose. Raises
    EvaluationError if there are too few questions.
    """
    questions = np.unique(both.question)
    if len(questions) < MIN_QUESTIONS:
        raise EvaluationError(
            f"only {len(questions)} labelled questions, at least {MIN_QUESTIONS} are needed",
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
    """The quality of a cascade that asks the language model about the passages ``inside`` the band."""
    number = np.unique(both.question, return_inverse=True)[1]
    count = int(number.max()) + 1

    def share(of: Mask) -> Ratio:
        return Ratio(np.bincount(number, of, count).astype(float), np.bincount(number).astype(float))

    cascade = share(np.where(inside, both.asked, both.own))
    accuracy, asked = intervals([cascade, share(inside)], count)
    [difference] = differences([(share(both.asked), cascade)], count)
    return Tried(accuracy, asked, difference)
