"""Probabilities and log-odds, the Platt scale of one judge, and the logistic fusion of several."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from localcrag.types import Thresholds

FINE_FLOOR = 1e-12
"""The smallest distance of a probability from 0 and 1 when a scale is fitted or used."""


def log_odds(p: float, floor: float = 1e-4) -> float:
    """The log-odds log(p / (1 - p)) of a probability, which is first moved ``floor`` away from 0 and 1."""
    p = min(max(p, floor), 1 - floor)
    return math.log(p / (1 - p))


def sigmoid(z: float) -> float:
    """The probability 1 / (1 + exp(-z)) with the log-odds z, without overflow for any z."""
    if z >= 0:
        return 1 / (1 + math.exp(-z))
    power = math.exp(z)
    return power / (1 + power)


@dataclass(frozen=True, slots=True)
class Scale:
    """Platt scaling (Platt 1999): P = sigmoid(log-odds / temperature + bias); the default changes nothing."""

    temperature: float = 1.0
    bias: float = 0.0

    def __call__(self, p: float) -> float:
        """The calibrated probability for the judge's own probability ``p``."""
        return self.of(log_odds(p, FINE_FLOOR))

    def of(self, number: float) -> float:
        """The calibrated probability for a judge's own number in the place of log-odds."""
        return sigmoid(number / self.temperature + self.bias)

    def then(self, slope: float, bias: float) -> Scale:
        """The scale whose log-odds are those of this scale times ``slope``, plus ``bias``."""
        return Scale(self.temperature / slope, slope * self.bias + bias)


@dataclass(frozen=True, slots=True)
class Fusion:
    """A logistic regression over the log-odds of evaluator and language model and the cosine similarity.

    ``evaluator``, ``model`` and ``similarity`` are the weights of these inputs.
    """

    evaluator: float
    model: float
    similarity: float
    bias: float

    def __call__(self, p_evaluator: float, p_model: float, similarity: float) -> float:
        """P(relevant), in [0, 1], from the probabilities of both judges and the cosine."""
        z = self.evaluator * log_odds(p_evaluator) + self.model * log_odds(p_model)
        return sigmoid(z + self.similarity * similarity + self.bias)


@dataclass(frozen=True, slots=True)
class StripFusion:
    """A logistic regression over the log-odds of evaluator and language model about a strip.

    ``evaluator`` and ``model`` are the weights of these inputs. ``unasked`` stands for the log-odds of a
    language model that is not asked: it leans to no, as those about strips that do not help do.
    """

    evaluator: float
    model: float
    bias: float
    unasked: float

    def __call__(self, p_evaluator: float, p_model: float | None) -> float:
        """P(the strip helps), in [0, 1]; ``p_model`` is None if the language model is not asked."""
        told = self.unasked if p_model is None else log_odds(p_model)
        return sigmoid(self.evaluator * log_odds(p_evaluator) + self.model * told + self.bias)


def rescaled(fusion: Fusion, fitted_on: Scale, used: Scale) -> Fusion:
    """The fusion that gives the same P if the evaluator's probabilities are on another scale.

    Both scales map the same number x of the evaluator, so that the log-odds on the first follow from those
    on the second: x / T₁ + b₁ = (T₂ / T₁) (x / T₂ + b₂ - b₂) + b₁.

    Args:
        fusion: the fusion to convert.
        fitted_on: the scale of the evaluator that the fusion was fitted on (T₁, b₁).
        used: the scale of the evaluator in use (T₂, b₂).
    """
    ratio = used.temperature / fitted_on.temperature
    shift = fitted_on.bias - ratio * used.bias
    return replace(fusion, evaluator=fusion.evaluator * ratio, bias=fusion.bias + fusion.evaluator * shift)


def moved(band: Thresholds, fitted_on: Scale, used: Scale) -> Thresholds:
    """The band of the cascade that holds the same passages on another scale of the evaluator.

    One half always lies in the band or at its edge.

    Args:
        band: the band to convert.
        fitted_on: the scale of the evaluator that the band was fitted on.
        used: the scale of the evaluator in use.
    """
    if fitted_on == used:
        return band
    upper, lower = (_moved(p, fitted_on, used) for p in (band.upper, band.lower))
    return Thresholds(max(upper, 0.5), min(lower, 0.5))


def _moved(p: float, fitted_on: Scale, used: Scale) -> float:
    """The probability on the scale in use for ``p`` on the fitted one; 0 and 1 stay."""
    if p in (0.0, 1.0):
        return p
    return used.of((log_odds(p, FINE_FLOOR) - fitted_on.bias) * fitted_on.temperature)
