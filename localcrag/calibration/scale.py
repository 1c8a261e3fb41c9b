"""Probabilities and log-odds, the Platt scale of one judge, and the logistic fusion of several."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from localcrag.types import Thresholds

FINE = 1e-12
"""How near to 0 and 1 a probability may come, when a scale is fitted and when it is used."""


def log_odds(p: float, floor: float = 1e-4) -> float:
    """log(p / (1 - p)), with p kept ``floor`` away from 0 and 1."""
    p = min(max(p, floor), 1 - floor)
    return math.log(p / (1 - p))


def sigmoid(z: float) -> float:
    """1 / (1 + exp(-z)): the probability with log-odds z, without overflow for any z."""
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    power = math.exp(z)
    return power / (1 + power)


@dataclass(frozen=True, slots=True)
class Scale:
    """Platt scaling (1999): P = sigmoid(log-odds / temperature + bias); the default changes nothing."""

    temperature: float = 1.0
    bias: float = 0.0

    def __call__(self, p: float) -> float:
        """The probability in place of ``p``."""
        return self.of(log_odds(p, FINE))

    def of(self, number: float) -> float:
        """The probability for a model's own number, which takes the place of log-odds."""
        return sigmoid(number / self.temperature + self.bias)

    def then(self, slope: float, bias: float) -> Scale:
        """The scale of log-odds that are ``slope`` times the ones of this scale, plus ``bias``."""
        return Scale(self.temperature / slope, slope * self.bias + bias)


@dataclass(frozen=True, slots=True)
class Fusion:
    """A logistic regression over the log-odds of both judges and the cosine of question and passage."""

    evaluator: float
    model: float
    similarity: float
    bias: float

    def __call__(self, p_evaluator: float, p_model: float, similarity: float) -> float:
        """P(relevant), in [0, 1]."""
        z = self.evaluator * log_odds(p_evaluator) + self.model * log_odds(p_model)
        return sigmoid(z + self.similarity * similarity + self.bias)


def rescaled(fusion: Fusion, fitted_on: Scale, used: Scale) -> Fusion:
    """The fusion that gives the same P from an evaluator on the scale in use.

    Both scales are of one number x of the evaluator: x / T₁ + b₁ = (T₂ / T₁) (x / T₂ + b₂ - b₂) + b₁.
    """
    ratio = used.temperature / fitted_on.temperature
    shift = fitted_on.bias - ratio * used.bias
    return replace(fusion, evaluator=fusion.evaluator * ratio, bias=fusion.bias + fusion.evaluator * shift)


def moved(band: Thresholds, fitted_on: Scale, used: Scale) -> Thresholds:
    """The band that holds the same passages on the scale in use; one half is always at its edge or within."""
    if fitted_on == used:
        return band
    upper, lower = (_moved(p, fitted_on, used) for p in (band.upper, band.lower))
    return Thresholds(max(upper, 0.5), min(lower, 0.5))


def _moved(p: float, fitted_on: Scale, used: Scale) -> float:
    if p in (0.0, 1.0):
        return p
    return used.of((log_odds(p, FINE) - fitted_on.bias) * fitted_on.temperature)
