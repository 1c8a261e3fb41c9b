"""The knowledge bases of a home by name: made, opened, checked, copied, and deleted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import StoreError
from localcrag.store import checksums
from localcrag.store.kb_folders import KnowledgeBaseFolders, folder_bytes
from localcrag.store.kb_record import KnowledgeBaseRecord
from localcrag.store.lance_store import LanceStore
from localcrag.store.storage_errors import storage_errors
from localcrag.types import StoreProblem

if TYPE_CHECKING:
    from localcrag.store.integrity import Tell


class KnowledgeBases:
    """The knowledge bases in localcrag's home folder; no folder is made until the first is created."""

    def __init__(self, home: Path) -> None:
        self._folders = KnowledgeBaseFolders(home)

    def names(self) -> list[str]:
        """The names of the knowledge bases, in alphabetical order. Raises StoreError."""
        return self._folders.names()

    def exists(self, name: str) -> bool:
        """Whether there is a knowledge base of this name, whole or damaged. Raises UsageError."""
        return self._folders.path(name).is_dir()

    def record(self, name: str) -> KnowledgeBaseRecord:
        """The embedding model and dimension of a knowledge base, without opening it.

        Raises UnknownKnowledgeBase, StoreError, UsageError (a name that cannot be one).
        """
        self._require_whole(name)
        return self._folders.record(name)

    def embedding_model(self, name: str) -> str | None:
        """The name of the embedding model of a knowledge base; None if there is no readable one.

        Raises UsageError for a name that cannot be one.
        """
        try:
            return self._folders.record(name).embedding_model
        except StoreError:
            return None

    def open(self, name: str, embedding_model: str | None = None, dimension: int | None = None) -> LanceStore:
        """Open a knowledge base, and check that it was made with this embedding model, if one is given.

        Raises UnknownKnowledgeBase, EmbeddingMismatch, DamagedKnowledgeBase, StoreError, UsageError.
        """
        self._require_whole(name)
        return LanceStore(self._folders.path(name), self._folders.matching(name, embedding_model, dimension))

    def create(self, name: str, embedding_model: str, dimension: int) -> LanceStore:
        """Open a knowledge base; if there is none, make an empty one.

        Raises EmbeddingMismatch, StoreError, UsageError.
        """
        if not self._folders.path(name).is_dir():
            from localcrag.store.store_faults import typed_errors
            from localcrag.store.tables import create_tables

            record = KnowledgeBaseRecord(name, embedding_model, dimension)
            with self._folders.making(record) as scratch, typed_errors(self._folders.path(name), "make"):
                create_tables(scratch, dimension)
                checksums.record_files(scratch)
        return self.open(name, embedding_model, dimension)

    def size(self, name: str) -> int:
        """The bytes on disk, whole or not. Raises UnknownKnowledgeBase, UsageError."""
        return folder_bytes(self._folders.existing(name))

    def check(self, name: str, tell: Tell | None = None) -> Iterator[StoreProblem]:
        """Yield what is damaged in a knowledge base; see :mod:`localcrag.store.integrity`.

        Raises UnknownKnowledgeBase, StoreError, UsageError.
        """
        from localcrag.store.integrity import check
        from localcrag.store.store_faults import typed_errors

        with typed_errors(self._folders.existing(name), "check"):
            yield from check(self._folders.existing(name), tell)

    def repair(self, name: str, tell: Tell | None = None) -> list[str]:
        """Rebuild what is damaged in a knowledge base; see :mod:`localcrag.store.repair`.

        Raises UnknownKnowledgeBase, DamagedKnowledgeBase, StoreError, StorageFull, UsageError.
        """
        from localcrag.store.repair import repair
        from localcrag.store.store_faults import typed_errors

        with typed_errors(self._folders.existing(name), "repair"):
            return repair(self._folders.existing(name), tell)

    def remove(self, name: str) -> None:
        """Delete a knowledge base. Raises UnknownKnowledgeBase, StoreError, UsageError."""
        self._folders.remove(name)

    def rename(self, name: str, new: str) -> None:
        """Give a knowledge base another name. Raises UnknownKnowledgeBase, StoreError, UsageError."""
        self._folders.rename(name, new)

    def copy(self, name: str, new: str) -> None:
        """Make a knowledge base with the content of another; see :func:`localcrag.store.kb_copies.copy`."""
        from localcrag.store.kb_copies import copy

        copy(self._folders, name, new)

    def write_archive(self, name: str, file: Path) -> None:
        """Write a knowledge base to one file; see :func:`localcrag.store.kb_archive.write_archive`."""
        from localcrag.store.kb_archive import write_archive

        write_archive(self._folders, name, file)

    def read_archive(self, file: Path, name: str | None = None) -> str:
        """Make a knowledge base of such a file; see :func:`localcrag.store.kb_archive.read_archive`."""
        from localcrag.store.kb_archive import read_archive

        return read_archive(self._folders, file, name)

    def _require_whole(self, name: str) -> None:
        """Raise DamagedKnowledgeBase if a file of it is not as it was written."""
        folder = self._folders.path(name)
        with storage_errors(f"read {folder}"):
            checksums.require_whole(folder)
