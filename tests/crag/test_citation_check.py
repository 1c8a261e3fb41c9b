"""What may be shown of an answer: sentence by sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.citation_check import CitationChecker, by_sentence
from tests.crag.values import evidence

DOSE = evidence("The dose is 5 mg a day.", "Children take half of it, says the leaflet of 2019.")


def verifier(question: str = "What is the dose?") -> CitationChecker:
    return CitationChecker(question, DOSE)


def test_a_sentence_that_holds_is_shown_as_it_is_and_its_citation_kept() -> None:
    check = verifier()
    sentence = check.check("The dose is 5 mg. [1]")
    assert sentence == "The dose is 5 mg. [1]"
    assert [(c.key, c.source, c.quote) for c in check.citations([sentence])] == [
        (1, "/1.txt", "The dose is 5 mg a day.")
    ]
    assert check.removed == []


def test_a_citation_that_does_not_exist_is_taken_out_and_said() -> None:
    check = verifier()
    assert check.check("Take it daily [1] [7].") == "Take it daily [1]."
    assert check.removed == ["citation [7]: there is no such evidence"]


def test_a_number_from_nowhere_removes_the_sentence() -> None:
    check = verifier()
    assert check.check("The dose is 50 mg. [1]") == ""
    assert "50 is not in the evidence" in check.removed[0]
    assert check.citations([""]) == []


def test_a_number_must_stand_in_the_evidence_that_is_cited() -> None:
    assert verifier().check("It was written in 2019. [1]") == ""
    assert verifier().check("It was written in 2019. [2]") != ""


def test_a_number_of_the_question_may_be_repeated() -> None:
    assert verifier("Is 10 mg too much?").check("10 mg is more than the dose. [1]") != ""


@pytest.mark.parametrize("marks", ["“{}”", '"{}"'])
def test_a_quotation_must_be_verbatim(marks: str) -> None:
    assert verifier().check(f"It says {marks.format('the dose is 5 mg')}. [1]") != ""
    check = verifier()
    assert check.check(f"It says {marks.format('the dose is very high')}. [1]") == ""
    assert "the quotation is not in the evidence" in check.removed[0]


def test_a_term_in_quotation_marks_is_no_quotation() -> None:
    assert verifier().check("It is called “dosage”. [1]") != ""


SAYS = "Zeldrine can’t be “mixed” with milk: 1,200 mg three times a day, or twenty-one of three hundred."


@pytest.mark.parametrize(
    ("sentence", "stays"),
    [
        ("Take 1200 mg. [1]", True),
        ("Take 1,200 mg. [1]", True),
        ("Take 1,200.5 mg. [1]", False),
        ("Take 12,00 mg. [1]", False),
        ("Take 200 mg. [1]", False),
        ("Take it 3 times a day. [1]", True),
        ("Take it Three times a day. [1]", True),
        ("Take it 4 times a day. [1]", False),
        ("Take 1 tablet. [1]", False),
        ("It says “zeldrine can't be 'mixed' with milk”. [1]", False),
        ("It says “Zeldrine can't be mixed with milk”. [1]", False),
        ("It can't: \"Zeldrine can't be “mixed” with milk\". [1]", True),
        ("It can’t: “with milk: 1,200 mg three times”. [1]", True),
    ],
)
def test_only_how_a_number_or_a_mark_is_set_makes_no_difference(sentence: str, stays: bool) -> None:
    assert bool(CitationChecker("How much?", evidence(SAYS)).check(sentence)) is stays


def test_numbers_of_the_question_may_be_set_in_another_way() -> None:
    assert verifier("Are three of 1500 mg too much?").check("3 of 1,500 mg are. [1]") != ""


def test_a_number_in_words_is_not_looked_for_within_a_greater_one() -> None:
    assert CitationChecker("q?", evidence("Take three hundred mg.")).check("Take 3 mg. [1]") == ""


def listed(text: str) -> tuple[str, list[str]]:
    """What is shown of a text, and what was removed from it."""
    check = verifier()
    return "".join(map(check.check, by_sentence([text]))), check.removed


@pytest.mark.parametrize(
    "text",
    [
        "1. Take it with water [1].\n2. Wait an hour [1].",
        "Do this:\n\n1) Take it with water. [1]\n2) Wait an hour. [1]",
        "Do this: 1) take it with water, 2) wait an hour [1].",
        "Do this: (1) take it with water; (2) wait an hour [1].",
        "Do this: 1) Take it with water. 2) Wait an hour [1].",
        "- 1. Take it with water. [1]\n- 2. Wait an hour. [1]",
        "1. Adults:\n   1. Take it. [1]\n   2. Wait. [1]\n2. Children wait. [2]",
    ],
)
def test_the_numbers_of_a_list_stay(text: str) -> None:
    assert listed(text) == (text, [])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("50. Take it with water [1].", "50"),
        ("50. [1] Take it with water [1].", "50"),
        ("3. Take it with water [1].", "3"),
        ("It is 1. [1]", "1"),
        ("1. [1]", "1"),
        ("Take it (see part 1) with water [1].", "1"),
        ("Take 1 tablet [1].", "1"),
        ("1. Take it with water, 40 mg [1].", "40"),
    ],
)
def test_a_number_that_counts_no_items_is_looked_for(text: str, number: str) -> None:
    assert any(reason.endswith(f"{number} is not in the evidence") for reason in listed(text)[1])


def test_the_marker_of_an_item_belongs_to_the_sentence_after_it() -> None:
    pieces = ["1", ". ", "Take it [", "1].\n", "2. Wait", " an hour. [1]\n- ", "Rest."]
    assert list(by_sentence(pieces)) == ["1. Take it [1].\n", "2. Wait an hour. [1]\n", "- Rest."]


def test_what_may_not_be_cited_any_more_supports_nothing_and_is_named_once() -> None:
    check = verifier()
    check.lost[2] = "/2.txt has changed"
    assert check.check("Children take half [2]. [1]") == "Children take half. [1]"
    assert check.check("Children take half [2].") == "Children take half."
    assert check.removed == ["citation [2]: /2.txt has changed"]
    assert check.check("It is of 2019 [2].") == ""


def test_sentences_come_with_the_citations_that_follow_them() -> None:
    pieces = ["The dose", " is 5 mg. [", "1] Chil", "dren take half [2]. [1", "] Yes."]
    assert list(by_sentence(pieces)) == ["The dose is 5 mg. [1] ", "Children take half [2]. [1] ", "Yes."]


@given(st.lists(st.text(alphabet="ab .![]12\n“”", max_size=12), max_size=12))
def test_regrouping_loses_and_doubles_nothing(pieces: list[str]) -> None:
    assert "".join(by_sentence(pieces)) == "".join(pieces)
