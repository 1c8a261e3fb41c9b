"""Names of a question that only other documents than the best one tell of."""

from __future__ import annotations

from dataclasses import replace

from localcrag.crag.refinement.knowledge_strips import whole
from localcrag.crag.told_names import names_told_elsewhere
from tests.crag.values import passage

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
