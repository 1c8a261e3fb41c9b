"""The answer, built from the events of its question."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from localcrag.crag.answering.answer_form import moved_marks
from localcrag.crag.state import Outcome
from localcrag.events import (
    Bounded,
    Closest,
    Computed,
    Condensed,
    Contradicted,
    Corrected,
    Decided,
    Degraded,
    Delta,
    Divided,
    Event,
    Filled,
    Graded,
    Grounded,
    Measured,
    PageRead,
    PartSettled,
    Suggested,
    Unread,
    Verified,
    WebAsked,
)
from localcrag.types import (
    Action,
    Answer,
    CitationMark,
    Claim,
    Computation,
    Contradiction,
    Correction,
    Grade,
    Mode,
    PartAnswer,
    Policy,
    Skipped,
    Status,
    StructuredValue,
    Tokens,
    Usage,
    WebQuery,
)


@dataclass(slots=True)
class AnswerBuilder:
    """Collects the events of one question and builds the answer from them.

    ``action`` is the first decision of the loop, which says whether to correct. ``seconds`` is wall time
    by stage; ``degraded`` are the parts of the work that failed, in words. The other fields are those of
    :class:`~localcrag.types.Answer`.
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
    marks: list[CitationMark] = field(default_factory=list)
    unread: tuple[Skipped, ...] = ()
    computed: Computation | None = None
    structured: StructuredValue | None = None
    closest: tuple[Grade, ...] = ()
    _divided: bool = False
    _part_begins: int = 0

    def add(self, event: Event) -> None:
        """Add an event to the answer; an event that the answer keeps nothing of is ignored."""
        match event:
            case Divided():
                self._divided = True
            case Condensed() if not self._divided:
                self.standalone = event.standalone
            case PartSettled():
                self.parts.append(PartAnswer(event.question, event.status, event.action))
                self._part_begins = len(self.grades)
            case Graded():
                self._keep(event.grade)
            case Decided():
                self.action = self.action or event.action
            case Corrected():
                self.corrections.append(Correction(event.kind, event.query, len(event.hits)))
            case WebAsked():
                self.web.append(WebQuery(event.query, event.sent, event.results))
            case PageRead(degraded=reason) if reason:
                self.degraded.append(f"web page: {event.url}: {reason}; only its snippet was read")
            case Delta():
                self.marks += moved_marks(event.marks, len(self.text))
                self.text += event.text
            case Filled():
                self.structured = event.output
                self.text = shown_value(event.output)
            case Verified():
                self.degraded += [f"removed from the answer: {reason}" for reason in event.removed]
            case Grounded():
                self.claims = event.claims
            case Contradicted():
                self.contradictions = event.contradictions
            case Computed():
                self.computed = event.computation
            case Suggested():
                self.suggestions.append(event.suggestion)
            case Unread():
                self.unread = event.skipped
            case Closest():
                self.closest = event.grades
            case Bounded():
                self.degraded.append(f"agent: stopped at a bound: {event.reason}")
            case Degraded():
                self.degraded.append(f"{event.part}: {event.reason}")
            case Measured():
                self.tokens += event.tokens
                self.seconds[event.stage] = self.seconds.get(event.stage, 0.0) + event.seconds

    def _keep(self, grade: Grade) -> None:
        """Keep a grade; the grade of a passage that was judged anew takes the place of its first one."""
        for at in range(self._part_begins, len(self.grades)):
            if self.grades[at].hit.passage.id == grade.hit.passage.id:
                self.grades[at] = grade
                return
        self.grades.append(grade)

    def answer(self, outcome: Outcome, total: float) -> Answer:
        """The answer from the events added so far.

        Args:
            outcome: the status and the citations in which the loop ended.
            total: the wall time of the question in seconds.
        """
        stages = {
            stage: self.seconds.get(stage, 0.0) for stage in ("retrieve", "grade", "correct", "generate")
        }
        return Answer(
            question=self.question,
            status=Status.TRUNCATED if outcome.cut_short else outcome.status,
            text=self.text.strip(),
            mode=self.mode,
            policy=self.policy,
            action=self.action or Action.INCORRECT,
            citations=outcome.citations,
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
            computed=self.computed,
            found=outcome.found,
            marks=tuple(moved_marks(self.marks, len(self.text.lstrip()) - len(self.text))),
            unread=self.unread,
            structured=self.structured,
            closest=self.closest,
        )


def shown_value(output: StructuredValue) -> str:
    """A structured value as the text of its answer: JSON, and a single text as it is."""
    value = output.loaded()
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
