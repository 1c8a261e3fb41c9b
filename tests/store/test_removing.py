"""Removing a knowledge base while others write to it, or have it open."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import filelock
import pytest

from localcrag.errors import StoreError, UnknownKnowledgeBase
from localcrag.store import tables, write_lock
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from tests.store.conftest import EMBEDDER, item


def left(store: LanceStore) -> list[Path]:
    return list(store.folder.parent.iterdir())


def test_nothing_is_written_to_one_that_was_removed(bases: KnowledgeBases, lance: LanceStore) -> None:
    lance.replace([item("/a", "text")])
    bases.remove("kb")
    for _ in range(2):
        with pytest.raises(UnknownKnowledgeBase, match="'kb' was removed meanwhile") as caught:
            lance.replace([item("/b", "text")])
        assert "localcrag kb list" in caught.value.hint
    with pytest.raises(UnknownKnowledgeBase):
        lance.remove(["/a"])
    assert left(lance) == [] and bases.names() == []


def test_nothing_is_written_to_another_in_its_place(bases: KnowledgeBases, lance: LanceStore) -> None:
    lance.replace([item("/a", "text")])
    bases.remove("kb")
    other = bases.create("kb", EMBEDDER.name, EMBEDDER.dimension)
    with pytest.raises(UnknownKnowledgeBase, match="removed meanwhile"):
        lance.replace([item("/b", "text")])
    assert other.indexed() == {}
    other.replace([item("/c", "text")])
    assert set(other.indexed()) == {"/c"}


def test_one_that_goes_just_before_the_lock_is_not_made_anew(
    bases: KnowledgeBases, lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Late(filelock.FileLock):
        def acquire(self, *given: Any, **named: Any) -> Any:
            shutil.rmtree(lance.folder)
            acquired = super().acquire(*given, **named)
            assert lance.folder.is_dir(), "the lock makes the folder"
            return acquired

    lance.replace([item("/a", "text")])
    monkeypatch.setattr(filelock, "FileLock", Late)
    with pytest.raises(UnknownKnowledgeBase, match="removed meanwhile"):
        lance.replace([item("/b", "text")])
    assert left(lance) == []


@pytest.mark.parametrize("just_now", [False, True])
def test_one_that_goes_before_it_is_looked_into_is_not_made_anew(
    bases: KnowledgeBases, lance: LanceStore, monkeypatch: pytest.MonkeyPatch, just_now: bool
) -> None:
    class Late(tables.Tables):
        def __init__(self, folder: Path, generation: int = 0) -> None:
            shutil.rmtree(folder)
            super().__init__(folder, generation)

    unopened = bases.open("kb")
    if just_now:
        monkeypatch.setattr(tables, "Tables", Late)
    else:
        bases.remove("kb")
    for attempt in (unopened.info, lambda: unopened.replace([item("/a", "text")])):
        with pytest.raises(UnknownKnowledgeBase, match="removed meanwhile"):
            attempt()
        assert left(lance) == []


def test_a_removal_waits_for_the_turn_of_a_writer(bases: KnowledgeBases, lance: LanceStore) -> None:
    lance.replace([item("/a", "text")])
    with ThreadPoolExecutor(2) as pool:
        with filelock.FileLock(lance.folder / "write.lock"):
            removal = pool.submit(bases.remove, "kb")
            time.sleep(0.3)
            assert not removal.done() and set(lance.indexed()) == {"/a"}
            waiting = pool.submit(lance.replace, [item("/b", "text")])
            time.sleep(0.2)
        removal.result(timeout=120)
        error = waiting.exception(timeout=120)
    assert error is None or isinstance(error, UnknownKnowledgeBase), "written before, or refused"
    assert left(lance) == []


def test_a_removal_does_not_wait_for_ever(
    bases: KnowledgeBases, lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write_lock, "REMOVAL_PATIENCE_SECONDS", 0.2)
    lock = lance.folder / "write.lock"
    code = f"import filelock; lock = filelock.FileLock({str(lock)!r}); lock.acquire(); print(1); input()"
    with subprocess.Popen(
        [sys.executable, "-uc", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(StoreError, match="somebody is writing to the knowledge base 'kb'") as caught:
            bases.remove("kb")
        assert "run the same command again" in caught.value.hint
        assert bases.names() == ["kb"]
        other.communicate("\n")
    bases.remove("kb")
    assert left(lance) == []


def test_a_folder_that_cannot_be_locked_is_removed_all_the_same(
    bases: KnowledgeBases, lance: LanceStore
) -> None:
    (lance.folder / "write.lock").mkdir()
    with pytest.raises(StoreError, match="cannot write to"):
        lance.replace([item("/a", "text")])
    bases.remove("kb")
    assert left(lance) == []
