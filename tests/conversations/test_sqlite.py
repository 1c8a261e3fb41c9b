"""The file of conversations: its permissions, its versions, its users, and what is left of the deleted."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from localcrag import conversations
from localcrag.conversations import MIGRATIONS, SqliteThreads
from localcrag.errors import StorageFull, StoreError, UnknownThread
from localcrag.types import Turn

SECRET = "the quokka sings at midnight"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "threads.db"


@pytest.fixture
def store(path: Path) -> SqliteThreads:
    return SqliteThreads(path)


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as db:
        return int(db.execute("PRAGMA user_version").fetchone()[0])


def test_looking_makes_no_file_and_the_first_thread_makes_a_private_one(
    path: Path, store: SqliteThreads
) -> None:
    assert store.threads() == [] and not path.parent.exists()
    with pytest.raises(UnknownThread, match="gone") as caught:
        store.turns("gone")
    assert "--thread" in caught.value.hint and not path.parent.exists()
    store.open("a")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_hint_names_the_threads_there_are(store: SqliteThreads) -> None:
    store.open("garden")
    with pytest.raises(UnknownThread) as caught:
        store.delete("gardn")
    assert caught.value.hint == "there are: garden"


@pytest.mark.parametrize(("erase", "size"), [("delete", 1), ("forget", 50), ("delete", 4000)])
def test_nothing_of_what_is_deleted_is_left_in_any_file(
    path: Path, store: SqliteThreads, erase: str, size: int
) -> None:
    store.open("kept")
    store.open("gone")
    for n in range(3):
        store.append("kept", [Turn("user", f"kept {n} " * 20)] * 10)
        store.append("gone", [Turn("user", f"{SECRET} " * size, f'{{"answer": "{SECRET}"}}')] * 10)
    store.set_filter("gone", f'title = "{SECRET}"')
    assert SECRET.encode() in path.read_bytes()
    if erase == "forget":
        store.set_filter("gone", None)
    getattr(store, erase)("gone")
    left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert SECRET.encode() not in left and b"quokka" not in left
    assert len(store.turns("kept")) == 30


class _Killed(sqlite3.Connection):
    """A connection whose process is killed just before or just after a statement."""

    at = ("", "")

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        for moment in ("before", "after"):
            if (moment, sql) == self.at:
                os.kill(os.getpid(), signal.SIGKILL)
            if moment == "before":
                done = super().execute(sql, *parameters)
        return done


def _killed(path: Path, moment: str, statement: str) -> None:
    _Killed.at = (moment, statement)
    conversations.sqlite3.connect = partial(sqlite3.connect, factory=_Killed)  # type: ignore[attr-defined]
    SqliteThreads(path).delete("gone")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows kills in another way")
@pytest.mark.parametrize("at", [("after", "COMMIT"), ("before", "VACUUM"), ("after", "VACUUM")])
def test_nothing_is_left_either_if_the_process_is_killed_once_it_was_deleted(
    path: Path, store: SqliteThreads, at: tuple[str, str]
) -> None:
    store.open("gone")
    store.append("gone", [Turn("user", f"{SECRET} " * 200)] * 10)
    process = multiprocessing.get_context("spawn").Process(target=_killed, args=(path, *at))
    process.start()
    process.join(240)
    assert process.exitcode == -signal.SIGKILL
    left = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"quokka" not in left
    assert store.threads() == []


def test_deleting_gives_the_space_back(path: Path, store: SqliteThreads) -> None:
    store.open("long")
    empty = path.stat().st_size
    store.append("long", [Turn("user", "x" * 200_000)])
    assert path.stat().st_size > 200_000
    store.delete("long")
    assert path.stat().st_size <= empty


def _many(path: Path, number: int) -> None:
    conversations.PATIENCE_SECONDS = 240.0  # in this process alone: who waits is not told when it is its turn
    store = SqliteThreads(path)
    store.open("shared")
    for n in range(8):
        store.append("shared", [Turn("user", f"{number}.{n}"), Turn("assistant", f"{number}.{n}")])


@pytest.mark.usefixtures("every_processor")
def test_several_processes_write_at_once_and_lose_nothing(path: Path, store: SqliteThreads) -> None:
    context = multiprocessing.get_context("spawn")  # a fork of a process with threads may hang
    workers = [context.Process(target=_many, args=(path, number)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(240)
    assert [worker.exitcode for worker in workers] == [0] * 4
    texts = [turn.text for turn in store.turns("shared")]
    assert len(texts) == 64
    assert texts[0::2] == texts[1::2], "a question and its answer must stand together"
    for number in range(4):
        own = [text for text in texts[::2] if text.startswith(f"{number}.")]
        assert own == [f"{number}.{n}" for n in range(8)]


def test_a_file_that_another_process_holds_is_waited_for_and_then_reported(
    path: Path, store: SqliteThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "PATIENCE_SECONDS", 0.1)
    store.open("a")
    store.append("a", [Turn("user", SECRET)])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        calls: tuple[Callable[[], None], ...] = (
            lambda: store.append("a", [Turn("user", "x")]),
            lambda: store.delete("a"),
        )
        for call in calls:
            with pytest.raises(StoreError, match="in use by another process") as caught:
                call()
            assert "try again" in caught.value.hint
    assert [turn.text for turn in store.turns("a")] == [SECRET]


def test_a_reader_does_not_keep_a_thread_from_being_deleted_for_good(
    path: Path, store: SqliteThreads
) -> None:
    store.open("a")
    store.append("a", [Turn("user", SECRET)])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        assert other.execute("SELECT count(*) FROM turn").fetchall() == [(1,)]
        store.delete("a")
        assert other.execute("SELECT count(*) FROM turn").fetchall() == [(0,)]
    assert SECRET.encode() not in path.read_bytes()


class TestVersions:
    def test_a_new_file_has_the_newest(self, path: Path, store: SqliteThreads) -> None:
        store.open("a")
        assert version(path) == len(MIGRATIONS)

    def test_an_older_file_is_brought_up_and_keeps_its_turns(
        self, path: Path, store: SqliteThreads, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.open("a")
        store.append("a", [Turn("user", "kept")])
        added = ("ALTER TABLE thread ADD COLUMN colour TEXT", "UPDATE thread SET colour = 'red'")
        monkeypatch.setattr(conversations, "MIGRATIONS", (*MIGRATIONS, added))
        assert [turn.text for turn in store.turns("a")] == ["kept"]
        assert version(path) == len(MIGRATIONS) + 1
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT colour FROM thread").fetchall() == [("red",)]

    def test_a_migration_that_fails_leaves_the_file_as_it_was(
        self, path: Path, store: SqliteThreads, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.open("a")
        before = path.read_bytes()
        broken = ("ALTER TABLE thread ADD COLUMN colour TEXT", "nonsense")
        with monkeypatch.context() as patch:
            patch.setattr(conversations, "MIGRATIONS", (*MIGRATIONS, broken))
            with pytest.raises(StoreError, match="cannot be used"):
                store.threads()
        assert path.read_bytes() == before
        assert [thread.name for thread in store.threads()] == ["a"]

    def test_a_newer_file_is_left_untouched(self, path: Path, store: SqliteThreads) -> None:
        store.open("a")
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
        before = path.read_bytes()
        for call in (store.threads, lambda: store.open("b"), lambda: store.delete("a")):
            with pytest.raises(StoreError, match="newer localcrag") as caught:
                call()
            assert "update localcrag" in caught.value.hint
        assert path.read_bytes() == before


class TestDamage:
    def refused(self, store: SqliteThreads, word: str) -> None:
        for call in (store.threads, lambda: store.open("b"), lambda: store.turns("a")):
            with pytest.raises(StoreError, match=word) as caught:
                call()
            assert caught.value.hint and "\n" not in str(caught.value)

    def test_something_else_in_its_place(self, path: Path, store: SqliteThreads) -> None:
        path.parent.mkdir()
        path.write_bytes(b"these are no conversations\n" * 300)
        before = path.read_bytes()
        self.refused(store, "damaged")
        assert path.read_bytes() == before

    @pytest.mark.parametrize("left", [0, 100, 5000])
    def test_a_file_that_was_cut_off(self, path: Path, store: SqliteThreads, left: int) -> None:
        store.open("a")
        path.write_bytes(path.read_bytes()[:left])
        self.refused(store, "damaged")
        assert path.stat().st_size == left

    def test_an_overwritten_page(self, path: Path, store: SqliteThreads) -> None:
        store.open("a")
        store.append("a", [Turn("user", "x" * 50_000)])
        data = bytearray(path.read_bytes())
        data[4096 : 4 * 4096] = b"\xff" * (3 * 4096)
        path.write_bytes(data)
        self.refused(store, "damaged")

    def test_a_folder_in_its_place(self, path: Path, store: SqliteThreads) -> None:
        path.mkdir(parents=True)
        self.refused(store, "cannot be")

    def test_a_home_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "home").write_text("a file")
        with pytest.raises(StoreError, match="cannot be kept"):
            SqliteThreads(tmp_path / "home" / "threads.db").open("a")


def test_a_full_disk_is_reported_and_loses_nothing(
    store: SqliteThreads, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.open("a")
    store.append("a", [Turn("user", "kept")])
    migrate = SqliteThreads._migrate

    def no_room(self: SqliteThreads, db: sqlite3.Connection) -> None:
        migrate(self, db)
        db.execute("PRAGMA max_page_count = 8")

    with monkeypatch.context() as patch:
        patch.setattr(SqliteThreads, "_migrate", no_room)
        with pytest.raises(StorageFull, match="no space left") as caught:
            store.append("a", [Turn("user", "small"), Turn("user", "x" * 1_000_000)])
    assert "make room" in caught.value.hint
    assert [turn.text for turn in store.turns("a")] == ["kept"]
