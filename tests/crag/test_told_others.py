"""Evidence of another day, line, dimension or state than is asked for is to be checked."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.doubts.told_others import tells_of_another
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind
from tests.crag.values import structured


def is_of_another(question: str, *told: str, kind: BlockKind = BlockKind.PARAGRAPH) -> bool:
    found = [strip for text in told for strip in strips(structured((kind, text)))]
    return tells_of_another(question, [replace(s, score=0.9 - n / 10) for n, s in enumerate(found)])


@pytest.mark.parametrize(
    ("question", "told", "other"),
    [
        ("What does a ride on Sunday cost?", "On Saturdays it costs 4 euros.", True),
        ("What does a ride on Sunday cost?", "On Saturdays and Sundays it costs 4 euros.", False),
        ("What does a ride on Sunday cost?", "From Friday to Sunday it costs 4 euros.", False),
        ("What does a ride on Tuesday cost?", "Monday–Friday it costs 4 euros.", False),
        ("What does a ride on Sunday cost?", "At weekends and on Fridays it costs 4 euros.", False),
        ("What does a ride on Sunday cost?", "It costs 4 euros.", False),
        ("When is the shop open?", "It opens on Saturdays.", False),
        ("What is the mobile number of Ann?", "Ann: phone (fax) 0123 45", True),
        ("What is the mobile number of Ann?", "Ann: phone 0123 45", False),
        ("What is the mobile number of Ann?", "Ann: mobile 0123 46, fax 0123 45", False),
        ("How long is the bridge in metres?", "The bridge is of oak, 1.5 metres wide.", True),
        ("How long is the bridge in metres?", "The bridge is 20 m long and 1.5 metres wide.", False),
        ("How long does the bridge stay closed?", "The bridge is closed for two weeks.", False),
        ("How wide is the bridge?", "The bridge is 1.5 m wide.", False),
        ("How many people subscribe at the moment?", "subscribers_limit = 450", True),
        ("How many people can subscribe at the moment?", "subscribers_limit = 450", False),
        ("How many people subscribe at the moment?", "subscribers = 450", False),
        ("10.140 MHz max power?", "What is the maximum power a station may use on 10.140 MHz?", True),
        ("10.140 MHz max power?", "What is the maximum power a station may use on 10.140", True),
        ("By how much did we overspend on light?", "Light · Budget: 2300 · Actual: 2746", True),
        ("By how much did we overspend on light?", "Light · Budget: 2300 · Overspent: 446", False),
        ("How much more does Snowie cost than Jellyfish?", "Snowie is 380 euros, Jellyfish 220.", True),
        ("How much more does Snowie cost than Jellyfish?", "Snowie is 160 euros dearer.", False),
        ("How much more do I need?", "The fee is 20 euros.", False),
        ("When is it cleaned?", "When the lamp is red, it is cleaned.", False),
        ("Name of the driver in Dele's accident?", "Rider: Dele Okafor", True),
        ("Name of the driver in Dele's accident?", "Driver: Tom Barr", False),
        ("Who drove in Dele's accident?", "Tom Barr drove when Dele Okafor fell.", False),
        ("Who is Dele Okafor?", "Treasurer: Dele Okafor", False),
    ],
)
def test_what_is_told_of_another(question: str, told: str, *, other: bool) -> None:
    assert is_of_another(question, told) is other


def test_a_day_may_be_told_beside_the_best_strip() -> None:
    question = "What is the extra charge on a Sunday?"
    assert is_of_another(question, "Extra charge: 6.00", "Saturday: 4.00")
    assert not is_of_another(question, "Extra charge: 6.00", "Sunday: 4.00")


@pytest.mark.parametrize(
    ("question", "paid", "other"),
    [
        ("Holders who have not paid", "yes", True),
        ("Holders with unpaid rent", "yes", True),
        ("Holders who have not paid", "no", False),
        ("Holders who have paid", "yes", False),
    ],
)
def test_a_row_that_says_yes_to_what_was_not_done(question: str, paid: str, *, other: bool) -> None:
    assert is_of_another(question, f"Plot: 7 · Paid: {paid}", kind=BlockKind.ROW) is other


def test_no_evidence_is_of_nothing_else() -> None:
    assert not tells_of_another("Who is it?", [])


@pytest.mark.parametrize(
    ("day", "other"), [("Fri", True), ("Sat", False), ("Saturday", False), ("Gala", False)]
)
def test_a_row_that_begins_with_another_day_is_of_that(day: str, *, other: bool) -> None:
    question = "How many seats were sold on Saturday?"
    assert is_of_another(question, f"Performance: {day} · Seats: 17", kind=BlockKind.ROW) is other


@pytest.mark.parametrize(
    ("question", "told", "other"),
    [
        ("max power on 10.140 MHz?", "A. 200 watts\nB. 1000 watts\nC. 1500 watts", True),
        ("What are the options for the power?", "A. 200 watts\nB. 1000 watts\nC. 1500 watts", False),
        ("max power on 10.140 MHz?", "A. 200 watts", False),
        ("max power on 10.140 MHz?", "It is 200 watts.", False),
    ],
)
def test_what_a_test_offers_to_choose_from_is_no_answer(question: str, told: str, *, other: bool) -> None:
    assert is_of_another(question, told) is other
