"""A question that finds nothing says what was not read."""

from __future__ import annotations

import pytest

from localcrag.crag.unread import MAX_NAMED_SKIPS, in_words, say_unread
from localcrag.errors import StoreError
from localcrag.events import Unread
from localcrag.types import NO_TEXT, NO_TEXT_LAYER, Skipped
from tests.fakes.store import MemoryStore

IMAGE = "an image: localcrag[ocr] reads it"
OLD = "an old Office format: localcrag[old-office] reads it"
LISTED = " (localcrag kb show lists what was skipped)"


@pytest.mark.parametrize(
    ("reasons", "said"),
    [
        ([NO_TEXT_LAYER], "1 scan was skipped; localcrag[ocr] reads it"),
        ([NO_TEXT_LAYER] * 2, "2 scans were skipped; localcrag[ocr] reads them"),
        ([NO_TEXT_LAYER, IMAGE], "1 scan and 1 image were skipped; localcrag[ocr] reads them"),
        (["damaged PDF"], "1 document was skipped"),
        (["damaged PDF", "damaged PDF"], "2 documents were skipped"),
        ([OLD], "1 old Office document was skipped; localcrag[old-office] reads it"),
        (
            [NO_TEXT_LAYER, OLD, OLD],
            "1 scan and 2 old Office documents were skipped; "
            "localcrag[ocr] and localcrag[old-office] read them",
        ),
        (
            [OLD, "damaged PDF"],
            "1 old Office document and 1 other document were skipped; "
            "localcrag[old-office] reads the old Office documents",
        ),
        (
            [NO_TEXT_LAYER, IMAGE, IMAGE, "x"],
            "1 scan, 2 images and 1 other document were skipped; localcrag[ocr] reads the scans and images",
        ),
    ],
)
def test_what_was_skipped_in_one_line(reasons: list[str], said: str) -> None:
    assert in_words([Skipped(f"/{n}", reason) for n, reason in enumerate(reasons)]) == said + LISTED


def test_files_without_any_text_to_be_missed_are_not_spoken_of() -> None:
    store = MemoryStore()
    store.record_skips([Skipped("/a", NO_TEXT), Skipped("/b", "binary, no text (.bin)")], ())
    assert list(say_unread(store)) == []
    store.record_skips([Skipped(f"/c{n:02}", "damaged PDF") for n in range(30)], ())
    [event] = say_unread(store)
    assert isinstance(event, Unread)
    assert (event.documents, len(event.skipped)) == (30, MAX_NAMED_SKIPS)
    assert event.skipped[0] == Skipped("/c00", "damaged PDF")


def test_a_store_that_cannot_say_it_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: MemoryStore) -> None:
        raise StoreError("no")

    monkeypatch.setattr(MemoryStore, "skipped", fail)
    assert list(say_unread(MemoryStore())) == []
