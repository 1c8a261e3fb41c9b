"""Questions of several parts: which they are, how they are split, and how their parts stand."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.answering.quotation import _as_asked
from localcrag.crag.part_evidence import beside, stands_whole, tells_all
from localcrag.crag.pipeline import _more_probable
from localcrag.crag.questions.decomposition import MAX_PARTS, Division, divide, may_have_parts, parts_by_rule
from localcrag.crag.refinement.knowledge_strips import whole
from localcrag.crag.state import Finding
from localcrag.errors import WebError
from localcrag.events import Divided, Event, Gathered, Graded, PageRead, PartSettled, Retrieved
from localcrag.types import Action, CorrectionKind, Mode, PartAnswer, Status, Turn, WebPolicy, WebResult
from tests.crag.values import drained, passage
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
    return drained(divide(ScriptedModel(objects=[Division(questions)]), TWO, by_rule=False))


def test_the_models_parts_are_kept_in_order_each_on_one_line() -> None:
    events, parts = split(" the  dose?", "when\nfound?")
    assert parts == ["the dose?", "when found?"]
    assert events == [Divided(("the dose?", "when found?"))]


def test_parts_that_say_nothing_or_the_same_are_dropped() -> None:
    assert split("The dose?", "", "the dose?", "found?")[1] == ["The dose?", "found?"]


@pytest.mark.parametrize("parts", [(), ("",), tuple(f"part {n}?" for n in range(MAX_PARTS + 1))])
def test_no_part_or_too_many_leave_the_question_as_it_is(parts: tuple[str, ...]) -> None:
    assert split(*parts) == ([], [TWO])


def test_as_many_parts_as_are_allowed_are_kept() -> None:
    parts = [f"part {n}?" for n in range(MAX_PARTS)]
    assert split(*parts)[1] == parts


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
    assert parts_by_rule(question) == parts


@pytest.mark.parametrize(
    "question",
    [
        "When and where is the annual meeting?",
        "annual meeting: When and where is it?",
        "Old paint and batteries: where and at what time can people hand them in?",
        "How and when do I apply for leave?",
        "How long and how often should I take Zeldrine?",
        "Which drug and which dose is best?",
        "Which drug and which dose and which form is best?",
        "Who decides which rooms and which days?",
        "What is the difference between what staff pay for parking and what the firm pays?",
        "What is the difference between what is paid by staff and what is paid by the firm?",
        "What are the rules for staff who travel and who work at night?",
        "What is and what is not paid?",
        "Which drugs can be taken with milk and which cannot?",
        "Who is allowed to park and who isn't?",
        "Who found Zeldrine and when?",
        "Who found Zeldrine and in what year?",
        "Which drug and in which dose is best?",
        "Which are the rooms in which we eat and in which we sleep?",
        "What is the dose of Zeldrine? Why?",
        "Who? And who makes Zeldrine?",
        "Hi, can you help me?",
        "Hi, can you help me? Are you there?",
        "I lost my key file; can I still read my backups?",
        "The drug is Zeldrine; what is its dose?",
    ],
)
def test_the_rule_makes_no_part_of_what_is_no_question(question: str) -> None:
    assert parts_by_rule(question) == [question]
    assert drained(divide(ScriptedModel(), question, by_rule=True)) == ([], [question])


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "fail2ban: how long is an address banned, and what does findtime mean?",
            ["fail2ban: how long is an address banned?", "fail2ban: what does findtime mean?"],
        ),
        (
            "Two questions: how long is an address banned, and what does findtime mean?",
            ["Two questions: how long is an address banned?", "what does findtime mean?"],
        ),
        (
            "fail2ban: how long does it ban and when does fail2ban forget?",
            ["fail2ban: how long does it ban?", "when does fail2ban forget?"],
        ),
        ("What is the dose? And who makes it?", ["What is the dose?", "dose: And who makes it?"]),
        ("Who approves travel and what is the dose of Zeldrine?", ["Who approves travel?", DOSE]),
        ("Is travel paid, and who approves it?", ["Is travel paid?", "travel paid: who approves it?"]),
        ("What causes fever and how is it treated?", ["What causes fever?", "fever: how is it treated?"]),
        (
            "What is the fee and when and where is Zeldrine sold?",
            ["What is the fee?", "when and where is Zeldrine sold?"],
        ),
        (
            "When and where is the meeting and who leads it?",
            ["When and where is the meeting?", "meeting: who leads it?"],
        ),
        ("What is leave and how to apply for it?", ["What is leave?", "leave: how to apply for it?"]),
        ("what is the dose of Zeldrine and what about Orlan?", [DOSE, "dose: what about Orlan?"]),
        (
            "How is leave approved and why isn't travel paid?",
            ["How is leave approved?", "why isn't travel paid?"],
        ),
        (f"Hi, can you help me? {DOSE}", [DOSE]),
        (f"Hi, can you help me? {TWO}", [DOSE, FOUND]),
        (f"Hello? Can you help me? {TWO}", [DOSE, FOUND]),
        (f"Who? {TWO}", [f"Who? {DOSE}", FOUND]),
        (
            f"{DOSE} I lost my key; can I still read my backups?",
            [DOSE, "I lost my key; can I still read my backups?"],
        ),
        (f"{DOSE} Why? {FOUND}", [f"{DOSE} Why?", FOUND]),
        (
            "What is the fee and by when must it be paid?",
            ["What is the fee?", "fee: by when must it be paid?"],
        ),
        (
            "How much is the deposit, and for how long is Zeldrine kept?",
            ["How much is the deposit?", "for how long is Zeldrine kept?"],
        ),
        (
            "Who pays the fee and in which room is the meeting?",
            ["Who pays the fee?", "in which room is the meeting?"],
        ),
    ],
)
def test_every_part_is_a_question_by_itself(question: str, parts: list[str]) -> None:
    assert parts_by_rule(question) == parts


def test_a_later_part_keeps_all_that_names_the_thing() -> None:
    asked = "The jaws of a C40 are worn. Which kit do I order and what does it cost?"
    first, second = parts_by_rule(asked)
    assert second == "The jaws of a C40 are worn. what does it cost?"
    assert _as_asked(first, asked) == first and _as_asked(second, asked) == "what does it cost?"
    assert parts_by_rule("Where is the passphrase of the NAS and who else has it?") == [
        "Where is the passphrase of the NAS?",
        "passphrase NAS: who else has it?",
    ]


def test_a_guess_at_the_answer_is_no_part() -> None:
    asked = "What day are the sacks taken away? Wednesday as always?"
    assert parts_by_rule(asked) == [asked]


@given(st.lists(st.sampled_from(["what", "dose", "and", "who", "?", "? ", ";", ",", "of"]), max_size=14))
def test_the_rule_loses_no_word(pieces: list[str]) -> None:
    question = " ".join(pieces)
    said = set(re.findall(r"\w+", " ".join(parts_by_rule(question))))
    assert set(re.findall(r"\w+", question)) - {"and"} <= said


# ------------------------------------------------------------------------------ in the loop


def world(script: Script, **options: object) -> World:
    return World(DOCUMENTS, script.model()).with_options(passages=1, corrections=(), **options)


def both(**changes: object) -> Script:
    given = {
        "parts": (DOSE, FOUND),
        "grades": {"dose": 0.95, "1928": 0.95},
        "answer": "Yes, so. [1] Yes, found so. [2]",
    }
    return Script(**(given | changes))  # type: ignore[arg-type]


def test_each_part_stands_for_itself_in_the_answer() -> None:
    found = answer(world(both(grades={"dose": 0.95, "1928": 0.5})).run(TWO))
    assert found.parts == (
        PartAnswer(DOSE, Status.ANSWERED, Action.CORRECT),
        PartAnswer(FOUND, Status.UNSURE, Action.AMBIGUOUS),
    )
    assert found.status is Status.UNSURE
    assert found.question == TWO
    assert found.to_dict()["parts"] == [
        {"question": DOSE, "status": "answered", "action": "correct"},
        {"question": FOUND, "status": "unsure", "action": "ambiguous"},
    ]


def test_a_question_of_one_part_has_no_parts() -> None:
    found = answer(world(both()).run(DOSE))
    assert found.parts == () and found.to_dict()["parts"] == []


def test_the_grades_of_all_parts_are_the_answers() -> None:
    events = world(both()).run(TWO)
    assert list(answer(events).grades) == [event.grade for event in of(Graded, events)]
    assert [event.query for event in of(Retrieved, events)] == [DOSE, FOUND]


def test_evidence_that_two_parts_share_is_given_once() -> None:
    script = both(parts=(DOSE, "how much Zeldrine a day, which dose?"), answer="So. [1]")
    events = world(script).run(TWO)
    assert len(of(PartSettled, events)) == 2
    assert [item.text for item in of(Gathered, events)[0].evidence] == [DOCUMENTS["/leaflet.txt"]]


def test_parts_that_the_same_quote_answers_are_answered_together() -> None:
    script = both(parts=(DOSE, "how much Zeldrine a day, which dose?"), picks="1")
    found = answer(world(script, mode=Mode.QUOTE).run(TWO))
    assert found.text == "The dose of Zeldrine is 5 mg a day. [1]"
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


@pytest.mark.parametrize(
    ("policy", "allowed", "sent"),
    [(WebPolicy.AUTO, True, 1), (WebPolicy.ASK, True, 1), (WebPolicy.ASK, False, 0)],
)
def test_the_parts_of_a_follow_up_ask_the_web_for_their_line_once(
    policy: WebPolicy, allowed: bool, sent: int
) -> None:
    shown: list[str] = []

    def consent(query: str) -> str | None:
        shown.append(query)
        return query if allowed else None

    script = both(grades={"page": 0.95}, search="dose Zeldrine Zeldrine found", answer="So. [1]")
    asked = world(script, extractive=True, web_policy=policy, consent=consent)
    asked.search._found = {"": [WebResult("https://example.org", "", "a page of 1987")]}
    events = asked.run(TWO, [Turn("user", DOSE), Turn("assistant", "5 mg. [1]")])
    assert len(of(Divided, events)) == 1
    assert len(shown) == (policy is WebPolicy.ASK)
    assert len(asked.search.queries) == len(of(PageRead, events)) == sent
    assert len(asked.fetcher.fetched) == sent
    assert [web.sent for web in answer(events).web] == [allowed]
    assert [part.status for part in answer(events).parts] == [
        Status.ANSWERED if allowed else Status.NOT_FOUND
    ] * 2


def test_a_web_that_fails_for_a_line_is_not_asked_for_it_again() -> None:
    script = both(grades={}, search="dose Zeldrine Zeldrine found")
    asked = world(script, extractive=True, web_policy=WebPolicy.AUTO)
    asked.search._found = {"": WebError("it is down")}
    found = answer(asked.run(TWO, [Turn("user", DOSE), Turn("assistant", "5 mg. [1]")]))
    assert len(asked.search.queries) == len(found.web) == 1
    assert found.status is Status.NOT_FOUND and any("it is down" in reason for reason in found.degraded)


def test_parts_with_lines_of_their_own_ask_the_web_for_each() -> None:
    asked = world(both(grades={}), web_policy=WebPolicy.AUTO)
    lines = iter(["the dose", "zeldrine discovery"])
    asked.model._lines = lambda _prompt: next(lines)
    assert [web.query for web in answer(asked.run(TWO)).web] == ["the dose", "zeldrine discovery"]
    assert asked.search.queries == ["the dose", "zeldrine discovery"]


def test_across_languages_what_the_whole_question_finds_is_of_the_part_that_has_nothing_as_probable() -> None:
    weak, found = (
        whole(passage(text, id=text), p)
        for text, p in (
            ("Zwischen der Verwaltung und Herrn Kern wird das vereinbart.", 0.1),
            ("Der Vertrag ist befristet bis zum Herbst, weil das Haus saniert wird.", 0.3),
        )
    )
    part = "When does Mr Kern have to leave the house?"
    assert _more_probable([weak, found], [weak], part) == (weak, found)
    assert _more_probable([weak], [found], part) == (found,)
    assert _more_probable([], [weak], part) == (weak,)
    english = whole(passage("The contract ends in the autumn, since the house is to be renovated."), 0.3)
    assert _more_probable([english], [weak], part) == (weak,)


def _finding(*told: tuple[str, float], sure: bool = True, of: str = "") -> Finding:
    strips = tuple(whole(passage(text, id=of or text), p) for text, p in told)
    return Finding(None, strips, sure)  # type: ignore[arg-type]


def test_the_whole_question_stands_where_its_evidence_is_as_probable_as_that_of_any_part() -> None:
    row = "Kit J-3, a pair of jaws, 48.00 euros"
    parts = [_finding((row, 0.6)), _finding(("Kit B-46, a bushing, 15.90 euros", 0.45), sure=False)]
    assert stands_whole(_finding((row, 0.7)), parts)
    assert not stands_whole(_finding((row, 0.4)), parts)
    assert not stands_whole(_finding((row, 0.7), sure=False), parts)
    assert not stands_whole(_finding((row, 0.7)), parts[:1])
    assert not stands_whole(_finding(("Kit J-4", 0.7)), parts)
    assert stands_whole(_finding((row, 0.7), sure=False), parts[1:])


def test_the_whole_question_is_sure_only_if_its_evidence_tells_of_each_part() -> None:
    found = _finding(("The paper with the passphrase is in the bag.", 0.6))
    assert tells_all(found, ["Where is the passphrase?", "passphrase: who else has it?"])
    assert not tells_all(found, ["Where is the passphrase?", "passphrase: what does it cost?"])
    assert not tells_all(found, ["Where is the passphrase?", "passphrase: which colour is the label?"])


def test_what_stands_beside_the_sure_evidence_of_another_part_is_preferred() -> None:
    own = _finding(("A late report loses 10 %.", 0.16), sure=False).strips
    near = _finding(("Waiting time 12 minutes", 0.15), of="protocol").strips
    first = _finding(("Wavelength 882 nm", 0.6), of="protocol")
    assert beside(near, own, [first]) == near
    assert beside(near, _finding(("A late report", 0.4)).strips, [first]) == ()
    assert beside(near, first.strips, [first]) == ()
    assert beside(near, own, [_finding(("Wavelength 882 nm", 0.3), sure=False, of="protocol")]) == ()
