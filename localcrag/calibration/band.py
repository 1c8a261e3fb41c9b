"""Fitting the cascade's band: where a language model need not be asked, because the evaluator knows.

Over the evaluator's P, passages below ``lower`` are its own no, those at or above ``upper`` its own
yes, and what lies between is the language model's to judge. The wider the band, the nearer the
cascade is to asking every time, and the dearer. Wanted is the narrowest band with which it is not
less accurate, by more than a margin, than the language model asked every time.
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
    Whole = npt.NDArray[np.intp]

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
        """Both judges on the chosen passages; ``chosen`` has shape (n,)."""
        return JudgedPair(self.p[chosen], self.asked[chosen], self.right[chosen], self.question[chosen])


def narrowest(both: JudgedPair, margin: float) -> Thresholds:
    """The band that asks least, of those not less accurate than asking every time by more than ``margin``.

    Of the paired difference, the standard error must be within the margin too. Of bands that ask as
    little, the most accurate. There is always one: all from 0 to 1.
    """
    import numpy as np

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


def within(p: Floats, band: Thresholds) -> Mask:
    """Whether each P, of shape (n,), lies in the band, where the language model is asked."""
    inside: Mask = (band.lower <= p) & (p < band.upper)
    return inside


def _cuts(p: Floats) -> Floats:
    """Values at which a bound may lie: all there are, or evenly many of them."""
    import numpy as np

    distinct: Floats = np.unique(p)
    if len(distinct) <= CUTS:
        return distinct
    some: Floats = distinct[np.linspace(0, len(distinct) - 1, CUTS).astype(np.intp)]
    return some
