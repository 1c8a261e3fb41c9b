"""Hits in another language than the question, among the first of a knowledge base in several languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import localcrag
from localcrag.crag.wrapped_readers.cross_lingual_reader import MAX_PLACES_GIVEN, CrossLingualReader, spread
from localcrag.crag.wrapped_readers.reader_around import ReaderAround
from localcrag.filters import Filter
from localcrag.joined_stores import reader_of
from localcrag.types import Hit
from tests.crag.values import passage
from tests.crag.world import store_of
from tests.fakes.store import HashEmbedder

ENGLISH = "The fee for boat number {} is due in March, and it is paid by the owner."
GERMAN = "Die Gebühr für das Boot Nummer {} ist im März fällig, und sie wird vom Besitzer bezahlt."
QUESTION = "When is the fee for a boat to be paid?"
VECTOR = HashEmbedder().encode([QUESTION])[0]


class Found(ReaderAround):
    """Finds what it is given, whatever is searched for."""

    def __init__(self, hits: list[Hit]) -> None:
        super().__init__(store_of({}))
        self.hits = hits
        self.asked = 0

    def search(self, text: str, vector: np.ndarray, *, k: int, filter: Filter | None = None) -> list[Hit]:
        self.asked = k
        return self.hits[:k]


def hits(languages: str) -> list[Hit]:
    """A hit for each letter, "g" for German, each with a lower cosine than the one before."""
    return [
        Hit(passage((GERMAN if letter == "g" else ENGLISH).format(n), id=str(n)), 1 - n / 100, 0.9 - n / 100)
        for n, letter in enumerate(languages)
    ]


def order(found: list[Hit]) -> list[int]:
    return [int(hit.passage.id) for hit in found]


def test_the_nearest_in_another_language_are_among_the_first() -> None:
    reader = CrossLingualReader(Found(hits("e" * 30 + "ggg")))
    assert order(reader.search(QUESTION, VECTOR, k=9)) == [0, 1, 30, 2, 3, 31, 4, 5, 32]


@pytest.mark.parametrize("languages", ["eeeeeeee", "gggggggg", "geegegee"])
def test_where_there_is_one_language_or_both_come_first_the_order_stays(languages: str) -> None:
    assert order(CrossLingualReader(Found(hits(languages))).search(QUESTION, VECTOR, k=8)) == [*range(8)]


def test_a_question_that_does_not_tell_its_language_changes_nothing() -> None:
    found = CrossLingualReader(Found(hits("eeeeeg"))).search("boat 75", VECTOR, k=6)
    assert order(found) == [0, 1, 2, 3, 4, 5]


def test_no_more_than_some_places_are_given_and_the_nearest_get_them() -> None:
    found = hits("e" * 20 + "g" * 10)
    found[25] = Hit(found[25].passage, 0.0, 0.99)
    moved = order(spread(found, [False] * 20 + [True] * 10))
    assert moved[2] == 25 and sorted(moved) == [*range(30)]
    assert sum(at >= 20 for at in moved[:20]) == MAX_PLACES_GIVEN


def test_it_is_used_for_the_multilingual_vectors_alone(tmp_path: Path) -> None:
    from localcrag.embedding.multilingual_embedder import MultilingualEmbedder

    with localcrag.open("boats", home=tmp_path) as kb:
        kb.ingest_text(ENGLISH.format(1), name="boat")
        assert kb.search(QUESTION)
    store = store_of({})
    assert isinstance(reader_of(store, MultilingualEmbedder(tmp_path)), CrossLingualReader)  # type: ignore[arg-type]
    assert reader_of(store, HashEmbedder()) is store  # type: ignore[arg-type]
