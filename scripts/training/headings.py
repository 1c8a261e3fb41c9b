"""Questions that stand in running text as headings, each with the section that answers it.

Handbooks, manuals and proposals ask what their readers ask ("Who approves travel?"), and answer
below: labelled pairs of a kind of text that no question set holds, made by nobody for this purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from .data import Example, read_documents, read_examples, split_sentences
from .instructions import read_instructions

HEADINGS_SET = "headings"
STORY_SHARDS = ("public_domain_books",)
"""Shards whose short lines are speech, not headings."""
_MAX_SECTION_CHARACTERS = 1400
_MIN_SECTION_CHARACTERS = 80
_ASKING = re.compile(r"(?:how to|why|what|when|where|who|which)\b.*[^.:!,;]|.*\?", re.IGNORECASE)
_MARK = re.compile(r"^(?:faq|q|question)\b[\s\d]*[:.)]\s*", re.IGNORECASE)
_MAX_DOCUMENTS = 2
"""A heading of more documents than this ("How to Teach This") asks nothing by itself."""


def read_labelled(data: Path) -> list[Example]:
    """The examples of the question sets, and those of headings and instructions if the folder has them."""
    examples = read_examples(data)
    if data.is_dir() and (data / "text").is_dir():
        examples += [
            Example(HEADINGS_SET, title, q, section, (), True) for title, q, section in read_sections(data)
        ]
        examples += read_instructions(data)
    return examples


def read_sections(data: Path) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """(document, question, sentences of the section below it) for every heading that asks."""
    found = [
        (title, question, section)
        for title, text in read_documents(data, without=STORY_SHARDS)
        for question, section in _sections(text.split("\n\n"))
    ]
    documents: dict[str, set[str]] = {}
    for title, question, _ in found:
        documents.setdefault(question.casefold(), set()).add(title)
    for title, question, section in found:
        if len(documents[question.casefold()]) <= _MAX_DOCUMENTS:
            yield title, question, split_sentences(section)


def _sections(paragraphs: Sequence[str]) -> Iterator[tuple[str, str]]:
    for at, paragraph in enumerate(paragraphs):
        question = _MARK.sub("", paragraph.strip())
        if not (is_heading(paragraph) and _ASKING.fullmatch(question) and len(question.split()) > 2):
            continue
        section = "\n".join(_below(paragraphs[at + 1 :]))
        if len(section) >= _MIN_SECTION_CHARACTERS:
            yield question, section


def _below(paragraphs: Sequence[str]) -> Iterator[str]:
    """The paragraphs up to the next heading, or until the section is long enough."""
    length = 0
    for paragraph in paragraphs:
        if is_heading(paragraph) or length > _MAX_SECTION_CHARACTERS:
            return
        length += len(paragraph)
        yield paragraph.strip()


def is_heading(paragraph: str) -> bool:
    """Whether a paragraph is a heading: one short line that does not end as a sentence does."""
    line = paragraph.strip()
    short = 12 <= len(line) < 120 and "\n" not in line
    return short and not line.startswith(("- ", "1. ")) and line[-1] not in ".:!,;"
