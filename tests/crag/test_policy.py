"""The rules that turn grades into an action."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.policy import decide, nearest, relevant, settled
from localcrag.types import Action, Policy, Thresholds, Verdict
from tests.crag.values import grade

BOUNDS = Thresholds(upper=0.7, lower=0.3)
CORRECT, AMBIGUOUS, INCORRECT = Action.CORRECT, Action.AMBIGUOUS, Action.INCORRECT


@pytest.mark.parametrize(
    ("policy", "confidences", "action"),
    [
        (Policy.CRAG, [0.9, 0.1], CORRECT),
        (Policy.CRAG, [0.7], CORRECT),
        (Policy.CRAG, [0.69, 0.1], AMBIGUOUS),
        (Policy.CRAG, [0.3, 0.1], AMBIGUOUS),
        (Policy.CRAG, [0.29, 0.1], INCORRECT),
        (Policy.CRAG, [None, 0.1], INCORRECT),
        (Policy.CRAG, [None, 0.9], CORRECT),
        (Policy.ANY_IRRELEVANT, [0.9, 0.8], CORRECT),
        (Policy.ANY_IRRELEVANT, [0.9, 0.1], AMBIGUOUS),
        (Policy.ANY_IRRELEVANT, [0.2, 0.1], INCORRECT),
        (Policy.ANY_IRRELEVANT, [0.9, None], CORRECT),
        (Policy.NONE_RELEVANT, [0.9, 0.1], CORRECT),
        (Policy.NONE_RELEVANT, [0.4, 0.1], INCORRECT),
        (Policy.SCORE, [1.0, 0.7], CORRECT),
        (Policy.SCORE, [1.0, 0.4], CORRECT),
        (Policy.SCORE, [1.0, 0.3], AMBIGUOUS),
        (Policy.SCORE, [0.69, 0.69], INCORRECT),
        (Policy.SCORE, [0.7, None], CORRECT),
    ],
)
def test_each_policy_on_each_branch(policy: Policy, confidences: list[float | None], action: Action) -> None:
    assert decide([grade(c) for c in confidences], policy, BOUNDS).action is action


@pytest.mark.parametrize("policy", list(Policy))
def test_nothing_found_is_incorrect(policy: Policy) -> None:
    assert decide([], policy, BOUNDS).action is INCORRECT


@pytest.mark.parametrize("policy", list(Policy))
def test_failed_grades_alone_are_neither_yes_nor_no(policy: Policy) -> None:
    decision = decide([grade(None), grade(None)], policy, BOUNDS)
    assert decision.action is AMBIGUOUS
    assert "no passage could be graded" in decision.reason


def test_the_reason_names_the_grade_and_the_bound() -> None:
    assert decide([grade(0.9)], Policy.CRAG, BOUNDS).reason == "best grade 0.90 ≥ 0.70"


def test_what_the_grader_said_yes_to_is_kept_surest_first() -> None:
    kept = relevant([grade(0.6), grade(0.4), grade(None), grade(0.9)], Policy.CRAG, BOUNDS)
    assert [g.confidence for g in kept] == [0.9, 0.6]


def test_without_a_yes_the_unsure_are_kept() -> None:
    assert [g.confidence for g in relevant([grade(0.1), grade(0.35)], Policy.CRAG, BOUNDS)] == [0.35]


def test_where_every_grade_failed_the_order_of_retrieval_is_kept() -> None:
    grades = [grade(None, text="first"), grade(None, text="second")]
    assert relevant(grades, Policy.CRAG, BOUNDS) == grades


def test_any_irrelevant_is_settled_by_one_relevant_passage() -> None:
    grades = [grade(0.9), grade(0.1)]
    assert decide(grades, Policy.ANY_IRRELEVANT, BOUNDS).action is AMBIGUOUS
    assert settled(grades, Policy.ANY_IRRELEVANT, BOUNDS)


def test_the_score_policy_keeps_what_reaches_the_threshold_and_asks_no_more_of_corrections() -> None:
    grades = [grade(0.9), grade(0.6), grade(0.0), grade(0.0)]
    assert [g.confidence for g in relevant(grades, Policy.SCORE, BOUNDS)] == [0.9]
    assert decide(grades, Policy.SCORE, BOUNDS).action is AMBIGUOUS
    assert settled(grades, Policy.SCORE, BOUNDS)
    assert not settled(grades[1:], Policy.SCORE, BOUNDS)


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8),
    st.sampled_from(list(Policy)),
    st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted),
)
def test_every_list_of_grades_has_an_action_and_nothing_irrelevant_is_kept(
    confidences: list[float | None], policy: Policy, bounds: list[float]
) -> None:
    thresholds = Thresholds(upper=bounds[1], lower=bounds[0])
    grades = [grade(c) for c in confidences]
    assert decide(grades, policy, thresholds).reason
    kept = relevant(grades, policy, thresholds)
    if policy is Policy.SCORE:
        assert all((g.confidence or 0) >= thresholds.lower for g in kept if g.verdict is not Verdict.ERROR)
    elif any(g.verdict is Verdict.YES for g in grades):
        assert all(g.verdict is Verdict.YES for g in kept)
    elif any(c is not None for c in confidences):
        assert all((g.confidence or 0) >= thresholds.lower for g in kept)


def test_the_best_of_irrelevant_passages_is_looked_into_if_it_is_not_far_below_the_threshold() -> None:
    assert [g.confidence for g in nearest([grade(0.1), grade(0.2)], BOUNDS)] == [0.2]
    assert nearest([grade(0.14), grade(None)], BOUNDS) == [] and nearest([], BOUNDS) == []
