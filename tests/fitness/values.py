"""Fitness results for tests: one of a fit model, and parts of others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from localcrag.fitness.fitness_result import (
    FITNESS_EDITION,
    AnswerFitness,
    FitnessCosts,
    FitnessResult,
    FollowUpFitness,
    InstructionFitness,
    JsonFitness,
    SearchLineFitness,
    YesNoFitness,
)

UNFIT_YES_NO = YesNoFitness(40, 0.55, 0.4, 0.7, 0.5, 1.0, 0.2)
PARTLY_YES_NO = YesNoFitness(40, 0.82, 0.7, 0.9, 0.7, 0.6, 0.2)
UNFIT_ANSWERS = AnswerFitness(7, 0.1, 0.4, 0.1, 3, 0.0)
PARTLY_ANSWERS = AnswerFitness(7, 0.8, 0.6, 0.6, 3, 0.4)
UNFIT_LINES = SearchLineFitness(10, 0.4, 0.5)
PARTLY_LINES = SearchLineFitness(10, 0.7, 0.1)
UNFIT_FOLLOW_UPS = FollowUpFitness(10, 0.4)
UNFIT_JSON = JsonFitness(3, 0.6, 0.3)
UNFIT_INSTRUCTIONS = InstructionFitness(5, 0.2)
FIT = FitnessResult(
    model="a model",
    fingerprints=("f" * 64,),
    edition=FITNESS_EDITION,
    made="2026-11-22",
    yes_no=YesNoFitness(40, 0.95, 0.9, 1.0, 0.9, 0.5, 0.06),
    search_lines=SearchLineFitness(10, 0.9, 0.05),
    follow_ups=FollowUpFitness(10, 0.9),
    answers=AnswerFitness(7, 1.0, 0.9, 0.9, 3, 1.0),
    json=JsonFitness(3, 1.0, 1.0),
    instructions=InstructionFitness(5, 1.0),
    costs=FitnessCosts(1.5, 70.0, 5000, 300, 100.0, None, None),
)
"""A model that is fit for everything."""


def fitness_result(**parts: Any) -> FitnessResult:
    """The result of a fit model with other values for some fields."""
    return replace(FIT, **parts)
