"""The corrective loop: a generator of events that ends in Finished(answer).

condense → retrieve → grade → decide → correct → refine → generate → verify, after the CRAG paper
(arXiv 2401.15884, section 4), with corrections that need no network before the one that does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TypeVar

from localcrag.crag import correct, generate, prompts
from localcrag.crag.decide import decide, relevant, settled
from localcrag.crag.parts import Inquiry, Options, Outcome, Parts, Query
from localcrag.crag.record import Record
from localcrag.crag.refine import refine, whole
from localcrag.errors import ModelError, UsageError
from localcrag.events import (
    Condensed,
    Decided,
    Degraded,
    Delta,
    Event,
    Finished,
    Graded,
    Measured,
    Refined,
    Steps,
)
from localcrag.types import Action, CorrectionKind, Hit, Mode, Status, Strip, Verdict

T = TypeVar("T")
MAX_QUESTION = 4000
"""Characters; a longer question is a document, and belongs into the knowledge base."""
NOT_FOUND = {
    True: "Neither your documents nor the web pages that were read answer this.",
    False: "Your documents do not answer this.",
}


@dataclass(frozen=True, slots=True)
class Loop:
    """Answers questions with the given parts in the given way."""

    parts: Parts
    options: Options

    def run(self, query: Query) -> Iterator[Event]:
        """The events of one question, the last one Finished.

        Raises UsageError for a question that is empty or too long, and what the parts raise where
        the loop cannot go on without them.
        """
        question = checked(query.question)
        started = perf_counter()
        record = Record(question, self.options.mode, self.options.policy)
        steps = self._steps(question, query)
        while True:
            try:
                event = next(steps)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                break
            record.add(event)
            yield event
        yield Finished(record.answer(outcome.status, outcome.citations, perf_counter() - started))

    def _steps(self, question: str, query: Query) -> Steps[Outcome]:
        standalone = question
        if query.history:
            standalone = yield from self._timed("condense", self._condense(question, query))
        inquiry = Inquiry(self.parts, self.options, standalone, question, query.filter)
        inquiry.untried([standalone])
        search = inquiry.retriever.search([standalone], standalone, query.filter)
        hits = inquiry.unseen((yield from self._timed("retrieve", search)))
        yield from self._timed("grade", self._grade(inquiry, hits))
        decision = decide(inquiry.grades, self.options.policy, self.parts.grader.thresholds)
        yield Decided(decision.action, self.options.policy, decision.reason)
        if decision.action is not Action.CORRECT:
            yield from self._timed("correct", self._correct(inquiry))
        kept = yield from self._timed("refine", self._refine(inquiry))
        return (yield from self._timed("generate", self._answer(inquiry, kept)))

    def _condense(self, question: str, query: Query) -> Steps[str]:
        try:
            standalone = self.parts.model.line(prompts.condense(query.history, question), max_tokens=96)
        except ModelError as error:
            yield Degraded("condense", str(error))
            return question
        yield Condensed(question, standalone)
        return standalone

    def _grade(self, inquiry: Inquiry, hits: Sequence[Hit]) -> Steps[None]:
        for grade in self.parts.grader.grade(inquiry.question, hits):
            inquiry.grades.append(grade)
            yield Graded(grade)
            if grade.verdict is Verdict.ERROR:
                yield Degraded("grade", f"{grade.hit.passage.source}: {grade.reason}")

    def _correct(self, inquiry: Inquiry) -> Steps[None]:
        """One step after the other, until what was found is enough."""
        for kind in (*self.options.corrections, CorrectionKind.WEB):
            fresh = yield from correct.STEPS[kind](inquiry)
            if not fresh:
                continue
            yield from self._grade(inquiry, fresh)
            if settled(inquiry.grades, self.options.policy, self.parts.grader.thresholds):
                break
        decision = decide(inquiry.grades, self.options.policy, self.parts.grader.thresholds)
        yield Decided(decision.action, self.options.policy, f"after correction: {decision.reason}")

    def _refine(self, inquiry: Inquiry) -> Steps[list[Strip]]:
        grades = relevant(inquiry.grades, self.parts.grader.thresholds)
        evaluator = self.parts.evaluator
        if evaluator is None or not grades:
            return [whole(grade.hit.passage, grade.confidence or 0.0) for grade in grades]
        kept, dropped = refine(
            inquiry.question,
            [grade.hit.passage for grade in grades],
            evaluator,
            limit=self.options.strips,
            floor=evaluator.thresholds.lower,
        )
        yield Refined(tuple(kept), dropped)
        return kept

    def _answer(self, inquiry: Inquiry, kept: Sequence[Strip]) -> Steps[Outcome]:
        sure = settled(inquiry.grades, self.options.policy, self.parts.grader.thresholds)
        outcome = Outcome(Status.NOT_FOUND)
        if kept:
            make = generate.quote if self.options.mode is Mode.QUOTE else generate.write
            outcome = yield from make(inquiry, kept, sure)
        if outcome.status is Status.NOT_FOUND:
            web = any(grade.hit.passage.origin == "web" for grade in inquiry.grades)
            yield Delta(NOT_FOUND[web])
        return outcome

    def _timed(self, stage: str, steps: Steps[T]) -> Steps[T]:
        """The steps, and a Measured event at their end; the consumer's own time is not counted."""
        before, seconds = self.parts.tokens(), 0.0
        while True:
            started = perf_counter()
            try:
                event = next(steps)
            except StopIteration as stop:
                seconds += perf_counter() - started
                yield Measured(stage, seconds, self.parts.tokens() - before)
                return stop.value  # type: ignore[no-any-return]
            seconds += perf_counter() - started
            yield event


def checked(question: str) -> str:
    """The question without the white space around it. Raises UsageError if it is empty or too long."""
    stripped = question.strip()
    if not stripped:
        raise UsageError("the question is empty", hint='ask something: localcrag ask "what is …?"')
    if len(stripped) > MAX_QUESTION:
        raise UsageError(
            f"the question has {len(stripped):,} characters, the limit is {MAX_QUESTION:,}",
            hint="put long text into a file, ingest it, and ask about it",
        )
    return stripped
