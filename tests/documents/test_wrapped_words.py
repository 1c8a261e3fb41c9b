"""Words broken at the end of a line of plain text are joined, if its lines were broken to a width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.formats import Markup
from localcrag.documents.structure import structured
from localcrag.documents.wrapped_words import with_whole_words
from localcrag.types import Page

POLICY = (
    "Die Summe beträgt höchstens 65.000 €. Fahrraddieb-\n"
    "stahl ist nur mitversichert, wenn das Fahrrad abge-\n"
    "schlossen war. Die Kosten trägt stets die Versiche-\n"
    "rung."
)


def test_the_words_of_wrapped_prose_are_joined_and_its_lines_end_after_them() -> None:
    joined = (
        "Die Summe beträgt höchstens 65.000 €. Fahrraddiebstahl\n"
        "ist nur mitversichert, wenn das Fahrrad abgeschlossen\n"
        "war. Die Kosten trägt stets die Versicherung."
    )
    assert with_whole_words(POLICY) == joined
    assert with_whole_words(f"{POLICY}\nDanach nichts.") == f"{joined}\nDanach nichts."
    assert "Fahrraddiebstahl" in structured(Page(None, POLICY), Markup.PROSE).text


@pytest.mark.parametrize(
    "text",
    [
        "We looked into all of the rooms of the house-\nand then of the garden that is behind it.",
        "It was a thing that everybody knew of in the An-\nSaxon times and that nobody remembers now.",
        "a-\nb",
        "rooms: a list of short-\nlines",
        "--exclude=a-pattern-that-is-as-long-as-the-line-\n  indented below it, as in a manual page or so",
    ],
    ids=["suspended", "capital letter", "one letter", "too narrow", "indented"],
)
def test_other_hyphens_stay(text: str) -> None:
    assert with_whole_words(text) == text


def test_a_hyphen_of_the_word_itself_is_kept() -> None:
    text = "It was a well-known tale, and there was nothing in it not well-\nknown to all. It is good."
    assert "not well-known\nto all" in with_whole_words(text)


@given(
    st.lists(st.sampled_from(["Fahrrad-\n", "dieb", "stahl ", "\n", "- ", "ist ", "A", "\x02", "-\n"])).map(
        "".join
    )
)
def test_no_letter_is_lost(text: str) -> None:
    def letters(of: str) -> str:
        return "".join(filter(str.isalnum, of))

    assert letters(with_whole_words(text)) == letters(text)
