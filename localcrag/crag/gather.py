"""Gathering evidence the corrective way: retrieve, grade, decide, and correct step by step."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from localcrag.crag import correct
from localcrag.crag.decide import decide, settled
from localcrag.crag.parts import Inquiry, timed
from localcrag.events import Decided, Degraded, Graded, Spared, Steps
from localcrag.types import Action, CorrectionKind, Hit, Layout, Verdict

_SIDE_BY_SIDE = 2
"""Passages that are graded at once, at least: two side by side are read faster than one after the other."""


def corrective(inquiry: Inquiry) -> Steps[str]:
    """Search the documents, and correct where the grades ask for it; returns "", having no bound."""
    inquiry.untried([inquiry.question])
    search = inquiry.retriever.search([inquiry.question], inquiry.question, inquiry.filter)
    hits = inquiry.unseen((yield from timed(inquiry.parts, "retrieve", search)))
    yield from timed(inquiry.parts, "grade", judge(inquiry, hits))
    if (yield from decided(inquiry)) is not Action.CORRECT:
        yield from timed(inquiry.parts, "correct", _correct(inquiry))
    return ""


def judge(inquiry: Inquiry, hits: Sequence[Hit]) -> Steps[None]:
    """Grade hits against the question, the best first, until enough of them are surely relevant."""
    table = inquiry.table if inquiry.options.layout is Layout.JOINT else None
    left = list(hits)
    while left and (missing := _missing(inquiry)):
        count = max(missing, _SIDE_BY_SIDE)
        some, left = left[:count], left[count:]
        for grade in inquiry.parts.grader.grade(inquiry.question, some, table):
            inquiry.grades.append(grade)
            yield Graded(grade)
            if grade.verdict is Verdict.ERROR:
                yield Degraded("grade", f"{grade.hit.passage.source}: {grade.reason}")
    if left:
        yield Spared(tuple(left))


def _missing(inquiry: Inquiry) -> int:
    """How many surely relevant passages are wanted still; any number of them where there is no end."""
    if not inquiry.options.enough:
        return sys.maxsize
    upper = inquiry.parts.grader.thresholds.upper
    yes = [grade for grade in inquiry.grades if grade.verdict is Verdict.YES]
    return max(0, inquiry.options.enough - sum((grade.confidence or 0.0) >= upper for grade in yes))


def decided(inquiry: Inquiry, when: str = "") -> Steps[Action]:
    """The policy's action on all grades so far."""
    policy = inquiry.options.policy
    decision = decide(inquiry.grades, policy, inquiry.parts.grader.thresholds)
    inquiry.action = inquiry.action or decision.action
    yield Decided(decision.action, policy, f"{when}{decision.reason}")
    return decision.action


def _correct(inquiry: Inquiry) -> Steps[None]:
    """One step after the other, until what was found is enough."""
    for kind in (*inquiry.options.corrections, CorrectionKind.WEB):
        fresh = yield from correct.STEPS[kind](inquiry)
        if not fresh:
            continue
        yield from judge(inquiry, fresh)
        if settled(inquiry.grades, inquiry.options.policy, inquiry.parts.grader.thresholds):
            break
    yield from decided(inquiry, "after correction: ")
