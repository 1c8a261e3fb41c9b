"""The answer is what its events add up to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from localcrag.events import (
    Bounded,
    Condensed,
    Contradicted,
    Corrected,
    Decided,
    Degraded,
    Delta,
    Event,
    Graded,
    Grounded,
    Measured,
    PageRead,
    PartSettled,
    Suggested,
    Verified,
    WebAsked,
)
from localcrag.types import (
    Action,
    Answer,
    Citation,
    Claim,
    Contradiction,
    Correction,
    Grade,
    Mode,
    PartAnswer,
    Policy,
    Status,
    Tokens,
    Usage,
    WebQuery,
)


@dataclass(slots=True)
class Record:
    """Folds the events of one question into its answer.

    ``action`` is the first decision of the loop: the one that says whether to correct.
    """

    question: str
    mode: Mode
    policy: Policy
    action: Action | None = None
    text: str = ""
    grades: list[Grade] = field(default_factory=list)
    corrections: list[Correction] = field(default_factory=list)
    web: list[WebQuery] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    tokens: Tokens = field(default_factory=Tokens)
    seconds: dict[str, float] = field(default_factory=dict)
    standalone: str = ""
    parts: list[PartAnswer] = field(default_factory=list)
    claims: tuple[Claim, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    suggestions: list[str] = field(default_factory=list)

    def add(self, event: Event) -> None:
        if handler := _HANDLERS.get(type(event)):
            handler(self, event)

    def answer(self, status: Status, citations: tuple[Citation, ...], total: float) -> Answer:
        """The answer as it stands; ``total`` is the wall time of the question in seconds."""
        stages = {
            stage: self.seconds.get(stage, 0.0) for stage in ("retrieve", "grade", "correct", "generate")
        }
        return Answer(
            question=self.question,
            status=status,
            text=self.text.strip(),
            mode=self.mode,
            policy=self.policy,
            action=self.action or Action.INCORRECT,
            citations=citations,
            grades=tuple(self.grades),
            corrections=tuple(self.corrections),
            web=tuple(self.web),
            degraded=tuple(self.degraded),
            usage=Usage(self.tokens, {**stages, **self.seconds, "total": total}),
            standalone=self.standalone,
            parts=tuple(self.parts),
            claims=self.claims,
            contradictions=self.contradictions,
            suggestions=tuple(self.suggestions),
        )

    def _condensed(self, event: Condensed) -> None:
        self.standalone = event.standalone

    def _settled(self, event: PartSettled) -> None:
        self.parts.append(PartAnswer(event.question, event.status, event.action))

    def _grounded(self, event: Grounded) -> None:
        self.claims = event.claims

    def _contradicted(self, event: Contradicted) -> None:
        self.contradictions = event.contradictions

    def _suggested(self, event: Suggested) -> None:
        self.suggestions.append(event.suggestion)

    def _graded(self, event: Graded) -> None:
        self.grades.append(event.grade)

    def _decided(self, event: Decided) -> None:
        self.action = self.action or event.action

    def _corrected(self, event: Corrected) -> None:
        self.corrections.append(Correction(event.kind, event.query, len(event.hits)))

    def _web(self, event: WebAsked) -> None:
        self.web.append(WebQuery(event.query, event.sent, event.results))

    def _page(self, event: PageRead) -> None:
        if event.degraded:
            self.degraded.append(f"web page: {event.url}: {event.degraded}; only its snippet was read")

    def _delta(self, event: Delta) -> None:
        self.text += event.text

    def _verified(self, event: Verified) -> None:
        self.degraded += [f"removed from the answer: {reason}" for reason in event.removed]

    def _degraded(self, event: Degraded) -> None:
        self.degraded.append(f"{event.part}: {event.reason}")

    def _bounded(self, event: Bounded) -> None:
        self.degraded.append(f"agent: stopped at a bound: {event.reason}")

    def _measured(self, event: Measured) -> None:
        self.tokens += event.tokens
        self.seconds[event.stage] = self.seconds.get(event.stage, 0.0) + event.seconds


_HANDLERS: Mapping[type[Event], Callable[[Record, Any], None]] = {
    Condensed: Record._condensed,
    PartSettled: Record._settled,
    Grounded: Record._grounded,
    Contradicted: Record._contradicted,
    Suggested: Record._suggested,
    Bounded: Record._bounded,
    Graded: Record._graded,
    Decided: Record._decided,
    Corrected: Record._corrected,
    WebAsked: Record._web,
    PageRead: Record._page,
    Delta: Record._delta,
    Verified: Record._verified,
    Degraded: Record._degraded,
    Measured: Record._measured,
}
