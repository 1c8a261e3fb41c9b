"""The rewritten line: one line always, and for a very small model only words that were asked."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.questions.query_terms import MAX_LINE_WORDS, own_words_pattern, rewrite
from tests.fakes.llm import ScriptedModel

CHATTY = "hi, I was wondering when the steam engine was patented by Watt, thanks"


@pytest.mark.parametrize(
    ("line", "allowed"),
    [
        ("steam engine patented Watt", True),
        ("steam engine was patented by Watt", True),
        ("steam engine was patented Watt", True),
        ("engine steam patented Watt", False),
        ("steam engine patented", False),
        ("hi steam engine patented Watt", False),
        ("steam engine patented Watt now", False),
    ],
)
def test_what_carries_meaning_is_kept_in_order_and_nothing_is_added(line: str, allowed: bool) -> None:
    assert bool(re.fullmatch(own_words_pattern(CHATTY), line)) is allowed


def test_a_question_of_little_words_alone_is_written_freely() -> None:
    assert own_words_pattern("what is it?") == ""
    assert rewrite(ScriptedModel(lines=["a line"]), "what is it?", extractive=True) == "a line"


def test_the_constraint_is_used_only_where_it_is_asked_for() -> None:
    model = ScriptedModel(lines=["free words"], streams=["steam engine patented Watt"])
    assert rewrite(model, CHATTY, extractive=False) == "free words"
    assert rewrite(model, CHATTY, extractive=True) == "steam engine patented Watt"


@given(st.text(max_size=300))
def test_every_question_has_a_pattern_that_some_line_of_bounded_length_matches(question: str) -> None:
    pattern = own_words_pattern(question)
    if pattern:
        shortest = re.sub(r"\((?:\\.|[^()\\])*\)\?", "", pattern)
        line = re.sub(r"\\(.)", r"\1", shortest)
        assert re.fullmatch(pattern, line)
        assert "\n" not in line and len(line.split(" ")) <= MAX_LINE_WORDS
