"""One row of the scenario tables: what is given, what happens, and what the user sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from localcrag.cli.main import main
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.state import PipelineOptions, Query
from localcrag.errors import ConstraintError, LocalCragError, WebError
from localcrag.events import (
    Closest,
    Corrected,
    Decided,
    Degraded,
    Delta,
    Event,
    Finished,
    Measured,
    Rewritten,
    answer_of,
)
from localcrag.filters import parse
from localcrag.protocols import Consent
from localcrag.types import (
    Action,
    CorrectionKind,
    Grounding,
    Meta,
    Mode,
    Policy,
    Status,
    Turn,
    WebPolicy,
    WebResult,
)
from tests.crag.world import Script, World
from tests.fakes.llm import ScriptedEvaluator
from tests.fakes.web import FakeFetcher, FakeSearch

if TYPE_CHECKING:
    from localcrag.knowledge_base import AskOptions

DOCUMENTS = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day.\n\nThe rest of Zeldrine is kept in a cool place.",
    "/advice.txt": "How much a patient may take is for the doctor to say.\n\nMost swallow 5 mg at noon.",
    "/history.txt": "Zeldrine was found in 1928 by accident.\n\nThe finder was given a prize.",
}
DOSE = "what is the dose of Zeldrine?"
"""A question that a search answers at once: its two hits are both passages of the leaflet."""
LOST = "how much may a patient take?"
"""A question in other words than the leaflet's: its one hit is the first passage of the advice."""
WRITTEN = "The dose is 5 mg a day. [1]"
NOT_FOUND = "Your documents do not answer this."
NOT_EVEN_THERE = "Neither your documents nor the web pages that were read answer this."
UNSURE = "Unsure: the evidence is weak. Check the sources."
NOT_ALL = "Unsure: not every sentence is borne out by its evidence. Check the sources."
CUT_SHORT = "Cut short: the answer is not complete."
BROKEN = ConstraintError("the mask broke")
AMBIGUOUS, INCORRECT = Action.AMBIGUOUS, Action.INCORRECT
REWRITE, PHRASINGS, HYDE, NEIGHBOURS = (
    CorrectionKind.REWRITE,
    CorrectionKind.PHRASINGS,
    CorrectionKind.HYDE,
    CorrectionKind.NEIGHBOURS,
)
ONE = {"passages": 1}
LONG = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day.\n\nThe rest of Zeldrine is "
    + "long " * 300
    + "cool."
}
"""A second passage that is too long for a small context."""
PAGE = WebResult("https://example.org/zeldrine", "Zeldrine", "A snippet: the dose is 5 mg.")


@dataclass(frozen=True, kw_only=True)
class Web:
    """What a SearXNG would bring, whether it may be asked, and who is asked for consent."""

    policy: WebPolicy = WebPolicy.AUTO
    finds: Sequence[WebResult] | WebError = (PAGE,)
    pages: Mapping[str, str] = field(default_factory=lambda: {PAGE.url: "On the web the dose is 5 mg."})
    consent: Consent | None = None
    unsent: LocalCragError | None = None
    """What keeps a query from being sent."""
    unfetched: LocalCragError | None = None
    """What keeps a page from being fetched."""


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Given these documents and models, a question has these events, and its user sees this.

    ``events`` are the names of all events in order but for the pieces of text, the measurements, and
    the last one, Finished; the kind of a correction, the action of a decision and the part that
    degraded stand in parentheses. ``prints`` is stdout, ``tells`` are lines on stderr, where "(n)" is any
    number, ``sends`` are the lines that reach SearXNG. A scenario that ends in an error has no ``status``.
    """

    name: str
    # given
    question: str = DOSE
    history: tuple[Turn, ...] = ()
    documents: Mapping[str, str] = field(default_factory=lambda: DOCUMENTS)
    metas: Mapping[str, Meta] = field(default_factory=dict)
    filter: str = ""
    script: Script = field(default_factory=Script)
    context: int = 4096
    by_rubric: bool = False
    by_evaluator: bool = False
    evaluator: Callable[[str, str], float] | None = None
    policy: Policy = Policy.CRAG
    mode: Mode = Mode.WRITE
    corrections: tuple[CorrectionKind, ...] = ()
    web: Web | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    # then
    events: str
    action: Action = Action.CORRECT
    status: Status | None = Status.ANSWERED
    prints: str = WRITTEN
    degraded: tuple[str, ...] = ()
    tells: tuple[str, ...] = ()
    sends: tuple[str, ...] = ()
    exit: int = 0

    def world(self) -> World:
        web = self.web or Web(policy=WebPolicy.NEVER)
        world = World(
            self.documents,
            self.script.model(self.context),
            ScriptedEvaluator(self.evaluator) if self.evaluator else None,
            found={"": web.finds},
            pages=web.pages,
            metas=self.metas,
            by_rubric=self.by_rubric,
            by_evaluator=self.by_evaluator,
            options=PipelineOptions(passages=2, phrasings=2, grounding=Grounding.OFF),
        )
        if web.unsent:
            world.search = FakeSearch({}, record=_raising(web.unsent))
        if web.unfetched:
            world.fetcher = FakeFetcher(web.pages, record=_raising(web.unfetched))
        return world.with_options(
            policy=self.policy,
            mode=self.mode,
            corrections=self.corrections,
            web_policy=web.policy,
            consent=web.consent,
            **self.options,
        )

    def run(self, world: World) -> Iterator[Event]:
        """The events of the question, asked in its world as a knowledge base asks it."""
        where = parse(self.filter) if self.filter else None
        return Pipeline(world.adapters, world.options).run(Query.of(self.question, self.history, where))


def _holds(expected: str, text: str) -> bool:
    """Whether the text holds what is expected, where "(n)" stands for any number."""
    return re.search(re.escape(expected).replace(re.escape("(n)"), r"\d+"), text) is not None


@dataclass
class _Asked:
    """What the command line takes for a knowledge base; ``events`` are those of its one question."""

    scenario: Scenario
    world: World
    events: list[Event] = field(default_factory=list)

    def stream(self, _question: str, _options: AskOptions) -> Iterator[Event]:
        for event in self.scenario.run(self.world):
            self.events.append(event)
            yield event


Check = Callable[[Scenario], None]


def checked(
    scenario: Scenario, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ask as a user does, and compare what happened and what was seen."""
    asked = _Asked(scenario, scenario.world())
    monkeypatch.setattr("localcrag.knowledge_base.open", lambda *_, **__: asked)
    code = main(["--home", str(home), "ask", scenario.question])
    seen = capsys.readouterr()
    assert " ".join(story(asked.events)) == scenario.events, seen.err
    assert seen.out.strip() == scenario.prints
    for line in scenario.tells:
        assert _holds(line, seen.err)
    for event in asked.events:
        if isinstance(event, Degraded):
            assert f"degraded: {event.part}: {event.reason}" in seen.err
    assert code == scenario.exit
    assert tuple(asked.world.search.queries) == scenario.sends
    if scenario.status is None:
        assert not any(isinstance(event, Finished) for event in asked.events)
        return
    answer = answer_of(asked.events)
    assert (answer.status, answer.action) == (scenario.status, scenario.action)
    assert len(answer.degraded) == len(scenario.degraded), answer.degraded
    assert all(map(_holds, scenario.degraded, answer.degraded))


def story(events: Sequence[Event]) -> list[str]:
    """The names of events as a scenario tells them; the closest passages have tests of their own."""
    untold = (Measured, Delta, Finished, Closest)
    return [_name(event) for event in events if not isinstance(event, untold)]


def _name(event: Event) -> str:
    name = type(event).__name__
    match event:
        case Rewritten(kind=kind) | Corrected(kind=kind):
            return f"{name}({kind})"
        case Decided(action=action):
            return f"{name}({action})"
        case Degraded(part=part):
            return f"{name}({part.replace(' ', '-')})"
    return name


def _raising(error: LocalCragError) -> Callable[[str, str], None]:
    def record(_kind: str, _target: str) -> None:
        raise error

    return record
