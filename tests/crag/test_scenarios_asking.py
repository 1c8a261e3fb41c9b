"""What else a question can be: of several parts, under a filter, in another language, or none at all.

The rows are read as in ``test_scenarios``; those on strips and the rubric are about how evidence is cut
and graded.
"""

from __future__ import annotations

import pytest

from localcrag.types import Meta, Mode, Policy, RubricLabel, Status, StripKind, Turn
from tests.crag.scenario import AMBIGUOUS, INCORRECT, NOT_FOUND, ONE, REWRITE, WRITTEN, Check, Scenario
from tests.crag.world import Script

FIRST, SECOND = "what is the dose of Zeldrine?", "when was Zeldrine found?"
TWO = f"{FIRST} {SECOND}"
BOTH = "The dose is 5 mg a day. [1] It was found in 1928. [2]"
WORDS = {FIRST: "dose", SECOND: "1928", "who pays?": "finder"}
"""A word of the passage that is found for each question."""

PARTS = [
    Scenario(
        name="both parts are found: each has its own search, its own grades and its own status",
        question=TWO,
        script=Script(parts=(FIRST, SECOND), grades={"dose": 0.95, "1928": 0.9}, answer=BOTH),
        events="Divided Retrieved Graded Graded Decided(correct) PartSettled "
        "Retrieved Graded Graded Decided(correct) PartSettled Gathered Verified",
        prints=BOTH,
        tells=(
            f"2 parts: {FIRST} | {SECOND}",
            f"answered: {FIRST}",
            f"answered: {SECOND}",
            "[1] /leaflet.txt",
            "[2] /history.txt",
        ),
    ),
    Scenario(
        name="one part is found: it is answered, and the other one named",
        question=TWO,
        script=Script(parts=(FIRST, SECOND), grades={"dose": 0.95}, answer=WRITTEN),
        events="Divided Retrieved Graded Graded Decided(correct) PartSettled "
        "Retrieved Graded Graded Decided(incorrect) Decided(incorrect) "
        "Retrieved Graded Graded Decided(correct) PartSettled "
        "Gathered Verified Degraded(answer)",
        status=Status.UNSURE,
        degraded=(f"answer: nothing was found for: {SECOND}",),
        tells=(
            f"answered: {FIRST}",
            f"not found: {SECOND}",
            "Unsure: a part of the question is not answered.",
        ),
    ),
    Scenario(
        name="no part is found: nothing is answered, and each is named",
        question=TWO,
        script=Script(parts=(FIRST, SECOND)),
        events="Divided Retrieved Graded Graded Decided(incorrect) Decided(incorrect) "
        "Retrieved Graded Graded Decided(incorrect) Decided(incorrect) PartSettled "
        "Retrieved Graded Graded Decided(incorrect) Decided(incorrect) PartSettled "
        "Degraded(answer) Degraded(answer)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        degraded=(
            f"answer: nothing was found for: {FIRST}",
            f"answer: nothing was found for: {SECOND}",
        ),
        tells=(f"not found: {FIRST}", f"not found: {SECOND}"),
        exit=3,
    ),
    Scenario(
        name="quotes stand under the part that they answer, and a part without any says so",
        question=f"{TWO} who pays?",
        mode=Mode.QUOTE,
        evaluator=lambda question, text: 0.9 if WORDS.get(question, "nothing") in text else 0.1,
        options=ONE,
        script=Script(parts=tuple(WORDS), grades={"dose": 0.95, "1928": 0.9}),
        events="Divided Retrieved Reranked Graded Decided(correct) Refined PartSettled "
        "Retrieved Reranked Graded Decided(correct) Refined PartSettled "
        "Retrieved Reranked Graded Decided(incorrect) Decided(incorrect) "
        "Retrieved Reranked Graded Decided(correct) Refined PartSettled "
        "Gathered Verified Degraded(answer)",
        status=Status.UNSURE,
        prints=f"{FIRST}\nThe dose of Zeldrine is 5 mg a day. [1]\n\n"
        f"{SECOND}\nZeldrine was found in 1928 by accident. [2]\n\n"
        "who pays?\nThe documents do not answer this.",
        degraded=("answer: nothing was found for: who pays?",),
    ),
    Scenario(
        name="a part that only the whole question finds is answered, and to be checked",
        question=TWO,
        mode=Mode.QUOTE,
        evaluator=lambda question, text: (
            0.9 if {FIRST: "dose", TWO: "1928"}.get(question, "-") in text else 0.1
        ),
        options=ONE,
        script=Script(parts=(FIRST, SECOND), grades={"dose": 0.95, "1928": 0.9}),
        events="Divided Retrieved Reranked Graded Decided(correct) Refined PartSettled "
        "Retrieved Reranked Graded Decided(correct) Refined "
        "Retrieved Reranked Graded Decided(correct) Refined PartSettled "
        "Gathered Verified",
        status=Status.UNSURE,
        prints=f"{FIRST}\nThe dose of Zeldrine is 5 mg a day. [1]\n\n"
        f"{SECOND}\nZeldrine was found in 1928 by accident. [2]",
    ),
    Scenario(
        name="a part that the evidence of another one tells as well is not said to be unanswered",
        question=TWO,
        mode=Mode.QUOTE,
        evaluator=lambda question, text: {FIRST: 0.8, TWO: 0.9}.get(question, 0.1) if "dose" in text else 0.1,
        options=ONE,
        script=Script(parts=(FIRST, SECOND), grades={"dose": 0.95}),
        events="Divided Retrieved Reranked Graded Decided(correct) Refined PartSettled "
        "Retrieved Reranked Graded Decided(incorrect) Decided(incorrect) "
        "Retrieved Reranked Graded Decided(correct) Refined PartSettled "
        "Gathered Verified",
        status=Status.UNSURE,
        prints="The dose of Zeldrine is 5 mg a day. [1]",
    ),
    Scenario(
        name="a follow-up that may be about something else is answered, and to be checked",
        question="How much of it is taken?",
        history=(Turn("user", "What is Zeldrine?"), Turn("user", "Does it need a prescription?")),
        options={"extractive": True},
        script=Script(grades={"dose": 0.95}, answer=WRITTEN),
        events="Condensed Degraded(condense) Retrieved Graded Graded Decided(correct) Gathered Verified",
        status=Status.UNSURE,
        degraded=("condense: it may ask about “prescription” instead",),
    ),
    Scenario(
        name="a part corrects itself without the others",
        question="how much may a patient take? when was Zeldrine found?",
        options=ONE,
        corrections=(REWRITE,),
        script=Script(
            parts=("how much may a patient take?", SECOND),
            grades={"dose": 0.95, "1928": 0.9},
            rewrite="patient dose of zeldrine",
            answer=BOTH,
        ),
        events="Divided Retrieved Graded Decided(incorrect) Rewritten(rewrite) Retrieved Corrected(rewrite) "
        "Graded Decided(correct) PartSettled Retrieved Graded Decided(correct) PartSettled Gathered Verified",
        action=INCORRECT,
        prints=BOTH,
    ),
    Scenario(
        name="a question that only looks as if it had parts is asked as it is",
        question="what is the dose of Zeldrine and salt?",
        script=Script(
            parts=("what is the dose of Zeldrine and salt?",), grades={"dose": 0.95}, answer=WRITTEN
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
    ),
    Scenario(
        name="parts can be switched off",
        question=TWO,
        options={"divide": False},
        script=Script(parts=(FIRST, SECOND), grades={"dose": 0.95}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
    ),
    Scenario(
        name="a small model splits by rule, and is not asked",
        question=TWO,
        options={"divide_by_rule": True},
        script=Script(parts=ValueError("asked"), grades={"dose": 0.95, "1928": 0.9}, answer=BOTH),
        events="Divided Retrieved Graded Graded Decided(correct) PartSettled "
        "Retrieved Graded Graded Decided(correct) PartSettled Gathered Verified",
        prints=BOTH,
        tells=(f"2 parts: {FIRST} | {SECOND}",),
    ),
]

TEAMS: dict[str, Meta] = {
    "/leaflet.txt": {"team": "x", "year": 2020},
    "/history.txt": {"team": "y", "year": 2020},
}
FILTERS = [
    Scenario(
        name="a filter that hides the answer is kept, and what it hides is offered",
        metas=TEAMS,
        filter='team = "y"',
        script=Script(grades={"dose": 0.95}),
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect) Suggested",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        tells=("you could ask again without the filter, 1 passage more would help, in /leaflet.txt",),
        exit=3,
    ),
    Scenario(
        name="the least relaxed filter is offered, as it can be typed",
        metas=TEAMS,
        filter="year = 2020 and title startswith '/hist'",
        script=Script(grades={"dose": 0.95}),
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect) Suggested",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        tells=("you could ask again with --filter 'year = 2020', 1 passage more would help",),
        exit=3,
    ),
    Scenario(
        name="a filter that hides nothing better offers nothing",
        metas=TEAMS,
        filter='team = "y"',
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        exit=3,
    ),
    Scenario(
        name="a filter under which the answer is sure offers nothing",
        metas=TEAMS,
        filter='team = "x"',
        script=Script(otherwise=0.95, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
    ),
    Scenario(
        name="a field that does not exist is an error that names those that do",
        metas=TEAMS,
        filter='tame = "x"',
        events="",
        status=None,
        prints="",
        tells=("there is no field 'tame' to filter by", "source, title, page, heading, team, year"),
        exit=2,
    ),
]

CUT = {
    "/leaflet.txt": "Zeldrine comes in tablets. The dose of Zeldrine is 5 mg a day. Swallow it with water. "
    "Children take half of it. It costs little."
}
STRIPS = [
    Scenario(
        name=f"strips {kind}: {what}",
        documents=CUT,
        mode=Mode.QUOTE,
        evaluator=lambda _, text: 0.9 if "dose" in text else 0.1,
        options={"strips": kind},
        script=Script(grades={"dose": 0.95}),
        events=f"Retrieved Reranked Graded Decided(correct) {refined}Gathered Verified",
        prints=quote,
    )
    for kind, what, refined, quote in (
        (
            StripKind.SENTENCE,
            "the sentence that answers is kept",
            "Refined ",
            "The dose of Zeldrine is 5 mg a day. [1]",
        ),
        (
            StripKind.WINDOW,
            "a sentence is kept with those beside it",
            "Refined ",
            "Zeldrine comes in tablets. The dose of Zeldrine is 5 mg a day. Swallow it with water. [1]",
        ),
        (StripKind.NONE, "the passage stays whole", "", f"{CUT['/leaflet.txt']} [1]"),
    )
]

OTHERS = [
    Scenario(
        name="without an evaluator the language model judges the strips",
        documents=CUT,
        mode=Mode.QUOTE,
        options={"strips": StripKind.SENTENCE},
        script=Script(grades={"dose": 0.95}),
        events="Retrieved Graded Decided(correct) Refined Gathered Verified",
        prints="The dose of Zeldrine is 5 mg a day. [1]",
    ),
    Scenario(
        name="the rubric's labels decide, and its reasons can be read",
        by_rubric=True,
        policy=Policy.SCORE,
        script=Script(labels={"dose": RubricLabel.PERFECT, "cool": RubricLabel.POOR}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(ambiguous) Decided(ambiguous) Gathered Verified",
        action=AMBIGUOUS,
        tells=("1 of 2 kept, mean score 0.65 < 0.70",),
    ),
    Scenario(
        name="a question in another language is searched for in the documents' own",
        question="¿cuál es la dosis diaria?",
        options=ONE,
        corrections=(REWRITE,),
        script=Script(
            grades={"dose": 0.95}, rewrite="Zeldrine dose", answer="La dosis es de 5 mg al día. [1]"
        ),
        events="Retrieved Graded Decided(incorrect) Rewritten(rewrite) Retrieved Corrected(rewrite) Graded "
        "Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="La dosis es de 5 mg al día. [1]",
        tells=("rewrite: Zeldrine dose", "“The dose of Zeldrine is 5 mg a day.”"),
    ),
    *(
        Scenario(
            name=f"no question: {question!r}",
            question=question,
            events="",
            status=None,
            prints="",
            tells=("Error: the question is empty", "Hint: ask something"),
            exit=2,
        )
        for question in ("", " \n\t")
    ),
    Scenario(
        name="an enormous question is no question",
        question="dose " * 1000,
        events="",
        status=None,
        prints="",
        tells=(
            "Error: the question has 4,999 characters, the limit is 4,000",
            "Hint: put long text into a file",
        ),
        exit=2,
    ),
]


@pytest.mark.parametrize(
    "scenario", [*PARTS, *FILTERS, *STRIPS, *OTHERS], ids=lambda scenario: scenario.name[:80]
)
def test_scenario(scenario: Scenario, check: Check) -> None:
    check(scenario)
