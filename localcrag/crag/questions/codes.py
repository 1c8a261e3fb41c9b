"""Codes and abbreviations of a question: words that stand for one thing and are written in one way only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import PurePath

from localcrag.crag.questions.query_terms import ASKING_WORDS, STOP_WORDS, WORD_PATTERN
from localcrag.types import Passage

_ABBREVIATION = re.compile(r"[A-ZÀ-Þ]{2,}(?:[-./&][A-ZÀ-Þ]+)*")
_OF_LETTERS_AND_DIGITS = re.compile(r"(?=[^\W\d_]*[A-ZÀ-Þ])[^\W\d_]{1,4}[-./]?\d+(?:[-./]?[A-Z\d]+)*")
_STRESSED = STOP_WORDS | ASKING_WORDS | {"every", "never", "no", "not", "now", "only", "own"}
_STRESSED -= {"it", "us"}
"""Words that are written in capitals for stress."""
_SMALL_LETTER = re.compile(r"[a-zß-ÿ]{2}")


def codes_of(question: str) -> list[str]:
    """The codes of a question, each once: words in capitals ("CRC"), and capitals with digits ("P-111").

    There are none in a question that is all in capitals.
    """
    if not _SMALL_LETTER.search(question):
        return []
    words = [word for word in WORD_PATTERN.findall(question) if word.lower() not in _STRESSED]
    patterns = (_ABBREVIATION, _OF_LETTERS_AND_DIGITS)
    return list(dict.fromkeys(word for word in words if any(each.fullmatch(word) for each in patterns)))


def has_code(passage: Passage, code: str) -> bool:
    """Whether a passage or what it is read with has a code, as a word of its own in the same capitals."""
    read = f"{PurePath(passage.source).name}\n{passage.judged}"
    return code in read and _as_word(code).search(read) is not None


def lacking_codes(question: str, passages: Sequence[Passage]) -> list[bool]:
    """Of each passage, whether none of its document has a code of the question that another document has.

    Of 49 questions with a code about eleven collections of documents, 48 were answered by a document with it.
    """
    having = [
        {passage.source for passage in passages if has_code(passage, code)} for code in codes_of(question)
    ]
    sources = set[str]().union(*having)
    return [bool(sources) and passage.source not in sources for passage in passages]


@cache
def _as_word(code: str) -> re.Pattern[str]:
    """The pattern of a code that no letter or digit stands beside."""
    return re.compile(rf"(?<![^\W_]){re.escape(code)}(?![^\W_])")
