"""Documents get other sources, keep their vectors and questions, and survive a kill at any step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from localcrag.store import source_moves
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.types import IndexedDocument
from tests.store.conftest import EMBEDDER, asked, item

MOVES = {"/p/a.md": "/p/sub/a.md", "/p/b.md": "/q/b.md"}


@pytest.fixture
def held(lance: LanceStore) -> LanceStore:
    lance.add_roots(["/p"])
    first = item("/p/a.md", "the lighthouse keeper", "the dose of the drug", meta={"team": "x"})
    lance.replace([first, item("/p/b.md", "a harbour wall"), item("/p/c.md", "a rope")])
    lance.add_questions([asked(first[2][1], "how much of it?")])
    return lance


def moves_of(store: LanceStore) -> list[tuple[str, IndexedDocument]]:
    held = store.indexed()
    return [(old, replace(held[old], source=new, mtime_ns=5)) for old, new in MOVES.items() if old in held]


def assert_moved(store: LanceStore, bases: KnowledgeBases) -> None:
    held = store.indexed()
    assert set(held) == {"/p/sub/a.md", "/q/b.md", "/p/c.md"}
    assert held["/p/sub/a.md"].mtime_ns == 5 and held["/p/c.md"].mtime_ns == 1_000
    hits = store.search("dose", EMBEDDER.encode(["dose"])[0], k=9)
    assert hits[0].passage.source == "/p/sub/a.md" and len(hits) == 4
    assert hits[0].passage.meta == {"team": "x"}
    assert "/p/sub/a.md" in {
        hit.passage.source for hit in store.search("how much", EMBEDDER.encode(["how much"])[0], k=1)
    }
    assert {passage.source for passage in store.questionless()} == set(held)
    store.optimize()
    assert not list(bases.check("kb"))


def test_passages_vectors_and_questions_are_kept(held: LanceStore, bases: KnowledgeBases) -> None:
    before = held._tables.passages.search().select(["id", "vector"]).to_arrow().sort_by("id")
    held.move(moves_of(held))
    after = held._tables.passages.search().select(["id", "vector"]).to_arrow().sort_by("id")
    assert np.array_equal(before["vector"].to_pylist(), after["vector"].to_pylist())
    assert_moved(held, bases)


@pytest.mark.parametrize("step", range(3))
def test_a_move_that_was_cut_off_is_ended_by_the_next_write(
    held: LanceStore, bases: KnowledgeBases, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = source_moves._move
    done: list[object] = []

    def cut_off(*given: object) -> None:
        if len(done) == step:
            raise KeyboardInterrupt
        done.append(given)
        moved(*given)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(source_moves, "_move", cut_off)
        with pytest.raises(KeyboardInterrupt):
            held.move(moves_of(held))
    assert (held.folder / "moving.json").exists()
    store = bases.open("kb")
    store.remove([])
    assert not (held.folder / "moving.json").exists()
    assert_moved(store, bases)


def test_many_documents_take_several_commits(
    held: LanceStore, bases: KnowledgeBases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source_moves, "DOCUMENTS_PER_COMMIT", 1)
    held.move(moves_of(held))
    assert_moved(held, bases)
    assert source_moves.MoveJournal(held.folder).pending() == []
