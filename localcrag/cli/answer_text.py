"""The text of an answer as it is printed, piece by piece while it streams.

On a terminal it is wrapped between words, a long quotation is shortened around the words that answer, and
these are bold. On a pipe it is the whole text in its own lines. On both, a number in brackets that stands in
a document has other brackets than the citations of the answer, and control characters are gone.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import click

from localcrag.cli.excerpts import Span, excerpt, merged_spans, term_spans
from localcrag.cli.line_wrapping import MIN_COLUMNS, columns, line_spans
from localcrag.cli.safe_output import plain
from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.crag.answering.strip_display import MARKER, before_mark, shown_lines
from localcrag.events import Delta
from localcrag.types import Evidence, Strip

ELLIPSIS = "…"


def is_styled() -> bool:
    """Whether standard output is a terminal that may be sent bold text."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


@dataclass
class AnswerText:
    """Makes the pieces of one answer into what is printed.

    ``question`` has the words to highlight. ``width`` is the columns of the terminal, None for a pipe, and
    ``styled`` whether bold text may be sent. ``evidence`` and ``judged`` are the evidence by key, and the
    strips with the scores of the judge; both are known before the answer begins.
    """

    question: str = ""
    width: int | None = None
    styled: bool = False
    evidence: Mapping[int, Evidence] = field(default_factory=dict)
    judged: Sequence[Strip] = ()
    _column: int = field(default=0, init=False)

    @classmethod
    def for_stdout(cls, question: str) -> AnswerText:
        """The text for standard output as it is now."""
        if not sys.stdout.isatty():
            return cls(question)
        width = shutil.get_terminal_size().columns
        return cls(question, max(width, MIN_COLUMNS), is_styled())

    def printed(self, piece: Delta) -> str:
        """What is printed for a piece of the answer."""
        if self.width is None:
            return "".join(run.text for run in self._runs(piece))
        return "".join(self._wrapped(self._runs(piece), self.width))

    def begin_line(self) -> None:
        """Note that something else was printed, so that the next piece begins a line."""
        self._column = 0

    # ---------------------------------------------------------------------------------- its parts

    def _runs(self, piece: Delta) -> Iterator[_Run]:
        """The parts of a piece: text that is written, quotations, and citations."""
        at = 0
        for mark in piece.marks:
            text = piece.text[at : mark.start]
            item = self.evidence.get(mark.key)
            body = before_mark(item.strip, self.question) if item else ""
            if item and body and text.endswith(body):
                yield self._written(text.removesuffix(body), bold=False)
                yield from self._quoted(item.strip)
                yield _Run(body[-1])
            else:
                yield self._written(text)
            yield _Run(piece.text[mark.start : mark.end], glued=True)
            at = mark.end
        yield self._written(piece.text[at:])

    def _written(self, text: str, *, bold: bool = True) -> _Run:
        shown = disarmed(plain(text))
        return _Run(shown, term_spans(shown, self.question) if bold and self.styled else ())

    def _quoted(self, strip: Strip) -> Iterator[_Run]:
        """A quotation, shortened if it is long, with the words that answer marked."""
        lines = [(disarmed(plain(line), code=code), code) for line, code in shown_lines(strip, self.question)]
        text = "\n".join(line for line, _ in lines)
        if self.width is None:
            yield _Run(text)
            return
        best = self._best_sentence(strip, text)
        marked = term_spans(text, self.question)
        is_code = any(code for _, code in lines)
        start, end = excerpt(text, marked, best, whole_lines=is_code)
        bold = merged_spans([*marked, *([best] if best else [])]) if self.styled else []
        if start:
            yield _Run(ELLIPSIS + ("\n" if is_code else " "))
        at = 0
        for number, (line, code) in enumerate(lines):
            low, high = max(start, at), min(end, at + len(line))
            if low < high or (start < at < end):
                yield _Run(("\n" if number and at > start else "") + text[low:high], (), code=code).bolded(
                    bold, low - (1 if number and at > start else 0)
                )
            at += len(line) + 1
        if end < len(text):
            yield _Run(("\n" if is_code else " ") + ELLIPSIS)

    def _best_sentence(self, strip: Strip, text: str) -> Span | None:
        """The place of the sentence of a quotation that the judge scored best, if it has several."""
        within = [
            other
            for other in self.judged
            if other.passage.id == strip.passage.id and strip.start <= other.start and other.end <= strip.end
        ]
        if not within:
            return None
        best = max(within, key=lambda other: other.score)
        sentence = disarmed(plain(" ".join(best.text.split())))
        at = text.find(sentence)
        return (at, at + len(sentence)) if at >= 0 and len(sentence) < len(text) else None

    # ---------------------------------------------------------------------------------- its lines

    def _wrapped(self, runs: Iterator[_Run], width: int) -> Iterator[str]:
        """The lines of the parts, each wrapped, and the end of the last one left open."""
        line = _Run("")
        for run in runs:
            first, *rest = run.lines()
            line = line.joined(first)
            for following in rest:
                yield self._shown_line(line, width) + "\n"
                self._column = 0
                line = following
        yield self._shown_line(line, width)

    def _shown_line(self, line: _Run, width: int) -> str:
        if line.code:
            spans, indent = [(0, len(line.text))], 0
        else:
            marker = MARKER.match(line.text)
            indent = marker.end() if marker else 0
            spans = line_spans(
                line.text, width, column=self._column, hanging=indent, glued=line.places_of_glue
            )
        shown = ("\n" + " " * indent).join(line.styled(*span) for span in spans)
        start, end = spans[-1]
        before = self._column if len(spans) == 1 else indent
        self._column = before + columns(line.text[start:end])
        return shown


@dataclass(frozen=True, slots=True)
class _Run:
    """A part of an answer: its text, the spans that are bold, and whether it is code.

    A run that is ``glued`` is not parted from the word before it; ``places_of_glue`` are the blanks before
    such runs.
    """

    text: str
    bold: Sequence[Span] = ()
    code: bool = False
    glued: bool = False
    places_of_glue: frozenset[int] = frozenset()

    def bolded(self, spans: Sequence[Span], origin: int) -> _Run:
        """The run with those spans bold that lie in it, if it begins at ``origin`` of a longer text."""
        end = origin + len(self.text)
        within = [(max(s, origin) - origin, min(e, end) - origin) for s, e in spans if s < end and origin < e]
        return _Run(self.text, within, self.code)

    def lines(self) -> list[_Run]:
        """The run cut at its line breaks."""
        found, at = [], 0
        for text in self.text.split("\n"):
            found.append(_Run(text, (), self.code and bool(text), self.glued).bolded_as(self, at))
            at += len(text) + 1
        return found

    def bolded_as(self, other: _Run, origin: int) -> _Run:
        """The run with the bold spans of a longer one, in which it begins at ``origin``."""
        bolded = self.bolded(other.bold, origin)
        return _Run(bolded.text, bolded.bold, bolded.code, self.glued)

    def joined(self, other: _Run) -> _Run:
        """The run with another one behind it, on the same line."""
        length = len(self.text)
        moved = [(start + length, end + length) for start, end in other.bold]
        glue = {length - 1} if other.glued and self.text.endswith(" ") else set[int]()
        return _Run(
            self.text + other.text,
            [*self.bold, *moved],
            self.code or other.code,
            places_of_glue=self.places_of_glue | glue,
        )

    def styled(self, start: int, end: int) -> str:
        """A part of the text with its bold words."""
        shown, at = "", start
        for first, last in self.bold:
            low, high = max(first, start), min(last, end)
            if low < high:
                shown += self.text[at:low] + click.style(self.text[low:high], bold=True)
                at = high
        return shown + self.text[at:end]
