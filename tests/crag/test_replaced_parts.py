"""A follow-up that puts one thing in the place of another is the last question with that part replaced."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.replaced_parts import put_in_place, with_place

VOTES = "How many votes did Coderre get in Mile-End?"
DOSE = "What is the dose of Zeldrine?"


@pytest.mark.parametrize(
    ("last", "question", "made"),
    [
        (VOTES, "And Bergeron?", "How many votes did Bergeron get in Mile-End?"),
        (VOTES, "and in Villeray?", "How many votes did Coderre get in Villeray?"),
        (VOTES, "And in the old town?", "How many votes did Coderre get in the old town?"),
        ("What was the revenue of Orlan in 2018?", "And in 2019?", "What was the revenue of Orlan in 2019?"),
        ("What was the revenue of Orlan in 2018?", "and 2019?", "What was the revenue of Orlan in 2019?"),
        ("Who makes Zeldrine?", "What about Brantol?", "Who makes Brantol?"),
        (DOSE, "And Brantol?", "What is the dose of Brantol?"),
        (DOSE, "and the price?", "What is the price of Zeldrine?"),
        ("Is it open on Saturday, and why?", "And on Sunday?", "Is it open on Sunday, and why?"),
        ("What is the fee for boys on a boat?", "ok, and for men?", "What is the fee for men on a boat?"),
        (DOSE, "And in children?", ""),
        (DOSE, "And who makes it?", ""),
        (DOSE, "For adults?", ""),
        (DOSE, "And of Zeldrine?", ""),
        ("Did Ann marry Bo?", "And Cy?", ""),
        ("Who approves parking?", "And who approves travel?", ""),
        ("What does the frame cost?", "and a wide one?", ""),
        (VOTES, "And of all those that were not given to anybody?", ""),
        ("Was kostet der Eintritt für Kinder?", "Und für Erwachsene?", ""),
        ("", "And Bergeron?", ""),
    ],
)  # fmt: skip
def test_one_thing_takes_the_place_of_another(last: str, question: str, made: str) -> None:
    assert put_in_place(question, last) == made


@pytest.mark.parametrize(
    ("last", "question", "made"),
    [
        (VOTES, "Who won there?", "Who won in Mile-End?"),
        (
            "Who lives at the Old Mill?",
            "How many rooms are let there",
            "How many rooms are let at the Old Mill",
        ),
        (VOTES, "Is there a school?", "Is there a school?"),
        (VOTES, "How many voters are there?", "How many voters are there?"),
        ("Is it in Rome or in Pisa?", "Who won there?", "Who won there?"),
        (DOSE, "Who won there?", "Who won there?"),
    ],
)
def test_there_is_the_place_of_the_question_before(last: str, question: str, made: str) -> None:
    assert with_place(question, last) == made
