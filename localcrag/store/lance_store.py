"""The LanceDB store: one knowledge base that is written to.

:class:`~localcrag.store.lance_reader.LanceReader` reads it; :mod:`localcrag.store.writer` has the steps of a
write, which a kill or a full disk cuts off without harm.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.events import Steps
from localcrag.store import checksums, sql
from localcrag.store.lance_reader import LanceReader
from localcrag.store.relocation import checked_relocation, kept_sources
from localcrag.store.row_reads import ids_without_questions
from localcrag.store.skip_record import SkipRecord
from localcrag.store.source_roots import NOWHERE, SourceRoots
from localcrag.store.storage_errors import storage_errors
from localcrag.store.write_lock import write_lock
from localcrag.types import Document, IndexedDocument, Passage, Skipped

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from localcrag.protocols import Embedder
    from localcrag.store.writer import StoreWriter

    Vectors = npt.NDArray[np.float32]
    Batch = Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]
    Questions = Sequence[tuple[Passage, Sequence[str], Vectors]]

PASSAGES_PER_READ = 256
"""The passages that one read returns when all of them are listed."""


class LanceStore(LanceReader):
    """One knowledge base on disk, to be written to as well: a :class:`localcrag.protocols.PassageStore`.

    It is made as a :class:`~localcrag.store.lance_reader.LanceReader` is, and shared as one. A method that
    writes raises UnknownKnowledgeBase if the knowledge base was removed meanwhile.
    """

    # ------------------------------------------------------------------------------ passages

    def replace(self, batch: Batch) -> None:
        """Write documents with their passages, in place of those that their sources had.

        A kill or a full disk leaves a source with its old passages or with its new ones. The vectors of a
        document's passages have the shape (passages, dimension). Raises ValueError for another shape or a
        source that occurs twice; StoreError (also for a value of a field that cannot be kept; then nothing
        is written), StorageFull.
        """
        self._check(batch)
        if batch:
            with self._open_tables("write to"):
                self._require_places([document.source for document, *_ in batch])
                self._writer.replace([self._kept_item(*item) for item in batch])

    def remove(self, sources: Sequence[str]) -> int:
        """Remove the documents of these sources; returns how many there were.

        Without sources it only finishes a removal that was cut off, of which the list of documents knows no
        more: the same command again finds nothing to remove. Raises StoreError, StorageFull.
        """
        with self._open_tables("write to"):
            if sources:
                return self._writer.remove([self._roots.kept(source) for source in sources])
            self._writer.recover()
            return 0

    def optimize(self, progress: Callable[[str], None] | None = None) -> None:
        """Compact the tables, update the search indexes, and drop unused texts and old versions.

        ``progress`` is called with the name of each step. Raises StoreError, StorageFull.
        """
        with self._open_tables("write to"):
            self._writer.optimize(progress or (lambda step: None))

    # ------------------------------------------------------------------------------ skips

    def record_skips(self, skipped: Sequence[Skipped], settled: Collection[str]) -> None:
        """Remember skipped sources, and forget the ``settled`` ones, which were read or are left out now.

        Raises StoreError, StorageFull, UnknownKnowledgeBase.
        """
        record = SkipRecord(self.folder)
        with storage_errors(f"write to {self.folder}"):
            if skipped or record.exists:
                with write_lock(self.folder, self._identity):
                    record.update(skipped, settled, self._roots)

    # ------------------------------------------------------------------------------ questions

    def questionless(self) -> Iterator[Passage]:
        """Yield the passages that no question was written for, by source and position.

        The knowledge base may be written to meanwhile. Raises StoreError, StorageFull.
        """
        from localcrag.store.tables import passages_where

        with self._open_tables("read") as tables:
            self._writer.recover()
            ids = ids_without_questions(tables)
        for start in range(0, len(ids), PASSAGES_PER_READ):
            with self._open_tables("read") as tables:
                where = sql.one_of("id", ids[start : start + PASSAGES_PER_READ])
                found = self._shown(passages_where(tables.passages, where))
            yield from sorted(found, key=lambda passage: (passage.source, passage.ordinal))

    def add_questions(self, batch: Questions) -> None:
        """Index questions for passages, in place of those that the passages had.

        A passage that is no longer in the store is skipped. The vectors of a passage's questions have the
        shape (questions, dimension). Raises ValueError for another shape; StoreError, StorageFull.
        """
        for passage, questions, vectors in batch:
            self._check_shape(passage.source, vectors, len(questions))
        if batch:
            with self._open_tables("write to"):
                kept = self._roots.kept
                self._writer.add_questions(
                    [(replace(item[0], source=kept(item[0].source)), item[1], item[2]) for item in batch]
                )

    # ------------------------------------------------------------------------------ another model

    def reembed(self, embedder: Embedder) -> Steps[int]:
        """Embed every passage again with another model, and then let searches use its vectors.

        Until then they use the former ones. See :mod:`localcrag.store.second_space`. Returns how many
        passages were embedded. Raises StoreError, StorageFull, and what the embedder raises.
        """
        from localcrag.store.reembedding import Reembedding
        from localcrag.store.second_space import SecondSpace

        target = replace(
            self.record,
            embedding_model=embedder.name,
            dimension=embedder.dimension,
            generation=self.record.generation + 1,
        )
        with self._open_tables("refine") as tables:
            self._writer.recover()
            space = SecondSpace(self.folder, self._identity, tables, target)
            return (yield from Reembedding(space, embedder).run())

    # ------------------------------------------------------------------------------ where documents are

    def move(self, moves: Sequence[tuple[str, IndexedDocument]]) -> None:
        """Keep documents under other sources, with their passages, vectors and questions.

        Each has its former source, and its entry with the new source, size and time. What was begun and cut
        off is ended by the next write. Raises StoreError, StorageFull.
        """
        from localcrag.store.source_moves import SourceMove

        self._require_places([entry.source for _, entry in moves])
        kept = self._roots.kept
        with self._open_tables("write to"):
            self._writer.move(
                [
                    SourceMove(kept(former), kept(entry.source), entry.size, entry.mtime_ns)
                    for former, entry in moves
                ]
            )

    def add_roots(self, folders: Sequence[str]) -> None:
        """Keep the documents that come from these folders relative to them, so that they can be moved.

        Folders that are in one of the roots already change nothing. Raises StoreError, StorageFull.
        """
        if all(map(self._roots.covers, folders)):
            return
        with self._open_tables("write to") as tables, write_lock(self.folder, self._identity):
            held = kept_sources(tables)
            roots = self._roots
            for folder in folders:
                roots = roots.with_folder(folder, held)
            if roots != self._roots:
                self._write_roots(roots)

    def relocate(self, old: str, new: str) -> int:
        """Say that all that was in the folder ``old`` is in ``new`` now; returns the number of documents.

        Nothing is read, and no passage is written. Raises UsageError if no document is from ``old``, or if
        two documents would have the same place, StoreError, StorageFull.
        """
        with self._open_tables("write to") as tables:
            self._writer.recover()
            with write_lock(self.folder, self._identity):
                before, held = self._roots, kept_sources(tables)
                after = checked_relocation(before, held, old, new)
                self._write_roots(after)
                return sum(before.shown(kept) != after.shown(kept) for kept in held)

    def _write_roots(self, roots: SourceRoots) -> None:
        """Replace the roots, and their copy among the checksums; call it under the write lock."""
        self._roots_file.write(roots)
        with suppress(OSError):  # the copy is for the case that the file is damaged
            checksums.record_files(self.folder)

    def _require_places(self, sources: Sequence[str]) -> None:
        """Make a root for what comes from a folder whose former documents were moved elsewhere."""
        if homeless := [source for source in sources if self._roots.kept(source) == NOWHERE]:
            self.add_roots([str(Path(source).parent) for source in homeless])

    def _kept_item(
        self, document: Document, entry: IndexedDocument, passages: Sequence[Passage], vectors: Vectors
    ) -> tuple[Document, IndexedDocument, Sequence[Passage], Vectors]:
        """A document of a batch as it is written: its source as it is kept."""
        kept = self._roots.kept(document.source)
        return replace(document, source=kept), replace(entry, source=kept), passages, vectors

    # ------------------------------------------------------------------------------ checks of the caller

    def _check(self, batch: Batch) -> None:
        """Raise ValueError for a mistake of the caller, before anything is written."""
        sources = [document.source for document, *_ in batch]
        if len(set(sources)) < len(sources):
            raise ValueError("a source occurs twice in one batch")
        for document, _, passages, vectors in batch:
            self._check_shape(document.source, vectors, len(passages))

    def _check_shape(self, source: str, vectors: Vectors, rows: int) -> None:
        """Raise ValueError unless the vectors have the shape (rows, dimension)."""
        expected = (rows, self.record.dimension)
        if vectors.shape != expected:
            raise ValueError(f"{source}: vectors of shape {vectors.shape}, not {expected}")

    # ------------------------------------------------------------------------------ tables

    @cached_property
    def _writer(self) -> StoreWriter:
        """The writer of the tables."""
        from localcrag.store.writer import StoreWriter

        return StoreWriter(self.folder, self._identity, self._tables)
