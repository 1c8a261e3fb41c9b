"""The write lock of a knowledge base, and guards against one that is removed meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from localcrag.errors import UnknownKnowledgeBase
from localcrag.store.kb_record import record_stamp, shown_name
from localcrag.store.storage_errors import removed_error, writing_error

REMOVAL_PATIENCE_SECONDS = 10.0
"""How long a removal waits for a process that writes."""
_LOCK_FILE = "write.lock"


@contextmanager
def write_lock(folder: Path, known: tuple[int, int] | None) -> Iterator[None]:
    """Hold the write lock of a knowledge base in the block, once no other process holds it.

    ``known`` is its :func:`~localcrag.store.kb_record.identity`. Raises UnknownKnowledgeBase if it has
    another one now, and OSError.
    """
    from filelock import FileLock

    lock = FileLock(folder / _LOCK_FILE)
    try:
        with existing_folder(folder, known):
            lock.acquire()
        yield
    finally:
        lock.release()


@contextmanager
def existing_folder(folder: Path, known: tuple[int, int] | None) -> Iterator[None]:
    """Guard a block that would make a removed folder again: locking it, or connecting to its tables.

    Raises UnknownKnowledgeBase if the knowledge base was removed before or during the block, and deletes
    the folder that the block made; and OSError.
    """
    _require(folder, known)
    try:
        yield
    finally:
        try:
            _require(folder, known)
        except UnknownKnowledgeBase:
            _delete_empty_shell(folder)
            raise


@contextmanager
def try_lock(folder: Path, *, patience: float = 0.0) -> Iterator[bool]:
    """Hold the write lock in the block, also of a damaged knowledge base; yields whether it is held.

    ``patience`` are the seconds to wait for another process that holds it, -1 to wait until it is free.
    Raises OSError.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / _LOCK_FILE)
    try:
        lock.acquire(timeout=patience)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


@contextmanager
def removal_lock(folder: Path) -> Iterator[None]:
    """Hold the write lock of a folder that is removed; one that cannot be locked needs no lock.

    Raises StoreError if another process holds the lock for long.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(folder / _LOCK_FILE)
    try:
        # writers leave the lock free for moments only
        lock.acquire(timeout=REMOVAL_PATIENCE_SECONDS, poll_interval=0.005)
    except Timeout as error:
        raise writing_error(shown_name(folder)) from error
    except OSError:
        pass
    if os.name == "nt":  # Windows renames no folder with an open file
        lock.release()
    try:
        yield
    finally:
        lock.release()


def _require(folder: Path, known: tuple[int, int] | None) -> None:
    """Raise UnknownKnowledgeBase unless the folder holds the ``known`` knowledge base. Raises OSError."""
    try:
        found = record_stamp(folder)
    except FileNotFoundError:
        raise removed_error(shown_name(folder)) from None
    if found != known:
        raise removed_error(shown_name(folder))


def _delete_empty_shell(folder: Path) -> None:
    """Delete a folder that holds nothing but the lock and empty folders."""
    with suppress(OSError):
        found = set(folder.iterdir()) - {folder / _LOCK_FILE}
        if all(inner.is_dir() for inner in found):
            for inner in found:
                inner.rmdir()
            (folder / _LOCK_FILE).unlink(missing_ok=True)
            folder.rmdir()
