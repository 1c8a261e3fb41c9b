"""The results of an evaluation, as values and as the JSON that ``eval --json`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from localcrag.evaluation.measures import (
    Compared,
    Confusion,
    Cutoffs,
    Figure,
    compared,
    confusion,
    figures,
    statuses,
)
from localcrag.evaluation.observations import Observation
from localcrag.evaluation.question_set import Broken
from localcrag.evaluation.run import Run
from localcrag.evaluation.statistics import Interval
from localcrag.types import JsonValue, Status


@dataclass(frozen=True, slots=True)
class Result:
    """The results of one configuration.

    ``name`` is its name in tables, ``failed`` the questions on which a model failed; ``partial`` is True if
    the run was cut short.
    """

    name: str
    kb: str
    observations: Sequence[Observation]
    figures: Sequence[Figure]
    confusion: Confusion
    statuses: dict[str, dict[Status, int]]
    failed: Sequence[Broken]
    partial: bool

    @property
    def results(self) -> Sequence[Result]:
        """This result alone."""
        return (self,)

    def to_dict(self) -> dict[str, JsonValue]:
        """The JSON object of ``eval --json`` for one configuration."""
        return {
            "name": self.name,
            "kb": self.kb,
            "questions": len(self.observations),
            "partial": self.partial,
            "failed": [broken.to_dict() for broken in self.failed],
            "measures": [_figure_json(figure) for figure in self.figures],
            "confusion": asdict(self.confusion),
            "statuses": {kind: {str(s): n for s, n in row.items()} for kind, row in self.statuses.items()},
            "asked": [observation.to_dict() for observation in self.observations],
        }


def result_of(name: str, kb: str, run: Run, cutoffs: Cutoffs) -> Result:
    """The results of one run, which must have at least one observation."""
    seen = run.observations
    return Result(
        name, kb, seen, figures(seen, cutoffs), confusion(seen), statuses(seen), run.failed, run.partial
    )


@dataclass(frozen=True, slots=True)
class ConfigurationComparison:
    """Two configurations, compared by every measure of both on the ``questions`` that both finished."""

    first: Result
    second: Result
    measures: Sequence[Compared]
    questions: int

    @property
    def results(self) -> Sequence[Result]:
        """The results of both configurations."""
        return (self.first, self.second)

    def to_dict(self) -> dict[str, JsonValue]:
        """The JSON object of ``eval --json`` for two configurations."""
        return {
            "a": self.first.to_dict(),
            "b": self.second.to_dict(),
            "paired": self.questions,
            "differences": [_compared_json(measure) for measure in self.measures],
        }


def comparison_of(first: Result, second: Result, cutoffs: Cutoffs) -> ConfigurationComparison:
    """The comparison of two results on the questions that both finished."""
    others = {o.question.line: o for o in second.observations}
    left = [o for o in first.observations if o.question.line in others]
    right = [others[o.question.line] for o in left]
    return ConfigurationComparison(first, second, compared(left, right, cutoffs), len(left))


def _figure_json(figure: Figure) -> dict[str, JsonValue]:
    return {
        "group": figure.group,
        "name": figure.name,
        **interval_json(figure.interval),
        "n": figure.n,
    }


def _compared_json(measure: Compared) -> dict[str, JsonValue]:
    return {
        "group": measure.first.group,
        "name": measure.first.name,
        "a": _number(measure.first.interval.value),
        "b": _number(measure.second.interval.value),
        "difference": _number(measure.difference.value),
        "low": _number(measure.difference.low),
        "high": _number(measure.difference.high),
        "differs": measure.difference.excludes_zero,
    }


def interval_json(interval: Interval) -> dict[str, JsonValue]:
    """The figure with its bounds, for JSON; null stands for NaN."""
    return {
        "value": _number(interval.value),
        "low": _number(interval.low),
        "high": _number(interval.high),
    }


def _number(value: float) -> float | None:
    """The value rounded to six decimals; None for NaN, which JSON does not have."""
    return None if math.isnan(value) else round(value, 6)
