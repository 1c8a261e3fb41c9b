"""What may be shown of an answer: sentence by sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.crag.verify import Verifier, by_sentence
from tests.crag.values import evidence

DOSE = evidence("The dose is 5 mg a day.", "Children take half of it, says the leaflet of 2019.")


def verifier(question: str = "What is the dose?") -> Verifier:
    return Verifier(question, DOSE)


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


def test_sentences_come_with_the_citations_that_follow_them() -> None:
    pieces = ["The dose", " is 5 mg. [", "1] Chil", "dren take half [2]. [1", "] Yes."]
    assert list(by_sentence(pieces)) == ["The dose is 5 mg. [1] ", "Children take half [2]. [1] ", "Yes."]


@given(st.lists(st.text(alphabet="ab .![]12\n“”", max_size=12), max_size=12))
def test_regrouping_loses_and_doubles_nothing(pieces: list[str]) -> None:
    assert "".join(by_sentence(pieces)) == "".join(pieces)
