"""The two steps after every search of the loop: grade the hits, and decide on an action."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from localcrag.crag.policy import decide
from localcrag.crag.refinement.strip_kinds import prose_of
from localcrag.crag.state import QuestionState
from localcrag.events import Decided, Degraded, Graded, Spared, Steps
from localcrag.languages import FOREIGN_PASSAGES, is_foreign_to
from localcrag.types import Action, GraderKind, Hit, Layout, Verdict

MAX_TOLD_PASSAGES = 3
"""The passages whose language is compared with that of the question."""
_GRADERS_OF_LANGUAGE_MODEL = frozenset({GraderKind.YESNO, GraderKind.RUBRIC})
MIN_GRADED_TOGETHER = 2
"""The fewest passages graded at once: two in one batch are read faster than one after the other."""


def grade_hits(state: QuestionState, hits: Sequence[Hit]) -> Steps[None]:
    """Grade hits against the question, in order, until enough passages are surely relevant.

    The grades are added to ``state.grades``. ``options.enough`` says how many surely relevant passages
    are enough; the hits that are then not graded are reported in a Spared event.

    Args:
        state: the question and its adapters.
        hits: the hits to grade, best first.
    """
    if not state.grades:
        yield from say_if_foreign(state, hits)
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


def say_if_foreign(state: QuestionState, hits: Sequence[Hit], *, thorough: bool = False) -> Steps[None]:
    """Say that the grades do not count if the first of the hits are in another language than the question.

    A language model reads both languages, and so does a multilingual evaluator. ``thorough`` is that of
    :func:`~localcrag.languages.is_foreign_to`.
    """
    evaluator = state.adapters.evaluator
    compares = evaluator is not None and evaluator.multilingual
    if state.foreign or compares or state.adapters.grader.kind in _GRADERS_OF_LANGUAGE_MODEL:
        return
    told = [prose_of(hit.passage) for hit in hits[:MAX_TOLD_PASSAGES]]
    if is_foreign_to(state.question, filter(None, told), thorough=thorough):
        state.foreign = True
        yield Degraded("grade", FOREIGN_PASSAGES)


def emit_decision(state: QuestionState, when: str = "") -> Steps[Action]:
    """Choose an action from all grades so far by the policy, emit it as Decided, and return it.

    The first action is kept as ``state.action``. ``when`` is put before the reason, in words.
    """
    policy = state.options.policy
    decision = decide(state.grades, policy, state.adapters.grader.thresholds)
    state.action = state.action or decision.action
    yield Decided(decision.action, policy, f"{when}{decision.reason}")
    return decision.action


def _still_wanted(state: QuestionState) -> int:
    """The number of surely relevant passages still wanted; ``sys.maxsize`` if there is no bound."""
    if not state.options.enough:
        return sys.maxsize
    upper = state.adapters.grader.thresholds.upper
    yes = [grade for grade in state.grades if grade.verdict is Verdict.YES]
    return max(0, state.options.enough - sum((grade.confidence or 0.0) >= upper for grade in yes))
