"""Fitting of the cascade's band: the probabilities of the evaluator within which the language model is asked.

A passage with P below ``lower`` gets the evaluator's no, one at or above ``upper`` its yes, and the language
model judges those in between. The wider the band, the more the cascade costs. The fitted band is the
narrowest one with which the cascade is not less accurate, by more than a margin, than the language model
asked about every passage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from localcrag.types import Thresholds

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Mask = npt.NDArray[np.bool_]
    Integers = npt.NDArray[np.intp]

MAX_CUTS = 200
"""The most probabilities of passages that are tried for each bound, beside 0.5 and 1."""
CAUTION_STANDARD_ERRORS = 1.0
"""The standard errors by which a fitted band must stay inside the margin. A band whose difference is just
the margin fails on half of all new samples."""
YES_PROBABILITY = 0.5
"""The P at which the evaluator's own yes begins; a band contains it or ends at it."""


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """The judgements of the evaluator and of the language model on the same passages, all of shape (n,).

    ``p`` is the evaluator's probability, ``asked`` whether the language model's verdict equals the label,
    ``right`` the label, and ``question`` the number of the question.
    """

    p: Floats
    asked: Mask
    right: Mask
    question: Integers

    @property
    def own(self) -> Mask:
        """Whether the evaluator's own verdict equals the label, of shape (n,)."""
        own: Mask = (self.p >= YES_PROBABILITY) == self.right
        return own

    def of(self, chosen: Mask) -> JudgedPair:
        """The judgements on the chosen passages; ``chosen`` is a mask of shape (n,)."""
        return JudgedPair(self.p[chosen], self.asked[chosen], self.right[chosen], self.question[chosen])


def narrowest_band(both: JudgedPair, margin: float) -> Thresholds:
    """The band that asks the language model least often without losing more than ``margin`` of accuracy.

    The accuracy of the cascade is compared with that of the language model asked about every passage. The
    difference minus its standard error must not be below ``-margin``. Of bands that ask equally often, the
    most accurate is taken. There is always a band: the one in which every passage lies.

    Args:
        both: the judgements to fit to.
        margin: the share of passages that may additionally be judged wrong, for example 0.01.
    """
    import numpy as np

    order = np.argsort(both.p, kind="stable")
    p, own, asked = both.p[order], both.own[order].astype(float), both.asked[order].astype(float)
    lowers, uppers = _cuts(p[p < YES_PROBABILITY]), _cuts(p[p >= YES_PROBABILITY])
    lowers, uppers = np.append(lowers, YES_PROBABILITY), np.append(np.append(YES_PROBABILITY, uppers), 1.0)
    low, high = np.searchsorted(p, lowers), np.searchsorted(p, uppers)
    high[-1] = len(p)
    gain, differs = (np.concatenate([[0.0], np.cumsum(column)]) for column in (own - asked, own != asked))
    gained, apart = (
        (column[low][:, None] + (column[-1] - column[high])[None, :]) / len(p) for column in (gain, differs)
    )
    error = np.sqrt((apart - gained**2) / len(p))
    enough = gained - CAUTION_STANDARD_ERRORS * error >= -margin - 1e-9
    count = high[None, :] - low[:, None]
    rank = np.where(enough, count - gained / 2, np.inf)
    i, j = np.unravel_index(int(rank.argmin()), rank.shape)
    return Thresholds(upper=float(uppers[j]), lower=float(lowers[i]))


def within(p: Floats, band: Thresholds) -> Mask:
    """Whether each probability of ``p``, of shape (n,), lies in the band; the result has shape (n,)."""
    inside: Mask = (band.lower <= p) & (p < band.upper)
    return inside


def _cuts(p: Floats) -> Floats:
    """The values to try for a bound: all distinct values of ``p``, or ``MAX_CUTS`` evenly chosen ones."""
    import numpy as np

    distinct: Floats = np.unique(p)
    if len(distinct) <= MAX_CUTS:
        return distinct
    some: Floats = distinct[np.linspace(0, len(distinct) - 1, MAX_CUTS).astype(np.intp)]
    return some
