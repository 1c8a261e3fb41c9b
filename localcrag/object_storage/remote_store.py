"""A knowledge base on object storage that is open: the store of a folder in the local cache.

Reads are those of :class:`localcrag.store.lance_store.LanceStore`, in the folder of one commit. Each method
that writes holds the lease, works in a copy of the newest commit, and commits it. If it fails, the copy is
thrown away, and for everybody all is as before.
"""

from __future__ import annotations

import shutil
import threading
import weakref
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import EmbeddingMismatch, LocalCragError
from localcrag.object_storage.commit_cache import CommitCache, StoredCommit
from localcrag.object_storage.stray_objects import delete_strays
from localcrag.object_storage.writer_lease import WriterLease
from localcrag.store.kb_record import KnowledgeBaseRecord, record_in
from localcrag.store.lance_store import LanceStore
from localcrag.store.skip_record import SkipRecord
from localcrag.store.storage_errors import removed_error

if TYPE_CHECKING:
    from localcrag.events import Steps
    from localcrag.protocols import Embedder
    from localcrag.store.integrity import Tell
    from localcrag.store.lance_store import Batch, Questions
    from localcrag.types import IndexedDocument, Skipped


class RemoteStore(LanceStore):
    """One knowledge base on object storage; threads may share it.

    Args:
        commits: its commits.
        commit: the one that is read, until this store writes.
        record: the record in its folder.
    """

    def __init__(self, commits: CommitCache, commit: StoredCommit, record: KnowledgeBaseRecord) -> None:
        super().__init__(commit.folder, record)
        self._commits = commits
        self._base = self._kept = commit
        self._works_in: Path | None = None
        self._turn = threading.RLock()
        self._writes = False

    @property
    def is_current(self) -> bool:
        """Whether nobody has committed since. Raises ObjectStorageError, OfflineError."""
        return super().is_current and self._commits.is_newest(self._base.etag)

    # ------------------------------------------------------------------------------ writing

    def replace(self, batch: Batch) -> None:
        if batch:
            with self._committing(published=False):
                super().replace(batch)

    def remove(self, sources: Sequence[str]) -> int:
        if not sources:  # nothing is ever left half removed
            return 0
        with self._committing():
            return super().remove(sources)

    def move(self, moves: Sequence[tuple[str, IndexedDocument]]) -> None:
        with self._committing():
            super().move(moves)

    def optimize(self, progress: Callable[[str], None] | None = None) -> None:
        with self._committing():
            super().optimize(progress)
            delete_strays(self._commits.client, self._base.head)

    def record_skips(self, skipped: Sequence[Skipped], settled: Collection[str]) -> None:
        if skipped or SkipRecord(self.folder).exists:
            with self._committing():
                super().record_skips(skipped, settled)

    def add_questions(self, batch: Questions) -> None:
        if batch:
            with self._committing(published=False):
                super().add_questions(batch)

    def add_roots(self, folders: Sequence[str]) -> None:
        if not all(map(self._roots.covers, folders)):
            with self._committing(published=False):
                super().add_roots(folders)

    def relocate(self, old: str, new: str) -> int:
        with self._committing():
            return super().relocate(old, new)

    def reembed(self, embedder: Embedder) -> Steps[int]:
        """Embed every passage again, with the lease all the time; an interruption loses what was embedded."""
        with self._committing():
            return (yield from super().reembed(embedder))

    def repair(self, tell: Tell | None = None) -> list[str]:
        """Rebuild what is damaged; see :mod:`localcrag.store.repair`."""
        from localcrag.store.repair import repair
        from localcrag.store.store_faults import typed_errors

        with self._committing(), typed_errors(self.folder, "repair"):
            rebuilt = repair(self.folder, tell)
            self._read_from(self.folder)
            return rebuilt

    # ------------------------------------------------------------------------------ commits

    @contextmanager
    def _committing(self, *, published: bool = True) -> Iterator[None]:
        """Work in a copy of the newest commit in the block, and commit it afterwards.

        ``published``: keep a folder of this commit in the cache; not if the next write follows soon.
        """
        with self._turn:
            if self._writes:  # a write that is part of another one
                yield
                return
            with WriterLease(self._commits.client).held():
                self._writes = True
                try:
                    folder = self._working_folder()
                    yield
                    self._base = self._commits.push(folder, self._base, published=published)
                except BaseException:
                    self._throw_away()
                    raise
                finally:
                    self._writes = False

    def _working_folder(self) -> Path:
        """A folder with the newest commit; the one that this store works in already, if nobody else wrote."""
        newest = self._commits.current()
        if newest is None:
            raise removed_error(self._commits.name)
        if self._works_in is None or newest.etag != self._base.etag:
            self._throw_away()
            folder = self._commits.copy(newest)
            weakref.finalize(self, shutil.rmtree, folder.parent, True)
            self._works_in, self._base, self._kept = folder, newest, newest
            self._read_from(folder)
        return self._works_in

    def _throw_away(self) -> None:
        """Delete the copy that this store works in, and read the last commit, or an earlier one, again."""
        if self._works_in is None:
            return
        shutil.rmtree(self._works_in.parent, ignore_errors=True)
        self._works_in = None
        if not self._base.folder.is_dir():
            with suppress(LocalCragError):
                self._kept = self._commits.current() or self._kept
            self._base = self._kept
        if self._base.folder.is_dir():  # else it was removed
            self._read_from(self._base.folder)

    def _read_from(self, folder: Path) -> None:
        """Read from this folder from now on. Raises EmbeddingMismatch if it has other vectors now."""
        record = record_in(folder, self._commits.name)
        if (record.embedding_model, record.dimension) != (self.record.embedding_model, self.record.dimension):
            raise EmbeddingMismatch(
                f"knowledge base {self._commits.name!r} was made with the embedding model "
                f"{record.embedding_model} meanwhile",
                hint="run the same command again",
            )
        for opened in ("_tables", "_writer"):
            self.__dict__.pop(opened, None)
        super().__init__(folder, record)
