"""Org files as blocks: headings, lists, tables and code without the marks of Org."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.extracted import Limits
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.org_blocks import org_page
from localcrag.documents.readers import parse
from localcrag.types import BlockKind

NOTES = """#+TITLE: Orchard notes
#+AUTHOR: Lio
#+STARTUP: overview
# for me only

* DONE [#A] Kick-off <2025-01-13 Mon>  :work:app:
  :PROPERTIES:
  :ID: 5f
  :ATTENDEES: Lio, Sana
  :END:
  - We ship on /Android/ *first*,
    iOS follows.
  - [X] recruit 30 testers
** Decisions
   1. See [[https://osm.example][the map]] and =make=.
   - Beta :: the test in April
DEADLINE: <2025-04-22 Tue>
Sana is
away.[fn:1]

| Week | Crashes |
|------+---------|
|   14 |       9 |
|   15 |       4 |
#+TBLFM: $2=1
#+BEGIN_SRC shell
* make import
#+END_SRC
: fixed
#+begin_quote
He said
so.
#+end_quote
[fn:1] Until May.
"""
HEADING, PARAGRAPH, ITEM, ROW = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.ROW
CODE = BlockKind.CODE


def told(text: str) -> list[tuple[BlockKind, int, str]]:
    page = org_page(text)
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def test_an_org_file_is_read_without_its_marks() -> None:
    assert told(NOTES) == [
        (HEADING, 1, "Orchard notes"),
        (ROW, 0, "author: Lio"),
        (HEADING, 2, "DONE Kick-off 2025-01-13 Mon"),
        (ROW, 0, "tags: work, app"),
        (ROW, 0, "Attendees: Lio, Sana"),
        (ITEM, 1, "We ship on Android first, iOS follows."),
        (ITEM, 1, "☑ recruit 30 testers"),
        (HEADING, 3, "Decisions"),
        (ITEM, 1, "See the map and make."),
        (ITEM, 1, "Beta: the test in April"),
        (ROW, 0, "Deadline: 2025-04-22 Tue"),
        (PARAGRAPH, 0, "Sana is away."),
        (ROW, 0, "Week: 14 · Crashes: 9"),
        (ROW, 0, "Week: 15 · Crashes: 4"),
        (CODE, 0, "* make import"),
        (CODE, 0, "fixed"),
        (PARAGRAPH, 0, "He said so."),
        (PARAGRAPH, 0, "[1] Until May."),
    ]


def test_an_org_file_has_its_title_and_its_fields() -> None:
    found = parse(DocumentFormat.ORG, NOTES.encode(), Limits())
    assert found.title == "Orchard notes"
    assert found.meta["author"] == "Lio"


def test_what_never_ends_is_text() -> None:
    assert told("#+BEGIN_SRC\nFirst.\n\n* Two\n:LOGBOOK:\nThird.") == [
        (PARAGRAPH, 0, "First."),
        (HEADING, 1, "Two"),
        (PARAGRAPH, 0, "Third."),
    ]


def test_lines_of_code_lose_the_comma_that_protects_them() -> None:
    text = "#+begin_src org\n,* A heading\n  ,#+title: A title\n,,* Twice\na,* b\n#+end_src"
    assert told(text) == [(CODE, 0, "* A heading\n  #+title: A title\n,* Twice\na,* b")]


@given(st.text(alphabet="*#+:|-[]<> \nabBE_12.", max_size=60))
def test_any_text_is_read(text: str) -> None:
    page = org_page(text)
    assert all(page.text[block.start : block.end].strip() for block in page.blocks)


@pytest.mark.parametrize("piece", ["#+begin_src\n", ":a:\n", "*", "| ", "[[", "- a\n", "/a", "<2025-01-01"])
def test_broken_files_take_linear_time(piece: str) -> None:
    started = time.perf_counter()
    org_page(piece * 20_000)
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    "text",
    [
        "word\n" + "{" * 1_000_000,
        "".join("*" * level + " word\n" for level in range(1, 2_000)),
        "".join(" " * level + "- word\n" for level in range(2_000)),
        "#+begin_quote\n" * 50_000 + "word",
        "word <2025-13-45 Xyz> " * 50_000,
        ":PROPERTIES:\n:Effort: word\n" * 20_000,
    ],
    ids=["braces", "deep headings", "deep lists", "open blocks", "impossible days", "open drawers"],
)
def test_hostile_files_keep_their_words_and_take_linear_time(text: str) -> None:
    started = time.perf_counter()
    assert "word" in org_page(text).text
    assert time.perf_counter() - started < 10
