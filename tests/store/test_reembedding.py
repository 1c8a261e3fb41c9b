"""Embedding a knowledge base again: both spaces apart, kills, changes meanwhile, and one switch."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from localcrag.errors import StoreError, UnknownKnowledgeBase
from localcrag.events import Advanced, Event, result_of
from localcrag.store import reembedding, writer
from localcrag.store.checksums import damaged_files
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.store.second_space import SecondSpace, rows_written
from tests.fakes.store import HashEmbedder
from tests.store.conftest import EMBEDDER, asked, item

OTHER = HashEmbedder("other", 32)
TEXTS = [f"heron number {number} fishes at weir {number % 7}" for number in range(90)]


@pytest.fixture
def filled(lance: LanceStore) -> LanceStore:
    lance.replace([item("/a.txt", *TEXTS[:50]), item("/b.txt", *TEXTS[50:], meta={"team": "x"})])
    lance.optimize()
    return lance


def found(store: LanceStore, embedder: HashEmbedder, text: str) -> str:
    """The text of the best hit."""
    return store.search(text, embedder.encode([text])[0], k=1)[0].passage.text


def reopened(bases: KnowledgeBases) -> LanceStore:
    """The store with the other model."""
    return bases.open("kb", OTHER.name, OTHER.dimension)


def test_every_passage_gets_the_vector_of_the_other_model(bases: KnowledgeBases, filled: LanceStore) -> None:
    assert result_of(filled.reembed(OTHER)) == len(TEXTS)
    assert not filled.is_current, "who has it open opens it anew"
    after = reopened(bases)
    hits = after.search(TEXTS[3], OTHER.encode([TEXTS[3]])[0], k=1)
    assert hits[0].passage.text == TEXTS[3] and hits[0].similarity == pytest.approx(
        float(OTHER.encode([TEXTS[3]])[0] @ OTHER.encode([hits[0].passage.searchable])[0])
    )
    info = after.info()
    assert (info.passages, info.embedding_model, info.dimension, info.refined) == (len(TEXTS), "other", 32, 0)
    assert list(bases.check("kb")) == [] and damaged_files(after.folder, thorough=True) == []
    assert after.facets("team")[0].value == "x"


def test_what_is_open_is_read_on_after_the_switch(filled: LanceStore) -> None:
    assert found(filled, EMBEDDER, TEXTS[3]) == TEXTS[3]
    result_of(filled.reembed(OTHER))
    assert found(filled, EMBEDDER, TEXTS[8]) == TEXTS[8]
    with pytest.raises(UnknownKnowledgeBase):
        filled.replace([item("/c.txt", "new")])


def test_meanwhile_the_former_vectors_are_used_and_an_interruption_loses_nothing(
    bases: KnowledgeBases, filled: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reembedding, "MAX_BATCH_ROWS", 32)
    steps = filled.reembed(OTHER)
    events: list[Event] = [next(steps), next(steps)]
    assert events == [Advanced("refining", 0, 90), Advanced("refining", 32, 90)]
    assert found(filled, EMBEDDER, TEXTS[3]) == TEXTS[3]
    steps.close()
    again = bases.open("kb", EMBEDDER.name, EMBEDDER.dimension)
    assert again.info().refined == rows_written(again.folder) == 32
    assert result_of(again.reembed(OTHER)) == len(TEXTS) - 32
    assert found(reopened(bases), OTHER, TEXTS[60]) == TEXTS[60]


def changed(store: LanceStore) -> None:
    store.replace([item("/a.txt", "storks nest here", *TEXTS[:49])])


def removed(store: LanceStore) -> None:
    store.remove(["/a.txt"])


def added(store: LanceStore) -> None:
    store.replace([item("/c.txt", "storks nest here", meta={"year": 2020})])


@pytest.mark.parametrize(("write", "left"), [(changed, 90), (removed, 40), (added, 91)])
def test_documents_that_change_meanwhile_are_embedded_as_they_are_then(
    bases: KnowledgeBases,
    filled: LanceStore,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[LanceStore], None],
    left: int,
) -> None:
    monkeypatch.setattr(reembedding, "MAX_BATCH_ROWS", 32)
    steps = filled.reembed(OTHER)
    for _ in range(2):
        next(steps)
    write(bases.open("kb"))
    result_of(steps)
    after = reopened(bases)
    passages = after.info().passages
    assert passages == left
    texts = {hit.passage.text for hit in after.search("storks", OTHER.encode(["storks"])[0], k=passages)}
    assert ("storks nest here" in texts) == (write is not removed)
    assert list(bases.check("kb")) == []


def test_a_write_just_before_the_switch_is_not_lost(
    bases: KnowledgeBases, filled: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed: list[bool] = []
    real = SecondSpace.index

    def index(space: SecondSpace) -> None:
        real(space)
        if not indexed:
            added(bases.open("kb"))
        indexed.append(True)

    monkeypatch.setattr(SecondSpace, "index", index)
    assert result_of(filled.reembed(OTHER)) == len(TEXTS) + 1
    assert len(indexed) == 2
    assert found(reopened(bases), OTHER, "storks nest here") == "storks nest here"


def test_a_kill_within_the_switch_leaves_one_space_or_the_other(
    bases: KnowledgeBases, filled: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("localcrag.store.second_space.write_json", killed_at_the_record(killed))
        result_of(filled.reembed(OTHER))
    again = bases.open("kb", EMBEDDER.name, EMBEDDER.dimension)
    assert found(again, EMBEDDER, TEXTS[3]) == TEXTS[3] and list(bases.check("kb")) == []
    assert result_of(again.reembed(OTHER)) == 0, "nothing is embedded twice"
    assert found(reopened(bases), OTHER, TEXTS[3]) == TEXTS[3]


def killed_at_the_record(killed: Callable[..., None]) -> Callable[[Path, object], None]:
    """A function that writes JSON files until it is the record of the knowledge base."""
    from localcrag.store.json_files import write_json

    return lambda path, value: killed() if path.name == "kb.json" else write_json(path, value)


def test_questions_are_embedded_again_too(bases: KnowledgeBases, filled: LanceStore) -> None:
    passage = next(iter(filled.questionless()))
    filled.add_questions([asked(passage, "Who counts the kingfishers?")])
    assert result_of(filled.reembed(OTHER)) == len(TEXTS) + 1
    after = reopened(bases)
    assert after.info().questions == 1 and list(bases.check("kb")) == []
    assert found(after, OTHER, "Who counts the kingfishers?") == passage.text
    question = "Who counts the storks?"
    after.add_questions([(next(iter(after.questionless())), [question], OTHER.encode([question]))])
    assert after.info().questions == 2


def test_another_process_that_refines_is_not_disturbed(filled: LanceStore) -> None:
    first = filled.reembed(OTHER)
    next(first)
    with pytest.raises(StoreError, match="another process refines") as caught:
        next(filled.reembed(OTHER))
    assert caught.value.hint
    first.close()


def test_another_model_begins_anew(bases: KnowledgeBases, filled: LanceStore) -> None:
    first = filled.reembed(HashEmbedder("third", 16))
    for _ in range(2):
        next(first)
    first.close()
    assert result_of(filled.reembed(OTHER)) == len(TEXTS)
    assert reopened(bases).info().dimension == 32


def test_the_former_tables_are_deleted_once_nobody_reads_them(
    bases: KnowledgeBases, filled: LanceStore
) -> None:
    result_of(filled.reembed(OTHER))
    after = reopened(bases)
    after.optimize()
    former = after.folder / "lance" / "passages.lance"
    assert former.is_dir(), "a question may still read them"
    long_ago = time.time() - 2 * writer.OLD_VERSION_RETENTION.total_seconds()
    os.utime(after.folder / "kb.json", (long_ago, long_ago))
    later = reopened(bases)
    later.optimize()
    assert not former.exists() and found(later, OTHER, TEXTS[3]) == TEXTS[3]


def test_damage_after_the_switch_is_found_and_repaired(bases: KnowledgeBases, filled: LanceStore) -> None:
    result_of(filled.reembed(OTHER))
    folder = reopened(bases).folder
    for path in folder.glob("lance/passages_1.lance/_indices/*/part_*_tokens.lance"):
        path.write_bytes(b"\0" * path.stat().st_size)
    assert list(bases.check("kb"))
    assert bases.repair("kb")
    assert list(bases.check("kb")) == [] and found(reopened(bases), OTHER, TEXTS[3]) == TEXTS[3]


def test_a_later_ingestion_goes_on_with_the_other_model(bases: KnowledgeBases, filled: LanceStore) -> None:
    result_of(filled.reembed(OTHER))
    after = reopened(bases)
    document, entry, passages, _ = item("/c.txt", "storks nest here")
    after.replace([(document, entry, passages, OTHER.encode([p.text for p in passages]))])
    after.optimize()
    assert found(after, OTHER, "storks nest here") == "storks nest here"
    assert np.isfinite(after.search("storks", OTHER.encode(["storks"])[0], k=1)[0].similarity or 0.0)


def test_tables_that_vanish_are_one_clear_error(filled: LanceStore) -> None:
    def steps() -> Iterator[Event]:
        yield from filled.reembed(OTHER)

    (filled.folder / "reembedding").write_text("a file")
    with pytest.raises(StoreError, match="cannot refine"):
        list(steps())
