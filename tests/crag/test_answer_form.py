"""The form of a written answer, and what ends it."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag import prompts
from localcrag.crag.answering.answer_form import (
    SaidBefore,
    answer_pattern,
    by_sentence,
    cited_keys,
    declines,
    without_keys,
)

PATTERN = re.compile(answer_pattern([1, 2, 13]))


@pytest.mark.parametrize(
    "text",
    [
        "The dose is 5 mg a day. [1]",
        "The dose is 5 mg a day. [1][13]",
        "J. R. R. Tolkien wrote it (in 3.5 years). [2][1] He died! [1]",
        "In the U.S. Army it was so, says Dr. No. [1]",
        "U.S. troops left, e.g. this one. [1]",
        "St. Louis is on p. 5 of No. 7. [2]",
        "He said “no.” [1] “No,” he said. [2]",
        "At p < 0.05 it holds, and a <= b. [1]",
        "The steps are: first this, then that. [1]",
        "At 10:30 it was 5 °C … or so. [1]",
        "Élan vital is it. [1]",
        "剂量是5毫克。 [1]",
        prompts.NOT_IN_EVIDENCE,
    ],
)
def test_an_answer_in_form(text: str) -> None:
    assert PATTERN.fullmatch(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "It is so.",
        "It is so. [3]",
        "It is so. [1] [2]",
        "It is so.[1]",
        "It is so [1].",
        "It is so. It is so. [1]",
        "It is so! It is so. [1]",
        "He said “no.” It is so. [1]",
        "It is so. [1] It is so.",
        "It is so. [1]\nIt is so. [2]",
        "It is\nso. [1]",
        "It  is so. [1]",
        "- It is so. [1]",
        "1. It is so. [1]",
        "# It is so. [1]",
        "Question: is it so? [1]",
        "User: it is so. [1]",
        "See <passage> here. [1]",
        "See </passage> here. [1]",
        "It is\u200b so. [1]",
        "It is\u202e so. [1]",
        "It is [so]. [1]",
        f"{prompts.NOT_IN_EVIDENCE} {prompts.NOT_IN_EVIDENCE}",
        f"It is so. [1] {prompts.NOT_IN_EVIDENCE}",
    ],
)
def test_no_answer_in_form(text: str) -> None:
    assert not PATTERN.fullmatch(text)


def test_an_answer_that_may_not_decline_consists_of_cited_sentences() -> None:
    held = re.compile(answer_pattern([1, 2], may_decline=False))
    assert held.fullmatch("The dose is 5 mg a day. [1] Children take half. [2]")
    assert not held.fullmatch(prompts.NOT_IN_EVIDENCE) and not held.fullmatch("It is so. [3]")


def test_sentences_come_with_the_citations_that_follow_them() -> None:
    pieces = ["The dose", " is 5 mg. [", "1", "][2]", " Chil", "dren take half. [1", "]", " Yes."]
    assert list(by_sentence(pieces)) == ["The dose is 5 mg. [1][2] ", "Children take half. [1] ", "Yes."]


def test_blanks_without_end_are_regrouped_in_no_time() -> None:
    began = time.process_time()
    assert "".join(by_sentence([" " * 100_000, "[", "1]", "\n" * 100_000, "[2]"]))
    assert time.process_time() - began < 5, "an hour, if each blank may be the one before the citation"


@given(st.lists(st.text(alphabet="ab .![]12\n“”", max_size=12), max_size=12))
def test_regrouping_loses_and_doubles_nothing(pieces: list[str]) -> None:
    assert "".join(by_sentence(pieces)) == "".join(pieces)


@pytest.mark.parametrize(
    ("sentence", "text", "keys"),
    [
        ("So. [1]", "So.", (1,)),
        ("So. [1][12]", "So.", (1, 12)),
        (" So [1] it is. [2][1] ", "So it is.", (1, 2)),
        ("[a] so", "[a] so", ()),
    ],
)
def test_a_sentence_and_its_citations(sentence: str, text: str, keys: tuple[int, ...]) -> None:
    assert (without_keys(sentence), cited_keys(sentence)) == (text, keys)


@pytest.mark.parametrize(
    "text",
    [
        prompts.NOT_IN_EVIDENCE,
        f"“{prompts.NOT_IN_EVIDENCE}” [1]",
        "The passages do not mention the price. [1]",
        "The given documents don't say when. [2]",
        "The provided context does not contain this. [1]",
        "There is no information about the price in the passages. [1]",
        "The price is not mentioned in these passages. [1]",
        "I don't know the answer. [1]",
        "Sorry, but I cannot answer this question. [1]",
        "I'm sorry, but I do not know the price. [1]",
        "There is no mention of a price. [1]",
        "The price is not specified. [1]",
        "The price for children is unknown. [1]",
        "It is unclear what the price is. [1]",
        "It is not possible to determine the price. [1]",
        "The price cannot be determined from this. [1]",
        "None of the documents say what it costs. [1]",
        "Not enough information about the price is given. [1]",
        "No price for children is given. [1]",
        "The price is not in the documents. [1]",
        "It does not have a price in the text. [1]",
        "As an AI language model, I cannot tell the price. [1]",
    ],
)
def test_declining_in_any_words(text: str) -> None:
    assert declines(text, ["The dose is 5 mg."])


@pytest.mark.parametrize(
    "text",
    [
        "There is no evidence that it helps against colds. [1]",
        "The price is not given to patients. [1]",
        "The doctor does not mention the price. [1]",
        "It cannot be answered with a pill. [1]",
    ],
)
def test_statements_that_deny_something_decline_nothing(text: str) -> None:
    assert not declines(text, [])


def test_a_sentence_of_the_evidence_declines_nothing() -> None:
    assert not declines(
        "The documents do not say who wrote them. [1]", ["The documents do not say who wrote them."]
    )


def test_what_the_evidence_leaves_open_may_be_said() -> None:
    assert not declines("The cause is unknown. [1]", ["So far nobody knows the cause of the fire."])
    assert not declines("The dose is not known. [1]", ["A dose for children was never established."])
    assert declines("The cause is unknown. [1]", ["A spark of the stove set the mill on fire."])


@pytest.mark.parametrize(
    ("sentence", "repeats"),
    [
        ("The dose is 5 mg a day. [1]", True),
        ("5 mg a day: that is the DOSE! [2]", True),
        ("The doses are 5 mg. [1]", True),
        ("The dose is not 5 mg a day. [1]", False),
        ("The dose is 6 mg a day. [1]", False),
        ("The dose is 5 mg a day for children. [1]", False),
    ],
)
def test_a_sentence_without_a_new_word_is_a_repetition(sentence: str, repeats: bool) -> None:
    said = SaidBefore()
    assert not said.repeats("The dose is 5 mg a day. [1]")
    assert said.repeats(sentence) is repeats
    assert len(said) == 2
