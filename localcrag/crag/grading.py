"""The two steps that every search of the loop ends with: grade what it brought, and decide."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from localcrag.crag.policy import decide
from localcrag.crag.state import QuestionState
from localcrag.events import Decided, Degraded, Graded, Spared, Steps
from localcrag.types import Action, Hit, Layout, Verdict

MIN_GRADED_TOGETHER = 2
"""Passages that are graded at once, at least: two side by side are read faster than one after the other."""


def grade_hits(state: QuestionState, hits: Sequence[Hit]) -> Steps[None]:
    """Grade hits against the question, the best first, until enough of them are surely relevant."""
    joint = state.joint if state.options.layout is Layout.JOINT else None
    left = list(hits)
    while left and (wanted := _still_wanted(state)):
        count = max(wanted, MIN_GRADED_TOGETHER)
        some, left = left[:count], left[count:]
        for grade in state.adapters.grader.grade(state.question, some, joint):
            state.grades.append(grade)
            yield Graded(grade)
            if grade.verdict is Verdict.ERROR:
                yield Degraded("grade", f"{grade.hit.passage.source}: {grade.reason}")
    if left:
        yield Spared(tuple(left))


def emit_decision(state: QuestionState, when: str = "") -> Steps[Action]:
    """Let the policy choose an action from all grades so far; returns it. The first one stays the state's."""
    policy = state.options.policy
    decision = decide(state.grades, policy, state.adapters.grader.thresholds)
    state.action = state.action or decision.action
    yield Decided(decision.action, policy, f"{when}{decision.reason}")
    return decision.action


def _still_wanted(state: QuestionState) -> int:
    """How many surely relevant passages are still wanted; practically all, if there is no bound on them."""
    if not state.options.enough:
        return sys.maxsize
    upper = state.adapters.grader.thresholds.upper
    yes = [grade for grade in state.grades if grade.verdict is Verdict.YES]
    return max(0, state.options.enough - sum((grade.confidence or 0.0) >= upper for grade in yes))
