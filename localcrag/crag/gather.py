"""Gathering evidence the corrective way: retrieve, grade, decide, and correct step by step."""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag import correct
from localcrag.crag.decide import decide, settled
from localcrag.crag.parts import Inquiry, timed
from localcrag.events import Decided, Degraded, Graded, Steps
from localcrag.types import Action, CorrectionKind, Hit, Verdict


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
    """Grade hits against the question, and remember the grades."""
    for grade in inquiry.parts.grader.grade(inquiry.question, hits):
        inquiry.grades.append(grade)
        yield Graded(grade)
        if grade.verdict is Verdict.ERROR:
            yield Degraded("grade", f"{grade.hit.passage.source}: {grade.reason}")


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
