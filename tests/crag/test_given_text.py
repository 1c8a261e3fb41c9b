"""A text that is given with a question: found, graded and cited beside the knowledge base."""

from __future__ import annotations

import hashlib

import pytest

from localcrag.crag.wrapped_readers.given_text import ReaderWithText
from localcrag.filters import parse
from localcrag.types import Document, Page
from tests.crag.world import split, store_of
from tests.fakes.store import HashEmbedder

MAIL = "The harbour office writes.\n\nIt wants 75 EUR for the boat.\n\nIt is due in March.\n\nKind regards"
DOCUMENT = Document(
    "stdin", hashlib.sha256(MAIL.encode()).hexdigest(), "stdin", "text/plain", (Page(None, MAIL),)
)
EMBEDDER = HashEmbedder()


@pytest.fixture
def reader() -> ReaderWithText:
    held = store_of({f"/{n}.txt": f"Boat number {n} is blue.\n\nIt is fast." for n in range(6)})
    return ReaderWithText(held, DOCUMENT, split(DOCUMENT), EMBEDDER)


def found(reader: ReaderWithText, query: str, k: int, filter: str | None = None) -> list[tuple[str, str]]:
    where = parse(filter) if filter else None
    hits = reader.search(query, EMBEDDER.encode([query])[0], k=k, filter=where)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.similarity is not None for hit in hits if hit.passage.source == "stdin")
    return [(hit.passage.source, hit.passage.text) for hit in hits]


def test_half_of_what_is_found_may_come_from_the_text_the_best_of_it_first(reader: ReaderWithText) -> None:
    hits = found(reader, "boat 75 EUR", 4)
    assert hits[0] == ("stdin", "It wants 75 EUR for the boat.")
    assert [source == "stdin" for source, _ in hits] == [True, True, False, False]
    assert [source for source, _ in found(reader, "boat", 1)] == ["stdin"]


def test_a_filter_concerns_the_knowledge_base_alone(reader: ReaderWithText) -> None:
    hits = found(reader, "boat 75 EUR", 8, 'source = "/3.txt"')
    assert {source for source, _ in hits} == {"stdin", "/3.txt"}


def test_its_text_and_its_passages_are_read_as_those_of_a_document(reader: ReaderWithText) -> None:
    given = reader.passages({"stdin": DOCUMENT.hash}, limit=2)
    assert [passage.ordinal for passage in given] == [0, 1]
    assert all(reader.text(p.document, None, source="stdin")[p.start : p.end] == p.text for p in given)
    assert [p.ordinal for p in reader.neighbours(given[1])] == [0, 2]
    (hit,) = reader.search("Boat number 3", EMBEDDER.encode(["Boat number 3"])[0], k=8)[-1:]
    held = hit.passage
    assert reader.neighbours(held) and reader.text(held.document, None, source=held.source)
    assert {
        p.source for p in reader.passages({"stdin": DOCUMENT.hash, held.source: held.document}, limit=9)
    } == {
        "stdin",
        held.source,
    }
