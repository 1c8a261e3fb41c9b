"""The version of a document that a question asks for, told by the names of the files."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.document_versions import of_asked_version
from localcrag.types import Hit
from tests.crag.values import passage

YEARS = ("prices-2024.md", "prices-2025.docx", "prices-2026.xlsx", "rules.md")
DRAFTS = ("offer-17_draft2.md", "offer-17-brandt.docx", "rules.md")
SCHOOL_YEARS = ("fees-2025-26.pdf", "fees-2026-27.xlsx", "bookings-2026-10.csv")
REVISIONS = ("offer-lind-roof_rev1_superseded.docx", "offer-lind-roof_rev2.pdf", "rules.md")
NUMBERED = ("dosage-table_v3.md", "dosage-table_v4.md", "dosage-table_v5.pdf")
RULES = ("house-rules_draft_2025-11.md", "house-rules-2026.docx")
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
        ("last school year, what was a resit?", SCHOOL_YEARS, {"fees-2026-27.xlsx"}),
        ("What is a resit this school year?", SCHOOL_YEARS, {"fees-2025-26.pdf"}),
        ("What share of the fee do we waive in 2026/27?", SCHOOL_YEARS, {"fees-2025-26.pdf"}),
        ("What is a ticket in the price list of 2025?", YEARS, {"prices-2024.md", "prices-2026.xlsx"}),
        ("by the superseded price list, what is a ticket?", YEARS, {"prices-2024.md", "prices-2026.xlsx"}),
        ("By the new prices, not the old prices: a ticket?", YEARS, {"prices-2024.md", "prices-2025.docx"}),
        ("What is a ticket in 2025?", YEARS, set()),
    ],
)
def test_the_year_of_a_version(question: str, names: tuple[str, ...], others: set[str]) -> None:
    assert left_out(question, names) == others


@pytest.mark.parametrize(
    ("question", "names", "others"),
    [
        ("What sum did they ask in the first offer?", REVISIONS, {"offer-lind-roof_rev2.pdf"}),
        ("the superseded offer: which sum?", REVISIONS, {"offer-lind-roof_rev2.pdf"}),
        ("The offer in force: which sum?", REVISIONS, {"offer-lind-roof_rev1_superseded.docx"}),
        ("the dose according to version 4?", NUMBERED, {"dosage-table_v3.md", "dosage-table_v5.pdf"}),
        ("the dose in version 7?", NUMBERED, set()),
        ("What is the dose now?", NUMBERED, {"dosage-table_v3.md", "dosage-table_v4.md"}),
        (
            "What was the dose in the original version?",
            NUMBERED,
            {"dosage-table_v4.md", "dosage-table_v5.pdf"},
        ),
        ("What did the draft say of pets?", RULES, {"house-rules-2026.docx"}),
        ("What do the current rules say of pets?", RULES, {"house-rules_draft_2025-11.md"}),
        ("What sum did Lind ask?", REVISIONS, set()),
        ("Lind, the sum of the first offer?", REVISIONS, {"offer-lind-roof_rev2.pdf", "rules.md"}),
    ],
)
def test_a_revision_or_what_it_replaced(question: str, names: tuple[str, ...], others: set[str]) -> None:
    assert left_out(question, names) == others
