"""How events and answers look on a terminal: steps dim on stderr, the answer on stdout."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localcrag.cli.hit_list import place, snippet
from localcrag.events import (
    Assessed,
    Bounded,
    Condensed,
    Corrected,
    Decided,
    Degraded,
    Delta,
    Divided,
    Event,
    Finished,
    Gathered,
    Graded,
    Grounded,
    Measured,
    PageRead,
    PartSettled,
    Planned,
    Refined,
    Reranked,
    Retrieved,
    Rewritten,
    Spared,
    Stepped,
    Suggested,
    Verified,
    WebAsked,
)
from localcrag.types import Answer, Citation, Evidence, Grade, Origin, Status, Verdict

if TYPE_CHECKING:
    from rich.console import Console

CLOSEST, WORTH_A_LOOK = 2, 0.01
"""Passages named where there was no answer, and the grade that they must have."""
LEAST_SHOWN = 24
"""Characters of a text that a line shows, however little room it has."""
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""All but the line break and the tab."""


def _note(answer: Answer) -> str:
    """Why an answer is not simply an answer, in one line; "" where it is."""
    if answer.status is Status.TRUNCATED:
        return "Cut short: the answer is not complete."
    if answer.status is not Status.UNSURE:
        return ""
    if answer.contradictions:
        return "Unsure: the sources disagree. Check them."
    if any(claim.verdict is Verdict.NO for claim in answer.claims):
        return "Unsure: not every sentence is borne out by its evidence. Check the sources."
    if any(part.status is Status.NOT_FOUND for part in answer.parts):
        return "Unsure: a part of the question is not answered."
    return "Unsure: the evidence is weak. Check the sources."


def count(number: int, noun: str) -> str:
    """A number of things: ``1 passage``, ``3 passages``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def plain(text: str) -> str:
    """Text as a terminal may get it: what a document has of control characters becomes blanks."""
    return _CONTROL.sub(" ", text)


def stderr_console() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


def link(citation: Citation) -> str:
    """The URL that opens a source at its page, in the viewers that know ``#page=``."""
    if not citation.source.startswith("/"):
        printable = citation.origin is Origin.WEB and citation.source.isprintable()
        return citation.source if printable else ""
    return Path(citation.source).as_uri() + (f"#page={citation.page}" if citation.page else "")


@dataclass
class StepRenderer:
    """Shows a question's events; with ``trace`` every passage with its grade, with ``evidence`` every
    passage cited."""

    trace: bool
    evidence: bool = False
    _gathered: tuple[Evidence, ...] = field(default=(), init=False)
    _in_answer: bool = field(default=False, init=False)

    @cached_property
    def console(self) -> Console:
        return stderr_console()

    def show(self, event: Event) -> None:
        if shown := _SHOWN.get(type(event)):
            shown(self, event)

    def say(self, text: str, style: str = "dim") -> None:
        """A line on stderr, below the answer if that has begun."""
        from rich.text import Text

        self._end_answer()
        self.console.print(Text(plain(text), style=style))

    def _snippet(self, before: str, text: str, most: int) -> None:
        """A line with the beginning of a text; on a terminal no more of it than the line has room for."""
        room = self.console.width - len(before) - 1 if self.console.is_terminal else most
        self.say(before + snippet(text, "", max(LEAST_SHOWN, min(most, room)))[0])

    def _end_answer(self) -> None:
        if self._in_answer:
            click.echo()
        self._in_answer = False

    def _condensed(self, event: Condensed) -> None:
        self.say(f"understood as: {event.standalone}")

    def _divided(self, event: Divided) -> None:
        self.say(f"{len(event.parts)} parts: {' | '.join(event.parts)}")

    def _part(self, event: PartSettled) -> None:
        self.say(f"{event.status.replace('_', ' ')}: {event.question}")

    def _planned(self, event: Planned) -> None:
        steps = ", ".join(f"{step.tool} “{step.query}”" if step.query else step.tool for step in event.steps)
        self.say(f"{'new plan' if event.revised else 'plan'}: {steps}")

    def _stepped(self, event: Stepped) -> None:
        query = f" “{event.step.query}”" if event.step.query else ""
        self.say(f"step {event.number}: {event.step.tool}{query}")

    def _assessed(self, event: Assessed) -> None:
        self.say(f"{'enough' if event.enough else 'not enough yet'}: {event.reason}")

    def _bounded(self, event: Bounded) -> None:
        self.say(f"stopped at a bound: {event.reason}", "yellow")

    def _gather(self, event: Gathered) -> None:
        self._gathered = event.evidence

    def _grounded(self, event: Grounded) -> None:
        if self.trace:
            for claim in event.claims:
                confidence = "" if claim.confidence is None else f" P={claim.confidence:.3f}"
                self._snippet(f"    borne out: {claim.verdict:5}{confidence}  ", claim.text, 90)

    def _suggested(self, event: Suggested) -> None:
        self.say(f"you could ask again {event.suggestion}", "cyan")

    def _retrieved(self, event: Retrieved) -> None:
        self.say(f"searched your documents for “{event.query}”: {count(len(event.hits), 'passage')}")

    def _reranked(self, event: Reranked) -> None:
        self.say(f"reranked, the best {len(event.hits)} go on")
        if self.trace:
            for rank, hit in enumerate(event.hits, 1):
                self.say(f"    {rank}. {hit.score:.4f}  {place(hit.passage.source, hit.passage.page)}")

    def _graded(self, event: Graded) -> None:
        if self.trace:
            grade, passage = event.grade, event.grade.hit.passage
            confidence = "" if grade.confidence is None else f" P={grade.confidence:.3f}"
            where = place(passage.source, passage.page)
            self._snippet(f"    {grade.verdict:5}{confidence}  {where}: ", passage.text, 90)
            if grade.reason:
                self.say(f"          {grade.reason}")

    def _spared(self, event: Spared) -> None:
        self.say(f"enough is surely relevant: {count(len(event.hits), 'passage')} not graded")

    def _decided(self, event: Decided) -> None:
        self.say(f"{event.action} ({event.policy}): {event.reason}")

    def _rewritten(self, event: Rewritten) -> None:
        self.say(f"{event.kind}: {' | '.join(event.queries) or 'nothing that was not tried before'}")

    def _corrected(self, event: Corrected) -> None:
        self.say(f"{event.kind} brought {count(len(event.hits), 'new passage')}")

    def _web(self, event: WebAsked) -> None:
        if event.sent:
            self.say(f"sent to your SearXNG: “{event.query}”: {count(event.results, 'result')}")
        else:
            self.say(f"not sent to the web ({event.reason}): “{event.query}”")

    def _page(self, event: PageRead) -> None:
        self.say(f"    read {event.url}" + (f" ({event.degraded}; its snippet)" if event.degraded else ""))

    def _refined(self, event: Refined) -> None:
        self.say(f"kept {count(len(event.kept), 'strip')} of evidence, left {event.dropped}")
        if self.trace:
            for strip in event.kept:
                self._snippet(f"    P={strip.score:.3f}  ", strip.text, 100)

    def _degraded(self, event: Degraded) -> None:
        self.say(f"degraded: {event.part}: {event.reason}", "yellow")

    def _verified(self, event: Verified) -> None:
        for reason in event.removed:
            self.say(f"removed from the answer: {reason}", "yellow")

    def _measured(self, event: Measured) -> None:
        if self.trace:
            tokens = event.tokens
            cost = f"{tokens.evaluated} tokens read, {tokens.generated} written"
            self.say(f"{event.stage}: {event.seconds:.2f} s, {cost}")

    def _delta(self, event: Delta) -> None:
        self._in_answer = True
        click.echo(plain(event.text), nl=False)

    def _finished(self, event: Finished) -> None:
        self._end_answer()
        self.sources(event.answer)

    def sources(self, answer: Answer) -> None:
        """What the answer rests on, under it: key, place, and the text that is cited."""
        from rich.text import Text

        if note := _note(answer):
            self.say(note, "yellow")
        if answer.status is Status.NOT_FOUND:
            self._closest(answer.grades)
        for citation in answer.citations:
            line = Text(f"[{citation.key}] ", style="bold")
            line.append(
                plain(place(citation.source, citation.page)),
                style=f"link {link(citation)}" if link(citation) else "",
            )
            if citation.origin is Origin.WEB:
                line.append("  (from the web)", style="yellow")
            self.console.print(line)
            if self.evidence:
                self._in_context(citation)
            else:
                quote = snippet(citation.quote, "", 200)[0]
                self.say(f"    characters {citation.start}–{citation.end}: “{quote}”")

    def _closest(self, grades: Sequence[Grade]) -> None:
        """What came nearest to an answer that was not found: a place to look, not evidence."""
        near = [grade for grade in grades if (grade.confidence or 0.0) >= WORTH_A_LOOK]
        for grade in sorted(near, key=lambda grade: -(grade.confidence or 0.0))[:CLOSEST]:
            passage = grade.hit.passage
            where = place(passage.source, passage.page)
            self.say(f"closest: {where} (P={grade.confidence:.2f}): {snippet(passage.text, '', 90)[0]}")

    def _in_context(self, citation: Citation) -> None:
        """The passage that a citation stands in, with the quote highlighted."""
        from rich.padding import Padding
        from rich.text import Text

        passage = next(item.strip.passage for item in self._gathered if item.key == citation.key)
        shown = Text(plain(passage.text), style="dim")
        shown.stylize("bold yellow not dim", citation.start - passage.start, citation.end - passage.start)
        self.console.print(Padding(shown, (0, 0, 1, 4)), soft_wrap=False)


_SHOWN: Mapping[type[Event], Callable[[StepRenderer, Any], None]] = {
    Divided: StepRenderer._divided,
    PartSettled: StepRenderer._part,
    Planned: StepRenderer._planned,
    Stepped: StepRenderer._stepped,
    Assessed: StepRenderer._assessed,
    Bounded: StepRenderer._bounded,
    Gathered: StepRenderer._gather,
    Grounded: StepRenderer._grounded,
    Suggested: StepRenderer._suggested,
    Condensed: StepRenderer._condensed,
    Retrieved: StepRenderer._retrieved,
    Reranked: StepRenderer._reranked,
    Graded: StepRenderer._graded,
    Spared: StepRenderer._spared,
    Decided: StepRenderer._decided,
    Rewritten: StepRenderer._rewritten,
    Corrected: StepRenderer._corrected,
    WebAsked: StepRenderer._web,
    PageRead: StepRenderer._page,
    Refined: StepRenderer._refined,
    Degraded: StepRenderer._degraded,
    Verified: StepRenderer._verified,
    Measured: StepRenderer._measured,
    Delta: StepRenderer._delta,
    Finished: StepRenderer._finished,
}
