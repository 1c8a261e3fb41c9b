"""A line for each step of a question or an ingestion, for whoever waits and sees no trace."""

from __future__ import annotations

from localcrag.events import (
    Assessed,
    Computed,
    Condensed,
    Corrected,
    Decided,
    Degraded,
    Discovered,
    Divided,
    Event,
    Gathered,
    Graded,
    Optimizing,
    PageRead,
    Processing,
    Progressed,
    Retrieved,
    Rewritten,
    Stepped,
    Unread,
    Verified,
    WebAsked,
)


def step_message(event: Event) -> str:
    """The line that says what an event means; "" for an event that needs none."""
    match event:
        case Condensed() | Divided() | Stepped() | Assessed() | Verified():
            return _understanding(event)
        case Retrieved():
            return f"searched for “{event.query}”: {_count(len(event.hits), 'passage')}"
        case Computed(computation=found):
            return f"computed over a table: {found.operation} {found.value}"
        case Graded(grade=grade):
            return f"graded a passage of {grade.hit.passage.source}: {grade.verdict}"
        case Decided():
            return f"{event.action}: {event.reason}"
        case Rewritten():
            return f"{event.kind}: {' | '.join(event.queries) or 'nothing new to try'}"
        case Corrected():
            return f"{event.kind} brought {_count(len(event.hits), 'new passage')}"
        case WebAsked():
            return f"{'sent to' if event.sent else 'not sent to'} the web: “{event.query}”"
        case PageRead():
            return f"read {event.url}"
        case Gathered():
            return f"chose {_count(len(event.evidence), 'piece')} of evidence; writing the answer"
        case Degraded():
            return f"{event.part} failed: {event.reason}"
        case Unread():
            return event.note
    return _ingestion(event)


def _understanding(event: Condensed | Divided | Stepped | Assessed | Verified) -> str:
    """The line for a step that is about the question, the plan or the answer."""
    match event:
        case Condensed():
            return f"understood as: {event.standalone}"
        case Divided():
            return f"{len(event.parts)} parts: {' | '.join(event.parts)}"
        case Stepped():
            return f"step {event.number}: {event.step.tool} {event.step.query}".rstrip()
        case Assessed():
            return f"{'enough' if event.enough else 'not enough yet'}: {event.reason}"
        case Verified():
            return "checked the citations of the answer"


def _ingestion(event: Event) -> str:
    """The line for a step of an ingestion; "" for any other event."""
    match event:
        case Discovered():
            return f"found {_count(event.sources, 'document')}"
        case Progressed():
            return f"{event.outcome}: {event.source}"
        case Processing():
            return f"{event.step} {event.source}"
        case Optimizing():
            return f"updating the {event.step}"
    return ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
