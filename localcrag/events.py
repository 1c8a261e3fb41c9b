"""The events of a question and of an ingestion, which are generators of them.

``--trace``, ``--jsonl``, streaming, the final answer and the tests all read the same events, and every step
emits one. :func:`to_dict` makes an event into one JSON object: ``{"event": NAME, …fields}``.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TypeVar

from localcrag.types import (
    Action,
    Answer,
    CitationMark,
    Claim,
    Computation,
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
    StructuredValue,
    Tokens,
)


@dataclass(frozen=True, slots=True)
class Event:
    """The base of all events."""


T = TypeVar("T")
Steps = Generator[Event, None, T]
"""The type of one part of the work: a generator that yields events and returns a result."""


# ---------------------------------------------------------------------------------- a question


@dataclass(frozen=True, slots=True)
class Condensed(Event):
    """The question was rewritten as it is understood: a follow-up by itself, or a chatty one plainly."""

    question: str
    standalone: str


@dataclass(frozen=True, slots=True)
class Divided(Event):
    """A question was divided into several parts, which are retrieved and graded separately."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartSettled(Event):
    """The evidence for one part of a divided question was gathered; ``status`` is that of it by itself."""

    question: str
    status: Status
    action: Action


@dataclass(frozen=True, slots=True)
class Retrieved(Event):
    """The documents were searched for ``query``; ``hits`` are the passages found, best first."""

    query: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Computed(Event):
    """The question was computed over the rows of a table by code; no passage is graded."""

    computation: Computation


@dataclass(frozen=True, slots=True)
class Reranked(Event):
    """The evaluator reranked the hits of a search; ``hits`` are those that go on to grading, best first."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Graded(Event):
    """A passage was graded."""

    grade: Grade


@dataclass(frozen=True, slots=True)
class Spared(Event):
    """Enough passages are surely relevant, so that ``hits`` were not graded."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class PassagesRead(Event):
    """The language model read so many passages whole; ``probability`` is its P(they answer the question)."""

    passages: int
    probability: float


@dataclass(frozen=True, slots=True)
class Decided(Event):
    """The policy chose an action from the grades so far."""

    action: Action
    policy: Policy
    reason: str


@dataclass(frozen=True, slots=True)
class Rewritten(Event):
    """The question was rewritten for a correction; ``queries`` are the new lines, none if all were tried."""

    kind: CorrectionKind
    queries: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Corrected(Event):
    """A correction was made; ``hits`` are the passages that no earlier search had found."""

    kind: CorrectionKind
    query: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class WebAsked(Event):
    """A query for SearXNG was sent, or was not (``sent``); ``reason`` says why not, or how it failed."""

    query: str
    sent: bool
    results: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PageRead(Event):
    """A web page was read; if only its snippet could be read, ``degraded`` says why."""

    url: str
    characters: int
    degraded: str = ""


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """The agent made a plan, or replaced it by another (``revised``)."""

    steps: tuple[PlannedStep, ...]
    revised: bool


@dataclass(frozen=True, slots=True)
class Stepped(Event):
    """The agent begins a step of its plan; ``number`` counts from 1 over all plans."""

    number: int
    step: PlannedStep


@dataclass(frozen=True, slots=True)
class Assessed(Event):
    """The agent assessed whether the passages found so far are enough to answer."""

    enough: bool
    reason: str


@dataclass(frozen=True, slots=True)
class Bounded(Event):
    """The agent stopped at a bound of steps, seconds or tokens, which ``reason`` names."""

    reason: str


@dataclass(frozen=True, slots=True)
class Refined(Event):
    """The relevant passages were cut into strips; ``kept`` become evidence, ``dropped`` counts the others."""

    kept: tuple[Strip, ...]
    dropped: int


@dataclass(frozen=True, slots=True)
class Gathered(Event):
    """The evidence that the answer may cite was chosen and numbered."""

    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Delta(Event):
    """A further piece of the answer's text is ready; ``marks`` are the places of its citations in it."""

    text: str
    marks: tuple[CitationMark, ...] = ()


@dataclass(frozen=True, slots=True)
class Filled(Event):
    """The fields of a structured answer were filled; ``output`` is its value, and where each part stands."""

    output: StructuredValue


@dataclass(frozen=True, slots=True)
class Verified(Event):
    """The answer was checked against its evidence; ``removed`` says what failed the check, and why."""

    removed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grounded(Event):
    """Every sentence of the answer was checked for whether the evidence that it cites supports it."""

    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Contradicted(Event):
    """Pieces of evidence from different sources were judged to disagree."""

    contradictions: tuple[Contradiction, ...]


@dataclass(frozen=True, slots=True)
class Suggested(Event):
    """Passages that the filter excludes would help; ``suggestion`` says which filter the user could try."""

    suggestion: str


@dataclass(frozen=True, slots=True)
class Unread(Event):
    """Nothing was found, and ``documents`` were skipped when they were ingested; ``note`` says it in words.

    ``skipped`` are the first of them.
    """

    documents: int
    note: str
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class Closest(Event):
    """Nothing was found; ``grades`` are those of the passages that come nearest, which are no evidence."""

    grades: tuple[Grade, ...]


@dataclass(frozen=True, slots=True)
class Degraded(Event):
    """A part of the work failed, and the work went on without it; ``reason`` says why."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Measured(Event):
    """A stage ended; ``seconds`` is its wall time, ``tokens`` count what the models read and wrote in it."""

    stage: str
    seconds: float
    tokens: Tokens


@dataclass(frozen=True, slots=True)
class Finished(Event):
    """The question was answered; this is the last event of a question."""

    answer: Answer


# ---------------------------------------------------------------------------------- an ingestion


@dataclass(frozen=True, slots=True)
class Discovered(Event):
    """The sources of an ingestion were listed; ``sources`` is their number, ``size`` their bytes together."""

    sources: int
    size: int


@dataclass(frozen=True, slots=True)
class Progressed(Event):
    """A source of ``size`` bytes was processed; ``outcome`` is added, changed, unchanged or skipped."""

    source: str
    size: int
    outcome: str
    passages: int = 0


@dataclass(frozen=True, slots=True)
class MovedSource(Event):
    """The file of a document is at ``source`` now, and was at ``former``; its passages are kept."""

    source: str
    former: str


@dataclass(frozen=True, slots=True)
class Processing(Event):
    """A step that takes a second or more is at a source; ``step`` is reading or embedding.

    The first embedding is always announced, since the model is loaded for it.
    """

    step: str
    source: str


@dataclass(frozen=True, slots=True)
class SkippedSource(Event):
    """A source was skipped; ``skipped`` names it and the reason."""

    skipped: Skipped


@dataclass(frozen=True, slots=True)
class Optimizing(Event):
    """The update of a search index, which ``step`` names, begins."""

    step: str


@dataclass(frozen=True, slots=True)
class Advanced(Event):
    """A long step has done ``done`` of ``total``; ``step`` is distilling (tokens) or refining (passages)."""

    step: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Questioned(Event):
    """Questions were written for ``done`` of the ``total`` passages that had none."""

    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Ingested(Event):
    """The documents were ingested; this is the last event of an ingestion."""

    report: IngestReport


# ---------------------------------------------------------------------------------- reading them


def result_of(steps: Steps[T]) -> T:
    """Run steps to their end, and return their result; their events are dropped."""
    while True:
        try:
            next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result


def filtered(steps: Steps[T], keep: Callable[[Event], bool]) -> Steps[T]:
    """The steps with those of their events for which ``keep`` holds; it is asked about each, in order."""
    while True:
        try:
            event = next(steps)
        except StopIteration as stop:
            result: T = stop.value
            return result
        if keep(event):
            yield event


def observed(steps: Steps[T], see: Callable[[Event], object]) -> Steps[T]:
    """The steps, each event of which is shown to ``see`` before it is passed on."""

    def seen(event: Event) -> bool:
        see(event)
        return True

    return filtered(steps, seen)


def answer_of(events: Iterable[Event]) -> Answer:
    """The answer in the last of a question's events."""
    last = deque(events, maxlen=1).pop()
    assert isinstance(last, Finished)
    return last.answer


def report_of(events: Iterable[Event]) -> IngestReport:
    """The report in the last of an ingestion's events."""
    last = deque(events, maxlen=1).pop()
    assert isinstance(last, Ingested)
    return last.report


# ---------------------------------------------------------------------------------- as JSON


def json_name(kind: type[Event]) -> str:
    """The name of an event in JSON, for example ``web_asked`` for WebAsked."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def to_dict(event: Event) -> dict[str, JsonValue]:
    """The JSON object of an event, ``{"event": NAME, …fields}``.

    The fields of a Finished or Ingested event are those that the command prints with ``--json``.
    """
    if isinstance(event, Finished):
        return {"event": json_name(Finished), **event.answer.to_dict()}
    if isinstance(event, Ingested):
        return {"event": json_name(Ingested), **event.report.to_dict()}
    return {
        "event": json_name(type(event)),
        **{f.name: json_value(getattr(event, f.name)) for f in fields(event)},
    }


def json_value(value: object) -> JsonValue:
    """A value in JSON: a dataclass as an object of its fields. Raises TypeError if it has no form in JSON."""
    if is_dataclass(value):
        return {f.name: json_value(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [json_value(item) for item in value]
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TypeError(f"no JSON form for {type(value).__name__}")
