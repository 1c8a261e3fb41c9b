"""Named conversations in one SQLite file.

Each call opens the file, works in one transaction and closes it, so several processes may use the file
at once; one that must wait does so for some seconds. The first conversation makes the file, readable by
its owner only. Deleted text is overwritten and the file rebuilt, so that nothing of it can be read there
any more (https://www.sqlite.org/pragma.html#pragma_secure_delete).
"""

from __future__ import annotations

import os
import sqlite3
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import get_ident

from localcrag.errors import StorageFull, StoreError, UnknownThread, UsageError
from localcrag.types import Thread, Turn

MAX_NAME_CHARACTERS = 80
"""The most characters of a conversation's name."""
PATIENCE_SECONDS = 10.0
"""How long to wait for another process that is writing."""

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
"""The SQL statements that lead from each version of the file to the next.

A published version is never changed; a new one is added at the end.
"""

_SELECT_THREADS = """
    SELECT name, kb, filter, (SELECT count(*) FROM turn WHERE turn.thread = thread.id), created, used
    FROM thread
"""
_DAMAGED_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class SqliteThreads:
    """The :class:`~localcrag.protocols.ThreadStore` in the SQLite file ``path``.

    Every method raises StoreError if the file is damaged, of a newer version, or in use by another process
    for long, and StorageFull if the disk is full.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def threads(self) -> list[Thread]:
        """All conversations, the one used last first."""
        if not self.path.exists():
            return []
        with self._opened() as db:
            return _threads(db)

    def open(self, name: str) -> Thread:
        """The conversation of that name, made if there is none.

        Raises UsageError for a name that cannot be one.
        """
        checked_name(name)
        with self._writing(create=True) as db:
            now = time.time()
            db.execute(
                "INSERT INTO thread (name, created, used) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                (name, now, now),
            )
            return Thread(*db.execute(f"{_SELECT_THREADS} WHERE name = ?", (name,)).fetchone())

    def turns(self, name: str) -> list[Turn]:
        """The turns of a conversation, oldest first. Raises UnknownThread."""
        self._must_hold(name)
        with self._opened() as db:
            where = (_number(db, name),)
            rows = db.execute("SELECT role, text, record FROM turn WHERE thread = ? ORDER BY id", where)
            return [Turn(*row) for row in rows]

    def append(self, name: str, turns: Sequence[Turn]) -> None:
        """Add turns at the end of a conversation; if it fails, none is added. Raises UnknownThread."""
        self._must_hold(name)
        with self._writing() as db:
            thread = _number(db, name)
            rows = [(thread, turn.role, _written(turn.text), _written(turn.record)) for turn in turns]
            db.executemany("INSERT INTO turn (thread, role, text, record) VALUES (?, ?, ?, ?)", rows)
            db.execute("UPDATE thread SET used = ? WHERE id = ?", (time.time(), thread))

    def set_filter(self, name: str, filter: str | None) -> None:
        """Set the filter of a conversation, None to remove it. Raises UnknownThread."""
        self._set(name, "filter", filter)

    def set_kb(self, name: str, kb: str | None) -> None:
        """Set the knowledge base of a conversation, None to remove it. Raises UnknownThread."""
        self._set(name, "kb", kb)

    def forget(self, name: str) -> None:
        """Delete the turns of a conversation for good; its name and settings stay. Raises UnknownThread."""
        self._erase(name, "DELETE FROM turn WHERE thread = ?")

    def delete(self, name: str) -> None:
        """Delete a conversation for good: nothing of it can be read from the file. Raises UnknownThread."""
        self._erase(name, "DELETE FROM thread WHERE id = ?")

    def _set(self, name: str, column: str, value: str | None) -> None:
        """Set one column of a conversation. Raises UnknownThread."""
        self._must_hold(name)
        with self._writing() as db:
            changed = (None if value is None else _written(value), time.time(), _number(db, name))
            db.execute(f"UPDATE thread SET {column} = ?, used = ? WHERE id = ?", changed)

    def _erase(self, name: str, statement: str) -> None:
        """Delete rows and rebuild the file, while no other process can use it. Raises UnknownThread.

        The journal holds what is deleted. It is truncated with the commit: an exclusive connection would
        keep it until it is closed, and leave it behind if the process is killed before.
        """
        self._must_hold(name)
        with self._opened() as db:
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("PRAGMA journal_mode = TRUNCATE")
            with _transaction(db):
                db.execute(statement, (_number(db, name),))
            db.execute("VACUUM")

    def _must_hold(self, name: str) -> None:
        """Raise UnknownThread if the name or the missing file shows that there is no such conversation."""
        if not _is_name(name) or not self.path.exists():
            raise _unknown(name, self.threads())

    @contextmanager
    def _writing(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the file for one writing transaction."""
        with self._opened(create=create) as db, _transaction(db):
            yield db

    @contextmanager
    def _opened(self, *, create: bool = False) -> Iterator[sqlite3.Connection]:
        """Open the file, migrated to the newest version; SQLite's errors are raised as StoreError."""
        try:
            if create and not self.path.exists():
                self._make()
            if not self.path.stat().st_size:  # it is made whole, so it was cut off since
                raise self._damaged("it is empty")
            with closing(sqlite3.connect(self.path, timeout=PATIENCE_SECONDS, isolation_level=None)) as db:
                self._migrate(db)
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA secure_delete = ON")
                db.execute("PRAGMA temp_store = MEMORY")
                yield db
        except sqlite3.Error as error:
            raise self._error(error) from error
        except UnicodeDecodeError as error:  # an error of SQLite that names what is damaged
            raise self._damaged("what it holds is no text") from error
        except OSError as error:
            raise StoreError(
                f"conversations cannot be kept in {self.path}: {error.strerror or error}",
                hint="correct the permissions there, or give another place with --home",
            ) from error

    def _make(self) -> None:
        """Make the file, readable by its owner only, if there is none; SQLite's journal inherits that.

        It is filled under another name, so that it is never seen empty. Raises OSError, sqlite3.Error.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = self.path.with_name(f".{self.path.name}.{os.getpid()}-{get_ident()}")
        try:
            os.close(os.open(scratch, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600))
            with closing(sqlite3.connect(scratch, isolation_level=None)) as db:
                self._migrate(db)
            _place(scratch, self.path)
        finally:
            scratch.unlink(missing_ok=True)

    def _damaged(self, fault: str) -> StoreError:
        """The error for a file that was damaged."""
        return StoreError(
            f"{self.path} is damaged: {fault}", hint="move it away to begin anew, or put back a copy of it"
        )

    def _migrate(self, db: sqlite3.Connection) -> None:
        """Bring the file to the newest version, one transaction for each version.

        Another process may be doing the same. Raises StoreError for a newer version.
        """
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
        """The typed error for an error of SQLite."""
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return StorageFull(f"no space left to write {self.path}", hint="make room and try again")
        if code in _BUSY_CODES:
            return StoreError(
                f"{self.path} is in use by another process", hint="try again when that has finished"
            )
        if code in _DAMAGED_CODES:
            return self._damaged(str(error))
        return StoreError(
            f"{self.path} cannot be used: {error}",
            hint="look at its permissions and at the disk, or move it away",
        )


def checked_name(name: str) -> str:
    """The name of a conversation. Raises UsageError if it is empty, too long, or looks like a path."""
    if not _is_name(name):
        raise UsageError(
            f"{_shown(name)} cannot name a conversation",
            hint=f"use up to {MAX_NAME_CHARACTERS} letters, digits, blanks and signs, none of them / \\ or :",
        )
    return name


def _is_name(name: str) -> bool:
    """Whether a conversation can have this name."""
    if not 0 < len(name) <= MAX_NAME_CHARACTERS or name != name.strip() or name[0] in ".-":
        return False
    return not any(c in "/\\:" or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in name)


def _unknown(name: str, known: Sequence[Thread]) -> UnknownThread:
    """The error for a conversation that does not exist; its hint lists those that do."""
    names = ", ".join(thread.name for thread in known[:10])
    hint = f"there are: {names}" if names else "localcrag chat --thread NAME begins one"
    return UnknownThread(f"there is no conversation {_shown(name)}", hint=hint)


def _shown(name: str) -> str:
    """The name in quotes, shortened for an error message."""
    return repr(name if len(name) <= MAX_NAME_CHARACTERS else name[:MAX_NAME_CHARACTERS] + "…")


def _threads(db: sqlite3.Connection) -> list[Thread]:
    """All conversations, the one used last first."""
    return [Thread(*row) for row in db.execute(f"{_SELECT_THREADS} ORDER BY used DESC, id DESC")]


def _number(db: sqlite3.Connection, name: str) -> int:
    """The id of a conversation. Raises UnknownThread."""
    if row := db.execute("SELECT id FROM thread WHERE name = ?", (name,)).fetchone():
        return int(row[0])
    raise _unknown(name, _threads(db))


def _version(db: sqlite3.Connection) -> int:
    """The version of the file, 0 for a new one."""
    return int(db.execute("PRAGMA user_version").fetchone()[0])


@contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the block in a transaction that holds the write lock from its beginning."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if db.in_transaction:  # a full disk has ended it already
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _place(made: Path, path: Path) -> None:
    """Give a file its name, unless another process was faster. Raises OSError."""
    try:
        os.link(made, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        if not path.exists():
            made.rename(path)


def _written(text: str) -> str:
    """The text with "?" in place of each lone surrogate, which UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode("utf-8")
