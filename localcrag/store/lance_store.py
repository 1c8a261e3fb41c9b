"""The LanceDB store: one knowledge base, and reads of its passages and documents.

:mod:`localcrag.store.hybrid_search` searches them, :mod:`localcrag.store.writer` writes to them. Readers
never wait for a writer: each read sees the latest commit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import DamagedKnowledgeBase, DocumentGone
from localcrag.events import Steps
from localcrag.filters import FieldType, Filter, check_field
from localcrag.store import checksums, sql
from localcrag.store.journal import Journal
from localcrag.store.kb_folders import (
    KnowledgeBaseRecord,
    existing_folder,
    folder_bytes,
    identity,
    mending_hint,
    storage_errors,
    write_lock,
)
from localcrag.store.lost_documents import LostDocuments
from localcrag.store.relocation import checked_relocation, kept_sources, places_of
from localcrag.store.row_reads import (
    Facet,
    cells,
    condition,
    ids_without_questions,
    most_frequent,
    row_from_passages,
    whole_number,
)
from localcrag.store.skip_record import SkipRecord
from localcrag.store.source_filters import SOURCE
from localcrag.store.source_roots import NOWHERE, SourceRoots, SourceRootsFile
from localcrag.types import (
    Document,
    Hit,
    IndexedDocument,
    Passage,
    Skipped,
    SourcePlace,
    StoreInfo,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from localcrag.protocols import Embedder
    from localcrag.store.tables import Tables
    from localcrag.store.writer import StoreWriter

    Vectors = npt.NDArray[np.float32]
    Batch = Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]
    Questions = Sequence[tuple[Passage, Sequence[str], Vectors]]

MAX_THOROUGH_BYTES = 1 << 28
"""The bytes of a knowledge base up to which all of it is read before a question is said to have no answer; it
takes 0.2 seconds."""
PASSAGES_PER_READ = 256
"""The passages that one read returns when all of them are listed."""


class LanceStore:
    """One knowledge base: the :class:`localcrag.protocols.PassageStore` on disk.

    Making one does no work; the tables are opened on first use. Threads and processes may share it. A
    method that reads or writes raises UnknownKnowledgeBase if the knowledge base was removed meanwhile.

    Args:
        folder: its folder.
        record: its record, as :class:`~localcrag.store.kb_folders.KnowledgeBaseFolders` reads it.
    """

    def __init__(self, folder: Path, record: KnowledgeBaseRecord) -> None:
        self.folder = folder
        self.record = record
        self._identity = identity(folder)
        self._journal = Journal(folder)
        self._roots_file = SourceRootsFile(folder)

    @property
    def is_current(self) -> bool:
        """Whether the folder still holds the knowledge base that was opened, neither removed nor replaced."""
        return self._identity is not None and identity(self.folder) == self._identity

    def require_whole(self, *, thorough: bool = False) -> None:
        """Raise DamagedKnowledgeBase if a file is not as it was written, or documents are lost.

        ``thorough``: read all files, unless they are very large; otherwise their sizes and times tell. Raises
        StoreError.
        """
        LostDocuments(self.folder).require_none(self._roots)
        with storage_errors(f"read {self.folder}"):
            checksums.require_whole(self.folder)
            if thorough and checksums.recorded(self.folder) is None:
                self._require_consistent()
            elif thorough and checksums.recorded_bytes(self.folder) <= MAX_THOROUGH_BYTES:
                checksums.require_whole(self.folder, thorough=True)

    def _require_consistent(self) -> None:
        """Raise DamagedKnowledgeBase if tables and indexes contradict each other, without checksums.

        A knowledge base that is very large is not looked at.
        """
        from localcrag.store.integrity import check

        with self._open_tables("check"):
            if folder_bytes(self.folder) > MAX_THOROUGH_BYTES // 4:
                return
            if serious := next((problem for problem in check(self.folder) if problem.serious), None):
                raise DamagedKnowledgeBase(
                    f"the knowledge base {self.record.name!r} is damaged: {serious.what}",
                    hint=mending_hint(self.record.name),
                )

    def warm(self) -> None:
        """Load LanceDB and open the tables; may be called from any thread. Raises StoreError."""
        with self._open_tables("open"):
            pass

    # ------------------------------------------------------------------------------ reading

    def info(self) -> StoreInfo:
        """The counts, the fields and the bytes on disk. Raises StoreError."""
        from localcrag.store.second_space import rows_written
        from localcrag.store.tables import partitions_of

        with self._open_tables("read") as tables:
            asked = tables.questions
            return StoreInfo(
                name=self.record.name,
                documents=tables.documents.count_rows(),
                passages=tables.passages.count_rows(),
                embedding_model=self.record.embedding_model,
                dimension=self.record.dimension,
                size=folder_bytes(self.folder),
                fields=tuple(tables.fields),
                vector_index=partitions_of(tables.passages) > 0,
                questions=0 if asked is None else asked.count_rows(),
                places=tuple(places_of(self._roots, kept_sources(tables))),
                refined=rows_written(self.folder),
            )

    def indexed(self) -> Mapping[str, IndexedDocument]:
        """The entries of the documents, by source. Raises StoreError.

        A document whose writing was cut off, so that its passages may be newer than its entry, has a hash
        and a size that equal no file's.
        """
        from localcrag.store.arrow_rows import UNFINISHED_HASH, document_columns, indexed_of

        with self._open_tables("read") as tables:
            columns = document_columns(tables.documents.schema)
            doubtful = self._journal.sources()
            batches = tables.documents.search().select(columns).to_batches()
            held = {item.source: item for rows in batches for item in indexed_of(rows)}
        for source in doubtful & held.keys():
            held[source] = replace(held[source], hash=UNFINISHED_HASH, size=-1, mtime_ns=-1)
        roots = self._roots
        shown = (replace(item, source=roots.shown(kept)) for kept, item in held.items())
        return {item.source: item for item in shown}

    def matching(self, filter: Filter) -> set[str]:
        """The sources of the documents that match a filter. Raises FilterError, StoreError.

        A document matches if one of its passages does.
        """
        return set(map(self._roots.shown, self._kept_matching(filter)))

    def _kept_matching(self, filter: Filter) -> set[str]:
        """The sources, as they are kept, of the documents that match a filter."""
        with self._open_tables("read") as tables:
            query = tables.passages.search().where(condition(tables, filter, self._roots))
            batches = query.select(["source"]).to_batches()
            return {str(source) for rows in batches for source in rows["source"].to_pylist()}

    def documents(self, *, filter: Filter | None = None) -> Iterator[Document]:
        """Yield the documents that match, with their stored text, by source.

        A document whose writing was cut off, or is under way, is given as its passages have it, as a search
        finds it; one without passages is then left out. Raises FilterError, StoreError.
        """
        from localcrag.store.arrow_rows import UNFINISHED_HASH, document_of

        with self._open_tables("read") as tables:
            doubtful = self._journal.sources()
            rows = tables.documents.search().to_arrow().to_pylist()
        chosen, roots = None if filter is None else self._kept_matching(filter), self._roots
        for row in sorted(rows, key=lambda row: roots.shown(row["source"])):
            if chosen is not None and row["source"] not in chosen:
                continue
            with self._open_tables("read") as tables:
                if row["hash"] == UNFINISHED_HASH or row["source"] in doubtful:
                    if (newer := row_from_passages(tables, row["source"])) is None:
                        continue
                    row = {**row, **newer}
                where = f"{sql.equals('document', row['hash'])} AND {sql.equals('digest', row['digest'])}"
                texts = tables.texts.search().where(where).to_arrow()
                if not len(texts):
                    raise self._missing_text(f"the text of {roots.shown(row['source'])}")
                document = document_of({**row, "source": roots.shown(row["source"])}, texts)
            yield document

    def facets(self, field: str, *, limit: int = 20, filter: Filter | None = None) -> list[Facet]:
        """The values of a field with the number of documents that have each, the most frequent first.

        With a filter, only passages that match count. At most ``limit`` values are returned. Raises
        FilterError (also for an unknown field), StoreError.
        """
        with self._open_tables("read") as tables:
            check_field(field, tables.fields)
            found = {
                (value, source)
                for kind, column in tables.columns[field].items()
                for cell, source in cells(tables, column, filter, self._roots)
                for value in (sql.unlisted(str(cell)) if kind is FieldType.LIST else [cell])
            }
        return most_frequent((whole_number(value) for value, _ in found), limit)

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        """The stored text of a page, in which the offsets of passages count.

        Args:
            document: the document's hash.
            page: the number of the page; None for a document without numbered pages.
            source: decides between two sources whose equal bytes were read differently.

        Raises DocumentGone if the document is not in the store any more, DamagedKnowledgeBase if it is and
        its text is not, StoreError.
        """
        from localcrag.store.arrow_rows import pages_of

        number = "number IS NULL" if page is None else sql.equals("number", page)
        with self._open_tables("read") as tables:
            where = f"{sql.equals('document', document)} AND {number}"
            found = pages_of(tables.texts.search().where(where).to_arrow())
            if source is not None and len({digest for digest, _ in found}) > 1:
                kept = self._roots.kept(source)
                where = f"{sql.equals(SOURCE, kept)} AND {sql.equals('document', document)}"
                passages = tables.passages.search().where(where).select(["digest"]).limit(1).to_list()
                read = {row["digest"] for row in passages}
                found = {key: page for key, page in found.items() if key[0] in read} or found
            held = found or tables.documents.count_rows(sql.equals("hash", document))
        if not found:
            place = "" if page is None else f"page {page} of "
            missing = f"the text of {place}document {document[:12]}"
            if held:
                raise self._missing_text(missing)
            raise DocumentGone(
                f"{missing} is no longer in {self.record.name!r}",
                hint="it was changed or removed since; ask again",
            )
        return found[min(found, key=lambda key: key[1])].text

    def _missing_text(self, what: str) -> DamagedKnowledgeBase:
        """The error for a text that should be there."""
        name = self.record.name
        return DamagedKnowledgeBase(
            f"{what} is missing from the knowledge base {name!r}", hint=mending_hint(name)
        )

    def neighbours(self, passage: Passage) -> list[Passage]:
        """The passages just before and just after in the same document. Raises StoreError."""
        from localcrag.store.tables import passages_where

        where = " AND ".join(
            [
                sql.equals(SOURCE, self._roots.kept(passage.source)),
                sql.equals("document", passage.document),
                sql.one_of("ordinal", (passage.ordinal - 1, passage.ordinal + 1)),
            ]
        )
        with self._open_tables("read") as tables:
            found = self._shown(passages_where(tables.passages, where))
        return sorted(found, key=lambda passage: passage.ordinal)

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        """The first passages of documents, by source and position.

        Args:
            documents: the hashes of the documents, by source.
            limit: the most passages of one document, from its first one on.

        Raises StoreError.
        """
        from localcrag.store.tables import passages_where

        wanted = (
            f"({sql.equals(SOURCE, self._roots.kept(source))} AND {sql.equals('document', document)})"
            for source, document in documents.items()
        )
        where = f"({' OR '.join(wanted) or 'false'}) AND ordinal < {limit:d}"
        with self._open_tables("read") as tables:
            found = self._shown(passages_where(tables.passages, where))
        return sorted(found, key=lambda passage: (passage.source, passage.ordinal))

    # ------------------------------------------------------------------------------ searching

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """Search by words and by cosine; see :mod:`localcrag.store.hybrid_search`.

        Args:
            text: the query.
            vector: its unit vector, shape (dimension,).
            k: the most hits to return.
            filter: a condition on the passages, or None.

        Returns the hits, best first, each with the cosine of its passage; that of static vectors is not
        given: reranking and grading were fitted to real models. Raises FilterError, StoreError.
        """
        from localcrag.store.hybrid_search import STATIC_VECTORS_WEIGHT, hybrid

        with self._open_tables("search") as tables:
            roots = self._roots
            where = None if filter is None else condition(tables, filter, roots)
            weight = STATIC_VECTORS_WEIGHT if self.record.is_static else 1.0
            hits = hybrid(tables, text, vector, k=k, where=where, vectors_weight=weight)
        sources = [roots.shown(hit.passage.source) for hit in hits]
        return [
            replace(
                hit,
                passage=replace(hit.passage, source=source),
                similarity=None if self.record.is_static else hit.similarity,
            )
            for hit, source in zip(hits, sources, strict=True)
        ]

    # ------------------------------------------------------------------------------ skips

    def skipped(self) -> list[Skipped]:
        """The sources that the last ingestion of each could not read, without files that are gone."""
        with storage_errors(f"read {self.folder}"):
            return SkipRecord(self.folder).sources(self._roots)

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

    # ------------------------------------------------------------------------------ writing

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

    @property
    def _roots(self) -> SourceRoots:
        """The folders that the documents are in, as they are now. Raises DamagedKnowledgeBase, StoreError."""
        with storage_errors(f"read {self.folder}"):
            return self._roots_file.current()

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

    def places(self) -> list[SourcePlace]:
        """The folders that the documents were read from, each with the number of its documents."""
        with self._open_tables("read") as tables:
            return places_of(self._roots, kept_sources(tables))

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

    def _shown(self, passages: Sequence[Passage]) -> list[Passage]:
        """Passages that were read, with their sources as they are shown."""
        roots = self._roots
        return [replace(passage, source=roots.shown(passage.source)) for passage in passages]

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

    @cached_property
    def _tables(self) -> Tables:
        """The open tables. Raises UnknownKnowledgeBase."""
        from localcrag.store.tables import Tables

        with storage_errors(f"read {self.folder}"):
            checksums.require_whole(self.folder)
        with existing_folder(self.folder, self._identity):
            return Tables(self.folder, self.record.generation)

    @cached_property
    def _writer(self) -> StoreWriter:
        """The writer of the tables."""
        from localcrag.store.writer import StoreWriter

        return StoreWriter(self.folder, self._identity, self._tables)

    @contextmanager
    def _open_tables(self, attempt: str) -> Iterator[Tables]:
        """Yield the tables; errors in the block are raised as StoreError with this verb."""
        from localcrag.store.store_faults import typed_errors

        with typed_errors(self.folder, attempt):
            yield self._tables
