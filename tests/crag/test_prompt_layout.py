"""Passages on one table: who lies there, who is asked about, and what the answer is written from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from localcrag.crag.judges.graders import CascadeGrader
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.prompt_layout import JointPassages
from localcrag.crag.state import PipelineOptions, Query
from localcrag.events import Degraded, Event, Gathered, Graded, Spared
from localcrag.types import Grounding, Layout, Status, StripKind, Thresholds, Verdict
from tests.crag.values import hits
from tests.crag.world import BOUNDS, World, answer, of
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel

DOCUMENTS = {
    "/a.txt": "The dose of Zeldrine is 5 mg a day.",
    "/b.txt": "Zeldrine was found in 1928.",
    "/c.txt": "Adults take a dose of 7 mg of Zeldrine.",
    "/d.txt": "Zeldrine is kept cool.",
}
DOSE = "what is the dose of Zeldrine?"


def asked_about(prompt: str) -> str:
    """The passage that a prompt asks about: the one of the number in the task, or the only one."""
    passages = re.findall(r"<passage>\n(.*?)\n</passage>", prompt, re.DOTALL)
    place = re.search(r"Does passage \[(\d+)\]", prompt)
    return str(passages[int(place[1]) - 1] if place else passages[-1])


def judging(*words: str) -> Callable[[str, Sequence[str]], list[float]]:
    def choose(prompt: str, _options: Sequence[str]) -> list[float]:
        return [0.9, 0.1] if any(word in asked_about(prompt) for word in words) else [0.1, 0.9]

    return choose


def model(*words: str, says: str = "It is 5 mg. [1]", context: int = 4096) -> ScriptedModel:
    return ScriptedModel(choose=judging(*words), streams=lambda prompt: says, context=context)


def world(language: ScriptedModel, documents: Mapping[str, str] = DOCUMENTS, **changes: object) -> World:
    options = {
        "passages": 4,
        "grounding": Grounding.OFF,
        "corrections": (),
        "layout": Layout.JOINT,
        **changes,
    }
    return World(documents, language, options=PipelineOptions(**options))  # type: ignore[arg-type]


def prompts_of(language: ScriptedModel, call: str) -> list[str]:
    return [text for name, text in language.asked if name == call]


def verdicts(events: Sequence[Event]) -> dict[str, Verdict]:
    return {event.grade.hit.passage.source: event.grade.verdict for event in of(Graded, events)}


def test_grades_are_asked_with_all_passages_before_the_model() -> None:
    language = model("dose")
    events = world(language).run(DOSE)
    asked = prompts_of(language, "choose")
    assert len(asked) == 4
    assert all(prompt.count("<passage>\n") == 4 for prompt in asked)
    assert [re.findall(r"Does passage \[(\d)\]", prompt) for prompt in asked] == [["1"], ["2"], ["3"], ["4"]]
    apart = world(model("dose"), layout=Layout.INDEPENDENT).run(DOSE)
    assert verdicts(events) == verdicts(apart)


def test_the_answer_sees_only_what_helps_and_cites_it_by_its_number() -> None:
    language = model("dose", says="Adults take 7 mg. [{}]")
    events = world(language).run(DOSE)
    order = [event.grade.hit.passage.source for event in of(Graded, events)]
    place = order.index("/c.txt") + 1
    language = model("dose", says=f"Adults take 7 mg. [{place}]")
    found = answer(world(language).run(DOSE))
    (written,) = prompts_of(language, "stream")
    assert "5 mg" in written and "7 mg" in written
    assert "1928" not in written and "cool" not in written
    shown = sorted(order.index(source) + 1 for source in ("/a.txt", "/c.txt"))
    assert f"using only passages [{shown[0]}], [{shown[1]}]." in written
    assert [(citation.key, citation.source) for citation in found.citations] == [(place, "/c.txt")]
    assert found.status is Status.ANSWERED


def test_a_correction_lays_what_it_brings_behind_what_lies_there() -> None:
    language = ScriptedModel(
        choose=judging("dose"), lines=lambda prompt: "take dose", streams=lambda prompt: "It is 5 mg. [2]"
    )
    documents = {"/b.txt": "What may one take? Nobody knows.", "/a.txt": "The dose is 5 mg."}
    kinds = PipelineOptions().corrections[:1]
    asked = world(language, documents, passages=1, corrections=kinds)
    found = answer(asked.run("what may one take?"))
    last = prompts_of(language, "choose")[-1]
    assert last.index("Nobody knows") < last.index("5 mg")
    assert "Does passage [2]" in last
    assert [citation.key for citation in found.citations] == [2]


def test_where_the_table_is_too_full_earlier_passages_are_taken_off_it() -> None:
    language = model("dose", context=150)
    joint = JointPassages()
    first, second = hits(*(f"{text} {'word ' * 60}" for text in ("The river.", "The dose is 5 mg.")))
    grader = World({}, language).grader
    assert grader.grade(DOSE, [first], joint)[0].verdict is Verdict.NO
    assert grader.grade(DOSE, [second], joint)[0].verdict is Verdict.YES
    assert joint.passages == [second.passage]


def test_what_does_not_fit_on_a_table_is_asked_about_one_by_one() -> None:
    language = model("dose", context=180)
    documents = {f"/{n}.txt": f"The dose of Zeldrine {n} is 5 mg. {'word ' * 60}" for n in "ab"}
    events = world(language, documents, answer_tokens=20).run(DOSE)
    assert list(verdicts(events).values()) == [Verdict.YES, Verdict.YES]
    assert all(prompt.count("<passage>\n") == 1 for prompt in prompts_of(language, "choose"))
    assert of(Degraded, events)[0].part == "evidence"  # two do not fit the answer either
    assert answer(events).citations


def test_an_answer_for_which_the_table_leaves_no_room_is_written_without_it() -> None:
    language = model("5 mg", context=190)
    documents = {"/a.txt": f"The dose is 5 mg. {'word ' * 20}", "/b.txt": f"The dose? {'word ' * 40}"}
    found = answer(world(language, documents, answer_tokens=60).run("what is the dose?"))
    (written,) = prompts_of(language, "stream")
    assert "using only these passages" in written
    assert written.count("<passage>\n") == 1
    assert [citation.key for citation in found.citations] == [1]


def test_sentences_are_answered_from_without_the_table() -> None:
    language = model("dose")
    evaluator = ScriptedEvaluator(lambda query, text: 0.9 if "dose" in text else 0.1)
    documents = {"/a.txt": "Zeldrine is kept cool. The dose of Zeldrine is 5 mg a day."}
    options = PipelineOptions(layout=Layout.JOINT, grounding=Grounding.OFF, strips=StripKind.SENTENCE)
    World(documents, language, evaluator, options=options).run(DOSE)
    (written,) = prompts_of(language, "stream")
    assert "kept cool" not in written
    assert "using only these passages" in written


# ------------------------------------------------------------------------------------- cascade


def test_a_cascade_lays_only_what_the_evaluator_does_not_rule_out() -> None:
    """What it is sure of is not asked about; what it rules out, the language model never sees."""
    scores = {"5 mg": 0.95, "7 mg": 0.5, "1928": 0.5, "cool": 0.01}
    evaluator = ScriptedEvaluator(lambda query, text: next(p for word, p in scores.items() if word in text))
    language = model("dose", says="It is 5 mg. [1]")
    asked = World(DOCUMENTS, language, evaluator)
    grader = CascadeGrader(asked.grader, evaluator, Thresholds(0.8, 0.2), BOUNDS)
    options = world(language).options
    parts = replace(asked.adapters, grader=grader)
    events = list(Pipeline(parts, replace(options, strips=StripKind.NONE)).run(Query(DOSE)))
    judged = prompts_of(language, "choose")
    assert len(judged) == 2
    assert all("cool" not in prompt and prompt.count("<passage>\n") == 3 for prompt in judged)
    assert {asked_about(prompt) for prompt in judged} == {DOCUMENTS["/b.txt"], DOCUMENTS["/c.txt"]}
    assert len(of(Graded, events)) == 4
    (gathered,) = of(Gathered, events)
    assert {item.strip.passage.source for item in gathered.evidence} == {"/a.txt", "/c.txt"}


# -------------------------------------------------------------------------------------- enough


@pytest.mark.parametrize("layout", list(Layout))
def test_no_more_is_graded_once_enough_is_surely_relevant(layout: Layout) -> None:
    language = model("Zeldrine")
    events = world(language, layout=layout, enough=2).run(DOSE)
    assert len(of(Graded, events)) == 2
    assert len(prompts_of(language, "choose")) == 2
    (spared,) = of(Spared, events)
    assert len(spared.hits) == 2
    (written,) = prompts_of(language, "stream")
    assert all(hit.passage.text not in written for hit in spared.hits)


@pytest.mark.parametrize("layout", list(Layout))
def test_grading_goes_on_until_enough_is_found(layout: Layout) -> None:
    language = model("cool")
    events = world(language, layout=layout, enough=1).run(DOSE)
    graded = [event.grade.verdict for event in of(Graded, events)]
    assert Verdict.YES in graded[-2:]
    assert len(graded) + sum(len(event.hits) for event in of(Spared, events)) == 4


def test_a_relevant_passage_that_is_not_surely_so_does_not_count_as_enough() -> None:
    language = ScriptedModel(choose=lambda prompt, options: [0.6, 0.4], streams=lambda prompt: "5 mg. [1]")
    events = world(language, layout=Layout.INDEPENDENT, enough=1).run(DOSE)
    assert len(of(Graded, events)) == 4
    assert not of(Spared, events)
