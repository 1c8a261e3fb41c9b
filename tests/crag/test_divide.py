"""Questions of several parts: which they are, how they are split, and how their parts stand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.divide import MAX_PARTS, Division, by_rule, divide, may_have_parts
from localcrag.errors import ConstraintError, ContextOverflow, ModelError
from localcrag.events import Degraded, Divided, Event, Gathered, Graded, PartSettled, Retrieved
from localcrag.types import Action, CorrectionKind, Mode, PartAnswer, Status, WebPolicy, WebResult
from tests.crag.values import drained
from tests.crag.world import Script, World, answer, of
from tests.fakes.llm import ScriptedModel

DOSE, FOUND = "what is the dose of Zeldrine?", "when was Zeldrine found?"
TWO = f"{DOSE} {FOUND}"
DOCUMENTS = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day.",
    "/history.txt": "Zeldrine was found in 1928 by accident.",
}


# ------------------------------------------------------------------------------ is there more than one


@pytest.mark.parametrize(
    "question",
    [
        TWO,
        "what is the dose; when was it found",
        "what is the dose and when was it found?",
        "Compare Zeldrine with Orlan.",
        "how is Zeldrine compared to Orlan?",
        "Zeldrine versus Orlan?",
        "Zeldrine vs. Orlan?",
        "the dose as well as the price?",
        "the dose AND the price?",
        "the dose, also the price",
        "what is the dose?\n\nwhen was it found?",
    ],
)
def test_words_that_join_two_things(question: str) -> None:
    assert may_have_parts(question)


@pytest.mark.parametrize(
    "question",
    [DOSE, "who was Anderson?", "is the island sandy?", "really??", "what does it cost? ", "¿qué dosis?", ""],
)
def test_words_that_do_not(question: str) -> None:
    assert not may_have_parts(question)


# ------------------------------------------------------------------------------ by the model


def split(*questions: str) -> tuple[list[Event], list[str]]:
    return drained(divide(ScriptedModel(objects=[Division(questions)]), TWO, extractive=False))


def test_the_models_parts_are_kept_in_order_each_on_one_line() -> None:
    events, parts = split(" the  dose?", "when\nfound?")
    assert parts == ["the dose?", "when found?"]
    assert events == [Divided(("the dose?", "when found?"))]


def test_parts_that_say_nothing_or_the_same_are_dropped() -> None:
    assert split("The dose?", "", "the dose?", "found?")[1] == ["The dose?", "found?"]


@pytest.mark.parametrize(
    "parts", [(), ("",), ("the dose in other words?",), tuple(f"part {n}?" for n in range(MAX_PARTS + 1))]
)
def test_no_part_one_part_or_too_many_leave_the_question_as_it_is(parts: tuple[str, ...]) -> None:
    assert split(*parts) == ([], [TWO])


def test_as_many_parts_as_are_allowed_are_kept() -> None:
    parts = [f"part {n}?" for n in range(MAX_PARTS)]
    assert split(*parts)[1] == parts


@pytest.mark.parametrize("error", [ConstraintError("no JSON"), ContextOverflow("too long")])
def test_a_model_that_fails_leaves_the_question_as_it_is_and_it_is_said(error: ModelError) -> None:
    events, parts = drained(divide(ScriptedModel(objects=[error]), TWO, extractive=False))
    assert (events, parts) == ([Degraded("split", str(error))], [TWO])


# ------------------------------------------------------------------------------ by rule


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (TWO, [DOSE, FOUND]),
        (
            "what is the dose of Zeldrine and when was Zeldrine found?",
            ["what is the dose of Zeldrine?", "when was Zeldrine found?"],
        ),
        ("what is the dose of Zeldrine; who found Zeldrine", [DOSE, "who found Zeldrine?"]),
        ("what are bread and butter made of?", ["what are bread and butter made of?"]),
        ("what is the dose of Zeldrine? Please.", ["what is the dose of Zeldrine? Please."]),
        (f"{DOSE} {DOSE.upper()}", [DOSE]),
        ("Who approves travel? And what is the dose of Zeldrine?", ["Who approves travel?", DOSE]),
        ("Who approves parking? And who approves travel?", ["Who approves parking?", "who approves travel?"]),
        ("Who approves parking? Or who approves travel?", ["Who approves parking?", "who approves travel?"]),
        ("who found Zeldrine? And who found Zeldrine?", ["who found Zeldrine?"]),
        ("dose Zeldrine: And who makes it?", ["dose Zeldrine: And who makes it?"]),
        (f"{DOSE} And who makes it?", [DOSE, "dose Zeldrine: And who makes it?"]),
        (f"{DOSE} And in children?", [DOSE, "dose Zeldrine: And in children?"]),
        (f"{DOSE} Or for adults?", [DOSE, "dose Zeldrine: Or for adults?"]),
    ],
)  # fmt: skip
def test_the_rule_cuts_where_a_question_begins(question: str, parts: list[str]) -> None:
    assert by_rule(question) == parts


def test_a_small_model_is_not_asked() -> None:
    model = ScriptedModel()
    events, parts = drained(divide(model, TWO, extractive=True))
    assert (events, parts, model.asked) == ([Divided((DOSE, FOUND))], [DOSE, FOUND], [])


@given(st.lists(st.sampled_from(["what", "dose", "and", "who", "?", "? ", ";", ",", "of"]), max_size=14))
def test_the_rule_loses_no_word(pieces: list[str]) -> None:
    question = " ".join(pieces)
    said = set(re.findall(r"\w+", " ".join(by_rule(question))))
    assert set(re.findall(r"\w+", question)) - {"and"} <= said


# ------------------------------------------------------------------------------ in the loop


def world(script: Script, **options: object) -> World:
    return World(DOCUMENTS, script.model()).with_options(passages=1, corrections=(), **options)


def both(**changes: object) -> Script:
    given = {"parts": (DOSE, FOUND), "grades": {"dose": 0.95, "1928": 0.95}, "answer": "So. [1] And so. [2]"}
    return Script(**(given | changes))  # type: ignore[arg-type]


def test_each_part_stands_for_itself_in_the_answer() -> None:
    found = answer(world(both(grades={"dose": 0.95, "1928": 0.5})).run(TWO))
    assert found.parts == (
        PartAnswer(DOSE, Status.ANSWERED, Action.CORRECT),
        PartAnswer(FOUND, Status.UNSURE, Action.AMBIGUOUS),
    )
    assert found.status is Status.UNSURE
    assert found.question == TWO
    assert found.to_json()["parts"] == [
        {"question": DOSE, "status": "answered", "action": "correct"},
        {"question": FOUND, "status": "unsure", "action": "ambiguous"},
    ]


def test_a_question_of_one_part_has_no_parts() -> None:
    found = answer(world(both()).run(DOSE))
    assert found.parts == () and found.to_json()["parts"] == []


def test_the_grades_of_all_parts_are_the_answers() -> None:
    events = world(both()).run(TWO)
    assert list(answer(events).grades) == [event.grade for event in of(Graded, events)]
    assert [event.query for event in of(Retrieved, events)] == [DOSE, FOUND]


def test_evidence_that_two_parts_share_is_given_once() -> None:
    script = both(parts=(DOSE, "how much Zeldrine a day, which dose?"), answer="So. [1]")
    events = world(script).run(TWO)
    assert len(of(PartSettled, events)) == 2
    assert [item.text for item in of(Gathered, events)[0].evidence] == [DOCUMENTS["/leaflet.txt"]]


def test_a_quote_that_two_parts_share_has_one_key() -> None:
    script = both(parts=(DOSE, "how much Zeldrine a day, which dose?"), picks="1")
    found = answer(world(script, mode=Mode.QUOTE).run(TWO))
    assert found.text == (
        f"{DOSE}\nThe dose of Zeldrine is 5 mg a day. [1]\n\n"
        "how much Zeldrine a day, which dose?\nThe dose of Zeldrine is 5 mg a day. [1]"
    )
    assert [citation.key for citation in found.citations] == [1]


def test_the_whole_question_is_answered_from_the_evidence_of_its_parts() -> None:
    asked = world(both())
    asked.run(TWO)
    [prompt] = [text for call, text in asked.model.asked if call == "stream"]
    assert TWO in prompt
    assert all(text in prompt for text in DOCUMENTS.values())


def test_a_part_corrects_with_its_own_words() -> None:
    script = both(grades={"dose": 0.95}, rewrite="a line")
    asked = world(script, web_policy=WebPolicy.AUTO).with_options(corrections=(CorrectionKind.REWRITE,))
    asked.search._found = {"": [WebResult("https://example.org", "", "nothing")]}
    asked.run(TWO)
    lines = [text for call, text in asked.model.asked if call == "line"]
    assert lines and all(FOUND in text and DOSE not in text for text in lines)
