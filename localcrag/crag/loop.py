"""The corrective loop: a generator of events that ends in Finished(answer).

condense → split → retrieve → grade → decide → correct → refine → generate → verify, after the CRAG
paper (arXiv 2401.15884, section 4), with corrections that need no network before the one that does.
With the agent, a plan takes the place of the fixed steps between retrieving and refining.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from localcrag._platform import storable
from localcrag.crag import agent, generate
from localcrag.crag.condense import condense
from localcrag.crag.decide import relevant, settled
from localcrag.crag.divide import divide, may_have_parts
from localcrag.crag.gather import corrective
from localcrag.crag.grade import ask
from localcrag.crag.offer import offer
from localcrag.crag.once import Once
from localcrag.crag.parts import Finding, Inquiry, Options, Outcome, Parts, Query, timed
from localcrag.crag.record import Record
from localcrag.crag.refine import refine, strips, whole, windows
from localcrag.errors import UsageError
from localcrag.events import Degraded, Delta, Event, Finished, PartSettled, Refined, Steps
from localcrag.types import Action, Choice, Origin, Status, Strip, StripKind

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
        parts, options = self.parts, self.options
        standalone = question
        if query.history:
            understood = condense(parts.model, query.history, question, extractive=options.extractive)
            standalone = yield from timed(parts, "condense", understood)
        whole = Inquiry(parts, options, standalone, question, query.filter)
        asked = [standalone]
        if options.divide and options.agent is None and may_have_parts(standalone):
            division = divide(parts.model, standalone, extractive=options.extractive)
            asked = yield from timed(parts, "divide", division)
        if len(asked) > 1:
            findings = yield from self._parts(whole, asked, alone=not query.history)
        else:
            findings = [(yield from self._find(whole))]
        outcome = yield from timed(parts, "generate", self._answer(whole, findings))
        for finding in findings:
            if query.filter is not None and not finding.sure:
                yield from timed(parts, "suggest", offer(finding.inquiry, query.filter))
        return outcome

    def _parts(self, whole: Inquiry, asked: Sequence[str], *, alone: bool) -> Steps[list[Finding]]:
        """Each part by itself; the web gets the user's own line, once where all the parts share it."""
        once, findings = Once(), []
        parts, options = once.within(self.parts, self.options)
        for part in asked:
            inquiry = Inquiry(parts, options, part, part if alone else whole.asked, whole.filter)
            findings.append((yield from once.told(self._find(inquiry))))
            whole.grades += inquiry.grades
            yield PartSettled(part, findings[-1].status, inquiry.action or Action.INCORRECT)
        return findings

    def _find(self, inquiry: Inquiry) -> Steps[Finding]:
        """Gather the evidence for one question, and keep of it what helps."""
        by_agent = self.options.agent is not None
        bound = yield from agent.gather(inquiry) if by_agent else corrective(inquiry)
        kept = yield from timed(self.parts, "refine", self._refine(inquiry))
        sure = settled(inquiry.grades, self.options.policy, self.parts.grader.thresholds)
        return Finding(inquiry, tuple(kept), sure, bound)

    def _refine(self, inquiry: Inquiry) -> Steps[list[Strip]]:
        """The best strips of the relevant passages, judged by the evaluator, or by the model without one."""
        options, evaluator = self.options, self.parts.evaluator
        passages = relevant(inquiry.grades, options.policy, self.parts.grader.thresholds)
        if options.strips is StripKind.NONE or not passages:
            return [whole(grade.hit.passage, grade.confidence or 0.0) for grade in passages]
        cutter = strips if options.strips is StripKind.SENTENCE else windows
        cut = [strip for grade in passages for strip in cutter(grade.hit.passage)]
        texts = [strip.text for strip in cut]
        if evaluator is not None:
            scores, floor = evaluator.score(inquiry.question, texts), evaluator.thresholds.lower
        else:
            choices = ask(self.parts.model, inquiry.question, texts)
            scores = [choice.probabilities[0] if isinstance(choice, Choice) else 0.0 for choice in choices]
            floor = 0.5
            if failed := [choice for choice in choices if isinstance(choice, Exception)]:
                yield Degraded("refine", f"{len(failed)} strips could not be judged: {failed[0]}")
        kept, dropped = refine(cut, scores, limit=options.evidence, floor=floor)
        yield Refined(tuple(kept), dropped)
        return kept

    def _answer(self, whole: Inquiry, findings: Sequence[Finding]) -> Steps[Outcome]:
        outcome = Outcome(Status.NOT_FOUND)
        if any(finding.strips for finding in findings):
            outcome = yield from generate.answer(whole, findings)
        if outcome.status is Status.NOT_FOUND:
            web = any(grade.hit.passage.origin is Origin.WEB for grade in whole.grades)
            yield Delta(NOT_FOUND[web])
        for finding in findings:
            if len(findings) > 1 and not finding.strips:
                yield Degraded("answer", f"nothing was found for: {finding.inquiry.question}")
        if any(finding.bound for finding in findings):
            return replace(outcome, status=Status.TRUNCATED)
        return outcome


def checked(question: str) -> str:
    """The question without the white space around it, and without code points that are no characters.

    Raises UsageError if it is empty or too long.
    """
    stripped = storable(question.strip())
    if not stripped:
        raise UsageError("the question is empty", hint='ask something: localcrag ask "what is …?"')
    if len(stripped) > MAX_QUESTION:
        raise UsageError(
            f"the question has {len(stripped):,} characters, the limit is {MAX_QUESTION:,}",
            hint="put long text into a file, ingest it, and ask about it",
        )
    return stripped
