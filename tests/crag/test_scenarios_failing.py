"""What localcrag does where a part fails: it goes on without it, says so, and never makes anything up.

The rows are read as in ``test_scenarios``. ``degraded`` are the words of the answer that say what was
missing, one for each failure.
"""

from __future__ import annotations

import pytest

from localcrag.errors import (
    ContextOverflow,
    EnginesFailed,
    JsonDisabled,
    LedgerError,
    OfflineError,
    RateLimited,
    ServerDown,
    WebError,
)
from localcrag.types import (
    Policy,
    RubricLabel,
    Status,
    StripKind,
    WebPolicy,
)
from tests.crag.scenario import (
    BROKEN,
    HYDE,
    INCORRECT,
    LONG,
    LOST,
    NEIGHBOURS,
    NOT_FOUND,
    ONE,
    PAGE,
    PHRASINGS,
    REWRITE,
    WRITTEN,
    Check,
    Scenario,
    Web,
)
from tests.crag.world import Script

TOO_LONG = ContextOverflow("too long")

GRADING = [
    Scenario(
        name="a grade that fails is neither yes nor no",
        script=Script(grades={"dose": 0.95, "cool": BROKEN}, answer=WRITTEN),
        events="Retrieved Graded Graded Degraded(grade) Decided(correct) Gathered Verified",
        degraded=("grade: /leaflet.txt: the mask broke",),
    ),
    Scenario(
        name="a failed grade does not ask for correction under any-irrelevant",
        policy=Policy.ANY_IRRELEVANT,
        script=Script(grades={"dose": 0.95, "cool": BROKEN}, answer=WRITTEN),
        events="Retrieved Graded Graded Degraded(grade) Decided(correct) Gathered Verified",
        degraded=("grade: /leaflet.txt: the mask broke",),
    ),
    Scenario(
        name="a label that cannot be decoded is a failed grade",
        by_rubric=True,
        policy=Policy.SCORE,
        script=Script(labels={"dose": RubricLabel.PERFECT, "cool": BROKEN}, answer=WRITTEN),
        events="Retrieved Graded Graded Degraded(grade) Decided(correct) Gathered Verified",
        degraded=("grade: /leaflet.txt: the mask broke",),
    ),
    *(
        Scenario(
            name=f"a passage too long for the context is a failed grade{' of the rubric' if rubric else ''}",
            by_rubric=rubric,
            documents=LONG,
            context=300,
            options={"answer_tokens": 100},
            script=Script(grades={"dose": 0.95}, labels={"dose": RubricLabel.PERFECT}, answer=WRITTEN),
            events="Retrieved Graded Graded Degraded(grade) Decided(correct) Gathered Verified",
            degraded=("grade: /leaflet.txt: (n) tokens do not fit the context of 300",),
        )
        for rubric in (False, True)
    ),
    Scenario(
        name="a strip that cannot be judged is left out",
        documents={"/leaflet.txt": "The dose of Zeldrine is 5 mg a day. Another sentence stands here, too."},
        options={"strips": StripKind.SENTENCE},
        script=Script(grades={"dose": 0.95, "Another": BROKEN}, answer=WRITTEN),
        events="Retrieved Graded Decided(correct) Degraded(refine) Refined Gathered Verified",
        degraded=("refine: 1 strips could not be judged: the mask broke",),
        tells=("[1] /leaflet.txt\n    characters 0–35",),
    ),
]

CORRECTING = [
    Scenario(
        name="no line can be rewritten: the next step is taken",
        question=LOST,
        options=ONE,
        corrections=(REWRITE, NEIGHBOURS),
        script=Script(grades={"noon": 0.95}, rewrite=BROKEN, answer="It is 5 mg at noon. [1]"),
        events="Retrieved Graded Decided(incorrect) Degraded(rewrite) Corrected(neighbours) Graded "
        "Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="It is 5 mg at noon. [1]",
        degraded=("rewrite: the mask broke",),
    ),
    Scenario(
        name="no other wording can be had: the next step is taken",
        question=LOST,
        options=ONE,
        corrections=(PHRASINGS, NEIGHBOURS),
        script=Script(grades={"noon": 0.95}, phrasings=(BROKEN,), answer="It is 5 mg at noon. [1]"),
        events="Retrieved Graded Decided(incorrect) Degraded(phrasings) Rewritten(phrasings) "
        "Corrected(neighbours) Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="It is 5 mg at noon. [1]",
        degraded=("phrasings: the mask broke",),
    ),
    Scenario(
        name="one wording of two can be had: it is searched for",
        question=LOST,
        options=ONE,
        corrections=(PHRASINGS,),
        script=Script(grades={"dose": 0.95}, phrasings=("dose of zeldrine", BROKEN), answer=WRITTEN),
        events="Retrieved Graded Decided(incorrect) Degraded(phrasings) Rewritten(phrasings) Retrieved "
        "Corrected(phrasings) Graded Decided(correct) Gathered Verified",
        action=INCORRECT,
        degraded=("phrasings: the mask broke",),
    ),
    Scenario(
        name="no passage can be made up: the next step is taken",
        question=LOST,
        options=ONE,
        corrections=(HYDE, NEIGHBOURS),
        script=Script(grades={"noon": 0.95}, hyde=BROKEN, answer="It is 5 mg at noon. [1]"),
        events="Retrieved Graded Decided(incorrect) Degraded(hyde) Corrected(neighbours) Graded "
        "Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="It is 5 mg at noon. [1]",
        degraded=("hyde: the mask broke",),
    ),
    *(
        Scenario(
            name=f"every local step fails: nothing is found, and all of it is said: {error}",
            question=LOST,
            options=ONE,
            corrections=(REWRITE, PHRASINGS, HYDE),
            script=Script(rewrite=error, phrasings=(error,), hyde=error),
            events="Retrieved Graded Decided(incorrect) Degraded(rewrite) Degraded(phrasings) "
            "Rewritten(phrasings) Degraded(hyde) Decided(incorrect)",
            action=INCORRECT,
            status=Status.NOT_FOUND,
            prints=NOT_FOUND,
            degraded=(f"rewrite: {error}", f"phrasings: {error}", f"hyde: {error}"),
            exit=3,
        )
        for error in (BROKEN, TOO_LONG)
    ),
    *(
        Scenario(
            name=f"a question that cannot be split is asked as it is: {error}",
            question="what is the dose of Zeldrine and when was Zeldrine found?",
            script=Script(parts=error, grades={"dose": 0.95}, answer=WRITTEN),
            events="Degraded(split) Retrieved Graded Graded Decided(correct) Gathered Verified",
            degraded=(f"split: {error}",),
        )
        for error in (BROKEN, TOO_LONG)
    ),
]


def web(name: str, events: str, web: Web, *, degraded: str = "", tell: str = "", sends: str = "") -> Scenario:
    """A question that no document answers, and a web that does not either."""
    return Scenario(
        name=name,
        question=LOST,
        options=ONE,
        web=web,
        script=Script(rewrite="patient dose"),
        events=f"Retrieved Graded Decided(incorrect) {events}Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        degraded=(degraded,) if degraded else (),
        tells=(tell,),
        sends=(sends,) if sends else (),
        exit=3,
    )


def failing(error: WebError) -> Scenario:
    return web(
        f"a SearXNG that fails is named: {error}",
        "Rewritten(web) WebAsked Degraded(web-search) ",
        Web(finds=error),
        degraded=f"web search: {error}",
        tell="sent to your SearXNG: “patient dose”: 0 results",
        sends="patient dose",
    )


WEB = [
    web("the web is never asked unless it is allowed", "", Web(policy=WebPolicy.NEVER)),
    web(
        "ask, and nobody there to be asked: nothing is sent",
        "Rewritten(web) WebAsked Degraded(web-search) ",
        Web(policy=WebPolicy.ASK),
        degraded="web search: nobody to ask for consent",
        tell="not sent to the web (nobody to ask for consent): “patient dose”",
    ),
    web(
        "ask, and the user says no: nothing is sent",
        "Rewritten(web) WebAsked ",
        Web(policy=WebPolicy.ASK, consent=lambda _: None),
        tell="not sent to the web (not allowed): “patient dose”",
    ),
    web(
        "ask, and the user leaves no word of the line: nothing is sent",
        "Rewritten(web) WebAsked Degraded(web-search) ",
        Web(policy=WebPolicy.ASK, consent=lambda _: "!!"),
        degraded="web search: there is no word to search the web for",
        tell="not sent to the web (there is no word to search the web for): “!!”",
    ),
    web(
        "ask, and the user puts another line in its place: that one is sent",
        "Rewritten(web) WebAsked Corrected(web) ",
        Web(policy=WebPolicy.ASK, consent=lambda _: "my own words", finds=()),
        tell="sent to your SearXNG: “my own words”: 0 results",
        sends="my own words",
    ),
    failing(ServerDown("nothing answers at http://127.0.0.1:8888")),
    failing(JsonDisabled("SearXNG does not give JSON")),
    failing(RateLimited("SearXNG has had enough of us")),
    failing(EnginesFailed("no engine of SearXNG answered")),
    web(
        "what cannot be written into the ledger does not leave",
        "Rewritten(web) WebAsked Degraded(web-search) ",
        Web(unsent=LedgerError("the ledger cannot be written")),
        degraded="web search: the ledger cannot be written",
        tell="not sent to the web (the ledger cannot be written): “patient dose”",
    ),
    web(
        "offline nothing leaves",
        "Rewritten(web) WebAsked Degraded(web-search) ",
        Web(unsent=OfflineError("localcrag is offline")),
        degraded="web search: localcrag is offline",
        tell="not sent to the web (localcrag is offline): “patient dose”",
    ),
    web(
        "the web has nothing",
        "Rewritten(web) WebAsked Corrected(web) ",
        Web(finds=()),
        tell="sent to your SearXNG: “patient dose”: 0 results",
        sends="patient dose",
    ),
    web(
        "the ledger fails when a page is to be fetched: no page is",
        "Rewritten(web) WebAsked Degraded(web-page) Corrected(web) ",
        Web(unfetched=LedgerError("the ledger cannot be written")),
        degraded="web page: the ledger cannot be written",
        tell="sent to your SearXNG: “patient dose”: 1 result",
        sends="patient dose",
    ),
    Scenario(
        name="a page that cannot be had is read by its snippet, and that is said",
        question=LOST,
        options=ONE,
        web=Web(pages={}),
        script=Script(grades={"snippet": 0.95}, rewrite="patient dose", answer="It is 5 mg. [1]"),
        events="Retrieved Graded Decided(incorrect) Rewritten(web) WebAsked PageRead Corrected(web) Graded "
        "Decided(correct) Gathered Verified",
        action=INCORRECT,
        prints="It is 5 mg. [1]",
        degraded=(f"web page: {PAGE.url}: the server answered with status 404; only its snippet was read",),
        sends=("patient dose",),
        tells=(f"read {PAGE.url} (the server answered with status 404; its snippet)",),
    ),
    Scenario(
        name="where no line can be rewritten the user's own question is sent",
        question=LOST,
        options=ONE,
        web=Web(finds=()),
        script=Script(rewrite=BROKEN),
        events="Retrieved Graded Decided(incorrect) Degraded(rewrite) Rewritten(web) WebAsked "
        "Corrected(web) Decided(incorrect)",
        action=INCORRECT,
        status=Status.NOT_FOUND,
        prints=NOT_FOUND,
        degraded=("rewrite: the mask broke",),
        tells=(f"sent to your SearXNG: “{LOST}”: 0 results",),
        sends=(LOST,),
        exit=3,
    ),
]


@pytest.mark.parametrize("scenario", [*GRADING, *CORRECTING, *WEB], ids=lambda scenario: scenario.name)
def test_scenario(scenario: Scenario, check: Check) -> None:
    check(scenario)
