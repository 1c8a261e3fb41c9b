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

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from difflib import get_close_matches
from pathlib import Path

from localcrag.errors import EmbeddingMismatch, UnknownKnowledgeBase, UsageError
from localcrag.store.json_files import write_json
from localcrag.store.kb_names import NAME_PATTERN, checked_name
from localcrag.store.kb_record import RECORD_FILE, KnowledgeBaseRecord, record_in
from localcrag.store.storage_errors import storage_error, storage_errors
from localcrag.store.write_lock import removal_lock

_STALE_SECONDS = 3600.0
"""The age from which a scratch folder counts as left behind by a killed process."""


def is_gone(folder: Path) -> bool:
    """Whether there is no such folder; one that this user may not look into exists."""
    try:
        folder.stat()
    except OSError as error:
        return isinstance(error, FileNotFoundError)
    return False


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
                return sorted(e.name for e in entries if NAME_PATTERN.fullmatch(e.name) and e.is_dir())
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
        with storage_errors(f"rename {path}"), removal_lock(path):
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
            with removal_lock(path):
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
