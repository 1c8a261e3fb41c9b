"""The rubric: a reason first, one of four labels, and what a label is worth."""

from __future__ import annotations

from dataclasses import fields

import pytest

from localcrag.crag import prompts
from localcrag.crag.judges.graders import RUBRIC_SCORES, RUBRIC_THRESHOLDS, RubricAssessment, RubricGrader
from localcrag.errors import ConstraintError, ContextOverflow, ModelError
from localcrag.events import Decided, Graded
from localcrag.types import Action, GraderKind, Hit, Policy, RubricLabel, Status, Verdict
from tests.crag.values import hits
from tests.crag.world import Script, World, answer, of
from tests.fakes.llm import ScriptedModel, text_of

DOCUMENTS = {"/a.txt": "one passage\n\nanother passage"}


def grader(*replies: RubricAssessment | Exception) -> RubricGrader:
    return RubricGrader(ScriptedModel(objects=list(replies)))


def world(one: RubricLabel | Exception, another: RubricLabel | Exception, policy: Policy) -> World:
    script = Script(labels={"another": another, "one": one}, answer="Yes, it is so. [1]")
    return World(DOCUMENTS, script.model(), by_rubric=True).with_options(policy=policy, corrections=())


@pytest.mark.parametrize(
    ("label", "verdict", "score"),
    [
        (RubricLabel.AWFUL, Verdict.NO, 0.0),
        (RubricLabel.POOR, Verdict.NO, 0.3),
        (RubricLabel.GOOD, Verdict.YES, 0.7),
        (RubricLabel.PERFECT, Verdict.YES, 1.0),
    ],
)
def test_a_label_is_a_verdict_and_a_score_with_its_reason(
    label: RubricLabel, verdict: Verdict, score: float
) -> None:
    [grade] = grader(RubricAssessment("It names\n the  dose.", label)).grade("q?", hits("text"))
    assert (grade.verdict, grade.confidence) == (verdict, score)
    assert grade.reason == f"{label}: It names the dose."


def test_every_label_is_worth_something_and_the_bounds_are_labels() -> None:
    assert set(RUBRIC_SCORES) == set(RubricLabel)
    assert list(RUBRIC_SCORES.values()) == sorted(RUBRIC_SCORES.values())
    assert (
        RUBRIC_SCORES[RubricLabel.POOR]
        < RUBRIC_THRESHOLDS.lower
        < RUBRIC_THRESHOLDS.upper
        == RUBRIC_SCORES[RubricLabel.GOOD]
    )


def test_the_reason_is_written_before_the_label() -> None:
    assert [field.name for field in fields(RubricAssessment)] == ["justification", "label"]


def test_each_passage_is_judged_by_itself_in_order() -> None:
    model = ScriptedModel(
        objects=[RubricAssessment("No.", RubricLabel.AWFUL), RubricAssessment("Yes.", RubricLabel.PERFECT)]
    )
    found: list[Hit] = hits("first text", "second text")
    grades = RubricGrader(model).grade("the question?", found)
    assert [grade.hit for grade in grades] == found
    assert [grade.confidence for grade in grades] == [0.0, 1.0]
    asked = [text_of(prompts.rubric("the question?", text)) for text in ("first text", "second text")]
    assert model.asked == [("object", text) for text in asked]


@pytest.mark.parametrize("error", [ConstraintError("no JSON"), ContextOverflow("too long")])
def test_a_passage_that_cannot_be_labelled_is_an_error_and_the_others_are_not(error: ModelError) -> None:
    good = RubricAssessment("Yes.", RubricLabel.GOOD)
    grades = grader(good, error, good).grade("q?", hits("a", "b", "c"))
    assert [g.verdict for g in grades] == [Verdict.YES, Verdict.ERROR, Verdict.YES]
    assert (grades[1].confidence, grades[1].reason) == (None, str(error))


def test_a_model_that_is_broken_is_no_failed_grade() -> None:
    with pytest.raises(ModelError):
        grader(ModelError("llama.cpp failed")).grade("q?", hits("a"))


def test_a_reason_longer_than_its_room_is_a_failed_grade() -> None:
    [grade] = grader(RubricAssessment("word " * 200, RubricLabel.GOOD)).grade("q?", hits("a"))
    assert grade.verdict is Verdict.ERROR


@pytest.mark.parametrize(
    ("one", "another", "action", "status"),
    [
        (RubricLabel.PERFECT, RubricLabel.GOOD, Action.CORRECT, Status.ANSWERED),
        (RubricLabel.GOOD, RubricLabel.GOOD, Action.CORRECT, Status.ANSWERED),
        (RubricLabel.PERFECT, RubricLabel.POOR, Action.AMBIGUOUS, Status.ANSWERED),
        (RubricLabel.GOOD, RubricLabel.AWFUL, Action.AMBIGUOUS, Status.ANSWERED),
        (RubricLabel.GOOD, ConstraintError("broken"), Action.CORRECT, Status.ANSWERED),
        (RubricLabel.POOR, RubricLabel.AWFUL, Action.INCORRECT, Status.NOT_FOUND),
        (RubricLabel.AWFUL, RubricLabel.AWFUL, Action.INCORRECT, Status.NOT_FOUND),
    ],
)
def test_policy_score_over_the_labels(
    one: RubricLabel, another: RubricLabel | Exception, action: Action, status: Status
) -> None:
    events = world(one, another, Policy.SCORE).run("which passage?")
    assert of(Decided, events)[0].action is action
    assert answer(events).status is status


@pytest.mark.parametrize(
    ("label", "action"),
    [
        (RubricLabel.PERFECT, Action.CORRECT),
        (RubricLabel.GOOD, Action.CORRECT),
        (RubricLabel.POOR, Action.INCORRECT),
        (RubricLabel.AWFUL, Action.INCORRECT),
    ],
)
def test_policy_crag_over_the_labels(label: RubricLabel, action: Action) -> None:
    events = world(label, RubricLabel.AWFUL, Policy.CRAG).run("which passage?")
    assert of(Decided, events)[0].action is action


def test_only_what_reached_the_threshold_is_evidence() -> None:
    found = answer(world(RubricLabel.GOOD, RubricLabel.POOR, Policy.SCORE).run("which passage?"))
    assert [citation.quote for citation in found.citations] == ["one passage"]


def test_the_reason_is_in_the_answers_json() -> None:
    events = world(RubricLabel.GOOD, RubricLabel.AWFUL, Policy.SCORE).run("which passage?")
    reasons = {grade.hit.passage.text: grade.reason for grade in answer(events).grades}
    assert reasons == {"one passage": "Good: For a reason.", "another passage": "Awful: For a reason."}
    assert {event.grade.reason for event in of(Graded, events)} == set(reasons.values())
    grades = answer(events).to_dict()["grades"]
    assert [grade["reason"] for grade in grades] == [g.reason for g in answer(events).grades]  # type: ignore


def test_the_rubric_says_what_it_is() -> None:
    assert grader().kind is GraderKind.RUBRIC
