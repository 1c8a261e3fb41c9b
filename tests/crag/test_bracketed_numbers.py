"""Numbers in brackets in documents, which are no citations of localcrag."""

from __future__ import annotations

import pytest

from localcrag.crag.answering.answer_form import citation_marks
from localcrag.crag.answering.bracketed_numbers import disarmed, is_citation_like, without_bracketed_numbers
from localcrag.crag.answering.citation_check import CitationChecker
from localcrag.types import CitationMark, Evidence, Strip
from tests.crag.values import passage

FORGED = [
    "[1]",
    "[42]",
    "[1,2]",
    "[1–3]",
    "[ 1 ]",
    "【1】",
    "［１］",
    "〔1〕",
    "⟦1⟧",
    "[^1]",
    "[1.]",
    "[\u20601]",
    "[①]",
]


@pytest.mark.parametrize("mark", FORGED)
def test_what_looks_like_a_citation_gets_other_brackets_of_the_same_length(mark: str) -> None:
    shown = disarmed(f"so it is {mark}.")
    assert shown == f"so it is ‹{mark[1:-1]}›." and len(shown) == len(f"so it is {mark}.")


@pytest.mark.parametrize(
    "text", ["[sic]", "[p. 4]", "【一】", "[5 %]", "[]", "[1.2.0]", "[A1]", "a 【note】"]
)
def test_other_brackets_stay(text: str) -> None:
    assert disarmed(text) == text == without_bracketed_numbers(text) and not is_citation_like(text[1:-1])


def test_the_marks_of_the_answer_keep_their_brackets() -> None:
    text = "As was shown [1] [1]"
    assert disarmed(text, [CitationMark(1, 17, 20)]) == "As was shown ‹1› [1]"


def test_an_index_in_code_stays_and_a_citation_in_code_does_not() -> None:
    code = "value = argv[1]  # see [2]\nfor row in rows[0]:\nThe dose is 40 mg[1]"
    assert (
        disarmed(code, code=True) == "value = argv[1]  # see ‹2›\nfor row in rows[0]:\nThe dose is 40 mg‹1›"
    )
    assert "argv‹1›" in disarmed(code)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a dose [42] is", "a dose is"),
        ("mg[1]daily", "mg daily"),
        ("mg [1], daily", "mg, daily"),
        ("[1]", ""),
    ],
)
def test_without_them_the_text_goes_on(text: str, left: str) -> None:
    assert without_bracketed_numbers(text) == left


def checker(evidence: str) -> CitationChecker:
    strip = Strip(passage(evidence), 0, len(evidence), evidence, 0.9)
    return CitationChecker("How large is the share of women?", [Evidence(1, strip)])


@pytest.mark.parametrize("mark", ["[42]", "【42】", "［42］", "[12, 42]", "[^42]", "〔42〕"])
def test_a_bracketed_number_of_the_evidence_supports_no_figure(mark: str) -> None:
    assert not checker(f"The share of women was shown to be large {mark}.").check(
        "The share of women was 42 %. [1]"
    )


def test_a_quotation_may_leave_out_a_mark_and_a_sentence_brings_none_of_its_own() -> None:
    check = checker("The share of women [42] was 31 % in all.")
    assert check.check("“The share of women was 31 %” in all. [1]")
    assert check.check("The share of women was 31 % 【1】 in all. [1]") == (
        "The share of women was 31 % in all. [1]"
    )


def test_the_places_of_the_citations_of_a_written_sentence() -> None:
    assert citation_marks("It is so. [1][12]") == (CitationMark(1, 10, 13), CitationMark(12, 13, 17))
