"""The values of a report: the answer and all that is told of how it came about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from localcrag import __version__, knowledge_base
from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.egress import is_offline
from localcrag.errors import LocalCragError
from localcrag.events import Event, answer_of
from localcrag.loaded_models import models_for
from localcrag.options import AskOptions
from localcrag.plain_answer import status_note
from localcrag.report.evidence import ShownEvidence, shown_evidence
from localcrag.report.loop_path import STATUS_TONES, STATUS_WORDS, loop_path
from localcrag.report.model_files import ModelFile, model_files
from localcrag.report.path_drawing import PathDrawing, path_drawing
from localcrag.settings import Settings
from localcrag.types import Answer, Citation, CitationMark, Passage, WordBox

if TYPE_CHECKING:
    from localcrag.web.ledger import Entry, Ledger

_TOLD_SECTIONS = ("model", "loop", "web")
_UNTOLD_OPTIONS = frozenset({"consent", "history"})


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question that was answered: what was asked, how, when, and the events that came of it."""

    kb: str
    question: str
    options: AskOptions
    began: datetime
    events: Sequence[Event]


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the answer: text, or the citation of ``key`` if that is not None."""

    text: str
    key: int | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A setting by its name, with the value that held, and whether the question itself gave it."""

    name: str
    value: str
    asked: bool = False


@dataclass(frozen=True, slots=True)
class QuestionReport:
    """All that a report shows of one question."""

    asked: AskedQuestion
    answer: Answer
    pieces: tuple[TextPiece, ...]
    status: str
    tone: str
    note: str
    evidence: tuple[ShownEvidence, ...]
    path: PathDrawing
    models: tuple[ModelFile, ...]
    settings: tuple[Chosen, ...]
    egress: tuple[Entry, ...]
    offline: bool
    version: str
    made: datetime


def question_report(asked: AskedQuestion, settings: Settings, ledger: Ledger) -> QuestionReport:
    """The report of a question that was asked with these settings.

    Raises ModelNotFound, ModelFileError, LedgerError.
    """
    answer = answer_of(asked.events)
    models = models_for(asked.options.model_settings(settings.model), settings.home)
    sent = [entry for entry in ledger.entries(since=asked.began) if entry.question == asked.question]
    return QuestionReport(
        asked=asked,
        answer=answer,
        pieces=tuple(_pieces(answer.text, answer.marks)),
        status=STATUS_WORDS[answer.status],
        tone=STATUS_TONES[answer.status],
        note=status_note(answer),
        evidence=tuple(shown_evidence(answer, asked.events, partial(_recognised_words, asked.kb, settings))),
        path=path_drawing(loop_path(asked.events)),
        models=tuple(model_files(models)),
        settings=tuple(_chosen(asked.options, settings)),
        egress=tuple(sent),
        offline=settings.offline or is_offline(),
        version=__version__,
        made=datetime.now(UTC),
    )


def _recognised_words(
    kb: str, settings: Settings, passage: Passage, citation: Citation
) -> tuple[WordBox, ...]:
    """The boxes that the knowledge base keeps of the quoted words; none if they were not recognised."""
    try:
        document = knowledge_base.open(passage.kb or kb, settings=settings).document(passage.source)
    except LocalCragError:
        return ()  # it was removed since: the picture is shown without boxes, and the report says so
    if document.hash != passage.document:
        return ()
    pages = (page for page in document.pages if page.number == citation.page)
    return next((page.boxes_within(citation.start, citation.end) for page in pages), ())


def _pieces(text: str, marks: Sequence[CitationMark]) -> Iterator[TextPiece]:
    """The text in pieces at its citations; a number in brackets that is none has other brackets."""
    text, end = disarmed(text, marks, code=True), 0
    for mark in sorted(marks, key=lambda mark: mark.start):
        if mark.start > end:
            yield TextPiece(text[end : mark.start])
        yield TextPiece(text[mark.start : mark.end], mark.key)
        end = mark.end
    if end < len(text):
        yield TextPiece(text[end:])


def _chosen(options: AskOptions, settings: Settings) -> Iterator[Chosen]:
    """The options that the question gave, then the settings of models, loop and web."""
    for field in fields(options):
        value = getattr(options, field.name)
        if field.name not in _UNTOLD_OPTIONS and value not in (None, False, ()):
            yield Chosen(field.name, _in_words(value), asked=True)
    for section in _TOLD_SECTIONS:
        values = getattr(settings, section)
        for field in fields(values):
            yield Chosen(f"{section}.{field.name}", _in_words(getattr(values, field.name)))


def _in_words(value: object) -> str:
    """A value of a setting in words; unset is what the models decide."""
    if value is None:
        return "unset: as fits the models"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (tuple, list)):
        return ", ".join(map(str, value)) or "none"
    return str(value) or "none"
