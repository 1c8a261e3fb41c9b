"""Figures over questions with their intervals, by the bootstrap over questions.

A statistic is a function of how often each question was drawn: ``weights`` of shape (draws,
questions) give values of shape (draws,), NaN where a draw leaves the figure undefined. With all
weights 1 that is the figure itself; with multinomial weights it is its bootstrap distribution
(Efron, 1979), of which the 2.5 and 97.5 percentiles bound the 95 % interval. Two configurations
are compared on the same draws of the same questions, so that the difficulty of a question cancels out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Whole = npt.NDArray[np.intp]
Statistic = Callable[[Floats], Floats]

BOOTSTRAP_DRAWS = 1000
"""Number of samples of the questions, drawn with replacement, behind each interval."""
CALIBRATION_BINS = 10
"""Number of bins of equal width that probabilities are sorted into."""
_MAX_CELLS = 4_000_000
"""Number of 64-bit floats held at once; the draws of longer question sets are made in several rounds."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """Σ above / Σ below over the questions drawn, each of shape (questions,); a mean if ``below`` is 1."""

    above: Floats
    below: Floats

    def __call__(self, weights: Floats) -> Floats:
        return _divided(weights @ self.above, weights @ self.below)


@dataclass(frozen=True, slots=True)
class Quantile:
    """The smallest of ``values`` that a share ``level`` of the values drawn does not exceed.

    ``values`` has shape (questions,), ``level`` lies in (0, 1).
    """

    values: Floats
    level: float

    def __call__(self, weights: Floats) -> Floats:
        order = np.argsort(self.values, kind="stable")
        reached = np.cumsum(weights[:, order], axis=1)
        at = np.argmax(reached >= self.level * reached[:, -1:] - 1e-9, axis=1)
        found: Floats = self.values[order][at]
        return found


@dataclass(frozen=True, slots=True)
class Pairs:
    """Graded passages: P, whether it is right (1 or 0), and the number of the question; all of shape (n,)."""

    p: Floats
    right: Floats
    question: Whole

    def __len__(self) -> int:
        return len(self.p)


@dataclass(frozen=True, slots=True)
class Auc:
    """The area under the ROC curve.

    It is the share of the pairs of a right and a wrong passage in which the right one has the higher P; a
    tie counts as one half.
    """

    pairs: Pairs

    def __call__(self, weights: Floats) -> Floats:
        p, right, question = self.pairs.p, self.pairs.right, self.pairs.question
        order = np.argsort(p, kind="stable")
        _, first = np.unique(p[order], return_index=True)
        drawn = weights[:, question[order]]
        good = np.add.reduceat(drawn * right[order], first, axis=1)
        bad = np.add.reduceat(drawn * (1 - right[order]), first, axis=1)
        below = np.cumsum(bad, axis=1) - bad / 2
        return _divided((good * below).sum(axis=1), good.sum(axis=1) * bad.sum(axis=1))


@dataclass(frozen=True, slots=True)
class CalibrationError:
    """The expected calibration error over ten bins of equal width (Guo et al., 2017)."""

    pairs: Pairs

    def __call__(self, weights: Floats) -> Floats:
        drawn = weights[:, self.pairs.question]
        member = np.eye(CALIBRATION_BINS)[bins(self.pairs.p)]
        gaps = np.abs(drawn @ (member * (self.pairs.p - self.pairs.right)[:, None])).sum(axis=1)
        return _divided(gaps, drawn.sum(axis=1))


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa (1960) of two judges, each of whom gives every passage one of several verdicts.

    ``table``, of shape (questions, verdicts, verdicts), counts for question q in ``table[q, i, j]`` the
    passages to which the first judge gave verdict i and the second verdict j.
    """

    table: Floats

    def __call__(self, weights: Floats) -> Floats:
        drawn = np.tensordot(weights, self.table, axes=1)
        all_ = drawn.sum(axis=(1, 2))
        same = _divided(np.trace(drawn, axis1=1, axis2=2), all_)
        chance = _divided((drawn.sum(axis=2) * drawn.sum(axis=1)).sum(axis=1), all_**2)
        return _divided(same - chance, 1 - chance)


def bins(p: Floats) -> Whole:
    """The number of the bin of each P, from 0 to ``CALIBRATION_BINS`` - 1."""
    return np.minimum((p * CALIBRATION_BINS).astype(np.intp), CALIBRATION_BINS - 1)


@dataclass(frozen=True, slots=True)
class Interval:
    """A figure with the bounds of its 95 % interval; each is NaN if it is not defined."""

    value: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies wholly above or wholly below zero."""
        return self.low > 0 or self.high < 0


def intervals(statistics: Sequence[Statistic], questions: int, *, seed: int = 0) -> list[Interval]:
    """The figure and the interval of each statistic.

    ``questions`` is the number of questions, ``seed`` the seed of the draws.
    """
    once = np.ones((1, questions))
    values = [float(statistic(once)[0]) for statistic in statistics]
    drawn: list[list[Floats]] = [[] for _ in statistics]
    for weights in _draws(questions, max(map(_width, statistics), default=1), seed):
        for column, statistic in zip(drawn, statistics, strict=True):
            column.append(statistic(weights))
    return [_interval(value, np.concatenate(column)) for value, column in zip(values, drawn, strict=True)]


def differences(
    pairs: Sequence[tuple[Statistic, Statistic]], questions: int, *, seed: int = 0
) -> list[Interval]:
    """The second minus the first statistic of each pair with its interval, on the same draws for both."""
    return intervals([_Difference(first, second) for first, second in pairs], questions, seed=seed)


@dataclass(frozen=True, slots=True)
class _Difference:
    """The second statistic minus the first."""

    first: Statistic
    second: Statistic

    def __call__(self, weights: Floats) -> Floats:
        return self.second(weights) - self.first(weights)


def _width(statistic: Statistic) -> int:
    """About how many numbers a statistic holds for one draw."""
    if isinstance(statistic, _Difference):
        return max(_width(statistic.first), _width(statistic.second))
    return 4 * len(statistic.pairs) if isinstance(statistic, (Auc, CalibrationError)) else 1


def _draws(questions: int, width: int, seed: int) -> Iterator[Floats]:
    """The weights of all draws, in rounds of shape (draws of the round, questions)."""
    random = np.random.default_rng(seed)
    chances = np.full(questions, 1 / questions)
    size = max(1, min(BOOTSTRAP_DRAWS, _MAX_CELLS // max(questions, width)))
    for start in range(0, BOOTSTRAP_DRAWS, size):
        count = min(size, BOOTSTRAP_DRAWS - start)
        yield random.multinomial(questions, chances, size=count).astype(np.float64)


def _interval(value: float, drawn: Floats) -> Interval:
    """The interval over the draws in which the figure is defined; NaN if those are less than half."""
    defined = drawn[~np.isnan(drawn)]
    if np.isnan(value) or len(defined) < len(drawn) / 2:
        return Interval(value, float("nan"), float("nan"))
    low, high = np.percentile(defined, [2.5, 97.5])
    return Interval(value, float(low), float(high))


def _divided(above: Floats, below: Floats) -> Floats:
    """The quotients; NaN where the divisor is 0."""
    quotient: Floats = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return quotient
