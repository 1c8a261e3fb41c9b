"""Question sets: JSON lines, each with a question and its labels.

A line is ``{"question": …}`` with any of ``answers`` (accepted answers), ``source`` (path, name or
title of the document that answers, or a list), ``page`` (its number), ``passage`` (text that
answers, or a list) and ``answerable``. Other fields are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from localcrag.crag.state import checked_question
from localcrag.errors import EvaluationError, UsageError
from localcrag.types import JsonValue

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """One question with its labels; ``line`` counts from 1.

    ``answerable`` is None if the line has neither the field ``answerable`` nor a label.
    """

    line: int
    text: str
    answers: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    page: int | None = None
    answerable: bool | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """A line that cannot be used, with the reason."""

    line: int
    reason: str

    def to_dict(self) -> dict[str, JsonValue]:
        """The line and the reason, for JSON."""
        return {"line": self.line, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """The contents of a file: its questions in order, and the lines that are not questions."""

    questions: tuple[Question, ...]
    broken: tuple[Broken, ...] = ()


def read_questions(path: Path) -> QuestionSet:
    """Read the questions of a file; broken lines are kept with their reason, empty lines are skipped.

    Raises EvaluationError if the file cannot be read or holds no question at all.
    """
    questions: list[Question] = []
    broken: list[Broken] = []
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    questions.append(_question(number, line))
                except _LineError as error:
                    broken.append(Broken(number, str(error)))
    except OSError as error:
        raise EvaluationError(f"cannot read {path}: {error.strerror or error}", hint=LINE_FORM) from error
    if not questions:
        first = f"; line {broken[0].line}: {broken[0].reason}" if broken else ""
        raise EvaluationError(f"{path} holds no question{first}", hint=LINE_FORM)
    return QuestionSet(tuple(questions), tuple(broken))


LINE_FORM = (
    'a line looks like {"question": "…", "answers": ["…"], "source": "leaflet.pdf", "answerable": true}'
)
"""The hint of an error about a file of questions."""


class _LineError(Exception):
    """Raised for a line that is not a question; the message is the reason."""


def _question(number: int, line: bytes) -> Question:
    record = _object(line)
    answers, sources = _texts(record, "answers"), _texts(record, "source")
    passages = _texts(record, "passage")
    page = _typed(record, "page", int, "a whole number")
    said = _typed(record, "answerable", bool, "true or false")
    if said is False and answers:
        raise _LineError("it has answers and says that it is not answerable")
    labelled = bool(answers or sources or passages)
    return Question(
        line=number,
        text=_text(record),
        answers=answers,
        sources=sources,
        passages=passages,
        page=page,
        answerable=said if said is not None else (True if labelled else None),
    )


def _object(line: bytes) -> Mapping[str, object]:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise _LineError("it is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise _LineError(f"it is not JSON ({error})") from error
    if not isinstance(record, dict):
        raise _LineError("it is not a JSON object")
    return record


def _text(record: Mapping[str, object]) -> str:
    question = record.get("question")
    if not isinstance(question, str):
        raise _LineError('it has no text "question"')
    try:
        return checked_question(question)
    except UsageError as error:
        raise _LineError(str(error)) from error


def _texts(record: Mapping[str, object], key: str) -> tuple[str, ...]:
    """The texts of a field that holds one text or a list of them; null counts as missing."""
    value = record.get(key)
    items = [] if value is None else value if isinstance(value, list) else [value]
    if not all(isinstance(item, str) and item.strip() for item in items):
        raise _LineError(f'"{key}" must be a text or a list of texts, none of them empty')
    return tuple(str(item) for item in items)


def _typed(record: Mapping[str, object], key: str, kind: type[T], words: str) -> T | None:
    """The value of a field, which must be of this type; None if the field is missing or null."""
    value = record.get(key)
    if value is None:
        return None
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise _LineError(f'"{key}" must be {words}')
    return value
