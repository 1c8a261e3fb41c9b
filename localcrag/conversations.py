"""Named conversations in one SQLite file.

Each call opens the file, works in one transaction and closes it, so several processes may use it at
once; one that must wait does so for some seconds. The file is made by the first conversation, for
its owner's eyes only. What is deleted is overwritten and the file rebuilt, so that nothing of it
can be read there any more (https://www.sqlite.org/pragma.html#pragma_secure_delete).
"""

from __future__ import annotations

import os
import sqlite3
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from localcrag.errors import StorageFull, StoreError, UnknownThread, UsageError
from localcrag.types import Thread, Turn

MAX_NAME = 80
"""Characters of a conversation's name."""
PATIENCE_SECONDS = 10.0
"""Seconds to wait for another process that is writing."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE thread (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            kb TEXT,
            filter TEXT,
            created REAL NOT NULL,
            used REAL NOT NULL
        )""",
        """CREATE TABLE turn (
            id INTEGER PRIMARY KEY,
            thread INTEGER NOT NULL REFERENCES thread ON DELETE CASCADE,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            text TEXT NOT NULL,
            record TEXT NOT NULL
        )""",
        "CREATE INDEX turn_of_thread ON turn (thread, id)",
    ),
)
"""Statements that lead from each version of the file to the next; a version is never changed, only added."""

_THREADS = """
    SELECT name, kb, filter, (SELECT count(*) FROM turn WHERE turn.thread = thread.id), created, used
    FROM thread
"""
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class SqliteThreads:
    """The :class:`~localcrag.protocols.ThreadStore` in the file ``path``.

    Every method raises StoreError for a file that is damaged, of a newer version, or that another
    process does not let go of, and StorageFull where the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def threads(self) -> list[Thread]:
        """All of them, the one used last first."""
        if not self.path.exists():
            return []
        with self._opened() as db:
            return _threads(db)

    def open(self, name: str) -> Thread:
        """The thread of that name, made where there is none. Raises UsageError for a name that is no name."""
        checked_name(name)
        with self._writing(create=True) as db:
            now = time.time()
            db.execute(
                "INSERT INTO thread (name, created, used) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (name, now, now),
            )
            return Thread(*db.execute(f"{_THREADS} WHERE name = ?", (name,)).fetchone())

    def turns(self, name: str) -> list[Turn]:
        """Oldest first. Raises UnknownThread."""
        self._must_hold(name)
        with self._opened() as db:
            where = (_number(db, name),)
            rows = db.execute("SELECT role, text, record FROM turn WHERE thread = ? ORDER BY id", where)
            return [Turn(*row) for row in rows]

    def append(self, name: str, turns: Sequence[Turn]) -> None:
        """All of the turns or, where it fails, none. Raises UnknownThread, StoreError."""
        self._must_hold(name)
        with self._writing() as db:
            thread = _number(db, name)
            rows = [(thread, turn.role, _written(turn.text), _written(turn.record)) for turn in turns]
            db.executemany("INSERT INTO turn (thread, role, text, record) VALUES (?, ?, ?, ?)", rows)
            db.execute("UPDATE thread SET used = ? WHERE id = ?", (time.time(), thread))

    def set_filter(self, name: str, filter: str | None) -> None:
        """Raises UnknownThread."""
        self._set(name, "filter", filter)

    def set_kb(self, name: str, kb: str | None) -> None:
        """Raises UnknownThread."""
        self._set(name, "kb", kb)

    def forget(self, name: str) -> None:
        """Delete the turns for good, and keep the name and its settings. Raises UnknownThread."""
        self._erase(name, "DELETE FROM turn WHERE thread = ?")

    def delete(self, name: str) -> None:
        """For good: nothing of it can be read from the file any more. Raises UnknownThread."""
        self._erase(name, "DELETE FROM thread WHERE id = ?")

    def _set(self, name: str, column: str, value: str | None) -> None:
        self._must_hold(name)
        with self._writing() as db:
            changed = (None if value is None else _written(value), time.time(), _number(db, name))
            db.execute(f"UPDATE thread SET {column} = ?, used = ? WHERE id = ?", changed)

    def _erase(self, name: str, statement: str) -> None:
        """Delete, and rebuild the file, without letting another process between the two."""
        self._must_hold(name)
        with self._opened() as db:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            with _transaction(db):
                db.execute(statement, (_number(db, name),))
            db.execute("VACUUM")

    def _must_hold(self, name: str) -> None:
        """Raises UnknownThread where it is plain without a look into the file that there is none."""
        if not _is_name(name) or not self.path.exists():
            raise _unknown(name, self.threads())

    @contextmanager
    def _writing(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        with self._opened(create=create) as db, _transaction(db):
            yield db

    @contextmanager
    def _opened(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """The file, brought up to the newest version; errors of SQLite come out as ours."""
        try:
            if create:
                _make(self.path)
            with closing(sqlite3.connect(self.path, timeout=PATIENCE_SECONDS, isolation_level=None)) as db:
                self._migrate(db)
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA secure_delete = ON")
                db.execute("PRAGMA temp_store = MEMORY")
                yield db
        except sqlite3.Error as error:
            raise self._error(error) from error
        except OSError as error:
            raise StoreError(
                f"conversations cannot be kept in {self.path}: {error.strerror or error}",
                hint="correct the permissions there, or give another place with --home",
            ) from error

    def _migrate(self, db: sqlite3.Connection) -> None:
        """One transaction a version; another process may do the same at this moment."""
        while (version := _version(db)) < len(MIGRATIONS):
            with _transaction(db):
                if _version(db) != version:
                    continue
                for statement in MIGRATIONS[version]:
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {version + 1}")
        if version > len(MIGRATIONS):
            raise StoreError(
                f"{self.path} was written by a newer localcrag (version {version}, "
                f"this one knows {len(MIGRATIONS)})",
                hint="update localcrag; the file was left as it is",
            )

    def _error(self, error: sqlite3.Error) -> StoreError:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return StorageFull(f"no space left to write {self.path}", hint="make room and try again")
        if code in _BUSY:
            return StoreError(
                f"{self.path} is in use by another process", hint="try again when that has finished"
            )
        if code in _DAMAGED:
            return StoreError(
                f"{self.path} is damaged: {error}",
                hint="move it away to begin anew, or put back a copy of it",
            )
        return StoreError(
            f"{self.path} cannot be used: {error}",
            hint="look at its permissions and at the disk, or move it away",
        )


def checked_name(name: str) -> str:
    """The name. Raises UsageError for one that is empty, too long, or looks like a path."""
    if not _is_name(name):
        raise UsageError(
            f"{_shown(name)} cannot name a conversation",
            hint=f"use up to {MAX_NAME} letters, digits, blanks and signs, none of them / \\ or :",
        )
    return name


def _is_name(name: str) -> bool:
    if not 0 < len(name) <= MAX_NAME or name != name.strip() or name[0] in ".-":
        return False
    return not any(c in "/\\:" or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in name)


def _unknown(name: str, known: Sequence[Thread]) -> UnknownThread:
    """The error for a conversation that is not there; its hint names those that are."""
    names = ", ".join(thread.name for thread in known[:10])
    hint = f"there are: {names}" if names else "localcrag chat --thread NAME begins one"
    return UnknownThread(f"there is no conversation {_shown(name)}", hint=hint)


def _shown(name: str) -> str:
    return repr(name if len(name) <= MAX_NAME else name[:MAX_NAME] + "…")


def _threads(db: sqlite3.Connection) -> list[Thread]:
    return [Thread(*row) for row in db.execute(f"{_THREADS} ORDER BY used DESC, id DESC")]


def _number(db: sqlite3.Connection, name: str) -> int:
    if row := db.execute("SELECT id FROM thread WHERE name = ?", (name,)).fetchone():
        return int(row[0])
    raise _unknown(name, _threads(db))


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, with the right to write from its beginning."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _make(path: Path) -> None:
    """The file, for its owner alone, where there is none; SQLite's journal gets the same permissions."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _written(text: str) -> str:
    """The text as UTF-8 can hold it: a lone surrogate, which no input method types, becomes "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")
