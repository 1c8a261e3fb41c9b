"""Hits of static vectors, ordered by their rank and by the cosines of a better model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from localcrag.crag.wrapped_readers.compared_reader import COMPARED_PER_HIT, ComparedReader
from localcrag.filters import parse
from tests.crag.world import store_of
from tests.fakes.store import HashEmbedder

TEXTS = {f"/{n}.txt": f"Boat number {n} is blue." for n in range(8)}
STATIC = HashEmbedder()


class ModelThatKnows(HashEmbedder):
    """Finds one passage near every query, and counts what it embeds."""

    def __init__(self, wanted: str) -> None:
        super().__init__()
        self.wanted = wanted
        self.embedded: list[str] = []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.embedded += texts
        return np.array([[1.0, 0.0] if self.wanted in text else [0.0, 1.0] for text in texts], np.float32)

    def encode_questions(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[1.0, 0.0]] * len(texts), np.float32)


@pytest.fixture
def model() -> ModelThatKnows:
    return ModelThatKnows("number 6")


@pytest.fixture
def reader(model: ModelThatKnows) -> ComparedReader:
    return ComparedReader(store_of(TEXTS), model)


def vector(query: str) -> np.ndarray:
    found: np.ndarray = STATIC.encode([query])[0]
    return found


def test_what_the_better_model_finds_near_moves_up_with_its_cosine(reader: ComparedReader) -> None:
    query = "a boat that is blue"
    plain = [hit.passage.source for hit in store_of(TEXTS).search(query, vector(query), k=8)]
    hits = reader.search(query, vector(query), k=3)
    assert 3 <= plain.index("/6.txt") < COMPARED_PER_HIT * 3
    similarities = {hit.passage.source: hit.similarity for hit in hits}
    assert similarities == dict.fromkeys(similarities, 0.0) | {"/6.txt": 1.0}
    assert len(hits) == 3 and "/6.txt" in [hit.passage.source for hit in hits[:2]]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_the_score_is_1_for_a_hit_that_is_first_in_both_orders(reader: ComparedReader) -> None:
    hits = reader.search("Boat number 6", vector("Boat number 6"), k=2)
    assert hits[0].passage.source == "/6.txt" and hits[0].score == pytest.approx(1.0)


def test_a_passage_is_embedded_once(reader: ComparedReader, model: ModelThatKnows) -> None:
    for query in ("a boat", "Boat number 3", "a boat"):
        reader.search(query, vector(query), k=8)
    assert len(model.embedded) == len(set(model.embedded)) == len(TEXTS)


def test_filters_are_passed_on_and_nothing_found_needs_no_model(
    reader: ComparedReader, model: ModelThatKnows
) -> None:
    hits = reader.search("boat", vector("boat"), k=8, filter=parse('source = "/3.txt"'))
    assert [hit.passage.source for hit in hits] == ["/3.txt"]
    model.embedded.clear()
    assert reader.search("boat", vector("boat"), k=8, filter=parse('source = "/none.txt"')) == []
    assert model.embedded == []


def test_all_else_is_read_from_the_knowledge_base(reader: ComparedReader) -> None:
    (hit,) = reader.search("Boat number 3", vector("Boat number 3"), k=1)
    held = hit.passage
    assert reader.text(held.document, None, source=held.source) == TEXTS[held.source]
    assert [p.id for p in reader.passages({held.source: held.document}, limit=9)] == [held.id]
    assert reader.neighbours(held) == [] and reader.skipped() == []
    assert reader.info().documents == len(TEXTS)
    reader.require_whole(thorough=True)
