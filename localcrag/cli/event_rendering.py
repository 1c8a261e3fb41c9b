"""Rendering events and answers on a terminal: steps dim on stderr, the answer on stdout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import click

from localcrag.cli.answer_text import AnswerText
from localcrag.cli.hit_list import snippet
from localcrag.cli.line_wrapping import wrapped
from localcrag.cli.safe_output import json_text, plain
from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.crag.answering.strip_display import shown_lines
from localcrag.events import (
    Assessed,
    Bounded,
    Computed,
    Condensed,
    Corrected,
    Decided,
    Degraded,
    Delta,
    Divided,
    Event,
    Filled,
    Finished,
    Gathered,
    Graded,
    Grounded,
    Measured,
    PageRead,
    PartSettled,
    PassagesRead,
    Planned,
    Refined,
    Reranked,
    Retrieved,
    Rewritten,
    Spared,
    Stepped,
    Suggested,
    Unread,
    Verified,
    WebAsked,
)
from localcrag.plain_answer import link, place, place_of, status_note
from localcrag.types import (
    Answer,
    Citation,
    CitationMark,
    Claim,
    Evidence,
    Grade,
    Origin,
    StructuredValue,
    Support,
)

if TYPE_CHECKING:
    from rich.console import Console

MIN_SNIPPET_CHARACTERS = 24
"""Characters of a snippet that a line shows at least, however narrow the terminal is."""
_STEPS = (Reranked, Spared, PassagesRead, Decided, Rewritten, Corrected, PartSettled, PageRead)
"""The events between question and answer that a brief rendering leaves out."""
_PARTS_WITH_LINES = frozenset({"condense", "rewrite", "phrasings", "hyde"})
_REFUSED = " was refused: "
"""What the reason of such a part says if a line of the model was refused, and another one took its place."""
_OWN_KEY = re.compile(r"(?:\bcitation|\bthe sources of|\) and) \[(\d+)\]")
"""The key of a piece of evidence in a reason, which is a citation of localcrag's own."""


def count(number: int, noun: str) -> str:
    """A number with its noun: ``1 passage``, ``3 passages``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def value_text(output: StructuredValue) -> str:
    """A structured value as it is printed: JSON, and a single text as it is."""
    value = output.loaded()
    return plain(value) if isinstance(value, str) else json_text(value, indent=2)


def shown(text: str) -> str:
    """Text of a document, or a place, as it is shown: nothing in it can be taken for a citation."""
    return disarmed(plain(text))


def _reason(text: str) -> str:
    """A reason in words, in which only the keys of the evidence are citations."""
    found = _OWN_KEY.finditer(text)
    return disarmed(text, [CitationMark(int(key[1]), key.start(1) - 1, key.end()) for key in found])


def _is_refused_line(event: Degraded) -> bool:
    """Whether a line of the model was refused, of which a user need not know: another one took its place."""
    return event.part in _PARTS_WITH_LINES and _REFUSED in event.reason


def stderr_console() -> Console:
    """A rich console on stderr that neither highlights nor wraps."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True)


@dataclass
class StepRenderer:
    """Shows the events of one question.

    ``trace`` adds every passage with its grade, and ``evidence`` the passages that the answer cites. The
    words of ``question`` are highlighted in the answer. If it is ``quiet``, only the answer is printed; if it
    is ``brief``, one line says how the question was understood, and the other steps are left out.
    """

    trace: bool
    evidence: bool = False
    question: str = ""
    quiet: bool = False
    brief: bool = False
    _understood: bool = field(default=False, init=False)
    _gathered: tuple[Evidence, ...] = field(default=(), init=False)
    _in_answer: bool = field(default=False, init=False)

    @cached_property
    def answer_text(self) -> AnswerText:
        """The text of the answer, made when it begins."""
        return AnswerText.for_stdout(self.question)

    @cached_property
    def console(self) -> Console:
        """The console on stderr, made when it is first needed, because importing rich takes time."""
        return stderr_console()

    def show(self, event: Event) -> None:
        """Show one event; some are shown only with ``trace``, and some not at all."""
        if self.brief and isinstance(event, _STEPS):
            return
        match event:
            case Condensed():
                self._understood = True
                self.question = f"{self.question} {event.standalone}"
                self.say(f"understood as: {event.standalone}")
            case Divided():
                self.say(f"{len(event.parts)} parts: {' | '.join(event.parts)}")
            case PartSettled():
                self.say(f"{event.status.replace('_', ' ')}: {event.question}")
            case Planned():
                self._show_plan(event)
            case Stepped():
                query = f" “{event.step.query}”" if event.step.query else ""
                self.say(f"step {event.number}: {event.step.tool}{query}")
            case Assessed():
                self.say(f"{'enough' if event.enough else 'not enough yet'}: {event.reason}")
            case Bounded():
                self.say(f"stopped at a bound: {event.reason}", "yellow")
            case Retrieved() if not (self.brief and self._understood):
                self._understood = True
                found = count(len(event.hits), "passage")
                self.say(f"searched your documents for “{event.query}”: {found}")
            case Computed(computation=found):
                self.say(f"computed by code, no model was asked: {found.operation} {found.value}")
            case Reranked():
                self._show_reranking(event)
            case Graded() if self.trace:
                self._show_grade(event.grade)
            case Spared():
                self.say(f"enough is surely relevant: {count(len(event.hits), 'passage')} not graded")
            case PassagesRead(passages=number, probability=p):
                self.say(f"the chat model read {count(number, 'passage')} whole: P(they answer) = {p:.2f}")
            case Decided():
                self.say(f"{event.action} ({event.policy}): {event.reason}")
            case Rewritten() if event.queries or self.trace:
                self.say(f"{event.kind}: {' | '.join(event.queries) or 'nothing that was not tried before'}")
            case Corrected():
                self.say(f"{event.kind} brought {count(len(event.hits), 'new passage')}")
            case WebAsked():
                self._show_web_query(event)
            case PageRead():
                degraded = f" ({event.degraded}; its snippet)" if event.degraded else ""
                self.say(f"    read {event.url}{degraded}")
            case Refined():
                self._show_refinement(event)
            case Gathered():
                self._gathered = event.evidence
                self.answer_text.evidence = {item.key: item for item in event.evidence}
            case Delta():
                self._in_answer = True
                click.echo(self.answer_text.printed(event), nl=False)
            case Filled():
                self._end_answer()
                click.echo(value_text(event.output))
            case Verified():
                for reason in event.removed:
                    self.say(f"removed from the answer: {_reason(reason)}", "yellow")
            case Grounded() if self.trace:
                self._show_claims(event.claims)
            case Suggested():
                self.say(f"you could ask again {event.suggestion}", "cyan")
            case Unread():
                self.say(event.note, "yellow")
            case Degraded() if self.trace or not _is_refused_line(event):
                self.say(f"degraded: {event.part}: {_reason(event.reason)}", "yellow")
            case Measured() if self.trace:
                self._show_cost(event)
            case Finished():
                self._end_answer()
                if not self.quiet:
                    self.sources(event.answer)

    def say(self, text: str, style: str = "dim") -> None:
        """Print a line on stderr, below the answer if that has begun."""
        if self.quiet:
            return
        from rich.text import Text

        self._end_answer()
        shown = plain(text)
        if self.console.is_terminal:
            shown = wrapped(shown, self.console.width)
        self.console.print(Text(shown, style=style))

    def _say_snippet(self, before: str, text: str, most: int) -> None:
        """Print a line that ends with the beginning of a text, at most ``most`` characters of it.

        On a terminal the text is cut to fit the line.
        """
        room = self.console.width - len(before) - 1 if self.console.is_terminal else most
        self.say(before + snippet(shown(text), "", max(MIN_SNIPPET_CHARACTERS, min(most, room)))[0])

    def _end_answer(self) -> None:
        if self._in_answer:
            click.echo()
            self.answer_text.begin_line()
        self._in_answer = False

    def _show_plan(self, event: Planned) -> None:
        steps = ", ".join(f"{step.tool} “{step.query}”" if step.query else step.tool for step in event.steps)
        self.say(f"{'new plan' if event.revised else 'plan'}: {steps}")

    def _show_claims(self, claims: Sequence[Claim]) -> None:
        """Show each sentence of the answer with whether the evidence bears it out."""
        for claim in claims:
            confidence = "" if claim.confidence is None else f" P={claim.confidence:.3f}"
            self._say_snippet(f"    borne out: {claim.verdict:5}{confidence}  ", claim.text, 90)

    def _show_reranking(self, event: Reranked) -> None:
        self.say(f"reranked, the best {len(event.hits)} go on")
        if self.trace:
            for rank, hit in enumerate(event.hits, 1):
                self.say(f"    {rank}. {hit.score:.4f}  {shown(place_of(hit.passage))}")

    def _show_grade(self, grade: Grade) -> None:
        passage = grade.hit.passage
        confidence = "" if grade.confidence is None else f" P={grade.confidence:.3f}"
        where = shown(place_of(passage))
        self._say_snippet(f"    {grade.verdict:5}{confidence}  {where}: ", passage.text, 90)
        if grade.reason:
            self.say(f"          {shown(grade.reason)}")

    def _show_web_query(self, event: WebAsked) -> None:
        if event.sent:
            self.say(f"sent to your SearXNG: “{event.query}”: {count(event.results, 'result')}")
        else:
            self.say(f"not sent to the web ({event.reason}): “{event.query}”")

    def _show_refinement(self, event: Refined) -> None:
        self.answer_text.judged = (*self.answer_text.judged, *event.kept)
        if self.brief:
            return
        self.say(f"kept {count(len(event.kept), 'strip')} of evidence, left {event.dropped}")
        if self.trace:
            for strip in event.kept:
                self._say_snippet(f"    P={strip.score:.3f}  ", strip.text, 100)

    def _show_cost(self, event: Measured) -> None:
        cost = f"{event.tokens.evaluated} tokens read, {event.tokens.generated} written"
        self.say(f"{event.stage}: {event.seconds:.2f} s, {cost}")

    def sources(self, answer: Answer) -> None:
        """Print the sources under an answer: key, source, and the text that is cited."""
        from rich.text import Text

        if answer.structured is not None:
            self._show_fields(answer.structured)
        if note := status_note(answer):
            self.say(note, "yellow")
        self._show_closest(answer)
        for citation in answer.citations:
            line = Text(f"[{citation.key}] ", style="bold")
            line.append(
                shown(place(citation.source, citation.page, citation.sheet, citation.rows)),
                style=f"link {link(citation)}" if link(citation) else "",
            )
            if citation.kb:
                line.append(f" (in {citation.kb})", style="dim")
            if citation.origin is Origin.WEB:
                line.append("  (from the web)", style="yellow")
            self.console.print(line)
            if self.evidence:
                self._show_in_context(citation)
            else:
                quote = snippet(plain(disarmed(citation.quote, code=self._is_code(citation))), "", 200)[0]
                self.say(f"    characters {citation.start}–{citation.end}: “{quote}”")

    def _show_fields(self, output: StructuredValue) -> None:
        """Show which citation each value of a structured answer has, and which values have none."""
        if not output.found:
            self.say("No value is borne out by your documents.", "yellow")
            return
        for each in output.fields:
            name = shown(each.place.removeprefix("/")) or "answer"
            if each.support is Support.NONE:
                self.say(f"{name}: not borne out: {each.reason}", "yellow")
            else:
                self.say(f"{name}: [{each.key}] {each.support}")

    def _is_code(self, citation: Citation) -> bool:
        """Whether a piece of code is cited."""
        cited = [item.strip for item in self._gathered if item.key == citation.key]
        return any(code for strip in cited for _, code in shown_lines(strip))

    def _show_closest(self, answer: Answer) -> None:
        """Print the passages nearest to an answer that was not found: places to look, not evidence."""
        for grade in answer.closest:
            passage = grade.hit.passage
            where = shown(place_of(passage))
            text = snippet(shown(passage.text), "", 90)[0]
            self.say(f"closest: {where} (P={grade.confidence or 0.0:.2f}): {text}")

    def _show_in_context(self, citation: Citation) -> None:
        """Print the passage of a citation with the quote highlighted."""
        from rich.padding import Padding
        from rich.text import Text

        passage = next(item.strip.passage for item in self._gathered if item.key == citation.key)
        text, start, end = (
            disarmed(passage.text, code=self._is_code(citation)),
            citation.start - passage.start,
            citation.end - passage.start,
        )
        in_context = Text(style="dim")
        in_context.append(plain(text[:start]))
        in_context.append(plain(text[start:end]), style="bold yellow not dim")
        in_context.append(plain(text[end:]))
        self.console.print(Padding(in_context, (0, 0, 1, 4)), soft_wrap=False)
