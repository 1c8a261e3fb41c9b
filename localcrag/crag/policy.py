"""From grades to an action: pure functions, one rule a policy.

Rule ``crag`` is section 4.3 of the CRAG paper (arXiv 2401.15884); ``any-irrelevant`` is what the
LangGraph and LlamaIndex workflows do; ``none-relevant`` is the usual reading of the idea; ``score``
is the threshold and the mean of the four-label rubric, and works on any grader's confidences.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from localcrag.types import Action, Decision, Grade, Policy, Thresholds, Verdict


def decide(grades: Sequence[Grade], policy: Policy, thresholds: Thresholds) -> Decision:
    """The action for these grades. A failed grade counts neither as relevant nor as irrelevant."""
    if not grades:
        return Decision(Action.INCORRECT, "nothing was found")
    valid = [grade for grade in grades if grade.verdict is not Verdict.ERROR]
    if not valid:
        return Decision(Action.AMBIGUOUS, "no passage could be graded")
    return _RULES[policy](valid, thresholds)


def relevant(grades: Sequence[Grade], policy: Policy, thresholds: Thresholds) -> list[Grade]:
    """The grades whose passages may become evidence, the surest first.

    Those the grader said yes to (under policy ``score`` those that reach the threshold); where
    there are none, those it was unsure of; where every grade failed, all of them, in the order of
    retrieval.
    """
    valid = [grade for grade in grades if grade.verdict is not Verdict.ERROR]
    if grades and not valid:
        return list(grades)
    if policy is Policy.SCORE:
        kept = [grade for grade in valid if _confidence(grade) >= thresholds.upper]
    else:
        kept = [grade for grade in valid if grade.verdict is Verdict.YES]
    kept = kept or [grade for grade in valid if _confidence(grade) >= thresholds.lower]
    return sorted(kept, key=_confidence, reverse=True)


def settled(grades: Sequence[Grade], policy: Policy, thresholds: Thresholds) -> bool:
    """Whether the corrections made so far are enough.

    ``any-irrelevant`` asks for one correction, not for a world without irrelevant passages; nor
    does ``score`` ask that the mean of all that was ever found be high.
    """
    if policy is Policy.SCORE:
        return any(_confidence(grade) >= thresholds.upper for grade in grades)
    rule = Policy.NONE_RELEVANT if policy is Policy.ANY_IRRELEVANT else policy
    return decide(grades, rule, thresholds).action is Action.CORRECT


def _crag(grades: Sequence[Grade], thresholds: Thresholds) -> Decision:
    best = max(_confidence(grade) for grade in grades)
    if best >= thresholds.upper:
        return Decision(Action.CORRECT, f"best grade {best:.2f} ≥ {thresholds.upper:.2f}")
    if best < thresholds.lower:
        return Decision(Action.INCORRECT, f"best grade {best:.2f} < {thresholds.lower:.2f}")
    return Decision(
        Action.AMBIGUOUS, f"best grade {best:.2f} between {thresholds.lower:.2f} and {thresholds.upper:.2f}"
    )


def _any_irrelevant(grades: Sequence[Grade], thresholds: Thresholds) -> Decision:
    yes = _yes(grades)
    if yes == len(grades):
        return Decision(Action.CORRECT, f"all {yes} passages are relevant")
    action = Action.AMBIGUOUS if yes else Action.INCORRECT
    return Decision(action, f"{len(grades) - yes} of {len(grades)} passages are irrelevant")


def _none_relevant(grades: Sequence[Grade], thresholds: Thresholds) -> Decision:
    yes = _yes(grades)
    if yes:
        return Decision(Action.CORRECT, f"{yes} of {len(grades)} passages are relevant")
    return Decision(Action.INCORRECT, f"none of {len(grades)} passages is relevant")


def _score(grades: Sequence[Grade], thresholds: Thresholds) -> Decision:
    kept = sum(_confidence(grade) >= thresholds.upper for grade in grades)
    if not kept:
        return Decision(Action.INCORRECT, f"no score reaches {thresholds.upper:.2f}")
    mean = fmean(_confidence(grade) for grade in grades)
    sign, action = ("≥", Action.CORRECT) if mean >= thresholds.upper else ("<", Action.AMBIGUOUS)
    return Decision(
        action, f"{kept} of {len(grades)} kept, mean score {mean:.2f} {sign} {thresholds.upper:.2f}"
    )


_RULES: Mapping[Policy, Callable[[Sequence[Grade], Thresholds], Decision]] = {
    Policy.CRAG: _crag,
    Policy.ANY_IRRELEVANT: _any_irrelevant,
    Policy.NONE_RELEVANT: _none_relevant,
    Policy.SCORE: _score,
}


def _yes(grades: Sequence[Grade]) -> int:
    return sum(grade.verdict is Verdict.YES for grade in grades)


def _confidence(grade: Grade) -> float:
    return grade.confidence if grade.confidence is not None else 0.0
