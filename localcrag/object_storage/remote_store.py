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
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import EmbeddingMismatch
from localcrag.object_storage.snapshots import Snapshot, Snapshots
from localcrag.object_storage.stray_objects import delete_strays
from localcrag.object_storage.writer_lease import WriterLease
from localcrag.store.kb_folders import KnowledgeBaseRecord, record_in, removed_error
from localcrag.store.lance_store import LanceStore
from localcrag.store.skip_record import SkipRecord

if TYPE_CHECKING:
    from localcrag.events import Steps
    from localcrag.protocols import Embedder
    from localcrag.store.integrity import Tell
    from localcrag.store.lance_store import Batch, Questions
    from localcrag.types import IndexedDocument, Skipped


class RemoteStore(LanceStore):
    """One knowledge base on object storage; threads may share it.

    Args:
        snapshots: its commits.
        snapshot: the one that is read, until this store writes.
        record: the record in its folder.
    """

    def __init__(self, snapshots: Snapshots, snapshot: Snapshot, record: KnowledgeBaseRecord) -> None:
        super().__init__(snapshot.folder, record)
        self._snapshots = snapshots
        self._base = snapshot
        self._works_in: Path | None = None
        self._turn = threading.RLock()
        self._writes = False

    @property
    def is_current(self) -> bool:
        """Whether nobody has committed since. Raises ObjectStorageError, OfflineError."""
        return super().is_current and self._snapshots.is_newest(self._base.etag)

    # ------------------------------------------------------------------------------ writing

    def replace(self, batch: Batch) -> None:
        if batch:
            with self._committing():
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
            delete_strays(self._snapshots.client, self._base.head)

    def record_skips(self, skipped: Sequence[Skipped], settled: Collection[str]) -> None:
        if skipped or SkipRecord(self.folder).exists:
            with self._committing():
                super().record_skips(skipped, settled)

    def add_questions(self, batch: Questions) -> None:
        if batch:
            with self._committing():
                super().add_questions(batch)

    def add_roots(self, folders: Sequence[str]) -> None:
        if not all(map(self._roots.covers, folders)):
            with self._committing():
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
    def _committing(self) -> Iterator[None]:
        """Work in a copy of the newest commit in the block, and commit it afterwards."""
        with self._turn:
            if self._writes:  # a write that is part of another one
                yield
                return
            with WriterLease(self._snapshots.client).held():
                self._writes = True
                try:
                    folder = self._working_folder()
                    yield
                    self._base = self._snapshots.push(folder, self._base)
                except BaseException:
                    self._throw_away()
                    raise
                finally:
                    self._writes = False

    def _working_folder(self) -> Path:
        """A folder with the newest commit; the one that this store works in already, if nobody else wrote."""
        newest = self._snapshots.current()
        if newest is None:
            raise removed_error(self._snapshots.name)
        if self._works_in is None or newest.etag != self._base.etag:
            self._throw_away()
            folder = self._snapshots.copy(newest)
            weakref.finalize(self, shutil.rmtree, folder.parent, True)
            self._works_in, self._base = folder, newest
            self._read_from(folder)
        return self._works_in

    def _throw_away(self) -> None:
        """Delete the copy that this store works in, and read the last commit again."""
        if self._works_in is not None:
            shutil.rmtree(self._works_in.parent, ignore_errors=True)
            self._works_in = None
            if self._base.folder.is_dir():  # else it was removed
                self._read_from(self._base.folder)

    def _read_from(self, folder: Path) -> None:
        """Read from this folder from now on. Raises EmbeddingMismatch if it has other vectors now."""
        record = record_in(folder, self._snapshots.name)
        if (record.embedding_model, record.dimension) != (self.record.embedding_model, self.record.dimension):
            raise EmbeddingMismatch(
                f"knowledge base {self._snapshots.name!r} was made with the embedding model "
                f"{record.embedding_model} meanwhile",
                hint="run the same command again",
            )
        for opened in ("_tables", "_writer"):
            self.__dict__.pop(opened, None)
        super().__init__(folder, record)
