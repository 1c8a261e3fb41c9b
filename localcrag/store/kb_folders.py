"""The folders of knowledge bases: what is there, making one, opening one, removing one.

::

    HOME/knowledge/                      for its owner alone
    HOME/knowledge/NAME/kb.json          the name, the embedding model, the dimension, the layout
                       /lance/           the tables
                       /unfinished.json  the sources of a write that is under way, or was cut off
                       /write.lock       held by the one process that writes, or removes

Neither making nor removing can be seen half done: a folder is filled under another name and then
renamed, and renamed away before it is deleted. Who waits to write meanwhile finds that it is gone.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path

from localcrag.errors import EmbeddingMismatch, StorageFull, StoreError, UnknownKnowledgeBase, UsageError

LAYOUT_VERSION = 2
"""The version of the tables' layout that this code makes."""
READABLE_LAYOUTS = (1, LAYOUT_VERSION)
"""Those that it reads, and writes to as they are."""
FULL_HINT = "make room and run the same command again: what was written before is kept"
REMOVAL_PATIENCE_SECONDS = 10.0
"""Seconds that a removal waits for the one who writes."""
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
_RECORD = "kb.json"
_LOCK = "write.lock"
_STALE = 3600.0


@dataclass(frozen=True, slots=True)
class KnowledgeBaseRecord:
    """What a knowledge base remembers of itself."""

    name: str
    embedding_model: str
    dimension: int
    layout: int = LAYOUT_VERSION


def identity(folder: Path) -> tuple[int, int] | None:
    """Tells a knowledge base from another one that has come into its place; None where there is none."""
    try:
        return _mark(folder)
    except OSError:
        return None


def is_gone(folder: Path) -> bool:
    """Whether there is no such folder; one that may not be looked at is there."""
    try:
        folder.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


@contextmanager
def write_lock(folder: Path, known: tuple[int, int] | None) -> Iterator[None]:
    """Waits until no other process writes to a knowledge base, and keeps the others from it.

    Raises UnknownKnowledgeBase where it is not the ``known`` one any more, and OSError.
    """
    from filelock import FileLock

    lock = FileLock(folder / _LOCK)
    try:
        with standing(folder, known):
            lock.acquire()
        yield
    finally:
        lock.release()


@contextmanager
def standing(folder: Path, known: tuple[int, int] | None) -> Iterator[None]:
    """For what would make the folder of a knowledge base anew: locking it, and connecting to its tables.

    Raises UnknownKnowledgeBase where it was removed, or is removed just now, and leaves no folder then;
    and OSError.
    """
    _require(folder, known)
    try:
        yield
    finally:
        try:
            _require(folder, known)
        except UnknownKnowledgeBase:
            _drop_shell(folder)
            raise


def removed(name: str) -> UnknownKnowledgeBase:
    """The error for a knowledge base that is gone, or is another one, since it was opened."""
    hint = "`localcrag kb list` tells what there is; `localcrag ingest PATH` makes it anew"
    return UnknownKnowledgeBase(f"the knowledge base {name!r} was removed meanwhile", hint=hint)


def checked_name(name: str) -> str:
    """The name of a knowledge base. Raises UsageError for one that cannot be: it leads to no other folder."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(
            f"{str(name)[:80]!r} cannot be the name of a knowledge base",
            hint="use up to 64 letters, digits, '.', '_' and '-', and no '.' in front",
        )
    return name


class KnowledgeBaseFolders:
    """The knowledge bases below ``home``, as folders."""

    def __init__(self, home: Path) -> None:
        self._root = home / "knowledge"

    def path(self, name: str) -> Path:
        """Where the knowledge base is, or would be. Raises UsageError for a name that cannot be one."""
        return self._root / checked_name(name)

    def names(self) -> list[str]:
        """The knowledge bases there are, in alphabetical order. Raises StoreError."""
        try:
            with os.scandir(self._root) as entries:
                return sorted(e.name for e in entries if _NAME.fullmatch(e.name) and e.is_dir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error(error, f"look into {self._root}") from error

    def record(self, name: str) -> KnowledgeBaseRecord:
        """What a knowledge base remembers of itself. Raises UnknownKnowledgeBase, StoreError, UsageError."""
        path = self.path(name)
        if not path.is_dir():
            raise self._unknown(name)
        try:
            found = KnowledgeBaseRecord(**json.loads((path / _RECORD).read_text("utf-8")))
            known = isinstance(found.dimension, int) and isinstance(found.layout, int)
        except PermissionError as error:
            raise storage_error(error, f"read {path}") from error
        except (OSError, ValueError, TypeError):
            known = False
        if not known:
            raise StoreError(f"{path} is not a whole knowledge base", hint=remake(name))
        if found.layout not in READABLE_LAYOUTS:
            raise StoreError(
                f"knowledge base {name!r} has layout {found.layout}, "
                f"and this localcrag reads up to {LAYOUT_VERSION}",
                hint="use the localcrag it was made with, or " + remake(name),
            )
        return found

    def matching(self, name: str, embedding_model: str | None, dimension: int | None) -> KnowledgeBaseRecord:
        """The record, if it was made with this embedding model. Raises also EmbeddingMismatch."""
        record = self.record(name)
        other = embedding_model not in (None, record.embedding_model)
        if other or dimension not in (None, record.dimension):
            raise EmbeddingMismatch(
                f"knowledge base {name!r} was made with the embedding model {record.embedding_model} "
                f"({record.dimension} dimensions), not with {embedding_model} ({dimension})",
                hint=f"set model.embedding to {record.embedding_model}, or ingest into another one with --kb",
            )
        return record

    @contextmanager
    def making(self, record: KnowledgeBaseRecord) -> Iterator[Path]:
        """A scratch folder to fill, which becomes the knowledge base unless another process made it first."""
        path = self.path(record.name)
        scratch = self._root / f".new-{record.name}-{uuid.uuid4().hex}"
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
            scratch.mkdir()
            write_json(scratch / _RECORD, asdict(record))
            yield scratch
            try:
                scratch.rename(path)
            except OSError:
                if not (path / _RECORD).is_file():
                    raise
        except OSError as error:
            raise storage_error(error, f"make the knowledge base in {path}") from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def remove(self, name: str) -> None:
        """Delete the whole folder, even a damaged one, as soon as nobody writes to it.

        Raises UnknownKnowledgeBase, StoreError (also where somebody goes on writing for long).
        """
        path = self.path(name)
        if not path.is_dir():
            raise self._unknown(name)
        away = self._root / f".removed-{name}-{uuid.uuid4().hex}"
        try:
            with _unwritten(path):
                if not path.is_dir():
                    raise self._unknown(name)
                path.rename(away)
            shutil.rmtree(away)
            self._sweep()
        except OSError as error:
            raise storage_error(error, f"remove {path}") from error

    def _sweep(self) -> None:
        """Delete what a killed process left under a scratch name."""
        for leftover in self._root.glob(".*-*"):
            old = leftover.name.startswith(".removed-") or _age(leftover) > _STALE
            if old and leftover.name.startswith((".removed-", ".new-")):
                shutil.rmtree(leftover, ignore_errors=True)

    def _unknown(self, name: str) -> UnknownKnowledgeBase:
        names = self.names()
        if near := get_close_matches(name, names, n=1):
            hint = f"did you mean {near[0]!r}? there are: {', '.join(names)}"
        elif names:
            hint = f"there are: {', '.join(names)}"
        else:
            hint = "there are none yet: make one with `localcrag ingest PATH`"
        return UnknownKnowledgeBase(f"there is no knowledge base {name!r}", hint=hint)


def remake(name: str) -> str:
    """The advice for what cannot be mended."""
    return f"make it anew: `localcrag kb remove {name}`, then ingest again"


def write_json(path: Path, value: object) -> None:
    """Replace a file at once, and have it on the disk before returning. Raises OSError."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with scratch.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def storage_error(error: BaseException, attempt: str) -> StoreError:
    """The typed error for what the operating system, or LanceDB on top of it, said."""
    said = (getattr(error, "strerror", None) or str(error)).strip()
    text = said.lower()
    if any(sign in text for sign in ("no space left", "os error 28", "quota exceeded", "os error 122")):
        return StorageFull(f"no space left on the device: cannot {attempt}", hint=FULL_HINT)
    if any(sign in text for sign in ("permission denied", "os error 13", "read-only file system")):
        return StoreError(
            f"no permission to {attempt}", hint="correct the permissions, or choose another LOCALCRAG_HOME"
        )
    first = said.splitlines()[0][:200] if said else type(error).__name__
    return StoreError(
        f"cannot {attempt}: {first}", hint="look at the disk and its permissions, and try again"
    )


@contextmanager
def _unwritten(folder: Path) -> Iterator[None]:
    """Keeps writers away from a folder that goes; nobody writes to one that cannot be locked any more."""
    from filelock import FileLock, Timeout

    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(
            timeout=REMOVAL_PATIENCE_SECONDS, poll_interval=0.005
        )  # writers leave it free for moments only
    except Timeout as error:
        raise StoreError(
            f"somebody is writing to the knowledge base {folder.name!r}",
            hint="wait until that is done, or end it, and run the same command again",
        ) from error
    except OSError:
        pass
    if os.name == "nt":  # where a folder with an open file cannot be renamed
        lock.release()
    try:
        yield
    finally:
        lock.release()


def _mark(folder: Path) -> tuple[int, int]:
    found = (folder / _RECORD).stat()
    return found.st_ino, found.st_mtime_ns


def _require(folder: Path, known: tuple[int, int] | None) -> None:
    """Raises UnknownKnowledgeBase unless the folder holds the ``known`` knowledge base, OSError."""
    try:
        found = _mark(folder)
    except FileNotFoundError:
        raise removed(folder.name) from None
    if found != known:
        raise removed(folder.name)


def _drop_shell(folder: Path) -> None:
    """Delete a folder in which there is nothing but the lock and empty folders."""
    with suppress(OSError):
        found = set(folder.iterdir()) - {folder / _LOCK}
        if all(inner.is_dir() for inner in found):
            for inner in found:
                inner.rmdir()
            (folder / _LOCK).unlink(missing_ok=True)
            folder.rmdir()


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0
