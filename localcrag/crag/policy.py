"""Policies: rules that turn grades into an action; pure functions, one for each policy.

Policy ``crag`` is section 4.3 of the CRAG paper (Yan et al. 2024, arXiv 2401.15884). ``any-irrelevant``
corrects if any passage is irrelevant, as the LangGraph and LlamaIndex workflows do. ``none-relevant``
corrects if no passage is relevant, which is the usual reading of the idea. ``score`` compares the mean
confidence with the upper threshold, as with the four-label rubric, and works with any grader.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from localcrag.types import Action, Decision, Grade, Policy, Thresholds, Verdict

NEAREST_SHARE = 0.5
"""The share of the lower threshold that the best of irrelevant passages must reach to be looked into."""


def decide(grades: Sequence[Grade], policy: Policy, thresholds: Thresholds) -> Decision:
    """The action for these grades, and its reason.

    A failed grade counts neither as relevant nor as irrelevant. The action is ``incorrect`` without any
    grades, and ``ambiguous`` if all of them failed.

    Args:
        grades: all grades of the question so far.
        policy: the rule to apply.
        thresholds: the bounds on the grader's confidences; ``any-irrelevant`` and ``none-relevant`` use
            only the verdicts.
    """
    if not grades:
        return Decision(Action.INCORRECT, "nothing was found")
    valid = [grade for grade in grades if grade.verdict is not Verdict.ERROR]
    if not valid:
        return Decision(Action.AMBIGUOUS, "no passage could be graded")
    match policy:
        case Policy.CRAG:
            return _crag_decision(valid, thresholds)
        case Policy.ANY_IRRELEVANT:
            return _any_irrelevant_decision(valid)
        case Policy.NONE_RELEVANT:
            return _none_relevant_decision(valid)
        case Policy.SCORE:
            return _score_decision(valid, thresholds)


def relevant(grades: Sequence[Grade], policy: Policy, thresholds: Thresholds) -> list[Grade]:
    """The grades whose passages may become evidence, by descending confidence.

    They are those with the verdict yes, or under policy ``score`` those that reach the upper threshold.
    If there are none, they are those that reach the lower threshold. If every grade failed, they are all
    grades, in the order of retrieval.
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


def nearest(grades: Sequence[Grade], thresholds: Thresholds) -> list[Grade]:
    """The best of grades that are all irrelevant, if it is not far below the lower threshold; else none.

    A sentence of its passage may stand out, and is then worth showing with a warning (:mod:`.strip_filter`).
    """
    best = max(grades, key=_confidence, default=None)
    return [best] if best and _confidence(best) >= NEAREST_SHARE * thresholds.lower else []


def confidences_of(grades: Sequence[Grade]) -> dict[str, float]:
    """The confidence of each passage, by its id; of one that was graded again, the higher one.

    A grade without a confidence is left out.
    """
    found: dict[str, float] = {}
    for grade in grades:
        if grade.confidence is not None:
            passage = grade.hit.passage.id
            found[passage] = max(found.get(passage, 0.0), grade.confidence)
    return found


def settled(grades: Sequence[Grade], policy: Policy, thresholds: Thresholds) -> bool:
    """Whether the evidence is enough, so that no further correction is needed.

    Two policies are judged by a weaker rule than in :func:`decide`, since corrections leave the irrelevant
    passages among the grades: ``any-irrelevant`` needs one relevant passage, and ``score`` one passage that
    reaches the upper threshold.
    """
    if policy is Policy.SCORE:
        return any(_confidence(grade) >= thresholds.upper for grade in grades)
    rule = Policy.NONE_RELEVANT if policy is Policy.ANY_IRRELEVANT else policy
    return decide(grades, rule, thresholds).action is Action.CORRECT


def _crag_decision(grades: Sequence[Grade], thresholds: Thresholds) -> Decision:
    """Compare the best confidence with both thresholds (CRAG, section 4.3)."""
    best = max(_confidence(grade) for grade in grades)
    if best >= thresholds.upper:
        return Decision(Action.CORRECT, f"best grade {best:.2f} ≥ {thresholds.upper:.2f}")
    if best < thresholds.lower:
        return Decision(Action.INCORRECT, f"best grade {best:.2f} < {thresholds.lower:.2f}")
    return Decision(
        Action.AMBIGUOUS, f"best grade {best:.2f} between {thresholds.lower:.2f} and {thresholds.upper:.2f}"
    )


def _any_irrelevant_decision(grades: Sequence[Grade]) -> Decision:
    """Correct if all passages are relevant, ambiguous if only some are, incorrect if none is."""
    yes = _yes_count(grades)
    if yes == len(grades):
        return Decision(Action.CORRECT, f"all {yes} passages are relevant")
    action = Action.AMBIGUOUS if yes else Action.INCORRECT
    return Decision(action, f"{len(grades) - yes} of {len(grades)} passages are irrelevant")


def _none_relevant_decision(grades: Sequence[Grade]) -> Decision:
    """Correct if any passage is relevant, otherwise incorrect."""
    yes = _yes_count(grades)
    if yes:
        return Decision(Action.CORRECT, f"{yes} of {len(grades)} passages are relevant")
    return Decision(Action.INCORRECT, f"none of {len(grades)} passages is relevant")


def _score_decision(grades: Sequence[Grade], thresholds: Thresholds) -> Decision:
    """Incorrect if no confidence reaches the upper threshold; otherwise correct if the mean does."""
    kept = sum(_confidence(grade) >= thresholds.upper for grade in grades)
    if not kept:
        return Decision(Action.INCORRECT, f"no score reaches {thresholds.upper:.2f}")
    mean = fmean(_confidence(grade) for grade in grades)
    sign, action = ("≥", Action.CORRECT) if mean >= thresholds.upper else ("<", Action.AMBIGUOUS)
    return Decision(
        action, f"{kept} of {len(grades)} kept, mean score {mean:.2f} {sign} {thresholds.upper:.2f}"
    )


def _yes_count(grades: Sequence[Grade]) -> int:
    """The number of grades with the verdict yes."""
    return sum(grade.verdict is Verdict.YES for grade in grades)


def _confidence(grade: Grade) -> float:
    """The confidence of a grade; 0 if it has none."""
    return grade.confidence if grade.confidence is not None else 0.0
