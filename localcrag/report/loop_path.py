"""The way that the loop went for one question, as steps: its events, folded into what a picture shows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from localcrag.events import (
    Assessed,
    Bounded,
    Computed,
    Condensed,
    Contradicted,
    Corrected,
    Decided,
    Degraded,
    Divided,
    Event,
    Finished,
    Graded,
    Grounded,
    PageRead,
    PartSettled,
    PassagesRead,
    Planned,
    Refined,
    Retrieved,
    Rewritten,
    Spared,
    Stepped,
    Verified,
    WebAsked,
)
from localcrag.types import Action, CorrectionKind, Grade, Status, Verdict


class StepKind(StrEnum):
    """The kind of a step, which gives it its shape."""

    STEP = "step"
    DECISION = "decision"
    ANSWER = "answer"


class Tone(StrEnum):
    """Whether a step went well, for its colour; the words of the step say it too."""

    PLAIN = "plain"
    GOOD = "good"
    UNSURE = "unsure"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class PathStep:
    """One step; ``aside`` puts it on the branch of corrections, and ``grades`` are those given at it."""

    title: str
    detail: str = ""
    kind: StepKind = StepKind.STEP
    tone: Tone = Tone.PLAIN
    aside: bool = False
    grades: tuple[Grade, ...] = ()


STATUS_WORDS = {
    Status.ANSWERED: "Answered",
    Status.UNSURE: "Answered, but unsure",
    Status.NOT_FOUND: "Not found in the documents",
    Status.TRUNCATED: "Cut short",
}
STATUS_TONES = {
    Status.ANSWERED: Tone.GOOD,
    Status.UNSURE: Tone.UNSURE,
    Status.NOT_FOUND: Tone.PLAIN,
    Status.TRUNCATED: Tone.UNSURE,
}
ACTION_WORDS = {
    Action.CORRECT: "The evidence is good",
    Action.AMBIGUOUS: "The evidence is doubtful",
    Action.INCORRECT: "The evidence does not help",
}
ACTION_TONES = {Action.CORRECT: Tone.GOOD, Action.AMBIGUOUS: Tone.UNSURE, Action.INCORRECT: Tone.BAD}


CORRECTION_WORDS = {
    CorrectionKind.REWRITE: "another wording",
    CorrectionKind.PHRASINGS: "other phrasings",
    CorrectionKind.HYDE: "the words of an imagined answer",
    CorrectionKind.NEIGHBOURS: "the passages beside the best ones",
    CorrectionKind.WEB: "the web",
}


def loop_path(events: Iterable[Event]) -> list[PathStep]:
    """The steps of a question, from its events."""
    path = _Path()
    for event in events:
        path.add(event)
    return path.steps


@dataclass(slots=True)
class _Path:
    """The steps so far; ``correcting`` says that the last decision called for corrections."""

    steps: list[PathStep] = field(default_factory=list)
    correcting: bool = False

    def add(self, event: Event) -> None:
        match event:
            case Graded():
                self._grade(event.grade)
            case Spared(hits=hits):
                self._note(f"{_count(len(hits), 'passage')} not graded: enough is surely relevant")
            case PassagesRead(passages=number, probability=p):
                self._note(f"the chat model read {_count(number, 'passage')} whole: P(they answer) = {p:.2f}")
            case Decided():
                self.correcting = event.action is not Action.CORRECT
                words, tone = ACTION_WORDS[event.action], ACTION_TONES[event.action]
                self._step(PathStep(words, event.reason, StepKind.DECISION, tone))
            case Rewritten() | Corrected() | WebAsked() | PageRead():
                self._correct(event)
            case Planned() | Stepped() | Assessed() | Bounded():
                self._plan(event)
            case Refined() | Verified() | Grounded() | Contradicted():
                self._answer(event)
            case Finished(answer=answer):
                self.correcting = False
                words, tone = STATUS_WORDS[answer.status], STATUS_TONES[answer.status]
                cited = _count(len(answer.citations), "citation") if answer.citations else ""
                self._step(PathStep(words, cited, StepKind.ANSWER, tone))
            case _:
                self._understand(event)

    def _understand(self, event: Event) -> None:
        """Add what was done with the question, and searches for it; other events add nothing."""
        match event:
            case Condensed():
                self._step(PathStep("Understood the question", f"“{event.standalone}”"))
            case Divided():
                parts = " · ".join(event.parts)
                self._step(PathStep(f"Divided it into {len(event.parts)} questions", parts))
            case PartSettled():
                self.correcting = False
                words = f"{STATUS_WORDS[event.status]}: “{event.question}”"
                self._step(PathStep(words, tone=STATUS_TONES[event.status]))
            case Retrieved():
                self.correcting = False
                found = f"{_count(len(event.hits), 'passage')} for “{event.query}”"
                self._step(PathStep("Searched the documents", found))
            case Computed(computation=found):
                value = f"{found.operation}: {found.value}, over {_count(found.rows, 'row')} of a table"
                self._step(PathStep("Computed by code", value, tone=Tone.GOOD))
            case Degraded():
                self._step(PathStep(f"Did without: {event.part}", event.reason, tone=Tone.BAD))

    def _correct(self, event: Event) -> None:
        match event:
            case Rewritten(queries=()):
                words = CORRECTION_WORDS[event.kind]
                self._aside(f"Looked for {words}", "found none that was not tried before")
            case Corrected():
                found = f"{_count(len(event.hits), 'new passage')} for “{event.query}”"
                self._aside(f"Searched again: {CORRECTION_WORDS[event.kind]}", found)
            case WebAsked(sent=True):
                found = f"“{event.query}”: {_count(event.results, 'result')}"
                self._aside("Sent this line to your SearXNG", found)
            case WebAsked():
                self._aside("Nothing was sent to the web", f"{event.reason}: “{event.query}”")
            case PageRead():
                self._note(f"read {event.url}")

    def _plan(self, event: Event) -> None:
        match event:
            case Planned():
                steps = " · ".join(f"{step.tool} {step.query}".strip() for step in event.steps)
                self._step(PathStep("Made another plan" if event.revised else "Made a plan", steps))
            case Stepped():
                tool = event.step.tool.replace("_", " ")
                self._step(PathStep(f"Step {event.number}: {tool}", event.step.query))
            case Assessed():
                words = "Enough to answer" if event.enough else "Not enough yet"
                tone = Tone.GOOD if event.enough else Tone.UNSURE
                self._step(PathStep(words, event.reason, StepKind.DECISION, tone))
            case Bounded():
                self._step(PathStep("Stopped at a bound", event.reason, tone=Tone.BAD))

    def _answer(self, event: Event) -> None:
        match event:
            case Refined():
                self.correcting = False
                detail = f"{event.dropped} left out" if event.dropped else ""
                self._step(PathStep(f"Kept {_count(len(event.kept), 'piece')} of evidence", detail))
            case Verified(removed=()):
                self._step(PathStep("Checked the citations", "every quotation stands in its document"))
            case Verified():
                self._step(PathStep("Removed what failed a check", " · ".join(event.removed), tone=Tone.BAD))
            case Grounded(claims=claims) if claims:
                held = sum(claim.verdict is Verdict.YES for claim in claims)
                tone = Tone.GOOD if held == len(claims) else Tone.UNSURE
                detail = f"{held} of {len(claims)} borne out by the evidence"
                self._step(PathStep("Checked each sentence", detail, tone=tone))
            case Contradicted(contradictions=found) if found:
                self._step(PathStep("Sources disagree", _count(len(found), "pair"), tone=Tone.BAD))

    def _step(self, step: PathStep) -> None:
        self.steps.append(step)

    def _aside(self, title: str, detail: str) -> None:
        self.steps.append(PathStep(title, detail, aside=True))

    def _note(self, text: str) -> None:
        """Add a remark to the last step."""
        if self.steps:
            last = self.steps[-1]
            self.steps[-1] = replace(last, detail=f"{last.detail} · {text}" if last.detail else text)

    def _grade(self, grade: Grade) -> None:
        """Add a grade to the last step, unless that is a decision."""
        if not self.steps or self.steps[-1].kind is StepKind.DECISION:
            self._step(PathStep("Graded passages", aside=self.correcting))
        last = self.steps[-1]
        self.steps[-1] = replace(last, grades=(*last.grades, grade))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
