"""A question of several parts, as questions that are retrieved and graded apart.

Most questions have one part, so a look at the words comes first, and a language model is asked
only where they say that there may be more. A model too small to split is not asked at all: the
question is cut where one sentence ends and the next begins, or where "and" joins two questions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from localcrag.crag import prompts
from localcrag.crag.condense import completed
from localcrag.errors import ModelError
from localcrag.events import Degraded, Divided, Steps
from localcrag.protocols import LanguageModel

MAX_PARTS = 4
_QUESTION_WORD = r"(?:who|whom|whose|what|when|where|why|which|how)\b"
_MANY = re.compile(r"\?\s*\w.*\?|;|\b(?:and|also|versus|vs|compared?|as well as)\b", re.I | re.DOTALL)
_CUT = re.compile(rf"(?<=\?)\s+|;\s+|,?(?<!:)\s+and\s+(?=(?:also\s+)?{_QUESTION_WORD})", re.I)
_JOINED = re.compile(r"^(?:and|or)\s+", re.I)


@dataclass(frozen=True, slots=True)
class Division:
    """What the model replies with."""

    questions: tuple[str, ...]


def may_have_parts(question: str) -> bool:
    """Whether there are words in it that join things which could be asked for apart."""
    return _MANY.search(question) is not None


def divide(model: LanguageModel, question: str, *, extractive: bool) -> Steps[list[str]]:
    """The parts, in order; the question itself where it has one part, or too many to be real."""
    if extractive:
        parts = by_rule(question)
    else:
        try:
            parts = _distinct(model.object(prompts.divide(question), Division, max_tokens=256).questions)
        except ModelError as error:
            yield Degraded("split", str(error))
            return [question]
    if not 2 <= len(parts) <= MAX_PARTS:
        return [question]
    yield Divided(tuple(parts))
    return parts


def by_rule(question: str) -> list[str]:
    """The questions that stand side by side in a text; a later one is completed from those before it.

    A part that needs nothing of those before it loses the "and" that it begins with.
    What a chat put before a follow-up, up to its colon, is no part.
    """
    parts: list[str] = []
    for piece in _CUT.split(question):
        text = piece.strip(" ,;")
        asks = text.endswith("?") or re.search(_QUESTION_WORD, text, re.I)
        if asks or not parts:
            parts.append(_JOINED.sub("", completed(text if text.endswith("?") else f"{text}?", parts)))
        else:
            parts[-1] = f"{parts[-1]} {text}"
    return _distinct(parts)


def _distinct(questions: list[str] | tuple[str, ...]) -> list[str]:
    first: dict[str, str] = {}
    for line in (" ".join(question.split()) for question in questions):
        if line:
            first.setdefault(line.casefold(), line)
    return list(first.values())
