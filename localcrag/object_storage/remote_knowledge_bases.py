"""The knowledge base at one address on object storage: made, opened, checked, and deleted.

It has the methods of :class:`localcrag.store.knowledge_bases.KnowledgeBases`, whose names are addresses here.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from localcrag.errors import EmbeddingMismatch, UnknownKnowledgeBase, UsageError
from localcrag.object_address import ObjectAddress
from localcrag.object_storage.commit_cache import CommitCache, StoredCommit
from localcrag.object_storage.head import HEAD_KEY
from localcrag.object_storage.object_client import REQUEST_SECONDS, ObjectClient
from localcrag.object_storage.object_endpoint import ObjectEndpoint
from localcrag.object_storage.remote_store import RemoteStore
from localcrag.object_storage.stray_objects import delete_all, missing_objects
from localcrag.object_storage.writer_lease import WriterLease
from localcrag.store import checksums
from localcrag.store.json_files import write_json
from localcrag.store.kb_record import RECORD_FILE, KnowledgeBaseRecord, record_in
from localcrag.store.storage_errors import storage_errors
from localcrag.types import StoreProblem

if TYPE_CHECKING:
    from localcrag.store.integrity import Tell


class RemoteKnowledgeBases:
    """The knowledge base at an address; nothing is connected to until a method needs it.

    Every method raises ObjectStorageError, OfflineError, LedgerError, SettingsError if there are no keys, and
    UsageError for a name that is no address.

    Args:
        home: localcrag's home folder, with the cache.
        record: records (kind, target) in the ledger.
        seconds: the longest time of a request, without that of its bytes.
    """

    def __init__(
        self, home: Path, record: Callable[[str, str], None], seconds: float = REQUEST_SECONDS
    ) -> None:
        self._home = home
        self._seconds = seconds
        self._record = record
        self._known: dict[str, CommitCache] = {}

    def exists(self, name: str) -> bool:
        """Whether there is a knowledge base at this address."""
        return self._opened(name).client.read(HEAD_KEY) is not None

    def record(self, name: str) -> KnowledgeBaseRecord:
        """Its embedding model and dimension. Raises UnknownKnowledgeBase, StoreError."""
        return record_in(self._commit_of(self._opened(name)).folder, name)

    def embedding_model(self, name: str) -> str | None:
        """The name of its embedding model; None if there is no knowledge base. Raises StoreError."""
        found = self._opened(name).current()
        return None if found is None else record_in(found.folder, name).embedding_model

    def open(
        self, name: str, embedding_model: str | None = None, dimension: int | None = None
    ) -> RemoteStore:
        """Open it, and check that it was made with this embedding model, if one is given.

        Raises UnknownKnowledgeBase, EmbeddingMismatch, StoreError.
        """
        commits = self._opened(name)
        return _store(commits, self._commit_of(commits), embedding_model, dimension)

    def create(self, name: str, embedding_model: str, dimension: int) -> RemoteStore:
        """Open it; if there is none, make an empty one. Raises EmbeddingMismatch, StoreError."""
        commits = self._opened(name)
        found = commits.current()
        if found is None:
            with WriterLease(commits.client).held():
                found = commits.current() or _made(commits, embedding_model, dimension)
        return _store(commits, found, embedding_model, dimension)

    def size(self, name: str) -> int:
        """The bytes of its objects. Raises UnknownKnowledgeBase."""
        return self._commit_of(self._opened(name)).head.size()

    def check(self, name: str, tell: Tell | None = None) -> Iterator[StoreProblem]:
        """Yield what is damaged: objects that are missing, and what every knowledge base is checked for."""
        from localcrag.store.integrity import check
        from localcrag.store.store_faults import typed_errors

        commits = self._opened(name)
        commit = self._commit_of(commits)
        yield from missing_objects(commits.client, commit.head)
        with typed_errors(commit.folder, "check"):
            yield from check(commit.folder, tell)

    def repair(self, name: str, tell: Tell | None = None) -> list[str]:
        """Rebuild what is damaged. Raises UnknownKnowledgeBase, DamagedKnowledgeBase, StoreError."""
        return self.open(name).repair(tell)

    def remove(self, name: str) -> None:
        """Delete it with all its objects. Raises UnknownKnowledgeBase, StoreError."""
        commits = self._opened(name)
        with WriterLease(commits.client).held():
            if commits.client.read(HEAD_KEY) is None:
                raise _unknown(name)
            commits.client.delete(HEAD_KEY)
            delete_all(commits.client)
        commits.forget()

    def rename(self, name: str, new: str) -> NoReturn:
        """Refused: objects cannot be renamed. Raises UsageError."""
        raise _refusal(name, "renamed", f"ingest into {new} with --kb, then `localcrag kb remove {name}`")

    def copy(self, name: str, new: str) -> NoReturn:
        """Refused. Raises UsageError."""
        raise _refusal(name, "copied", "copy its objects with the tools of the storage")

    def write_archive(self, name: str, file: Path) -> NoReturn:
        """Refused. Raises UsageError."""
        raise _refusal(name, "archived", "copy its objects with the tools of the storage")

    def _opened(self, name: str) -> CommitCache:
        """The commits at an address, of which the ledger knows from now on."""
        if name not in self._known:
            address = ObjectAddress.parse(name)
            client = ObjectClient(address, ObjectEndpoint.of(address), self._record, self._seconds)
            client.announce("open")
            self._known[name] = CommitCache(self._home, client)
        return self._known[name]

    def _commit_of(self, commits: CommitCache) -> StoredCommit:
        """The newest commit. Raises UnknownKnowledgeBase."""
        if (found := commits.current()) is None:
            raise _unknown(commits.name)
        return found


def _store(
    commits: CommitCache, commit: StoredCommit, embedding_model: str | None, dimension: int | None
) -> RemoteStore:
    """The store of a commit. Raises EmbeddingMismatch, StoreError."""
    record = record_in(commit.folder, commits.name)
    other = embedding_model not in (None, record.embedding_model)
    if other or dimension not in (None, record.dimension):
        raise EmbeddingMismatch(
            f"knowledge base {record.name!r} was made with the embedding model {record.embedding_model} "
            f"({record.dimension} dimensions), not with {embedding_model} ({dimension})",
            hint=f"set model.embedding to {record.embedding_model}, or ingest into another one with --kb",
        )
    return RemoteStore(commits, commit, record)


def _made(commits: CommitCache, embedding_model: str, dimension: int) -> StoredCommit:
    """The first commit, of an empty knowledge base; call it with the lease. Raises StoreError."""
    from localcrag.store.store_faults import typed_errors
    from localcrag.store.tables import create_tables

    with storage_errors(f"make the knowledge base {commits.name}"):
        folder = commits.new_folder()
    try:
        with typed_errors(folder, "make"):
            write_json(
                folder / RECORD_FILE, asdict(KnowledgeBaseRecord(commits.name, embedding_model, dimension))
            )
            create_tables(folder, dimension)
            checksums.record_files(folder)
        return commits.push(folder, None)
    finally:
        shutil.rmtree(folder.parent, ignore_errors=True)


def _unknown(name: str) -> UnknownKnowledgeBase:
    return UnknownKnowledgeBase(
        f"there is no knowledge base {name!r}", hint=f"make it with `localcrag ingest --kb {name} PATH`"
    )


def _refusal(name: str, done: str, instead: str) -> UsageError:
    return UsageError(
        f"the knowledge base {name!r} cannot be {done}, as it is on object storage", hint=instead
    )
