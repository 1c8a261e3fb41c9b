"""The version of a document that a question asks for, told by the names of the files."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.document_versions import of_asked_version
from localcrag.types import Hit
from tests.crag.values import passage

YEARS = ("prices-2024.md", "prices-2025.docx", "prices-2026.xlsx", "rules.md")
DRAFTS = ("offer-17_draft2.md", "offer-17-brandt.docx", "rules.md")
RULES = ("house-rules_draft_2025-11.md", "house-rules-2026.docx", "fees-2025-26.pdf", "fees-2026-27.xlsx")
OFFERS = ("offer-roof_rev1_superseded.docx", "offer-roof_rev2.pdf", "estimate_v2_old.md", "estimate_v3.md")
EXAMS = ("exam-rules-2022.md", "exam-rules-2025.md", "budget-2026.md")
MINUTES = ("minutes-2025-11-03.md", "minutes-2026-01-12.md")


def left_out(question: str, names: tuple[str, ...]) -> set[str]:
    hits = [Hit(passage(name, source=f"/kb/{name}"), 1.0) for name in names]
    return set(names) - {hit.passage.text for hit in of_asked_version(hits, question)}


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("What does a ticket cost this year?", {"prices-2024.md", "prices-2025.docx"}),
        ("the new prices: what is a ticket?", {"prices-2024.md", "prices-2025.docx"}),
        ("Was kostet eine Karte dieses Jahr?", {"prices-2024.md", "prices-2025.docx"}),
        ("What did a ticket cost last year?", {"prices-2024.md", "prices-2026.xlsx"}),
        ("What was a ticket by the old prices of 2024?", {"prices-2025.docx", "prices-2026.xlsx"}),
        ("Is a ticket dearer this year than last year?", set()),
        ("What has changed this year?", set()),
        ("What does a ticket cost?", set()),
    ],
)
def test_the_year_that_is_asked_for(question: str, others: set[str]) -> None:
    assert left_out(question, YEARS) == others


def test_a_year_without_a_version_leaves_out_nothing() -> None:
    assert left_out("What did a ticket cost last year?", ("prices-2023.md", "prices-2026.md")) == set()
    assert left_out("What was decided this year?", MINUTES) == set()


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("What is the total as he accepted it?", {"offer-17_draft2.md"}),
        ("What did it cost in the end?", {"offer-17_draft2.md"}),
        ("What was the total in the first draft?", {"offer-17-brandt.docx"}),
        ("Who plays in the semi-final?", set()),
        ("What is the total?", set()),
    ],
)
def test_the_draft_or_what_became_of_it(question: str, others: set[str]) -> None:
    assert left_out(question, DRAFTS) == others


@pytest.mark.parametrize(
    ("question", "names", "others"),
    [
        ("When must a guest who is 17 years old be back?", RULES, {RULES[0]}),
        ("What was said of guests in November 2025?", RULES, set()),
        ("What did the draft say of guests?", RULES, {RULES[1]}),
        ("last school year, how much was a locker", RULES, {RULES[3]}),
        ("How much is a locker this school year?", RULES, {RULES[0], RULES[2]}),
        ("How thick is the insulation?", OFFERS, {OFFERS[0], OFFERS[2]}),
        ("What sum did they ask in the first offer?", OFFERS, {OFFERS[1], OFFERS[3]}),
        ("How thick was it in revision 1?", OFFERS, set()),
        ("By the superseded rules, how long is the oral exam?", EXAMS, {EXAMS[1]}),
    ],
)
def test_what_is_superseded_answers_only_who_asks_for_it(
    question: str, names: tuple[str, ...], others: set[str]
) -> None:
    assert left_out(question, names) == others
