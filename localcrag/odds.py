"""Probabilities and their log-odds."""

from __future__ import annotations

import math


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
