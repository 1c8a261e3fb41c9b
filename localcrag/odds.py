"""Probabilities and their log-odds."""

from __future__ import annotations

import math
from dataclasses import dataclass

FINE = 1e-12
"""How near to 0 and 1 a probability may come, where a scale is fitted and where it is used."""


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
