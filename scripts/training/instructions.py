"""Instructions with a context and a free answer (databricks-dolly-15k): those that their passage answers."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from .data import Example, Record, read_jsonl, split_sentences, tidy

INSTRUCTIONS_SET = "dolly_context"
INSTRUCTIONS_FILE = Path("qa", "answers", "dolly_context.jsonl.zst")
MAX_PASSAGE_CHARACTERS = 3000
MAX_QUESTION_CHARACTERS = 200
_ABOUT_THE_TEXT = re.compile(
    r"\b(?:passage|paragraph|text|reference|article|following|above|below|given|provided|context|extract"
    r"|summari[sz]e|summary|rewrite|bullet(?:ed)?|classify|list of|separated)\b",
    re.IGNORECASE,
)
"""An instruction that speaks of its text asks nothing without it."""
_FOOTNOTE = re.compile(r"\[\d+\]")
_WORD = re.compile(r"\w+")


def read_instructions(data: Path) -> list[Example]:
    """The instructions that ask something, with their passages; none without the file. Raises DataError."""
    path = data / INSTRUCTIONS_FILE
    if not path.exists():
        return []
    return [example for record in read_jsonl(path) if (example := _example(record)) is not None]


def _example(record: Record) -> Example | None:
    question, passage = tidy(record["question"]), _FOOTNOTE.sub("", record["passage"])
    asks = 8 < len(question) < MAX_QUESTION_CHARACTERS and not _ABOUT_THE_TEXT.search(question)
    if not asks or not 40 < len(passage) < MAX_PASSAGE_CHARACTERS:
        return None
    sentences = split_sentences(passage)
    document = hashlib.sha256(passage.encode()).hexdigest()[:12]
    evidence = _evidence(record["answer"], sentences)
    return Example(INSTRUCTIONS_SET, document, question, sentences, evidence, True)


def _evidence(answer: str, sentences: tuple[str, ...]) -> tuple[int, ...]:
    """The one sentence that has all words of a short answer; none if there is no such, or several."""
    words = set(_WORD.findall(answer.lower()))
    holding = [i for i, s in enumerate(sentences) if words and words <= set(_WORD.findall(s.lower()))]
    return tuple(holding) if len(holding) == 1 else ()
