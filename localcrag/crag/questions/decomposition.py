"""Decomposition of a question of several parts into questions that are retrieved and graded separately.

Most questions have one part. So the words of a question are examined first, and a language model is
asked only if they show that there may be more parts. A model whose lists cannot be relied on is not asked
at all: the question is cut between two sentences, at a semicolon, or at an "and", if there is a question on
both sides.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag import prompts
from localcrag.crag.questions.follow_ups import ANAPHORS, completed
from localcrag.crag.questions.query_terms import ASKING_WORDS, STOP_WORDS, WORD_PATTERN, content_words, folded
from localcrag.crag.questions.told_stories import told_before
from localcrag.errors import ModelError
from localcrag.events import Degraded, Divided, Steps
from localcrag.protocols import LanguageModel

MAX_PARTS = 4
"""The most parts of a question; a division into more is taken for a mistake."""
_QUESTION_WORD = r"(?:who|whom|whose|what|when|where|why|which|how)\b"
_SEVERAL_PARTS_PATTERN = re.compile(
    r"\?\s*\w.*\?|;|\b(?:and|also|versus|vs|compared?|as well as)\b", re.I | re.DOTALL
)
_BEFORE_QUESTION_WORD = (
    r"(?:also\s+)?(?:(?:up\s+to|about|after|at|before|by|for|from|in|of|on|since|till|to|under|until|with|within)"
    r"\s+)?"
)
"""The words before a question word that belong to it: "by when", "for how long", "in which"."""
_CUT_PATTERN = re.compile(
    rf"(?<=\?)\s+|;\s+|,?(?<!:)\s+and\s+(?={_BEFORE_QUESTION_WORD}{_QUESTION_WORD})", re.I
)
_LEADING_CONJUNCTION = re.compile(r"^(?:and|or)\s+", re.I)
_QUESTION_WORD_PATTERN = re.compile(rf"\b{_QUESTION_WORD}", re.I)
_COORDINATED_QUESTION_WORDS = re.compile(
    rf"{_BEFORE_QUESTION_WORD}(?:{_QUESTION_WORD}(?:,|\s+and|\s+or)\s+)*", re.I
)
"""Question words before the last one of a piece: "when and where is it" asks as "where is it" does."""
_ENDS_IN_QUESTION_WORD = re.compile(rf"[:,.–—-]\s+{_BEFORE_QUESTION_WORD}{_QUESTION_WORD}\W*$", re.I)
"""A question word alone before an "and": "old paint: where and at what time is it taken?"."""
_OPEN_CORRELATIVE = re.compile(r"\b(?:between|both)\b(?!.*\band\b)", re.I | re.DOTALL)
"""The word "between" or "both" without the "and" that belongs to it."""
_TOLD = re.compile(r"\s*(?:(?:i|we|you|he|she|it|they|there)\b|(?:my|our|the|a|an|this|that)\s)", re.I)
"""How a statement begins that tells what a question is about: "I lost my key; can I still …"."""
_LEAD = re.compile(
    r"(?!.*?\b(?:questions?|i|we|you|me|us)\b[^:]*:)\s*(?P<lead>[^:?!;\n]{1,60}?):\s+"
    rf"{_BEFORE_QUESTION_WORD}{_QUESTION_WORD}",
    re.I,
)
"""What a question names in front of a colon: "fail2ban: how long is an address banned"."""
_NEGATION = re.compile(r"not|cannot|\w+n['’]t", re.I)
_ASKING_VERBS = ASKING_WORDS - {"who"}


@dataclass(frozen=True, slots=True)
class Division:
    """The reply of the model: the parts of a question, each a question of its own."""

    questions: tuple[str, ...]


def may_have_parts(question: str) -> bool:
    """Whether the question has words or marks that can join several questions, such as "and" or ";"."""
    return _SEVERAL_PARTS_PATTERN.search(question) is not None


def divide(model: LanguageModel, question: str, *, by_rule: bool) -> Steps[list[str]]:
    """Divide a question into its parts; yields Divided if there are several.

    Args:
        model: the language model that divides.
        question: a question that stands alone.
        by_rule: divide by :func:`parts_by_rule`, without the model.

    Returns:
        The parts in order; the question itself, if it has one part or more than ``MAX_PARTS``, or if the
        model fails (a Degraded event).
    """
    if by_rule:
        parts = parts_by_rule(question)
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


def parts_by_rule(question: str) -> list[str]:
    """The questions that a text contains one after the other, found by rule.

    A later question gets the words of earlier ones that it depends on (:func:`.follow_ups.completed`), or the
    sentences that are told before them; if it needs none, it loses the "and" that it begins with. What the
    first one names in front of a colon stands in front of each later one that lacks it. The words that a chat
    added before a follow-up, up to the colon, are no part.
    """
    parts: list[str] = []
    pieces = _pieces(question)
    story = told_before(pieces[0])
    lead = _LEAD.match(pieces[0])
    for piece in pieces:
        text = piece.strip(" ,;")
        asked = text if "?" in text else f"{text}?"
        whole = completed(asked, parts, narrow=False)
        part = f"{story}{asked}" if story and whole != asked else _LEADING_CONJUNCTION.sub("", whole)
        parts.append(_led(part, lead["lead"].strip()) if lead and parts else part)
    return _distinct(parts)


def _led(part: str, lead: str) -> str:
    """A later part of a question behind what the first one names in front of a colon, unless it has it."""
    return part if set(content_words(lead)) <= set(content_words(part)) else f"{lead}: {part}"


def _pieces(question: str) -> list[str]:
    """The text, cut at the places that have a question on both sides; the last place is examined first.

    A piece without content words stays joined to its neighbour, and so does a statement before a semicolon; a
    courtesy at the beginning ("can you help me?") is left out.
    """
    cuts = list(_CUT_PATTERN.finditer(question))
    spans: list[tuple[int, int]] = []
    end = len(question)
    for i in range(len(cuts) - 1, -1, -1):
        cut, start = cuts[i], cuts[i - 1].end() if i else 0
        left, right = question[start : cut.start()], question[cut.end() : end]
        if "and" in cut[0].lower():
            apart = _joins_two_questions(left, right)
        else:
            asks = right.rstrip(" ,;").endswith("?") or bool(_QUESTION_WORD_PATTERN.search(right))
            apart = bool(_telling_words(right)) and asks and not _is_told(question[: cut.start()])
            apart = apart and not (i == len(cuts) - 1 and _is_guess(right))
        if apart:
            spans.insert(0, (cut.end(), end))
            end = cut.start()
    first = question[:end]
    if spans and not _telling_words(first):
        start, end = spans.pop(0)
        first = question[start if _is_courtesy(first) else 0 : end]
    return [first, *(question[start:end] for start, end in spans)]


def _is_guess(text: str) -> bool:
    """Whether what follows a question guesses at its answer: "On which day? Wednesday as always?"."""
    words = [folded(word) for word in WORD_PATTERN.findall(text)]
    continues = words[:1] in (["and"], ["or"], ["also"])
    return text.rstrip().endswith("?") and not (
        continues or _QUESTION_WORD_PATTERN.search(text) or any(map(_is_verb, words))
    )


def _is_told(text: str) -> bool:
    """Whether a text ends in a statement before a semicolon, which what follows asks about."""
    said = text.rpartition("?")[2]
    return _TOLD.match(said) is not None and not _QUESTION_WORD_PATTERN.search(said)


def _joins_two_questions(left: str, right: str) -> bool:
    """Whether an "and" between two texts joins two questions, and not two halves of one.

    "How and when do I apply", "which drug and which dose is best", "the rules for staff who travel and
    who work at night" and "the difference between what staff pay and what the firm pays" are one question
    each; so is "old paint: where and when is it taken".
    """
    words = WORD_PATTERN.findall(_COORDINATED_QUESTION_WORDS.sub("", right, count=1))
    if (
        _OPEN_CORRELATIVE.search(left)
        or not _telling_words(left)
        or not _telling_words(right)
        or not _asks_by_itself(words)
        or _ENDS_IN_QUESTION_WORD.search(left)
    ):
        return False
    asked = list(_QUESTION_WORD_PATTERN.finditer(left))
    if len(asked) > 1 and folded(words[0]) == "who" and not _is_verb(words[1]):
        return False
    if not asked or _has_verb(WORD_PATTERN.findall(left[asked[-1].start() :])):
        return True
    return (
        len(asked) == 1 and len(_telling_words(left)) >= 2 and any(folded(word) in ANAPHORS for word in words)
    )


def _asks_by_itself(words: Sequence[str]) -> bool:
    """Whether the words after an "and" are a question: "what is paid" is, "what the firm pays" is not."""
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
    """Whether a verb that can open a question is among the words, or "who" and a content word begin them."""
    who = len(words) > 1 and folded(words[0]) == "who" and folded(words[1]) not in STOP_WORDS
    return who or any(_is_verb(word) for word in words[1:-1])


def _is_verb(word: str) -> bool:
    """Whether a word is a verb that can open a question ("is", "does"), also negated ("isn't", "cannot")."""
    return folded(word) in _ASKING_VERBS or (_NEGATION.fullmatch(word) is not None and word.lower() != "not")


def _telling_words(text: str) -> list[str]:
    """The content words of a text without negations."""
    return [word for word in content_words(text) if not _NEGATION.fullmatch(word)]


def _is_courtesy(text: str) -> bool:
    """Whether a sentence without content words is a yes-or-no question, such as "can you help me?"."""
    return not _QUESTION_WORD_PATTERN.search(text) and any(
        _is_verb(word) for word in WORD_PATTERN.findall(text)
    )


def _distinct(questions: list[str] | tuple[str, ...]) -> list[str]:
    """The questions with normalised white space, without empty ones and repetitions in any case."""
    first: dict[str, str] = {}
    for line in (" ".join(question.split()) for question in questions):
        if line:
            first.setdefault(line.casefold(), line)
    return list(first.values())
