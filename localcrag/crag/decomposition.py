"""A question of several parts, as questions that are retrieved and graded apart.

Most questions have one part, so a look at the words comes first, and a language model is asked
only where they say that there may be more. A model too small to split is not asked at all: the
question is cut where one sentence ends and the next begins, or where "and" joins two questions,
and only where a question stands on both sides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag import prompts
from localcrag.crag.condense import ANAPHORS, ASKING_WORDS, completed
from localcrag.crag.query_terms import STOP_WORDS, WORD_PATTERN, content_words, folded
from localcrag.errors import ModelError
from localcrag.events import Degraded, Divided, Steps
from localcrag.protocols import LanguageModel

MAX_PARTS = 4
_QUESTION_WORD = r"(?:who|whom|whose|what|when|where|why|which|how)\b"
_MANY = re.compile(r"\?\s*\w.*\?|;|\b(?:and|also|versus|vs|compared?|as well as)\b", re.I | re.DOTALL)
_CUT = re.compile(rf"(?<=\?)\s+|;\s+|,?(?<!:)\s+and\s+(?=(?:also\s+)?{_QUESTION_WORD})", re.I)
_JOINED = re.compile(r"^(?:and|or)\s+", re.I)
_ASKED = re.compile(rf"\b{_QUESTION_WORD}", re.I)
_LEADING = re.compile(rf"(?:also\s+)?(?:{_QUESTION_WORD}(?:,|\s+and|\s+or)\s+)*", re.I)
"""Before the last word that a piece asks with: "when and where is it" asks as "where is it" does."""
_HALF = re.compile(r"\b(?:between|both)\b(?!.*\band\b)", re.I | re.DOTALL)
"""Words whose "and" is still to come."""
_DENIES = re.compile(r"not|cannot|\w+n['’]t", re.I)
_VERBS = ASKING_WORDS - {"who"}


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
    for piece in _pieces(question):
        text = piece.strip(" ,;")
        parts.append(_JOINED.sub("", completed(text if "?" in text else f"{text}?", parts)))
    return _distinct(parts)


def _pieces(question: str) -> list[str]:
    """The text cut where a question stands on both sides; the last cut is looked at first.

    What tells nothing stays with its neighbour; a courtesy before everything else ("can you help
    me?") is left out.
    """
    cuts = list(_CUT.finditer(question))
    spans: list[tuple[int, int]] = []
    end = len(question)
    for i in range(len(cuts) - 1, -1, -1):
        cut, start = cuts[i], cuts[i - 1].end() if i else 0
        left, right = question[start : cut.start()], question[cut.end() : end]
        if "and" in cut[0].lower():
            apart = _joins(left, right)
        else:
            apart = bool(_told(right)) and (right.rstrip(" ,;").endswith("?") or bool(_ASKED.search(right)))
        if apart:
            spans.insert(0, (cut.end(), end))
            end = cut.start()
    first = question[:end]
    if spans and not _told(first):
        start, end = spans.pop(0)
        first = question[start if _is_courtesy(first) else 0 : end]
    return [first, *(question[start:end] for start, end in spans)]


def _joins(left: str, right: str) -> bool:
    """Whether an "and" between these joins two questions, and not two halves of one.

    "How and when do I apply", "which drug and which dose is best", "the rules for staff who travel and
    who work at night" and "the difference between what staff pay and what the firm pays" are one.
    """
    words = WORD_PATTERN.findall(_LEADING.sub("", right, count=1))
    if _HALF.search(left) or not _told(left) or not _told(right) or not _asks(words):
        return False
    asked = list(_ASKED.finditer(left))
    if len(asked) > 1 and folded(words[0]) == "who" and not _is_verb(words[1]):
        return False
    if not asked or _has_verb(WORD_PATTERN.findall(left[asked[-1].start() :])):
        return True
    return len(asked) == 1 and len(_told(left)) >= 2 and any(folded(word) in ANAPHORS for word in words)


def _asks(words: Sequence[str]) -> bool:
    """Whether what follows an "and" asks by itself: "what is paid" does, "what the firm pays" does not."""
    if len(words) < 2:
        return False
    first, then = folded(words[0]), folded(words[1])
    if _is_verb(words[1]) or then in ("to", "about"):
        return True
    if first == "who":
        return then not in STOP_WORDS
    by_noun = first in ("what", "which", "whose", "how") and (
        then not in STOP_WORDS or then in ("many", "much")
    )
    return by_noun and _has_verb(words[1:])


def _has_verb(words: Sequence[str]) -> bool:
    """Whether a verb that asks stands among the words, or "who" before what somebody does."""
    who = len(words) > 1 and folded(words[0]) == "who" and folded(words[1]) not in STOP_WORDS
    return who or any(_is_verb(word) for word in words[1:-1])


def _is_verb(word: str) -> bool:
    return folded(word) in _VERBS or (_DENIES.fullmatch(word) is not None and word.lower() != "not")


def _told(text: str) -> list[str]:
    return [word for word in content_words(text) if not _DENIES.fullmatch(word)]


def _is_courtesy(text: str) -> bool:
    """Whether a sentence that tells nothing asks for yes or no: nothing is to be found for it."""
    return not _ASKED.search(text) and any(_is_verb(word) for word in WORD_PATTERN.findall(text))


def _distinct(questions: list[str] | tuple[str, ...]) -> list[str]:
    first: dict[str, str] = {}
    for line in (" ".join(question.split()) for question in questions):
        if line:
            first.setdefault(line.casefold(), line)
    return list(first.values())
