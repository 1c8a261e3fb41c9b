"""Names of a question that only other documents than the best one tell of."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.doubts.told_names import name_in_code_elsewhere, names_other_row, names_told_elsewhere
from localcrag.crag.refinement.knowledge_strips import strips, whole
from localcrag.types import BlockKind
from tests.crag.values import passage, structured

QUESTION = "How long is the guarantee of Weber & Orr on poles in Tarnow?"
OFFER = replace(passage("We give two years on the poles."), source="/offers/lumenta.txt")
TABLE = replace(passage("Bidder: Weber · Years: 5"), source="/table.csv")


def test_a_name_that_only_another_document_has() -> None:
    best, other = whole(OFFER, 0.7), whole(TABLE, 0.4)
    assert names_told_elsewhere(QUESTION, [best, other]) == ["Weber"]
    assert names_told_elsewhere(QUESTION, [best]) == []
    assert names_told_elsewhere("who gives a guarantee?", [best, other]) == []
    assert names_told_elsewhere(QUESTION, []) == []


def test_a_name_in_the_source_or_the_fields_of_the_best_document() -> None:
    other = whole(TABLE, 0.4)
    assert not names_told_elsewhere(QUESTION, [whole(replace(OFFER, source="/weber_offer.txt"), 0.7), other])
    assert not names_told_elsewhere(
        QUESTION, [whole(replace(OFFER, meta={"from": "Weber <a@b>"}), 0.7), other]
    )
    assert not names_told_elsewhere(QUESTION, [whole(OFFER, 0.3), other])


def test_the_row_of_another_thing_than_the_one_that_is_named() -> None:
    rows = ("Medicine: Cefalun · Dog: 20", "Medicine: Atroval · Dog: 1.6", "Medicine: 20 · Dog: 3")
    table = structured(*((BlockKind.ROW, row) for row in rows))
    cefalun, atroval, _ = strips(table)
    asked = "dog of 20 kilos, how much atroval?"
    assert names_other_row(asked, [replace(cefalun, score=0.6), replace(atroval, score=0.3)], [table])
    assert not names_other_row(asked, [replace(cefalun, score=0.3), replace(atroval, score=0.6)], [table])
    assert not names_other_row("dog of 20 kilos, how much?", [replace(cefalun, score=0.6)], [table])
    elsewhere = replace(table, source="/other.csv")
    assert names_other_row(asked, [replace(cefalun, score=0.6)], [elsewhere])
    assert not names_other_row(asked, [whole(passage("It is 20."), 0.6)], [table])
    assert not names_other_row(asked, [], [table])


def test_another_row_of_the_table_is_named_by_a_word_that_only_it_has() -> None:
    """To a judge of relevance, the row of the dog looks like the answer about spaying one."""
    rows = (
        "Operation: Castration dog · Price: 301",
        "Operation: Spay bitch · Price: 414",
        "Operation: Nail clip · Price: 9",
    )
    table = structured(*((BlockKind.ROW, row) for row in rows))
    dog, bitch, _ = strips(table)
    asked = "spaying a dog, how much?"
    assert names_other_row(asked, [replace(dog, score=0.6)], [table])
    assert not names_other_row(asked, [replace(bitch, score=0.6)], [table])
    assert not names_other_row("castrating a dog, how much?", [replace(dog, score=0.6)], [table])
    assert not names_other_row(asked, [replace(dog, score=0.6)], [replace(table, source="/other.csv")])
    assert not names_other_row("spaying: castration of a dog?", [replace(dog, score=0.6)], [table]), (
        "more words"
    )
    both = structured(*((BlockKind.ROW, row) for row in (*rows, "Operation: Spay cat · Price: 139")))
    assert not names_other_row(asked, [replace(strips(both)[0], score=0.6)], [both]), "two have it"
    same = structured(*((BlockKind.ROW, row) for row in (*rows, "Operation: Spay bitch · Price: 9")))
    assert names_other_row(asked, [replace(strips(same)[0], score=0.6)], [same]), "two are called so"


def test_a_name_in_code_that_stands_elsewhere() -> None:
    shown, table = passage("A ferry route becomes a ferry."), passage("living_street: residential")
    asked = "What does a living_street become?"
    assert name_in_code_elsewhere(asked, [whole(shown, 0.7)], [shown, table])
    assert not name_in_code_elsewhere(asked, [whole(table, 0.7)], [shown, table])
    assert not name_in_code_elsewhere(asked, [whole(shown, 0.7)], [shown])
    assert not name_in_code_elsewhere("What does a street become?", [whole(shown, 0.7)], [shown, table])
