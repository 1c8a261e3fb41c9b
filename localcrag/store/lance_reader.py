"""Reads of one knowledge base on disk: its passages, documents and counts.

:mod:`localcrag.store.hybrid_search` searches them. Readers never wait for a writer: each read sees the latest
commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import DamagedKnowledgeBase, DocumentGone
from localcrag.filters import FieldType, Filter, check_field
from localcrag.store import checksums, sql
from localcrag.store.journal import Journal
from localcrag.store.kb_folders import folder_bytes
from localcrag.store.kb_record import KnowledgeBaseRecord, identity, mending_hint
from localcrag.store.lost_documents import LostDocuments
from localcrag.store.relocation import kept_sources, places_of
from localcrag.store.row_reads import Facet, cells, condition, most_frequent, row_from_passages, whole_number
from localcrag.store.skip_record import SkipRecord
from localcrag.store.source_filters import SOURCE
from localcrag.store.source_roots import SourceRoots, SourceRootsFile
from localcrag.store.storage_errors import storage_errors
from localcrag.store.write_lock import existing_folder
from localcrag.types import Document, Hit, IndexedDocument, Passage, Skipped, SourcePlace, StoreInfo

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from localcrag.store.tables import Tables

    Vectors = npt.NDArray[np.float32]

MAX_THOROUGH_BYTES = 1 << 28
"""The bytes of a knowledge base up to which all of it is read before a question is said to have no answer; it
takes 0.2 seconds."""


class LanceReader:
    """One knowledge base on disk, to be searched and read: a :class:`localcrag.protocols.PassageReader`.

    Making one does no work; the tables are opened on first use. Threads and processes may share it. A
    method that reads raises UnknownKnowledgeBase if the knowledge base was removed meanwhile.

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

    # ------------------------------------------------------------------------------ documents

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
        from localcrag.store.arrow_rows import UNFINISHED_HASH, indexed_of
        from localcrag.store.table_schemas import document_columns

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

    def places(self) -> list[SourcePlace]:
        """The folders that the documents were read from, each with the number of its documents."""
        with self._open_tables("read") as tables:
            return places_of(self._roots, kept_sources(tables))

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

    # ------------------------------------------------------------------------------ tables

    @property
    def _roots(self) -> SourceRoots:
        """The folders that the documents are in, as they are now. Raises DamagedKnowledgeBase, StoreError."""
        with storage_errors(f"read {self.folder}"):
            return self._roots_file.current()

    def _shown(self, passages: Sequence[Passage]) -> list[Passage]:
        """Passages that were read, with their sources as they are shown."""
        roots = self._roots
        return [replace(passage, source=roots.shown(passage.source)) for passage in passages]

    @cached_property
    def _tables(self) -> Tables:
        """The open tables. Raises UnknownKnowledgeBase."""
        from localcrag.store.tables import Tables

        with storage_errors(f"read {self.folder}"):
            checksums.require_whole(self.folder)
        with existing_folder(self.folder, self._identity):
            return Tables(self.folder, self.record.generation)

    @contextmanager
    def _open_tables(self, attempt: str) -> Iterator[Tables]:
        """Yield the tables; errors in the block are raised as StoreError with this verb."""
        from localcrag.store.store_faults import typed_errors

        with typed_errors(self.folder, attempt):
            yield self._tables
