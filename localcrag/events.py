"""What happens, as it happens: the loop and the ingestion are generators of these.

``--trace``, ``--jsonl``, streaming, the final answer and the tests all read the same events, and
a step without an event does not exist. Every event becomes one JSON object through
:func:`to_dict`: ``{"event": NAME, …fields}``.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeVar

from localcrag.types import (
    Action,
    Answer,
    Claim,
    Contradiction,
    CorrectionKind,
    Evidence,
    Grade,
    Hit,
    IngestReport,
    JsonValue,
    PlannedStep,
    Policy,
    Skipped,
    Status,
    Strip,
    Tokens,
)


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""


T = TypeVar("T")
Steps = Generator[Event, None, T]
"""A part of the work: yields events as they happen, returns what the next part needs."""


# ---------------------------------------------------------------------------------- a question


@dataclass(frozen=True, slots=True)
class Condensed(Event):
    """A follow-up was turned into a question that stands alone."""

    question: str
    standalone: str


@dataclass(frozen=True, slots=True)
class Divided(Event):
    """A question of several parts was split; each part is retrieved and graded apart."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartSettled(Event):
    """The evidence for one part of the question is gathered, and this is how the part stands."""

    question: str
    status: Status
    action: Action


@dataclass(frozen=True, slots=True)
class Retrieved(Event):
    """A search of the documents, best hits first."""

    query: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Reranked(Event):
    """The evaluator put the candidates into a new order; the hits that go on to grading."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Graded(Event):
    """One passage was judged."""

    grade: Grade


@dataclass(frozen=True, slots=True)
class Spared(Event):
    """Enough passages are surely relevant: these were not graded."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Decided(Event):
    """The policy chose an action from the grades."""

    action: Action
    policy: Policy
    reason: str


@dataclass(frozen=True, slots=True)
class Rewritten(Event):
    """The question was put another way, for a correcting search."""

    kind: CorrectionKind
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corrected(Event):
    """A correcting search was made; ``hits`` are the passages not seen before."""

    kind: CorrectionKind
    query: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class WebAsked(Event):
    """A one-line query was sent to SearXNG (``sent``), or held back, and ``reason`` says why."""

    query: str
    sent: bool
    results: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PageRead(Event):
    """A page of the web was read; ``degraded`` says why only its snippet was."""

    url: str
    characters: int
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """The agent made a plan, or put another in its place (``revised``)."""

    steps: tuple[PlannedStep, ...]
    revised: bool


@dataclass(frozen=True, slots=True)
class Stepped(Event):
    """The agent takes a step; ``number`` counts from 1 over all plans."""

    number: int
    step: PlannedStep


@dataclass(frozen=True, slots=True)
class Assessed(Event):
    """What was found so far was looked at: is it enough to answer?"""

    enough: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Bounded(Event):
    """The agent stopped at a bound: of steps, of time, or of tokens."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refined(Event):
    """The relevant passages were cut into strips; those kept become the evidence."""

    kept: tuple[Strip, ...]
    dropped: int


@dataclass(frozen=True, slots=True)
class Gathered(Event):
    """The evidence that the answer may cite."""

    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Delta(Event):
    """A piece of the answer's text, as it is generated."""

    text: str


@dataclass(frozen=True, slots=True)
class Verified(Event):
    """The answer was checked against its evidence; ``removed`` is what did not hold, and why."""

    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grounded(Event):
    """Every written sentence was held against the evidence it cites."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Contradicted(Event):
    """Pieces of evidence from different sources disagree."""

    contradictions: tuple[Contradiction, ...]


@dataclass(frozen=True, slots=True)
class Suggested(Event):
    """Something that the user could try, and that was not done unasked."""

    suggestion: str


@dataclass(frozen=True, slots=True)
class Degraded(Event):
    """A part could not do its work and the loop went on without it."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Measured(Event):
    """A stage ended: its wall seconds and the tokens that the models read and wrote in it."""

    stage: str
    seconds: float
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The last event of a question."""

    answer: Answer


# ---------------------------------------------------------------------------------- an ingestion


@dataclass(frozen=True, slots=True)
class Discovered(Event):
    """The sources were listed: how many there are to look at, and their size in bytes."""

    sources: int
    size: int


@dataclass(frozen=True, slots=True)
class Progressed(Event):
    """A source is done with: ``size`` bytes of it, ``outcome`` added, changed, unchanged or skipped."""

    source: str
    size: int
    outcome: str
    passages: int = 0


@dataclass(frozen=True, slots=True)
class SkippedSource(Event):
    """A source was not read, and why."""

    skipped: Skipped


@dataclass(frozen=True, slots=True)
class Optimizing(Event):
    """The search indexes are being brought up to date; ``step`` says which."""

    step: str


@dataclass(frozen=True, slots=True)
class Questioned(Event):
    """Questions were written for passages: ``done`` of ``total`` that had none."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Ingested(Event):
    """The last event of an ingestion."""

    report: IngestReport


# ---------------------------------------------------------------------------------- reading them


def result_of(steps: Steps[T]) -> T:
    """What steps return in the end; their events are passed over."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result


def answer_of(events: Iterable[Event]) -> Answer:
    """The answer that a question's events end in."""
    last = deque(events, maxlen=1).pop()
    assert isinstance(last, Finished)
    return last.answer


def report_of(events: Iterable[Event]) -> IngestReport:
    """The report that an ingestion's events end in."""
    last = deque(events, maxlen=1).pop()
    assert isinstance(last, Ingested)
    return last.report


# ---------------------------------------------------------------------------------- as JSON


def json_name(kind: type[Event]) -> str:
    """The name of an event in JSON: ``WebAsked`` → ``web_asked``."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def to_dict(event: Event) -> dict[str, JsonValue]:
    """``{"event": NAME, …fields}``; a Finished or Ingested event carries the command's ``--json`` object."""
    if isinstance(event, Finished):
        return {"event": json_name(Finished), **event.answer.to_dict()}
    if isinstance(event, Ingested):
        return {"event": json_name(Ingested), **event.report.to_dict()}
    return {
        "event": json_name(type(event)),
        **{f.name: _plain(getattr(event, f.name)) for f in fields(event)},
    }


def _plain(value: object) -> JsonValue:
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"no JSON form for {type(value).__name__}")
