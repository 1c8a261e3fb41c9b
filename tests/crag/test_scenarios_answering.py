"""How localcrag answers, or does not: what becomes of what the model writes about the evidence.

The rows are read as in ``test_scenarios``.
"""

from __future__ import annotations

import pytest

from localcrag.types import Grounding, Mode, Status
from tests.crag.scenario import (
    BROKEN,
    CUT_SHORT,
    LONG,
    NOT_ALL,
    NOT_FOUND,
    ONE,
    UNSURE,
    WRITTEN,
    Check,
    Scenario,
)
from tests.crag.world import Script

TWO_SOURCES = {"/leaflet.txt": "The dose of Zeldrine is 5 mg.", "/blog.txt": "The dose of Zeldrine is 9 mg."}

ANSWERING = [
    Scenario(
        name="evidence that does not fit the context is left out from the least sure on",
        documents=LONG,
        context=450,
        options={"answer_tokens": 100},
        script=Script(grades={"dose": 0.95, "long": 0.8}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(correct) Degraded(evidence) Gathered Verified",
        degraded=("evidence: 1 of 2 pieces did not fit the context",),
    ),
    Scenario(
        name="as many pieces of evidence are left out as do not fit",
        documents={f"/{n}.txt": f"The dose of Zeldrine {n}: " + "word " * 60 for n in range(6)},
        context=400,
        options={"passages": 6, "answer_tokens": 50},
        script=Script(grades={"dose": 0.95}),
        events="Retrieved Graded Graded Graded Graded Graded Graded Decided(correct) Degraded(evidence) "
        "Gathered Verified",
        prints="Yes, it is so. [1]",
        degraded=("evidence: 2 of 6 pieces did not fit the context",),
    ),
    Scenario(
        name="a context that holds no evidence at all is an error that says what to change",
        context=170,
        options={"answer_tokens": 150},
        script=Script(grades={"dose": 0.95}),
        events="Retrieved Graded Graded Decided(correct)",
        status=None,
        prints="",
        tells=(
            "Error: the answer needs (n) tokens for one passage alone, and the context holds 170",
            "Hint: raise model.context",
        ),
        exit=1,
    ),
    Scenario(
        name="an answer that cannot be written is quoted instead",
        script=Script(grades={"dose": 0.95}, answer=BROKEN, picks="1"),
        events="Retrieved Graded Graded Decided(correct) Gathered Degraded(answer) Gathered Verified",
        status=Status.UNSURE,
        prints="The dose of Zeldrine is 5 mg a day. [1]",
        degraded=("answer: the mask broke; the evidence is quoted instead",),
        tells=(UNSURE,),
    ),
    Scenario(
        name="an answer that can neither be written nor chosen is the surest passage",
        script=Script(grades={"dose": 0.95}, answer=BROKEN, picks=BROKEN),
        events="Retrieved Graded Graded Decided(correct) Gathered Degraded(answer) Degraded(quote) "
        "Gathered Verified",
        status=Status.UNSURE,
        prints="The dose of Zeldrine is 5 mg a day. [1]",
        degraded=(
            "answer: the mask broke; the evidence is quoted instead",
            "quote: the mask broke; the surest passages are quoted",
        ),
    ),
    Scenario(
        name="an answer that breaks off stands as far as it went",
        script=Script(grades={"dose": 0.95}, answer=f"{WRITTEN} And more stands in [99]."),
        events="Retrieved Graded Graded Decided(correct) Gathered Degraded(answer) Verified",
        status=Status.TRUNCATED,
        degraded=("answer: The text does not hold its constraint.; what was written before it stands",),
        tells=(CUT_SHORT,),
    ),
    Scenario(
        name="an answer at the longest length allowed is cut short, and says so",
        options={"answer_tokens": 10},
        script=Script(grades={"dose": 0.95}, answer=f"{WRITTEN} It is taken with water. [1]"),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified Degraded(answer)",
        status=Status.TRUNCATED,
        prints=WRITTEN,
        degraded=("answer: cut short at the longest length allowed",),
        tells=(CUT_SHORT,),
    ),
    *(
        Scenario(
            name=f"a model that finds no answer in its evidence is believed: {said}",
            script=Script(grades={"dose": 0.95}, answer=said),
            events="Retrieved Graded Graded Decided(correct) Gathered Verified",
            status=Status.NOT_FOUND,
            prints=NOT_FOUND,
            exit=3,
        )
        for said in (
            "The documents do not answer this.",
            "The documents do not answer this. [1]",
            "The passages do not mention a dose. [1]",
            "I do not know the dose. [1]",
        )
    ),
    Scenario(
        name="a model that finds no answer among the sentences is believed",
        mode=Mode.QUOTE,
        script=Script(grades={"dose": 0.95}, picks="none"),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        exit=3,
    ),
    Scenario(
        name="an answer that is cut short before its first citation is quoted instead",
        options={"answer_tokens": 3},
        script=Script(grades={"dose": 0.95}, answer="The dose is 5 mg a day. [1]"),
        events="Retrieved Graded Graded Decided(correct) Gathered Degraded(answer) Gathered Verified",
        status=Status.UNSURE,
        prints="The dose of Zeldrine is 5 mg a day. [1]",
        degraded=("answer: The text does not hold its constraint.; the evidence is quoted instead",),
        tells=(UNSURE,),
    ),
    Scenario(
        name="a sentence that was written before ends the answer, and is not shown",
        script=Script(grades={"dose": 0.95}, answer=f"{WRITTEN} So 5 mg a day is the dose. [1] {WRITTEN}"),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified Degraded(answer)",
        status=Status.TRUNCATED,
        degraded=("answer: stopped: the model began to repeat itself",),
        tells=(CUT_SHORT,),
    ),
    Scenario(
        name="an answer has no more sentences than its form allows",
        documents={"/l.txt": "The dose of Zeldrine is " + " ".join(f"w{n}" for n in range(9)) + " mg."},
        options=ONE,
        script=Script(grades={"dose": 0.95}, answer=" ".join(f"The dose has a w{n}. [1]" for n in range(9))),
        events="Retrieved Graded Decided(correct) Gathered Verified Degraded(answer)",
        status=Status.TRUNCATED,
        prints=" ".join(f"The dose has a w{n}. [1]" for n in range(8)),
        degraded=("answer: cut short at the longest length allowed",),
        tells=(CUT_SHORT,),
    ),
    Scenario(
        name="a model that declines after an answer ends it, and the answer is unsure",
        script=Script(
            grades={"dose": 0.95}, answer=f"{WRITTEN} The passages do not mention more. [1] {WRITTEN}"
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Degraded(answer) Verified",
        status=Status.UNSURE,
        degraded=("answer: it ended by saying that the documents do not answer the question",),
    ),
    Scenario(
        name="what repeats the prompt is not shown",
        script=Script(
            grades={"dose": 0.95}, answer=f"{WRITTEN} Answer the question in a few sentences on the dose. [1]"
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        degraded=(
            "removed from the answer: “Answer the question in a few sentences on the dose.”: "
            "it repeats words of the prompt",
        ),
    ),
    Scenario(
        name="where nothing that is written holds the evidence is quoted",
        script=Script(grades={"dose": 0.95}, answer="Take 500 mg. [1]"),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified Degraded(answer) "
        "Gathered Verified",
        status=Status.UNSURE,
        prints="The dose of Zeldrine is 5 mg a day. [1]",
        degraded=(
            "removed from the answer: “Take 500 mg.”: 500 is not in the evidence",
            "answer: nothing that was written holds; the evidence is quoted instead",
        ),
        tells=(UNSURE,),
    ),
    Scenario(
        name="after three sentences that fail the evidence is quoted, and the rest is not waited for",
        script=Script(
            grades={"dose": 0.95}, answer=f"Take 6 mg. [1] Take 7 mg. [1] Take 8 mg. [1] {WRITTEN}"
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified Degraded(answer) "
        "Gathered Verified",
        status=Status.UNSURE,
        prints="The dose of Zeldrine is 5 mg a day. [1]",
        degraded=(
            *(f"removed from the answer: “Take {n} mg.”: {n} is not in the evidence" for n in (6, 7, 8)),
            "answer: nothing that was written holds; the evidence is quoted instead",
        ),
    ),
    Scenario(
        name="a model that finds no answer is believed, whatever does not hold beside it",
        script=Script(
            grades={"dose": 0.95}, answer="Ask again in 2030. [1] The documents do not answer this. [1]"
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        degraded=("removed from the answer: “Ask again in 2030.”: 2030 is not in the evidence",),
        exit=3,
    ),
    Scenario(
        name="a number from nowhere takes its sentence away",
        script=Script(grades={"dose": 0.95}, answer=f"{WRITTEN} Take 500 mg. [1]"),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        degraded=("removed from the answer: “Take 500 mg.”: 500 is not in the evidence",),
        tells=("removed from the answer: “Take 500 mg.”: 500 is not in the evidence",),
    ),
    Scenario(
        name="mark: a sentence that the evidence does not bear out is shown, and named",
        options={"grounding": Grounding.MARK},
        script=Script(
            grades={"dose": 0.95}, unfounded={"cures": 0.1}, answer=f"{WRITTEN} A dose a day cures all. [1]"
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Grounded Degraded(grounding) Verified",
        status=Status.UNSURE,
        prints=f"{WRITTEN} A dose a day cures all. [1]\n\n"
        "(Not borne out by the evidence: “A dose a day cures all.”)",
        degraded=("grounding: the evidence does not bear out: “A dose a day cures all.”",),
        tells=(NOT_ALL,),
    ),
    Scenario(
        name="remove: a sentence that the evidence does not bear out is left out, and named",
        options={"grounding": Grounding.REMOVE},
        script=Script(
            grades={"dose": 0.95}, unfounded={"cures": 0.1}, answer=f"{WRITTEN} A dose a day cures all. [1]"
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Grounded Verified",
        status=Status.UNSURE,
        degraded=("removed from the answer: “A dose a day cures all.”: its evidence does not say so",),
        tells=(NOT_ALL, "“A dose a day cures all.”: its evidence does not say so"),
    ),
    Scenario(
        name="remove: where no sentence is borne out there is no answer",
        options={"grounding": Grounding.REMOVE},
        script=Script(grades={"dose": 0.95}, unfounded={"cures": 0.1}, answer="A dose a day cures all. [1]"),
        events="Retrieved Graded Graded Decided(correct) Gathered Grounded Verified",
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        degraded=("removed from the answer: “A dose a day cures all.”: its evidence does not say so",),
        exit=3,
    ),
    Scenario(
        name="off: nobody asks whether the evidence bears it out",
        script=Script(
            grades={"dose": 0.95}, unfounded={"cures": 0.1}, answer=f"{WRITTEN} A dose a day cures all. [1]"
        ),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        prints=f"{WRITTEN} A dose a day cures all. [1]",
    ),
    *(
        Scenario(
            name=f"{how}: what cannot be checked is shown, and named",
            options={"grounding": how},
            script=Script(grades={"dose": 0.95}, unfounded={"": BROKEN}, answer=WRITTEN),
            events="Retrieved Graded Graded Decided(correct) Gathered Degraded(grounding) Grounded Verified",
            degraded=("grounding: 1 of 1 could not be checked: the mask broke",),
        )
        for how in (Grounding.MARK, Grounding.REMOVE)
    ),
    Scenario(
        name="sources that disagree are named, and the answer is unsure",
        documents=TWO_SOURCES,
        options={"contradictions": True},
        script=Script(otherwise=0.95, disagreeing=0.9, answer="It is 9 mg. [1] Or it is 5 mg. [2]"),
        events="Retrieved Graded Graded Decided(correct) Gathered Contradicted Degraded(evidence) Verified",
        status=Status.UNSURE,
        prints="It is 9 mg. [1] Or it is 5 mg. [2]",
        degraded=("evidence: the sources of [1] (/blog.txt) and [2] (/leaflet.txt) disagree",),
        tells=(
            "Unsure: the sources disagree. Check them.",
            "[1] (/blog.txt) and [2] (/leaflet.txt) disagree",
        ),
    ),
    Scenario(
        name="whether sources disagree cannot be had: that is said",
        documents=TWO_SOURCES,
        options={"contradictions": True},
        script=Script(otherwise=0.95, disagreeing=BROKEN, answer="It is 9 mg. [1]"),
        events="Retrieved Graded Graded Decided(correct) Gathered Degraded(contradictions) Verified",
        prints="It is 9 mg. [1]",
        degraded=("contradictions: 1 of 1 could not be checked: the mask broke",),
    ),
    Scenario(
        name="sources that disagree are compared once, also where the answer is quoted instead",
        documents=TWO_SOURCES,
        options={"contradictions": True},
        script=Script(otherwise=0.95, disagreeing=0.9, answer=BROKEN, picks="1, 2"),
        events="Retrieved Graded Graded Decided(correct) Gathered Degraded(answer) Gathered Contradicted "
        "Degraded(evidence) Verified",
        status=Status.UNSURE,
        prints="The dose of Zeldrine is 9 mg. [1]\n\nThe dose of Zeldrine is 5 mg. [2]",
        degraded=(
            "answer: the mask broke; the evidence is quoted instead",
            "evidence: the sources of [1] (/blog.txt) and [2] (/leaflet.txt) disagree",
        ),
    ),
]


@pytest.mark.parametrize("scenario", ANSWERING, ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario, check: Check) -> None:
    check(scenario)
