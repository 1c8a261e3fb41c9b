"""Amendments of clauses stand before them, and corrections before what they correct."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.doubts.amendments import amendments_among, corrections_first, with_corrections
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.types import BlockKind, Passage, Strip
from tests.crag.values import passage, structured

LEASE = replace(
    structured(
        (BlockKind.PARAGRAPH, "2.1 The monthly rent is 940 pounds."),
        (BlockKind.PARAGRAPH, "2.11 The rent is due on the first day of each month."),
        (BlockKind.PARAGRAPH, "2.2 Power is included in the rent."),
    ),
    source="/lease.md",
    title="Lease of the mill",
)


def amendment(title: str = "First amendment to the lease of the mill") -> Passage:
    parts = (
        "In clause 2.1, the monthly rent becomes 1,010 pounds.",
        "Clause 2.11 is deleted.",
        "Clause 2.1 remains in force.",
        "Clause 2.2 is replaced by: Power is charged by meter.",
    )
    made = structured(*((BlockKind.ITEM, part) for part in parts))
    return replace(made, id="amendment", source="/amendment.md", title=title)


def test_what_another_document_changes_of_a_clause_is_found_by_its_number() -> None:
    rent, due, power = (replace(strip, score=0.8) for strip in strips(LEASE))
    question = "How much rent do we pay?"

    def told(strip: Strip) -> list[str]:
        return [found.text for found in amendments_among([LEASE, amendment()], strip, question)]

    assert told(rent) == ["In clause 2.1, the monthly rent becomes 1,010 pounds."]
    assert told(due) == ["Clause 2.11 is deleted."]
    assert told(power) == ["Clause 2.2 is replaced by: Power is charged by meter."]
    [found] = amendments_among([amendment()], rent, question)
    assert found.score == rent.score
    assert amendments_among([amendment("Amendment to the contract with the cook")], rent, question) == []


def test_of_several_clauses_the_amendment_with_a_word_of_the_question_comes_first() -> None:
    rent, _, power = strips(LEASE)
    both = replace(rent, end=power.end, text=LEASE.text_between(rent.start, power.end))
    found = amendments_among([amendment()], both, "Who pays for power?")
    assert [strip.text for strip in found] == [
        "Clause 2.2 is replaced by: Power is charged by meter.",
        "In clause 2.1, the monthly rent becomes 1,010 pounds.",
    ]


def test_a_correction_stands_before_what_it_corrects() -> None:
    [first], [later], [other] = (
        strips(passage(text, source=f"/{number}.txt"))
        for number, text in enumerate(
            ("The sale is on 6 June.", "The sale was moved to 13 June.", "It is in the yard of the school.")
        )
    )
    assert corrections_first([first, other, later]) == [later, first, other]
    assert corrections_first([first, other]) == [first, other]
    told = strips(passage("The sale is on 6 June, a Saturday. It was moved to 13 June."))
    assert corrections_first(told) == told


def test_what_says_that_the_best_strip_is_otherwise_now_is_as_probable_as_that() -> None:
    texts = (
        "The foundation decides on 12 November.",
        "The foundation has moved it to 26 November.",
        "The sale was moved to 26 November.",
        "The foundation has moved it to 12 November.",
    )
    best, later, *others = (
        replace(strips(passage(text, source=f"/{at}.txt"))[0], score=0.1 if at else 0.8)
        for at, text in enumerate(texts)
    )
    told = with_corrections([best, later, *others])
    assert told == [best, replace(later, score=0.8), *others]
    assert with_corrections([replace(later, score=0.9), best]) == [replace(later, score=0.9), best]
    assert with_corrections([]) == []
