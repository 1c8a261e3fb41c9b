from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.errors import UsageError
from localcrag.web.searxng import MAX_QUERY_CHARACTERS, search_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("what is a heron?", "what is a heron?"),
        ("!!g foo", "g foo"),
        ("!wp grey heron", "wp grey heron"),
        ("why :fr is <3 not !important", "why fr is 3 not important"),
        ("a !:<!! b", "a b"),
        ("two\nlines\r\n\tand\x00a null", "two lines and a null"),
        ("a < b, C:\\ and x!", "a b, C:\\ and x!"),
        ("  wide\u2003space\u3000here ", "wide space here"),
        ("half a pair \ud800 of surrogates", "half a pair of surrogates"),
    ],
)
def test_commands_lose_their_sign_and_keep_their_words(text: str, line: str) -> None:
    assert search_line(text) == line


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "!!", "! : <", "\x00"])
def test_a_query_without_a_word_is_an_error(text: str) -> None:
    with pytest.raises(UsageError, match="no word"):
        search_line(text)


def test_a_long_question_is_cut_between_words() -> None:
    line = search_line("word " * 1000)
    assert len(line) <= MAX_QUERY_CHARACTERS and line.endswith("word")
    assert len(search_line("x" * 100_000)) == MAX_QUERY_CHARACTERS


@given(st.text())
def test_whatever_the_text_the_line_is_harmless(text: str) -> None:
    try:
        line = search_line(text)
    except UsageError:
        return
    tokens = re.split(r"\s+", line)  # as SearXNG splits it
    assert tokens and all(token and token[0] not in "!:<" for token in tokens)
    assert len(line) <= MAX_QUERY_CHARACTERS and len(line.splitlines()) == 1
    assert search_line(line) == line
    line.encode("utf-8")
