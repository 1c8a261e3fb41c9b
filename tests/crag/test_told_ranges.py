"""The numbers of a question that a text tells by a range or a bound."""

from __future__ import annotations

import pytest

from localcrag.crag.rows.told_ranges import asked_numbers, is_within_range


def told(question: str, text: str) -> bool:
    """Whether a text has a range that a number of the question is within."""
    return any(is_within_range(question, *place, text) for place in asked_numbers(question))


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("a dog of 17 kg", "15-21 kg"),
        ("she withdraws 35 days before", "90 to 31 days"),
        ("she withdraws five weeks before", "90 to 31 days"),
        ("he withdraws 3 days before", "7 days or fewer"),
        ("a parcel of 800 g", "up to 1 kg"),
        ("I was here for 2 years", "12 to 36 months"),
        ("aged 14", "under 16"),
    ],
)
def test_a_number_is_within_a_range_whichever_way_it_is_written(question: str, text: str) -> None:
    assert told(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("she withdraws five weeks before", "30 to 8 days"),
        ("he withdraws 8 days before", "7 days or fewer"),
        ("a parcel of 800 g", "up to 500 g"),
        ("a parcel of 800 g", "up to 1 km"),
        ("the second week", "1 to 3 weeks"),
        ("room 12", "20-10"),
    ],
)
def test_a_number_is_not_within_another_range(question: str, text: str) -> None:
    assert not told(question, text)


def test_the_numbers_of_a_question_are_figures_and_counted_units() -> None:
    question = "Of 3 dogs, two are out after five weeks."
    assert [question[start:end] for start, end in asked_numbers(question)] == ["3", "five"]
