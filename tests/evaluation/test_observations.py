"""From events to an observation: scripted, and from the loop itself."""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.evaluation.labels import NOTHING, Labelled, Labels
from localcrag.evaluation.observations import Judgement, Observation, judge, observe
from localcrag.evaluation.question_set import Question
from localcrag.evaluation.text_overlap import normalised
from localcrag.events import (
    Corrected,
    Decided,
    Event,
    Finished,
    Graded,
    PartSettled,
    Reranked,
    Retrieved,
    Rewritten,
)
from localcrag.types import Action, CorrectionKind, Policy, Status, Verdict
from tests.crag.world import World, says
from tests.evaluation.values import answer, citation, grade, hits, passage
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel

RIGHT, WRONG, OTHER = passage("the dose is 35 mg"), passage("about water"), passage("about tea")
GOLD = Labels((frozenset({"/a.txt"}),), (normalised("the dose is 35 mg"),))


def watched(events: Sequence[Event], gold: Labels | None = GOLD) -> Observation:
    question = Question(1, "What is the dose?", ("35 mg",), answerable=gold is not NOTHING)
    return observe(events, Labelled(question, gold))


def first_round(*shown: tuple[float | None, object], action: Action) -> list[Event]:
    found = [each for _, each in shown]
    return [
        Retrieved("q", hits(*found)),  # type: ignore[arg-type]
        Reranked(hits(*reversed(found))),  # type: ignore[arg-type]
        *(Graded(grade(each, p)) for p, each in shown),  # type: ignore[arg-type]
        Decided(action, Policy.CRAG, "because"),
    ]


def correction(*found: object) -> list[Event]:
    return [
        Rewritten(CorrectionKind.REWRITE, ("dose",)),
        Retrieved("dose", hits(RIGHT)),
        Reranked(hits(RIGHT)),
        Corrected(CorrectionKind.REWRITE, "dose", hits(*found)),  # type: ignore[arg-type]
        *(Graded(grade(each, 0.9)) for each in found),  # type: ignore[arg-type]
        Decided(Action.CORRECT, Policy.CRAG, "after correction"),
    ]


def test_ranks_grades_and_citations_are_held_against_the_gold() -> None:
    cited = [citation("the dose is 35 mg"), citation("about water")]
    events = first_round((0.9, WRONG), (0.2, RIGHT), (None, OTHER), action=Action.CORRECT)
    seen = watched([*events, Finished(answer(text="35 mg", citations=cited))])
    assert (seen.searched, seen.reranked) == ((2,), (2,))
    assert seen.judgements == (
        Judgement(WRONG.id, Verdict.YES, 0.9, 0.5, False),
        Judgement(RIGHT.id, Verdict.NO, 0.2, 0.5, True),
        Judgement(OTHER.id, Verdict.ERROR, None, 0.5, False),
    )
    assert (seen.action, seen.missing, seen.brought) == (Action.CORRECT, False, None)
    assert seen.cited == (True, False)
    assert seen.holding == (True, False)


def test_a_correction_counts_neither_in_the_ranks_nor_in_the_action() -> None:
    events = [*first_round((0.1, WRONG), action=Action.INCORRECT), *correction(RIGHT), Finished(answer())]
    seen = watched(events)
    assert (seen.searched, seen.reranked) == ((None,), (None,))
    assert seen.action is Action.INCORRECT and seen.corrected
    assert (seen.missing, seen.brought) == (True, True)
    assert [j.right for j in seen.judgements or ()] == [False, True]


def test_a_correction_that_brought_other_passages_did_not_bring_the_gold() -> None:
    events = [*first_round((0.1, WRONG), action=Action.INCORRECT), *correction(OTHER), Finished(answer())]
    assert watched(events).brought is False


def test_an_unanswerable_question_needs_correction_and_no_hit_of_it_is_right() -> None:
    events = [*first_round((0.9, RIGHT), action=Action.CORRECT), Finished(answer())]
    seen = watched(events, NOTHING)
    assert (seen.searched, seen.reranked, seen.cited) == ((), (), None)
    assert (seen.missing, seen.brought) == (True, None)
    assert [j.right for j in seen.judgements or ()] == [False]


def test_without_gold_only_the_answer_is_measured() -> None:
    events = [*first_round((0.9, RIGHT), action=Action.CORRECT), Finished(answer())]
    seen = watched(events, None)
    assert (seen.judgements, seen.missing, seen.cited, seen.searched) == (None, None, None, ())
    assert seen.action is Action.CORRECT


def test_of_several_parts_each_has_a_first_search_and_one_that_corrects_is_enough() -> None:
    events = [
        *first_round((0.9, WRONG), action=Action.CORRECT),
        PartSettled("one", Status.ANSWERED, Action.CORRECT),
        *first_round((0.1, OTHER), (0.2, RIGHT), action=Action.INCORRECT),
        PartSettled("two", Status.ANSWERED, Action.INCORRECT),
        Finished(answer()),
    ]
    seen = watched(events)
    assert seen.searched == (2,)
    assert seen.action is Action.INCORRECT
    assert seen.missing is False


def test_a_question_that_was_not_found_says_nothing() -> None:
    seen = watched([Finished(answer(Status.NOT_FOUND, "Your documents do not answer this."))])
    assert seen.spoken == ""


def test_judging_leaves_the_loop_at_its_decision() -> None:
    taken: list[str] = []

    def events() -> object:
        for event in first_round((0.9, RIGHT), (0.1, WRONG), action=Action.CORRECT):
            taken.append(type(event).__name__)
            yield event
        raise AssertionError("nothing is asked for after the decision")

    found = judge(events(), Labelled(Question(1, "q"), GOLD))  # type: ignore[arg-type]
    assert [(j.confidence, j.right) for j in found] == [(0.9, True), (0.1, False)]
    assert taken[-1] == "Decided"


class TestTheLoop:
    """The events that the loop really makes."""

    def world(self, *yes: str) -> World:
        documents = {"/a.txt": "The dose is 35 mg.", "/b.txt": "Lavender needs sun."}
        model = ScriptedModel(
            choose=says(*yes), lines=lambda _: "the dose in mg", streams=lambda _: "The dose is 35 mg [1]."
        )
        evaluator = ScriptedEvaluator(lambda _, text: 0.9 if "dose" in text else 0.1)
        return World(documents, model, evaluator)

    def seen(self, world: World, gold: Labels | None) -> Observation:
        return observe(world.run("What is the dose?"), Labelled(Question(1, "q", ("35 mg",)), gold))

    def test_found_graded_and_cited(self) -> None:
        seen = self.seen(self.world("35 mg"), Labels((frozenset({"/a.txt"}),)))
        assert seen.reranked == (1,)
        assert seen.missing is False and seen.action is Action.CORRECT
        assert seen.cited == (True,)
        assert {(j.verdict, j.right) for j in seen.judgements or ()} == {
            (Verdict.YES, True),
            (Verdict.NO, False),
        }

    def test_unanswerable(self) -> None:
        seen = self.seen(self.world("nothing at all"), NOTHING)
        assert seen.answer.status is Status.NOT_FOUND
        assert seen.missing is True and seen.corrected
        assert all(not j.right and j.verdict is Verdict.NO for j in seen.judgements or ())
