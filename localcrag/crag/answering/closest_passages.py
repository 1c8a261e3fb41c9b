"""The passages that come nearest to an answer, named below a question that found none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from localcrag.crag.state import QuestionState
from localcrag.events import Closest, Steps
from localcrag.types import Grade

MAX_CLOSEST_PASSAGES = 2
"""Passages that are named at most."""
MIN_CLOSEST_CONFIDENCE = 0.005
"""The least confidence of the grade of a passage that is worth a look."""


def say_closest(grades: Sequence[Grade], asked: Iterable[QuestionState]) -> Steps[None]:
    """Say which passages come nearest, if any is worth a look.

    Args:
        grades: all grades of a question.
        asked: the question, or each of its parts. If one of them is in another language than the passages
            found for it, no grade tells these apart, and they are taken in the order of the search.
    """
    of_foreign = [grade for state in asked if state.foreign for grade in state.grades]
    near = of_foreign or sorted(filter(_is_worth_a_look, grades), key=_confidence, reverse=True)
    first: dict[str, Grade] = {}
    for grade in near:
        first.setdefault(grade.hit.passage.id, grade)
    if first:
        yield Closest(tuple(first.values())[:MAX_CLOSEST_PASSAGES])


def _confidence(grade: Grade) -> float:
    return grade.confidence or 0.0


def _is_worth_a_look(grade: Grade) -> bool:
    return _confidence(grade) >= MIN_CLOSEST_CONFIDENCE
