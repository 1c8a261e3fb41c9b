"""What localcrag does when: every policy on every branch, and every way of correcting.

Read a row as: given these documents and models, these events happen, and the user sees this. The
command line prints what the events say, so each row runs through ``localcrag ask``. What happens where
a part fails is in ``test_scenarios_failing``, what else a question can be in ``test_scenarios_asking``.
"""

from __future__ import annotations

import pytest

from localcrag.types import Policy, Status
from tests.crag.scenario import (
    AMBIGUOUS,
    BROKEN,
    DOSE,
    HYDE,
    INCORRECT,
    LOST,
    NEIGHBOURS,
    NOT_EVEN_THERE,
    NOT_FOUND,
    ONE,
    PHRASINGS,
    REWRITE,
    UNSURE,
    WRITTEN,
    Check,
    Scenario,
    Web,
)
from tests.crag.world import Script

# The two passages found for DOSE hold the words "dose" and "cool". No correction is available here, so
# that where one is asked for, the second decision follows the first at once.
POLICIES = [
    Scenario(
        name="crag: one sure passage is enough",
        script=Script(grades={"dose": 0.95}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        tells=("correct (crag): best grade 0.95 ≥ 0.70", "[1] /leaflet.txt"),
    ),
    Scenario(
        name="crag: an unsure passage is kept, and the answer says so",
        script=Script(grades={"dose": 0.6}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(ambiguous) Decided(ambiguous) Gathered Verified",
        action=AMBIGUOUS,
        status=Status.UNSURE,
        tells=(UNSURE, "ambiguous (crag): best grade 0.60 between 0.30 and 0.70"),
    ),
    Scenario(
        name="crag: an unsure passage is kept though the grader leans to no",
        script=Script(grades={"dose": 0.4}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(ambiguous) Decided(ambiguous) Gathered Verified",
        action=AMBIGUOUS,
        status=Status.UNSURE,
        tells=(UNSURE,),
    ),
    Scenario(
        name="crag: surely irrelevant passages answer nothing",
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        tells=("incorrect (crag): best grade 0.05 < 0.30",),
        exit=3,
    ),
    Scenario(
        name="any-irrelevant: only relevant passages need no correction",
        policy=Policy.ANY_IRRELEVANT,
        script=Script(otherwise=0.95, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        tells=("all 2 passages are relevant",),
    ),
    Scenario(
        name="any-irrelevant: one irrelevant passage asks for correction, the relevant one answers",
        policy=Policy.ANY_IRRELEVANT,
        script=Script(grades={"dose": 0.95}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(ambiguous) Decided(ambiguous) Gathered Verified",
        action=AMBIGUOUS,
        tells=("1 of 2 passages are irrelevant",),
    ),
    Scenario(
        name="any-irrelevant: irrelevant passages alone answer nothing",
        policy=Policy.ANY_IRRELEVANT,
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        exit=3,
    ),
    Scenario(
        name="none-relevant: a yes is a yes, however sure",
        policy=Policy.NONE_RELEVANT,
        script=Script(grades={"dose": 0.51}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        tells=("1 of 2 passages are relevant",),
    ),
    Scenario(
        name="none-relevant: a no is a no, but what is left is the unsure passage, and the answer says so",
        policy=Policy.NONE_RELEVANT,
        script=Script(grades={"dose": 0.49}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect) Gathered Verified",
        action=INCORRECT,
        status=Status.UNSURE,
        tells=("none of 2 passages is relevant", UNSURE),
    ),
    Scenario(
        name="none-relevant: irrelevant passages answer nothing",
        policy=Policy.NONE_RELEVANT,
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        exit=3,
    ),
    Scenario(
        name="score: a high mean is enough",
        policy=Policy.SCORE,
        script=Script(grades={"dose": 0.95, "cool": 0.5}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(correct) Gathered Verified",
        tells=("1 of 2 kept, mean score 0.72 ≥ 0.70",),
    ),
    Scenario(
        name="score: a low mean asks for correction, what reached the threshold answers",
        policy=Policy.SCORE,
        script=Script(grades={"dose": 0.95}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(ambiguous) Decided(ambiguous) Gathered Verified",
        action=AMBIGUOUS,
        tells=("1 of 2 kept, mean score 0.50 < 0.70",),
    ),
    Scenario(
        name="score: where nothing reaches the threshold the unsure passage is left, and the answer says so",
        policy=Policy.SCORE,
        script=Script(grades={"dose": 0.69}, answer=WRITTEN),
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect) Gathered Verified",
        action=INCORRECT,
        status=Status.UNSURE,
        tells=("no score reaches 0.70", UNSURE),
    ),
    Scenario(
        name="score: low scores answer nothing",
        policy=Policy.SCORE,
        events="Retrieved Graded Graded Decided(incorrect) Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        exit=3,
    ),
    *(
        Scenario(
            name=f"{policy}: an empty index answers nothing",
            documents={},
            policy=policy,
            events="Retrieved Decided(incorrect) Decided(incorrect)",
            action=INCORRECT,
            status=Status.NOT_FOUND,
            prints=NOT_FOUND,
            tells=(f"incorrect ({policy}): nothing was found",),
            exit=3,
        )
        for policy in Policy
    ),
    *(
        Scenario(
            name=f"{policy}: where every grade fails nothing is thrown away, and the answer says so",
            policy=policy,
            script=Script(grades={"": BROKEN}, answer=WRITTEN),
            events="Retrieved Graded Degraded(grade) Graded Degraded(grade) "
            "Decided(ambiguous) Decided(ambiguous) Gathered Verified",
            action=AMBIGUOUS,
            status=Status.UNSURE,
            degraded=("grade: /leaflet.txt: the mask broke",) * 2,
            tells=(f"ambiguous ({policy}): no passage could be graded", UNSURE),
        )
        for policy in Policy
    ),
]

# The one passage found for LOST does not answer it; each step of correction alone can.
CORRECTIONS = [
    Scenario(
        name="rewrite: a line of search words finds what the question did not",
        question=LOST,
        options=ONE,
        corrections=(REWRITE,),
        script=Script(grades={"dose": 0.95}, rewrite="patient dose of zeldrine", answer=WRITTEN),
        events="Retrieved Graded Decided(incorrect) Rewritten(rewrite) Retrieved Corrected(rewrite) "
        "Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        tells=("rewrite: patient dose of zeldrine", "rewrite brought 1 new passage"),
    ),
    Scenario(
        name="rewrite: the plain question in a chatty one is what passages are judged by",
        question=f"hi all, sorry to bother you, my boss asked me {DOSE} thanks a lot",
        corrections=(REWRITE,),
        by_evaluator=True,
        evaluator=lambda question, text: 0.95 if question == DOSE and "dose" in text else 0.05,
        script=Script(rewrite=DOSE, answer=WRITTEN),
        events="Retrieved Reranked Graded Graded Decided(incorrect) Condensed Rewritten(rewrite) Retrieved "
        "Reranked Corrected(rewrite) Graded Graded Decided(correct) Refined Gathered Verified",
        action=INCORRECT,
        tells=(f"understood as: {DOSE}",),
    ),
    Scenario(
        name="rewrite: a line that leaves a name out is searched, and does not take the question's place",
        question=f"hi all, I am in Berlin, my boss asked me {DOSE} thanks a lot",
        corrections=(REWRITE,),
        by_evaluator=True,
        evaluator=lambda question, text: 0.95 if question == DOSE and "dose" in text else 0.05,
        script=Script(rewrite=DOSE),
        events="Retrieved Reranked Graded Graded Decided(incorrect) Rewritten(rewrite) Retrieved Reranked "
        "Corrected(rewrite) Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        tells=(f"rewrite: {DOSE}",),
        exit=3,
    ),
    Scenario(
        name="rewrite: a plain question is taken back if what it finds is graded lower",
        question=f"hi all, sorry to bother you, my boss asked me {DOSE} thanks a lot",
        corrections=(REWRITE,),
        by_evaluator=True,
        evaluator=lambda question, text: 0.6 if "boss" in question and "dose" in text else 0.05,
        script=Script(rewrite=DOSE, answer=WRITTEN),
        events="Retrieved Reranked Graded Graded Decided(ambiguous) Condensed Rewritten(rewrite) Retrieved "
        "Reranked Corrected(rewrite) Graded Graded Condensed Graded Graded Decided(ambiguous) Refined "
        "Gathered Verified",
        action=AMBIGUOUS,
        tells=("best grade 0.60",),
    ),
    Scenario(
        name="phrasings: several wordings are searched together",
        question=LOST,
        options=ONE,
        corrections=(PHRASINGS,),
        script=Script(grades={"dose": 0.95}, phrasings=("dose of zeldrine", "the prize"), answer=WRITTEN),
        events="Retrieved Graded Decided(incorrect) Rewritten(phrasings) Retrieved Retrieved "
        "Corrected(phrasings) Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        tells=(
            "phrasings: dose of zeldrine | the prize",
            "searched your documents for “dose of zeldrine”",
            "searched your documents for “the prize”",
        ),
    ),
    Scenario(
        name="hyde: a made-up passage lies near the real one, and is no evidence itself",
        question="which portion should people have?",
        options=ONE,
        corrections=(HYDE,),
        script=Script(
            grades={"dose": 0.95}, hyde="The usual dose of Zeldrine is 10 mg a day.", answer=WRITTEN
        ),
        events="Retrieved Graded Decided(incorrect) Rewritten(hyde) Retrieved Corrected(hyde) "
        "Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        tells=("hyde: The usual dose of Zeldrine is 10 mg a day.",),
    ),
    Scenario(
        name="neighbours: the answer begins where a passage ends",
        question=LOST,
        options=ONE,
        corrections=(NEIGHBOURS,),
        script=Script(grades={"noon": 0.95}, answer="It is 5 mg at noon. [1]"),
        events="Retrieved Graded Decided(incorrect) Corrected(neighbours) "
        "Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="It is 5 mg at noon. [1]",
        tells=("neighbours brought 1 new passage", "[1] /advice.txt"),
    ),
    Scenario(
        name="web: a page answers what no document does, cited by its address",
        question=LOST,
        options=ONE,
        web=Web(),
        script=Script(grades={"On the web": 0.95}, rewrite="patient dose", answer="It is 5 mg. [1]"),
        events="Retrieved Graded Decided(incorrect) Rewritten(web) WebAsked PageRead Corrected(web) "
        "Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="It is 5 mg. [1]",
        sends=("patient dose",),
        tells=(
            "sent to your SearXNG: “patient dose”: 1 result",
            "[1] https://example.org/zeldrine  (from the web)",
        ),
    ),
    Scenario(
        name="the step that brings enough is the last",
        question=LOST,
        options=ONE,
        corrections=(REWRITE, PHRASINGS, HYDE, NEIGHBOURS),
        web=Web(),
        script=Script(grades={"dose": 0.95}, rewrite="patient dose of zeldrine", answer=WRITTEN),
        events="Retrieved Graded Decided(incorrect) Rewritten(rewrite) Retrieved Corrected(rewrite) "
        "Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
    ),
    Scenario(
        name="no step brings the answer: all are tried once, and nothing is made up",
        question=LOST,
        options=ONE,
        corrections=(REWRITE, PHRASINGS, HYDE, NEIGHBOURS),
        web=Web(),
        script=Script(
            rewrite="patient dose of zeldrine",
            phrasings=("cool place", "accident"),
            hyde="A prize was given.",
        ),
        events="Retrieved Graded Decided(incorrect) "
        "Rewritten(rewrite) Retrieved Corrected(rewrite) Graded "
        "Rewritten(phrasings) Retrieved Retrieved Corrected(phrasings) Graded "
        "Rewritten(hyde) Retrieved Corrected(hyde) "
        "Corrected(neighbours) Graded "
        "Rewritten(web) WebAsked PageRead Corrected(web) Graded "
        "Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_EVEN_THERE,
        sends=("patient dose of zeldrine",),
        tells=("incorrect (crag): after correction: best grade 0.05 < 0.30",),
        exit=3,
    ),
    Scenario(
        name="an unsure passage and a correction that is no better: both are kept, the answer is unsure",
        question=LOST,
        options=ONE,
        corrections=(REWRITE,),
        script=Script(
            grades={"patient": 0.6, "dose": 0.5},
            rewrite="patient dose of zeldrine",
            answer="Ask a doctor. [1] The dose is 5 mg a day. [2]",
        ),
        events="Retrieved Graded Decided(ambiguous) Rewritten(rewrite) Retrieved Corrected(rewrite) "
        "Graded Decided(ambiguous) Gathered Verified",
        action=AMBIGUOUS,
        status=Status.UNSURE,
        prints="Ask a doctor. [1] The dose is 5 mg a day. [2]",
        tells=("[1] /advice.txt", "[2] /leaflet.txt", UNSURE),
    ),
    Scenario(
        name="any-irrelevant: irrelevant passages that the correction brings ask for no other",
        question=DOSE,
        policy=Policy.ANY_IRRELEVANT,
        corrections=(REWRITE, PHRASINGS, HYDE, NEIGHBOURS),
        web=Web(),
        script=Script(grades={"dose": 0.95}, rewrite="accident prize doses", answer=WRITTEN),
        events="Retrieved Graded Graded Decided(ambiguous) Rewritten(rewrite) Retrieved Corrected(rewrite) "
        "Graded Graded Decided(ambiguous) Gathered Verified",
        action=AMBIGUOUS,
    ),
    Scenario(
        name="what a small model writes is kept to the question's own words",
        question="please tell me: how much is it to take for the finder prize?",
        corrections=(REWRITE,),
        options=ONE | {"extractive": True},
        script=Script(grades={"finder": 0.95}, search="take finder prize", answer="A prize was given. [1]"),
        events="Retrieved Graded Decided(incorrect) Rewritten(rewrite) Retrieved Corrected(rewrite) "
        "Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="A prize was given. [1]",
        tells=("rewrite: take finder prize",),
    ),
]


@pytest.mark.parametrize("scenario", [*POLICIES, *CORRECTIONS], ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario, check: Check) -> None:
    check(scenario)
