"""A knowledge base on a real server: written by one machine, read by others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from localcrag.errors import EmbeddingMismatch, StoreError, UnknownKnowledgeBase, UsageError
from localcrag.events import result_of
from localcrag.object_storage.commit_cache import CommitCache
from localcrag.object_storage.head import Head
from localcrag.object_storage.object_client import ObjectClient
from localcrag.object_storage.writer_lease import LEASE_KEY, WriterLease
from localcrag.types import Skipped
from tests.fakes.store import HashEmbedder
from tests.object_storage.conftest import Machine, found, sources, write
from tests.object_storage.fault_proxy import FaultProxy
from tests.store.conftest import EMBEDDER


def client_of(machine: Machine, address: str) -> ObjectClient:
    return machine.bases()._opened(address).client


def cut_off(commits: CommitCache, head: Head, tag: str) -> str:
    raise StoreError("no")


def test_one_machine_writes_and_another_one_reads(writer: Machine, reader: Machine, address: str) -> None:
    store = writer.create(address)
    write(store, a="the first document", b="another text")
    store.optimize()
    other = reader.open(address)
    assert sources(other) == ["a", "b"]
    assert found(other, "first document")[0] == "the first document"
    assert next(other.documents()).pages[0].text == "the first document"
    assert other.record.name == address
    assert reader.bases().size(address) > 0


def test_a_reader_sees_a_commit_once_it_is_whole(writer: Machine, reader: Machine, address: str) -> None:
    store = writer.create(address)
    write(store, a="old")
    other = reader.open(address)
    before = other.is_current
    write(store, a="new", b="more")
    assert found(other, "old") == ["old"]  # it still reads its own commit
    assert (before, other.is_current) == (True, False)
    assert sources(reader.open(address)) == ["a", "b"]
    assert store.is_current


def test_what_is_in_the_cache_is_not_fetched_again(
    writer: Machine, reader: Machine, address: str, proxy: FaultProxy
) -> None:
    store = writer.create(address)
    write(store, a="one")
    reader.open(address)
    proxy.seen.clear()
    assert sources(reader.open(address)) == ["a"]
    assert [request.is_head for request in proxy.seen] == [True]
    before = set(store._base.head.keys())
    write(store, b="two")
    proxy.seen.clear()
    reader.open(address)
    fetched = {request.path.partition(address.removeprefix("s3://"))[2][1:] for request in proxy.seen}
    assert not fetched & before


def test_a_file_that_was_damaged_in_the_cache_is_fetched_again(
    writer: Machine, reader: Machine, address: str
) -> None:
    write(writer.create(address), a="one")
    folder = reader.open(address).folder
    for path in (folder / "lance" / "passages.lance" / "data").iterdir():
        path.write_bytes(b"x" * path.stat().st_size)
    assert found(reader.open(address), "one") == ["one"]


def test_two_readers_and_a_writer_never_see_half_a_commit(
    writer: Machine, machine: Callable[[str], Machine], address: str
) -> None:
    store, rounds, done = writer.create(address), 6, threading.Event()
    write(store, a="round 0 of a", b="round 0 of b")
    seen: list[set[str]] = []
    failures: list[BaseException] = []

    def read(name: str) -> None:
        own = machine(name)
        try:
            while not done.is_set():
                other = own.open(address)
                texts = {document.pages[0].text.rpartition(" of ")[0] for document in other.documents()}
                seen.append(texts | {text.rpartition(" of ")[0] for text in found(other, "round")})
        except BaseException as error:  # noqa: BLE001 - told by the test
            failures.append(error)

    readers = [threading.Thread(target=read, args=(name,)) for name in ("first", "second")]
    for thread in readers:
        thread.start()
    for number in range(1, rounds):
        write(store, a=f"round {number} of a", b=f"round {number} of b")
    store.optimize()
    done.set()
    for thread in readers:
        thread.join()
    assert not failures
    assert seen
    assert all(len(texts) == 1 for texts in seen)


@pytest.mark.usefixtures("every_processor")
def test_writers_on_two_machines_take_turns(writer: Machine, reader: Machine, address: str) -> None:
    store, other = writer.create(address), reader.create(address)
    threads = [
        threading.Thread(target=write, args=(one,), kwargs={f"{name}{number}": "text"})
        for number in range(2)
        for one, name in ((store, "a"), (other, "b"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sources(reader.open(address)) == ["a0", "a1", "b0", "b1"]


def test_a_write_that_fails_changes_nothing_for_anybody(
    writer: Machine, reader: Machine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = writer.create(address)
    write(store, a="kept")
    with monkeypatch.context() as patch:
        patch.setattr(CommitCache, "_commit", cut_off)
        with pytest.raises(StoreError, match="no"):
            write(store, a="lost", b="lost too")
    assert sources(store) == sources(reader.open(address)) == ["a"]
    assert found(store, "kept") == ["kept"]
    left = len(client_of(writer, address).list())
    write(store, b="later")
    store.optimize()
    assert sources(reader.open(address)) == ["a", "b"]
    held = client_of(writer, address).list()
    head = reader.open(address)._base.head
    assert left
    assert set(held) - {"localcrag.json"} == head.keys() | set(head.retired)


def test_a_commit_on_an_old_head_is_refused(writer: Machine, reader: Machine, address: str) -> None:
    store = writer.create(address)
    old = store._base
    folder = store._commits.copy(old)
    (folder / "skipped.json").write_text("{}")
    write(reader.create(address), a="by somebody else")
    with pytest.raises(StoreError, match="somebody else wrote") as caught:
        store._commits.push(folder, old)
    assert "again" in caught.value.hint
    assert sources(reader.open(address)) == ["a"]


def test_the_lease_of_a_writer_that_was_killed_is_taken_over(writer: Machine, address: str) -> None:
    client = client_of(writer, address)
    client.put(LEASE_KEY, b'{"holder": "killed"}')
    with WriterLease(client, dead=0.05, poll=0.02).held():
        held = client.read(LEASE_KEY)
        assert held is not None
        assert b"killed" not in held.body
    assert client.read(LEASE_KEY) is None


def test_a_writer_does_not_wait_for_ever(writer: Machine, address: str) -> None:
    client = client_of(writer, address)
    client.put(LEASE_KEY, b"{}")
    lease = WriterLease(client, patience=0.1, poll=0.02)
    with pytest.raises(StoreError, match="somebody is writing"), lease.held():
        pass
    assert client.read(LEASE_KEY) is not None


def test_removing_deletes_its_objects_and_no_others(writer: Machine, reader: Machine, address: str) -> None:
    store, below = writer.create(address), writer.create(f"{address}/below")
    write(store, a="one")
    write(below, a="other")
    other = reader.open(address)
    writer.bases().remove(address)
    assert not writer.bases().exists(address)
    assert not [key for key in client_of(writer, address).list() if not key.startswith("below/")]
    assert sources(reader.open(f"{address}/below")) == ["a"]
    assert not other.is_current
    for attempt in (lambda: reader.open(address), lambda: reader.bases().remove(address)):
        with pytest.raises(UnknownKnowledgeBase):
            attempt()
    with pytest.raises(UnknownKnowledgeBase):
        write(store, b="two")


def test_objects_of_former_commits_stay_for_readers_and_go_later(
    writer: Machine, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = writer.create(address)
    store.record_skips([Skipped("x", "why")], [])
    store.record_skips([Skipped("y", "why")], ["x"])
    retired = set(store._base.head.retired)
    assert retired
    assert retired <= set(client_of(writer, address).list())
    monkeypatch.setattr("localcrag.object_storage.commit_cache.RETIREMENT_SECONDS", 0.0)
    write(store, a="one")
    assert not retired & set(client_of(writer, address).list())
    assert sources(store) == ["a"]


def test_documents_are_removed_moved_and_relocated(
    writer: Machine, reader: Machine, address: str, tmp_path: Path
) -> None:
    store = writer.create(address)
    store.add_roots([str(tmp_path / "old")])
    write(store, **{str(tmp_path / "old" / "a"): "one", "b": "two"})
    assert store.relocate(str(tmp_path / "old"), str(tmp_path / "new")) == 1
    assert store.remove(["b"]) == 1
    assert sources(reader.open(address)) == [str(tmp_path / "new" / "a")]


def test_it_is_checked_and_compacted(writer: Machine, reader: Machine, address: str) -> None:
    store = writer.create(address)
    write(store, a="one")
    store.optimize()
    assert list(reader.bases().check(address)) == []
    assert writer.bases().repair(address) == []
    client = client_of(writer, address)
    lost = next(path for path in store._base.head.files if "/data/" in path)
    client.delete(lost)
    assert [problem.what for problem in reader.bases().check(address)] == [
        f"the object {lost} is missing or cut off"
    ]


def test_it_is_embedded_again_with_another_model(writer: Machine, reader: Machine, address: str) -> None:
    store = writer.create(address)
    write(store, a="one", b="two")
    other = HashEmbedder("other", 32)
    assert result_of(store.reembed(other)) == 2
    assert reader.bases().embedding_model(address) == "other"
    renewed = reader.bases().open(address, "other", 32)
    assert sources(renewed) == ["a", "b"]
    assert renewed.search("one", other.encode(["one"])[0], k=1)[0].passage.text == "one"


def test_another_embedding_model_is_refused(writer: Machine, address: str) -> None:
    writer.create(address)
    with pytest.raises(EmbeddingMismatch):
        writer.bases().open(address, "other", EMBEDDER.dimension)
    assert writer.bases().embedding_model(address) == EMBEDDER.name


def test_what_is_not_possible_there_is_refused(writer: Machine, address: str, tmp_path: Path) -> None:
    bases = writer.bases()
    attempts: list[Callable[[], object]] = [
        partial(bases.rename, address, "x"),
        partial(bases.copy, address, "x"),
        partial(bases.write_archive, address, tmp_path / "x"),
    ]
    for attempt in attempts:
        with pytest.raises(UsageError, match="on object storage") as caught:
            attempt()
        assert caught.value.hint
