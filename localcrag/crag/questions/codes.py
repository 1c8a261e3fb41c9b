"""Codes, abbreviations and names of a question: words that stand for one thing, as it is written."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import PurePath

from localcrag.crag.questions.calendar_dates import dates_of
from localcrag.crag.questions.query_terms import ASKING_WORDS, STOP_WORDS, WORD_PATTERN
from localcrag.types import Passage

_ABBREVIATION = re.compile(r"[A-ZÀ-Þ]{2,}(?:[-./&][A-ZÀ-Þ]+)*")
_OF_LETTERS_AND_DIGITS = re.compile(r"(?=[^\W\d_]*[A-ZÀ-Þ])[^\W\d_]{1,4}[-./]?\d+(?:[-./]?[A-Z\d]+)*")
_VERSION = re.compile(r"[vV]?(\d+(?:\.\d+){2,})")
"""The number of a version with all its parts: "1.5.0", "v2.10.3"."""
COMES_OUT = r"\b(?:released?|publish(?:ed)?|c[oa]me out|appear(?:ed)?|available)\b"
"""How a question says that something comes out, as a pattern."""
_RELEASE = re.compile(
    r"(?:\b[Vv]ersion |\b[Rr]elease |\b[A-Z][\w+-]* [vV]?|\b[vV])(\d{1,3}\.\d{1,3})(?![\w.]*\w)"
    rf"(?=.*{COMES_OUT})"
)
"""The number of a release of two parts, if a question asks for its day: "When did Kestrel 2.0 come out?"."""
_STRESSED = STOP_WORDS | ASKING_WORDS | {"every", "never", "no", "not", "now", "only", "own"}
_STRESSED -= {"it", "us"}
"""Words that are written in capitals for stress."""
_NAME = re.compile(
    r"(?<=[^\W\d_] )[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)+"
    r"|(?<![\w-])[^\W\d_]*[a-zß-ÿ][A-ZÀ-Þ][^\W\d_]*(?![\w-])"
)
"""A name of several words with capitals, behind the first word, or of one with a capital inside."""
_SMALL_LETTER = re.compile(r"[a-zß-ÿ]{2}")


def codes_of(question: str) -> list[str]:
    """The codes of a question, each once: words in capitals, capitals with digits, and numbers of versions.

    They are such as "CRC", "P-111" and "1.5.0"; that of a version is without the letter before it. There are
    none in a question that is all in capitals.
    """
    if not _SMALL_LETTER.search(question):
        return []
    words = [word for word in WORD_PATTERN.findall(question) if word.lower() not in _STRESSED]
    releases = _RELEASE.findall(question)
    return list(dict.fromkeys((*releases, *(code for word in words if (code := _code_in(word))))))


def _code_in(word: str) -> str:
    """The code that a word is; "" if it is none. A day like "1.5.24" is none."""
    if version := _VERSION.fullmatch(word):
        return "" if dates_of(word) else version[1]
    return word if _ABBREVIATION.fullmatch(word) or _OF_LETTERS_AND_DIGITS.fullmatch(word) else ""


def names_of(question: str) -> list[str]:
    """The names that a question spells, each once: "Viet Nam", "PostgreSQL License", "RasMol"."""
    if not _SMALL_LETTER.search(question):
        return []
    return list(dict.fromkeys(match[0] for match in _NAME.finditer(question)))


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
    """The pattern of a code that no letter or digit stands beside; a "v" may stand before a version."""
    if code[0].isdigit():
        return re.compile(rf"(?<![^\W_])(?<!\.)[vV]?{re.escape(code)}(?![^\W_]|\.\d)")
    return re.compile(rf"(?<![^\W_]){re.escape(code)}(?![^\W_])")
