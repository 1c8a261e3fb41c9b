"""JSON Schemas of what localcrag prints: the answer of ``ask --json``, and the events of ``--jsonl``.

The shapes of :meth:`localcrag.Answer.to_dict` and :func:`localcrag.events.to_dict` as types, from which
msgspec makes the schemas. A test holds real answers and events against them.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any, Literal, TypedDict

from localcrag import events
from localcrag.types import (
    Action,
    Citation,
    CitationMark,
    Claim,
    Computation,
    Contradiction,
    Correction,
    FieldResult,
    Mode,
    Origin,
    PartAnswer,
    Policy,
    Skipped,
    Status,
    Verdict,
    WebQuery,
)

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class GradeObject(TypedDict):
    """A grader's judgement of one passage; ``confidence`` is P(it helps), null for a grade that failed."""

    source: str
    page: int | None
    verdict: Verdict
    confidence: float | None
    origin: Origin
    reason: str


class ClosestObject(TypedDict):
    """A passage near to an answer that was not found; ``confidence`` is P(it helps), null if it failed."""

    source: str
    title: str
    page: int | None
    sheet: str
    rows: tuple[int, int] | None
    start: int
    end: int
    text: str
    origin: Origin
    kb: str
    confidence: float | None


class UsageObject(TypedDict):
    """What the answer cost: tokens of all models, wall seconds by stage and in ``total``."""

    tokens_evaluated: int
    tokens_generated: int
    seconds: dict[str, float]


class AnswerObject(TypedDict):
    """The object of ``localcrag ask --json`` and of ``Answer.to_dict()``; fields may be added, these stay."""

    question: str
    status: Status
    answer: str
    mode: Mode
    citations: list[Citation]
    action: Action
    policy: Policy
    grades: list[GradeObject]
    corrections: list[Correction]
    web: list[WebQuery]
    degraded: list[str]
    usage: UsageObject
    standalone: str
    parts: list[PartAnswer]
    claims: list[Claim]
    contradictions: list[Contradiction]
    suggestions: list[str]
    marks: list[CitationMark]
    unread: list[Skipped]
    closest: list[ClosestObject]
    computed: Computation | None
    value: Any
    fields: list[FieldResult]
    unsupported: list[str]


class LeftOutObject(TypedDict):
    """A page of which ``share`` of the characters, from 0 to 1, were taken for navigation."""

    source: str
    share: float


class MovedObject(TypedDict):
    """A document whose file was at ``former`` and is at ``source`` now."""

    former: str
    source: str


class IngestObject(TypedDict):
    """The object of ``localcrag ingest --json`` and of ``IngestReport.to_dict()``."""

    kb: str
    added: int
    changed: int
    unchanged: int
    removed: int
    passages: int
    skipped: list[Skipped]
    seconds: float
    questions: int
    left_out: list[LeftOutObject]
    moved: list[MovedObject]
    gone: list[str]
    not_english: int


class FinishedObject(AnswerObject):
    """The last event of a question: the answer."""

    event: Literal["finished"]


class IngestedObject(IngestObject):
    """The last event of an ingestion: its report."""

    event: Literal["ingested"]


def answer_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of ``Answer.to_dict()``, which is what ``ask --json`` prints."""
    import msgspec

    return {"$schema": DIALECT, "title": "Answer", **msgspec.json.schema(AnswerObject)}


def event_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one event, which is one line of ``--jsonl``."""
    import msgspec

    whole = {events.Finished: FinishedObject, events.Ingested: IngestedObject}
    kinds = list(_event_types())
    shapes, components = msgspec.json.schema_components(
        [whole.get(kind, kind) for kind in kinds], ref_template="#/$defs/{name}"
    )
    for kind in kinds:
        if kind not in whole:
            _name_event(components[kind.__name__], events.json_name(kind))
    return {"$schema": DIALECT, "title": "Event", "anyOf": list(shapes), "$defs": components}


def _event_types() -> Iterator[type[events.Event]]:
    """Every event, in the order in which they are defined."""
    found = [kind for _, kind in inspect.getmembers(events, inspect.isclass)]
    ours = [kind for kind in found if issubclass(kind, events.Event) and kind is not events.Event]
    yield from sorted(ours, key=lambda kind: inspect.getsourcelines(kind)[1])


def _name_event(shape: dict[str, Any], name: str) -> None:
    """Add the field that tells events apart, and ask for all of them: none is ever left out."""
    shape["properties"] = {"event": {"const": name}, **shape["properties"]}
    shape["required"] = list(shape["properties"])
