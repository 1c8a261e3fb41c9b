"""Fitting the cascade's band: where a language model need not be asked, because the evaluator knows.

Over the evaluator's P, passages below ``lower`` are its own no, those at or above ``upper`` its own
yes, and what lies between is the language model's to judge. The wider the band, the nearer the
cascade is to asking every time, and the dearer. Wanted is the narrowest band with which it is not
less accurate, by more than a margin, than the language model asked every time; that this holds is
checked on the half of the questions that the band was not fitted to, both ways round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localcrag.errors import EvaluationError
from localcrag.evaluation.fitting import LEAST_QUESTIONS, Mask
from localcrag.evaluation.statistics import Floats, Interval, Ratio, Whole, differences, intervals
from localcrag.types import Thresholds

CUTS = 200
"""Places at which a bound may lie, at most, on either side of one half."""
CAUTION = 1.0
"""Standard errors that a fitted band stays inside the margin: a band just at it fails on every other half."""
SURE = 0.5
"""Where the evaluator's own yes begins: a band reaches from below it to above."""


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """What two judges said of the same passages, all of shape (n,).

    ``p`` is the evaluator's probability, ``asked`` whether the language model's verdict is the
    label's, ``right`` the label, ``question`` the number of the question.
    """

    p: Floats
    asked: Mask
    right: Mask
    question: Whole

    @property
    def own(self) -> Mask:
        """Whether the evaluator's own verdict is the label's."""
        own: Mask = (self.p >= SURE) == self.right
        return own

    def of(self, chosen: Mask) -> JudgedPair:
        return JudgedPair(self.p[chosen], self.asked[chosen], self.right[chosen], self.question[chosen])


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


def narrowest(both: JudgedPair, margin: float) -> Thresholds:
    """The band that asks least, of those not less accurate than asking every time by more than ``margin``.

    Of the paired difference, the standard error must be within the margin too. Of bands that ask as
    little, the most accurate. There is always one: all from 0 to 1.
    """
    order = np.argsort(both.p, kind="stable")
    p, own, asked = both.p[order], both.own[order].astype(float), both.asked[order].astype(float)
    lowers, uppers = _cuts(p[p < SURE]), _cuts(p[p >= SURE])
    lowers, uppers = np.append(lowers, SURE), np.append(np.append(SURE, uppers), 1.0)
    low, high = np.searchsorted(p, lowers), np.searchsorted(p, uppers)
    high[-1] = len(p)
    gain, differs = (np.concatenate([[0.0], np.cumsum(column)]) for column in (own - asked, own != asked))
    gained, apart = (
        (column[low][:, None] + (column[-1] - column[high])[None, :]) / len(p) for column in (gain, differs)
    )
    error = np.sqrt((apart - gained**2) / len(p))
    enough = gained - CAUTION * error >= -margin - 1e-9
    count = high[None, :] - low[:, None]
    rank = np.where(enough, count - gained / 2, np.inf)
    i, j = np.unravel_index(int(rank.argmin()), rank.shape)
    return Thresholds(upper=float(uppers[j]), lower=float(lowers[i]))


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
        inside[~learn] = _within(both.p[~learn], narrowest(both.of(learn), margin))
    return FittedBand(
        band=narrowest(both, margin),
        before=_tried(both, _within(both.p, in_use)),
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


def _within(p: Floats, band: Thresholds) -> Mask:
    inside: Mask = (band.lower <= p) & (p < band.upper)
    return inside


def _cuts(p: Floats) -> Floats:
    """Values at which a bound may lie: all there are, or evenly many of them."""
    distinct: Floats = np.unique(p)
    if len(distinct) <= CUTS:
        return distinct
    some: Floats = distinct[np.linspace(0, len(distinct) - 1, CUTS).astype(np.intp)]
    return some
