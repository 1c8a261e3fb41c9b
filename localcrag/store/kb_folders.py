"""The folders of knowledge bases: listing, making, checking and removing them.

::

    HOME/knowledge/                      readable by its owner only
    HOME/knowledge/NAME/kb.json          the name, the embedding model, the dimension, the layout
                       /lance/           the tables
                       /checksums.json   the size and the sha256 of every file, see :mod:`.checksums`
                       /roots.json       the folders that its documents are in, see :mod:`.source_roots`
                       /skipped.json     the sources that could not be read, and why
                       /moving.json      the documents that are being moved, see :mod:`.source_moves`
                       /reembedding/     passages that are embedded again, see :mod:`.second_space`
                       /unfinished.json  the sources of a write that is under way, or was cut off
                       /write.lock       held by the one process that writes or removes

No other process sees a knowledge base half made or half removed: a folder is filled under another name and
then renamed, and it is renamed before it is deleted. A process that waits to write meanwhile gets an error.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from urllib.parse import unquote

from localcrag.errors import EmbeddingMismatch, StorageFull, StoreError, UnknownKnowledgeBase, UsageError
from localcrag.object_address import ObjectAddress, is_object_address
from localcrag.types.passages import STATIC_MODEL_PREFIX

LAYOUT_VERSION = 2
"""The version of the tables' layout that this code makes."""
READABLE_LAYOUTS = (1, LAYOUT_VERSION)
"""The versions that it reads, and writes to without changing them."""
FULL_HINT = "make room and run the same command again: what was written before is kept"
UNKNOWN_FAULT_HINT = "look at the disk and its permissions, and try again"
REMOVAL_PATIENCE_SECONDS = 10.0
"""How long a removal waits for a process that writes."""
_NAME_PATTERN = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}")
NAMES_SEPARATOR = "+"
"""What stands between the names of several knowledge bases; it is in no name."""
RECORD_FILE = "kb.json"
"""The record of a knowledge base in its folder."""
TABLES_FOLDER = "lance"
"""The folder of the tables in that of a knowledge base."""
REEMBEDDING_FOLDER = "reembedding"
"""The folder of the passages that are embedded again, in that of a knowledge base."""
TABLES_WITH_VECTORS = ("passages", "questions")
_LOCK_FILE = "write.lock"
_STALE_SECONDS = 3600.0
"""The age from which a scratch folder counts as left behind by a killed process."""


@dataclass(frozen=True, slots=True)
class KnowledgeBaseRecord:
    """The content of ``kb.json``: a knowledge base's name, embedding model, dimension and layout.

    The name in the file is the one it was made with; the folder has the one that counts. ``generation``
    counts how often its passages were embedded again with another model. It says which tables hold them, so
    that the vectors, their dimension and the name of the model change in one step.
    """

    name: str
    embedding_model: str
    dimension: int
    layout: int = LAYOUT_VERSION
    generation: int = 0

    @property
    def is_static(self) -> bool:
        """Whether its vectors are static ones, which say less than those of a real model."""
        return self.embedding_model.startswith(STATIC_MODEL_PREFIX)


def stored_name(table: str, generation: int) -> str:
    """The name under which a table is stored; those with vectors have the number of their generation."""
    return f"{table}_{generation}" if generation and table in TABLES_WITH_VECTORS else table


def shown_name(folder: Path) -> str:
    """The name of the knowledge base in a folder; that of a copy of one on object storage is its address."""
    return unquote(folder.name)


def identity(folder: Path) -> tuple[int, int] | None:
    """A mark that differs if the knowledge base in a folder was replaced; None if there is none."""
    try:
        return _record_stamp(folder)
    except OSError:
        return None


def is_gone(folder: Path) -> bool:
    """Whether there is no such folder; one that this user may not look into exists."""
    try:
        folder.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


@contextmanager
def write_lock(folder: Path, known: tuple[int, int] | None) -> Iterator[None]:
    """Hold the write lock of a knowledge base in the block, once no other process holds it.

    Raises UnknownKnowledgeBase if its :func:`identity` is not ``known`` any more, and OSError.
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


def writing_error(name: str) -> StoreError:
    """The error for a knowledge base that another process writes to for long."""
    return StoreError(
        f"somebody is writing to the knowledge base {name!r}",
        hint="wait until that is done, or end it, and run the same command again",
    )


def removed_error(name: str) -> UnknownKnowledgeBase:
    """The error for a knowledge base that was removed or replaced since it was opened."""
    hint = "`localcrag kb list` tells what there is; `localcrag ingest PATH` makes it anew"
    return UnknownKnowledgeBase(f"the knowledge base {name!r} was removed meanwhile", hint=hint)


def checked_name(name: str) -> str:
    """The name of a knowledge base. Raises UsageError if it cannot be one, such as a path elsewhere."""
    if isinstance(name, str) and len(several := name.split(NAMES_SEPARATOR)) > 1 and all(several):
        raise UsageError(
            f"{name[:80]!r} are several knowledge bases, which can only be searched and asked",
            hint="name one of them",
        )
    if isinstance(name, str) and is_object_address(name):
        raise UsageError(
            f"{name[:160]!r} is on object storage, where this cannot be done",
            hint="name a knowledge base of this machine: `localcrag kb list`",
        )
    if not isinstance(name, str) or not _NAME_PATTERN.fullmatch(name):
        raise UsageError(
            f"{str(name)[:80]!r} cannot be the name of a knowledge base",
            hint="use up to 64 letters, digits, '.', '_' and '-', and no '.' in front",
        )
    return name


def joined_name(names: str | Iterable[str]) -> str:
    """The names of one knowledge base or of several as one text, each once.

    A text may name several itself: ``papers+mail``. An address on object storage, ``s3://bucket/prefix``, may
    stand for a name. Raises UsageError for what cannot be one, or for none.
    """
    if isinstance(names, str):
        listed = names.split(NAMES_SEPARATOR)
    else:
        listed = [part for name in names for part in _parts(name)] if isinstance(names, Iterable) else [names]
    return NAMES_SEPARATOR.join(dict.fromkeys(_name_or_address(name) for name in listed or [""]))


def _parts(named: str) -> list[str]:
    """The names in one of several names, which may be joined ones, or an address."""
    is_joined = isinstance(named, str) and NAMES_SEPARATOR in named and not is_object_address(named)
    return named.split(NAMES_SEPARATOR) if is_joined else [named]


def _name_or_address(named: str) -> str:
    """A name, or an address on object storage as it is always written. Raises UsageError."""
    if isinstance(named, str) and is_object_address(named):
        return str(ObjectAddress.parse(named))
    return checked_name(named)


class KnowledgeBaseFolders:
    """The folders of the knowledge bases in localcrag's home folder."""

    def __init__(self, home: Path) -> None:
        self._root = home / "knowledge"

    def path(self, name: str) -> Path:
        """The folder of a knowledge base, which may not exist. Raises UsageError for an impossible name."""
        return self._root / checked_name(name)

    def existing(self, name: str) -> Path:
        """The folder of a knowledge base, whole or damaged. Raises UnknownKnowledgeBase, UsageError."""
        path = self.path(name)
        if not path.is_dir():
            raise self._unknown(name)
        return path

    def names(self) -> list[str]:
        """The names of the knowledge bases, in alphabetical order. Raises StoreError."""
        try:
            with os.scandir(self._root) as entries:
                return sorted(e.name for e in entries if _NAME_PATTERN.fullmatch(e.name) and e.is_dir())
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error(error, f"look into {self._root}") from error

    def record(self, name: str) -> KnowledgeBaseRecord:
        """The record of a knowledge base. Raises UnknownKnowledgeBase, StoreError, UsageError."""
        return record_in(self.existing(name), name)

    def matching(self, name: str, embedding_model: str | None, dimension: int | None) -> KnowledgeBaseRecord:
        """The record of a knowledge base that was made with this embedding model; None accepts any.

        Raises EmbeddingMismatch, UnknownKnowledgeBase, StoreError, UsageError.
        """
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
        """Yield a scratch folder to fill, which then becomes the knowledge base.

        If another process has made it meanwhile, that one stays. Raises StoreError, StorageFull.
        """
        path = self.path(record.name)
        with self._scratch(record.name) as scratch:
            write_json(scratch / RECORD_FILE, asdict(record))
            yield scratch
            try:
                scratch.rename(path)
            except OSError:
                if not (path / RECORD_FILE).is_file():
                    raise

    @contextmanager
    def filling(self, name: str) -> Iterator[Path]:
        """Yield an empty scratch folder to fill with a whole knowledge base, which then has this name.

        If the block raises, nothing is left of it. Raises UsageError if there is one of this name before or
        after the block, StoreError, StorageFull.
        """
        self.require_free(name)
        with self._scratch(name) as scratch:
            yield scratch
            self.require_free(name)
            scratch.rename(self.path(name))

    def rename(self, name: str, new: str) -> None:
        """Give a knowledge base another name, once no process writes to it.

        Raises UnknownKnowledgeBase, UsageError if there is one of the new name, StoreError.
        """
        path, target = self.existing(name), self.path(new)
        self.require_free(new)
        with storage_errors(f"rename {path}"), _removal_lock(path):
            if not path.is_dir():
                raise self._unknown(name)
            path.rename(target)

    def require_free(self, name: str) -> None:
        """Raise UsageError if there is a knowledge base of this name, or it cannot be a name."""
        if self.path(name).exists():
            raise UsageError(
                f"there is a knowledge base {name!r} already",
                hint=f"choose another name, or `localcrag kb remove {name}` first",
            )

    @contextmanager
    def _scratch(self, name: str) -> Iterator[Path]:
        """Yield an empty folder, which is deleted if it was not renamed. Raises StoreError, StorageFull."""
        scratch = self._root / f".new-{name}-{uuid.uuid4().hex}"
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._sweep()
            scratch.mkdir()
            yield scratch
        except OSError as error:
            raise storage_error(error, f"make the knowledge base in {self.path(name)}") from error
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def remove(self, name: str) -> None:
        """Delete the whole folder, even a damaged one, once no process writes to it.

        Raises UnknownKnowledgeBase, UsageError, StoreError (also if a process writes for long).
        """
        path = self.existing(name)
        away = self._root / f".removed-{name}-{uuid.uuid4().hex}"
        try:
            with _removal_lock(path):
                if not path.is_dir():
                    raise self._unknown(name)
                path.rename(away)
            shutil.rmtree(away)
            self._sweep()
        except OSError as error:
            raise storage_error(error, f"remove {path}") from error

    def _sweep(self) -> None:
        """Delete the scratch folders that a killed process left."""
        for leftover in self._root.glob(".*-*"):
            old = leftover.name.startswith(".removed-") or _age(leftover) > _STALE_SECONDS
            if old and leftover.name.startswith((".removed-", ".new-")):
                shutil.rmtree(leftover, ignore_errors=True)

    def _unknown(self, name: str) -> UnknownKnowledgeBase:
        """The error for a knowledge base that does not exist; its hint lists those that do."""
        names = self.names()
        if near := get_close_matches(name, names, n=1):
            hint = f"did you mean {near[0]!r}? there are: {', '.join(names)}"
        elif names:
            hint = f"there are: {', '.join(names)}"
        else:
            hint = "there are none yet: make one with `localcrag ingest PATH`"
        return UnknownKnowledgeBase(f"there is no knowledge base {name!r}", hint=hint)


def record_in(folder: Path, name: str) -> KnowledgeBaseRecord:
    """The record in the folder of a knowledge base, which has this name now. Raises StoreError."""
    try:
        found = KnowledgeBaseRecord(**json.loads((folder / RECORD_FILE).read_text("utf-8")))
        numbers = (found.dimension, found.layout, found.generation)
        known = all(isinstance(number, int) for number in numbers)
    except PermissionError as error:
        raise storage_error(error, f"read {folder}") from error
    except (OSError, ValueError, TypeError):
        known = False
    if not known:
        raise StoreError(f"{folder} is not a whole knowledge base", hint=remake_hint(name))
    if found.layout not in READABLE_LAYOUTS:
        raise StoreError(
            f"knowledge base {name!r} has layout {found.layout}, "
            f"and this localcrag reads up to {LAYOUT_VERSION}",
            hint="use the localcrag it was made with, or " + remake_hint(name),
        )
    return replace(found, name=name)


def mending_hint(name: str) -> str:
    """The hint for a knowledge base that is damaged."""
    return f"`localcrag kb check {name}` says what is broken and what mends it; at worst, {remake_hint(name)}"


def remake_hint(name: str) -> str:
    """The hint for a knowledge base that cannot be repaired."""
    return f"make it anew: `localcrag kb remove {name}`, then ingest again"


def write_json(path: Path, value: object) -> None:
    """Replace a file atomically, on the disk before this returns. Raises OSError."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with scratch.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def storage_error(error: BaseException, attempt: str) -> StoreError:
    """The typed error for one of the operating system, or of LanceDB.

    ``attempt`` is the action that failed, as a verb with its object.
    """
    said = (getattr(error, "strerror", None) or str(error)).strip()
    text = said.lower()
    if any(sign in text for sign in ("no space left", "os error 28", "quota exceeded", "os error 122")):
        return StorageFull(f"no space left on the device: cannot {attempt}", hint=FULL_HINT)
    if any(sign in text for sign in ("permission denied", "os error 13", "read-only file system")):
        return StoreError(
            f"no permission to {attempt}", hint="correct the permissions, or choose another LOCALCRAG_HOME"
        )
    first = said.splitlines()[0][:200] if said else type(error).__name__
    return StoreError(f"cannot {attempt}: {first}", hint=UNKNOWN_FAULT_HINT)


def read_json(path: Path) -> object:
    """The content of a JSON file; None if there is none, or it is none. Raises OSError."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None


@contextmanager
def storage_errors(attempt: str) -> Iterator[None]:
    """Raise errors of the system in the block as StoreError or StorageFull; see :func:`storage_error`."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, attempt) from error


@contextmanager
def _removal_lock(folder: Path) -> Iterator[None]:
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


def _record_stamp(folder: Path) -> tuple[int, int]:
    """The inode and the modification time of ``kb.json``. Raises OSError."""
    found = (folder / RECORD_FILE).stat()
    return found.st_ino, found.st_mtime_ns


def _require(folder: Path, known: tuple[int, int] | None) -> None:
    """Raise UnknownKnowledgeBase unless the folder holds the ``known`` knowledge base. Raises OSError."""
    try:
        found = _record_stamp(folder)
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


def _age(path: Path) -> float:
    """The seconds since the path was changed; 0 if it is gone."""
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def folder_bytes(folder: Path) -> int:
    """The bytes of all files in a folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(FileNotFoundError):  # another process may be compacting
                total += (Path(place) / name).stat().st_size
    return total
