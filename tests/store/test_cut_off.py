"""Documents whose writing was cut off: how they are listed, exported and read again."""

from __future__ import annotations

import pytest

from localcrag.errors import StoreError
from localcrag.filters import parse
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.store.writer import StoreWriter
from localcrag.types import Document
from tests.store.conftest import Item, item


class Cut(BaseException):
    """What ends a write in the middle here; kills of whole processes are in test_writing."""


def cut_off(lance: LanceStore, step: str, *batch: Item) -> None:
    """A write that ends just before ``step``."""

    def cut(*_: object) -> None:
        raise Cut

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Cut):
        patch.setattr(StoreWriter, step, cut)
        lance.replace(batch)


def exported(store: LanceStore, filter: str | None = None) -> dict[str, Document]:
    return {found.source: found for found in store.documents(filter=parse(filter) if filter else None)}


OLD = item("/a", "the text", meta={"team": "old"})
CHANGES = {
    "other meta": item("/a", "the text", meta={"team": "new"}),
    "another reading of the same bytes": item("/a", "the same text", hash=OLD[0].hash),
    "other bytes": item("/a", "other text", meta={"team": "new"}),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_was_cut_off_is_never_taken_for_finished(
    bases: KnowledgeBases, lance: LanceStore, change: str
) -> None:
    new = CHANGES[change]
    lance.replace([OLD, item("/b", "another")])
    cut_off(lance, "_replace_documents", new)
    for store in (bases.open("kb"), lance):
        assert (store.indexed()["/a"].hash, store.indexed()["/a"].size) == ("", -1)
        assert exported(store)["/a"] == new[0], "as a search finds it"
        assert exported(store)["/b"] == item("/b", "another")[0]
        store.replace([item("/c", "more")])  # which puts things in order
    lance.replace([new])
    assert lance.indexed()["/a"] == new[1]
    assert exported(lance)["/a"] == new[0]


@pytest.mark.parametrize("recovered", [False, True])
def test_an_export_chooses_and_tells_by_what_the_passages_say(lance: LanceStore, recovered: bool) -> None:
    lance.replace([OLD])
    cut_off(lance, "_replace_documents", CHANGES["other meta"])
    if recovered:
        lance.optimize()
    assert exported(lance, 'team = "old"') == {}
    assert dict(exported(lance, 'team = "new"')["/a"].meta) == {"team": "new"}


def test_one_that_was_cut_off_before_its_passages_is_as_it_was(lance: LanceStore) -> None:
    lance.replace([OLD])
    cut_off(lance, "_replace_passages", CHANGES["other bytes"], item("/new", "a new one"))
    assert exported(lance) == {"/a": OLD[0]}
    lance.optimize()
    assert exported(lance) == {"/a": OLD[0]}
    assert lance.indexed().keys() == {"/a"} and lance.indexed()["/a"].hash == "", "it is read once more"


def test_one_without_passages_is_left_out(lance: LanceStore) -> None:
    lance.replace([OLD, item("/b", "another")])
    cut_off(lance, "_replace_documents", (*item("/a", "")[:2], [], item("/a")[3]))
    for _ in range(2):
        assert exported(lance).keys() == {"/b"}
        lance.optimize()


def test_texts_that_nothing_has_go_though_a_document_was_cut_off(lance: LanceStore) -> None:
    before, after, new = item("/b", "early"), item("/b", "late"), CHANGES["other bytes"]
    lance.replace([OLD, before])
    lance.replace([after])
    cut_off(lance, "_replace_documents", new)
    for _ in range(3):
        lance.optimize()
    assert exported(lance) == {"/a": new[0], "/b": after[0]}
    for gone in (OLD, before):
        with pytest.raises(StoreError, match="no longer"):
            lance.text(gone[0].hash, None)
