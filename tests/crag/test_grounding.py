"""Is what was written borne out by what it cites, and do the sources agree?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from localcrag.crag import prompts
from localcrag.crag.answering.answer_form import without_keys
from localcrag.crag.answering.grounding import MAX_COMPARED_PAIRS, compare, ground
from localcrag.crag.state import PipelineOptions, QuestionState
from localcrag.errors import ConstraintError, ModelError
from localcrag.events import (
    Contradicted,
    Degraded,
    Delta,
    Event,
    Gathered,
    Grounded,
    Measured,
)
from localcrag.types import (
    Claim,
    Contradiction,
    Evidence,
    FinishReason,
    Grounding,
    Mode,
    Status,
    Strip,
    Thresholds,
    Tokens,
    Verdict,
)
from tests.crag.values import drained, evidence, passage
from tests.crag.world import Script, World, answer, names, of
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel

EVIDENCE = evidence("The dose is 5 mg a day.", "Children take half of it.")
DOCUMENTS = {"/leaflet.txt": "The dose is 5 mg a day.\n\nChildren take half of the dose."}
DOSE = "what is the dose a day?"
WRITTEN = "The dose is 5 mg a day. [1]"
MORE = "A dose a day cures all. [1]"


def state(model: ScriptedModel, question: str = "q?") -> QuestionState:
    parts = World({}, model).adapters
    return QuestionState(parts, PipelineOptions(), question, question)


def judge(**words: float | Exception) -> ScriptedModel:
    return Script(unfounded=words).model()


def grounds(model: ScriptedModel, *sentences: str) -> tuple[list[Event], list[Claim]]:
    return drained(ground(state(model), sentences, EVIDENCE))


# ------------------------------------------------------------------------------ sentence by sentence


def test_each_sentence_is_a_claim_with_its_keys_its_verdict_and_its_probability() -> None:
    events, claims = grounds(
        judge(cures=0.2), "The dose is 5 mg. [1] ", "A dose a day cures all. [2][1]", "Take it. [1] [1]"
    )
    assert [(claim.text, claim.keys, claim.verdict) for claim in claims] == [
        ("The dose is 5 mg.", (1,), Verdict.YES),
        ("A dose a day cures all.", (2, 1), Verdict.NO),
        ("Take it.", (1,), Verdict.YES),
    ]
    assert [claim.confidence for claim in claims] == [pytest.approx(p) for p in (0.95, 0.2, 0.95)]
    assert events == [Grounded(tuple(claims))]


def test_a_sentence_is_held_against_what_it_cites_and_nothing_else() -> None:
    model = judge()
    grounds(model, "The dose is 5 mg. [1]", "Half for children. [2]", "Take it daily.")
    first, second, third = (text for _, text in model.asked)
    assert "5 mg a day" in first and "Children" not in first and "Sentence: The dose is 5 mg.\n" in first
    assert "Children take half" in second and "5 mg a day" not in second
    assert "5 mg a day" in third and "Children take half" in third
    assert all("[" not in text.split("Sentence:")[1] for text in (first, second, third))


def test_what_says_nothing_is_not_checked() -> None:
    model = judge()
    assert grounds(model, " [1]", "…", "- [2]") == ([], [])
    assert model.asked == []


def test_the_marker_of_a_list_is_no_claim_and_a_number_that_cites_is_one() -> None:
    _, claims = grounds(judge(), "1. Take it. [1]\n", "2.", "(b)", "5. [1]")
    assert [claim.text for claim in claims] == ["1. Take it.", "5."]


def test_a_claim_that_cannot_be_checked_is_an_error_and_the_others_are_not() -> None:
    events, claims = grounds(judge(cures=ConstraintError("broken")), "A dose a day cures all. [1]", WRITTEN)
    assert [(claim.verdict, claim.confidence) for claim in claims] == [
        (Verdict.ERROR, None),
        (Verdict.YES, pytest.approx(0.95)),
    ]
    assert events == [
        Degraded("grounding", "1 of 2 could not be checked: broken"),
        Grounded(tuple(claims)),
    ]


def test_a_claim_too_long_for_the_context_is_an_error_by_itself() -> None:
    model = Script().model(context=100)
    events, claims = drained(ground(state(model), ["word " * 90 + "[1]", WRITTEN], EVIDENCE))
    assert [claim.verdict for claim in claims] == [Verdict.ERROR, Verdict.YES]
    assert of(Degraded, events)[0].reason.startswith("1 of 2 could not be checked")


def test_a_model_that_breaks_down_is_said_once() -> None:
    def choose(_prompt: str, _options: Sequence[str]) -> Sequence[float]:
        raise ModelError("llama.cpp failed")

    events, claims = grounds(ScriptedModel(choose=choose), WRITTEN, MORE)
    assert [claim.verdict for claim in claims] == [Verdict.ERROR] * 2
    assert of(Degraded, events) == [Degraded("grounding", "llama.cpp failed")]


# ------------------------------------------------------------------------------ by the evaluator


def evaluated(p: float, how: Grounding = Grounding.MARK) -> World:
    """A world whose evaluator gives every question 0.9, and every claim ``p``."""
    judge_of_claims = ScriptedEvaluator(lambda query, _: 0.9 if query == DOSE else p, Thresholds(0.7, 0.3))
    script = Script(grades={"dose": 0.95}, unfounded={"": 0.01}, answer=WRITTEN)
    return World(DOCUMENTS, script.model(), judge_of_claims).with_options(grounding=how, passages=1)


def test_the_evaluator_judges_the_claims_and_the_model_is_not_asked() -> None:
    asked = evaluated(0.4)
    found = answer(asked.run(DOSE))
    assert [(claim.verdict, claim.confidence) for claim in found.claims] == [(Verdict.YES, 0.4)]
    assert found.status is Status.ANSWERED
    assert not any(text.startswith(prompts.grounded("", ()).system) for _, text in asked.model.asked)
    assert (without_keys(WRITTEN), ("The dose is 5 mg a day.",)) in asked.evaluator.asked  # type: ignore[union-attr]


def test_a_claim_below_the_evaluators_lower_threshold_is_marked() -> None:
    found = answer(evaluated(0.2).run(DOSE))
    assert found.status is Status.UNSURE and "(Not borne out by the evidence: “" in found.text


def test_a_claim_that_the_evaluator_is_sure_against_is_never_shown() -> None:
    found = answer(evaluated(0.01).run(DOSE))
    assert found.degraded == (
        f"removed from the answer: “{without_keys(WRITTEN)}”: its evidence does not say so",
        "answer: nothing that was written holds; the evidence is quoted instead",
    )
    assert answer(evaluated(0.01, Grounding.OFF).run(DOSE)).text == WRITTEN


def test_an_evaluator_that_fails_is_said_once() -> None:
    def score(query: str, _: str) -> float:
        if query == DOSE:
            return 0.9
        raise ModelError("llama.cpp failed")

    parts = World(DOCUMENTS, judge(), ScriptedEvaluator(score)).adapters
    asked = QuestionState(parts, PipelineOptions(), DOSE, DOSE)
    events, claims = drained(ground(asked, [WRITTEN, MORE], EVIDENCE))
    assert [claim.verdict for claim in claims] == [Verdict.ERROR] * 2
    assert of(Degraded, events) == [Degraded("grounding", "llama.cpp failed")]


# ------------------------------------------------------------------------------ source by source


def strip(text: str, source: str, score: float, key: int) -> Evidence:
    return Evidence(key, Strip(passage(text, source=source), 0, len(text), text, score))


def test_only_different_sources_can_disagree() -> None:
    model = Script(disagreeing=0.9).model()
    same = [strip("5 mg", "/a.txt", 0.9, 1), strip("6 mg", "/a.txt", 0.8, 2)]
    assert drained(compare(state(model), same)) == ([], [])
    assert model.asked == []


def test_the_best_strip_of_each_source_is_compared() -> None:
    model = Script(disagreeing=0.9).model()
    items = [
        strip("a weak", "/a.txt", 0.4, 1),
        strip("b good", "/b.txt", 0.8, 2),
        strip("a good", "/a.txt", 0.9, 3),
    ]
    events, found = drained(compare(state(model, "which one?"), items))
    [(_, prompt)] = model.asked
    assert "a good" in prompt and "b good" in prompt and "a weak" not in prompt
    assert "which one?" in prompt
    assert found == [Contradiction(2, 3, 0.9)]
    assert events == [Contradicted(tuple(found))]


def test_sources_that_agree_are_no_event() -> None:
    items = [strip("5 mg", "/a.txt", 0.9, 1), strip("5 mg", "/b.txt", 0.8, 2)]
    assert drained(compare(state(Script(disagreeing=0.4).model()), items)) == ([], [])


def test_no_more_than_a_few_pairs_are_compared_the_surest_first() -> None:
    model = Script(disagreeing=0.9).model()
    items = [strip(f"text {n}", f"/{n}.txt", n / 10, n) for n in range(1, 7)]
    _, found = drained(compare(state(model), items))
    assert len(model.asked) == MAX_COMPARED_PAIRS
    assert [(pair.first, pair.second) for pair in found] == [(5, 6), (4, 6), (3, 6)]


# ------------------------------------------------------------------------------ in the answer


def world(how: Grounding, written: str, **options: object) -> World:
    script = Script(grades={"dose": 0.95}, unfounded={"cures": 0.1}, answer=written)
    return World(DOCUMENTS, script.model()).with_options(grounding=how, **options)


def test_marked_sentences_are_shown_while_they_are_written() -> None:
    events = world(Grounding.MARK, f"{WRITTEN} {MORE}").run(DOSE)
    kinds = [type(event) for event in events if isinstance(event, (Delta, Grounded))]
    assert kinds == [Delta, Delta, Grounded, Delta]
    assert of(Delta, events)[-1].text.startswith("\n\n(Not borne out by the evidence: “")


def test_where_sentences_may_be_removed_none_is_shown_before_it_was_checked() -> None:
    events = world(Grounding.REMOVE, f"{MORE} {WRITTEN}").run(DOSE)
    kinds = [type(event) for event in events if isinstance(event, (Delta, Grounded))]
    assert kinds == [Grounded, Delta]
    assert answer(events).text == WRITTEN


def test_a_removed_sentence_takes_its_citation_away() -> None:
    events = world(Grounding.REMOVE, f"{WRITTEN} It cures children. [2]").run(DOSE)
    assert [citation.key for citation in answer(events).citations] == [1]


def test_the_claims_are_in_the_answer_and_in_its_json() -> None:
    found = answer(world(Grounding.MARK, f"{WRITTEN} {MORE}").run(DOSE))
    assert [(claim.text, claim.verdict) for claim in found.claims] == [
        ("The dose is 5 mg a day.", Verdict.YES),
        ("A dose a day cures all.", Verdict.NO),
    ]
    assert found.to_dict()["claims"] == [
        {"text": without_keys(WRITTEN), "keys": (1,), "verdict": "yes", "confidence": pytest.approx(0.95)},
        {"text": without_keys(MORE), "keys": (1,), "verdict": "no", "confidence": pytest.approx(0.1)},
    ]
    assert found.status is Status.UNSURE


@pytest.mark.parametrize("how", [Grounding.MARK, Grounding.REMOVE])
def test_an_answer_that_is_borne_out_is_answered(how: Grounding) -> None:
    found = answer(world(how, WRITTEN).run(DOSE))
    assert (found.status, found.text, found.degraded) == (Status.ANSWERED, WRITTEN, ())


@pytest.mark.parametrize("how", list(Grounding))
def test_quotes_are_their_own_evidence(how: Grounding) -> None:
    events = world(how, "", mode=Mode.QUOTE).run(DOSE)
    assert "Grounded" not in names(events)
    assert answer(events).claims == ()


def test_sentences_are_marked_by_default() -> None:
    assert PipelineOptions().grounding is Grounding.MARK


def test_an_answer_cut_short_is_checked_as_far_as_it_goes() -> None:
    asked = world(Grounding.REMOVE, f"{WRITTEN} {MORE} It cures all ills of men. [1]", answer_tokens=16)
    found = answer(asked.run(DOSE))
    assert asked.model.last_finish is FinishReason.LENGTH
    assert found.status is Status.TRUNCATED
    assert (found.text, [claim.text for claim in found.claims]) == (
        WRITTEN,
        [without_keys(WRITTEN), without_keys(MORE)],
    )


# ------------------------------------------------------------------------------ two sources


TWO = {"/leaflet.txt": "The dose is 5 mg a day.", "/blog.txt": "The dose is 9 mg a day."}


def disagreeing(p: float, **changes: object) -> World:
    given: dict[str, object] = {"grades": {"dose": 0.95}, "disagreeing": p, "answer": "Yes, it is so. [1]"}
    return World(TWO, Script(**(given | changes)).model()).with_options(contradictions=True)  # type: ignore[arg-type]


def test_a_contradiction_is_in_the_answer_with_both_its_sources() -> None:
    events = disagreeing(0.9).run(DOSE)
    found = answer(events)
    keys = {item.key: item.strip.passage.source for item in of(Gathered, events)[0].evidence}
    assert found.to_dict()["contradictions"] == [{"first": 1, "second": 2, "confidence": pytest.approx(0.9)}]
    assert found.degraded == (f"evidence: the sources of [1] ({keys[1]}) and [2] ({keys[2]}) disagree",)
    assert set(keys.values()) == set(TWO)
    assert found.status is Status.UNSURE


def test_sources_that_agree_change_nothing() -> None:
    found = answer(disagreeing(0.1).run(DOSE))
    assert (found.contradictions, found.degraded, found.status) == ((), (), Status.ANSWERED)


def test_nobody_compares_unless_it_is_asked_for() -> None:
    asked = disagreeing(0.9).with_options(contradictions=False)
    found = answer(asked.run(DOSE))
    assert (found.contradictions, found.status) == ((), Status.ANSWERED)


def test_quotes_of_sources_that_disagree_are_unsure() -> None:
    asked = disagreeing(0.9, picks="1, 2").with_options(mode=Mode.QUOTE)
    assert answer(asked.run(DOSE)).status is Status.UNSURE


def test_evidence_that_answers_nothing_is_not_compared() -> None:
    asked = disagreeing(0.9, answer="The documents do not answer this.")
    found = answer(asked.run(DOSE))
    assert (found.status, found.contradictions, found.degraded) == (Status.NOT_FOUND, (), ())


# ------------------------------------------------------------------------------ what it costs


def test_the_cost_of_checking_is_counted_once() -> None:
    asked = disagreeing(0.9).with_options(grounding=Grounding.MARK)
    events = asked.run(DOSE)
    measured = of(Measured, events)
    assert [event.stage for event in measured].count("verify") == 2
    total = Tokens()
    for event in measured:
        total += event.tokens
    assert answer(events).usage.tokens == asked.model.tokens == total
    assert all(event.tokens.evaluated > 0 for event in measured if event.stage == "verify")
    seconds = answer(events).usage.seconds
    assert sum(value for stage, value in seconds.items() if stage != "total") <= seconds["total"]
