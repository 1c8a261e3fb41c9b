"""The normalisation and the scores of SQuAD, and what counts as the same place of a text."""

from __future__ import annotations

import pytest

from localcrag.evaluation.text_overlap import exact, f1, holds, normalised, overlap

LONG = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"


def test_case_punctuation_articles_space_and_citation_marks_do_not_count() -> None:
    assert normalised("The  Quick,\n(brown) fox’s an apple. [1][12]") == ("quick", "brown", "foxs", "apple")


@pytest.mark.parametrize(
    ("prediction", "answers", "em", "token_f1"),
    [
        ("the Denver Broncos.", ["Denver Broncos"], 1.0, 1.0),
        ("Denver", ["Denver Broncos"], 0.0, 2 / 3),
        ("35 mg once a day", ["35 mg", "35 mg once daily"], 0.0, 2 * 3 / (4 + 4)),
        ("no idea", ["35 mg"], 0.0, 0.0),
        ("", ["35 mg"], 0.0, 0.0),
        ("", ["A"], 0.0, 0.0),
        ("A.", ["A"], 1.0, 1.0),
        ("day day", ["day night"], 0.0, 0.5),
    ],
)
def test_exact_match_and_f1_are_the_best_over_the_answers(
    prediction: str, answers: list[str], em: float, token_f1: float
) -> None:
    assert exact(prediction, answers) == em
    assert f1(prediction, answers) == pytest.approx(token_f1)


def test_an_answer_is_held_word_for_word_and_in_one_run() -> None:
    assert holds("The usual dose is 35 mg once a day [1].", ["35 MG"])
    assert not holds("The usual dose is 135 mg.", ["35 mg"])
    assert not holds("35 tablets of 10 mg", ["35 mg"])
    assert not holds("anything", ["the"]), "an answer of articles alone is nowhere"


def test_quotation_marks_and_symbols_of_any_language_do_not_count() -> None:
    assert holds("Das Boot heißt „Eisvogel“.", ["Eisvogel"])
    assert holds("It costs £41 an hour.", ["41"]) and holds("¿Cuándo? A las 9.", ["cuándo"])


def test_a_text_without_spaces_is_compared_by_characters() -> None:
    assert holds("省会每晚最多报销420元。", ["420元"]) and holds("省会每晚最多报销420元。", ["420"])
    assert not holds("省会每晚最多报销1420元。", ["420"])
    assert f1("保管料", ["保管"]) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("35 mg once a day", "The usual dose is 35 mg once a day, with water.", True),
        ("35 mg once a day", "The usual dose is 35 mg, taken at night.", False),
        (LONG, f"before it {LONG} and after", True),
        (LONG, " ".join(LONG.split()[8:]) + " and something else that goes on for a while", True),
        (LONG, " ".join(LONG.split()[9:]) + " and something else that goes on for a while", False),
        (LONG, "", False),
    ],
)
def test_overlap(first: str, second: str, same: bool) -> None:
    assert overlap(normalised(first), normalised(second)) is same
    assert overlap(normalised(second), normalised(first)) is same
