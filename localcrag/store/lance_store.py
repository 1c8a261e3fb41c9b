"""Knowledge bases in LanceDB: what they hold.

How they are searched is in :mod:`localcrag.store.hybrid_search`, how they are written in
:mod:`localcrag.store.writer`. Readers never wait for a writer: each read
sees the latest commit.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import StoreError
from localcrag.filters import Filter, check, check_field
from localcrag.store import sql
from localcrag.store.journal import Journal
from localcrag.store.kb_folders import KnowledgeBaseFolders, KnowledgeBaseRecord, identity, standing
from localcrag.types import Document, Hit, IndexedDocument, MetaValue, Passage, StoreInfo

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from localcrag.store.tables import Tables
    from localcrag.store.writer import StoreWriter

    Vectors = npt.NDArray[np.float32]
    Batch = Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]
    Questions = Sequence[tuple[Passage, Sequence[str], Vectors]]

PAGE = 256
"""Passages that are read at a time where all of them are gone through."""


@dataclass(frozen=True, slots=True)
class Facet:
    """A value of a field, and how many documents have it."""

    value: MetaValue
    documents: int


class KnowledgeBases:
    """The knowledge bases below ``home``. Makes no folder until the first one is created."""

    def __init__(self, home: Path) -> None:
        self._folders = KnowledgeBaseFolders(home)

    def names(self) -> list[str]:
        """The knowledge bases there are, in alphabetical order. Raises StoreError."""
        return self._folders.names()

    def record(self, name: str) -> KnowledgeBaseRecord:
        """The embedding model and dimension it was made with, without opening it.

        Raises UnknownKnowledgeBase, StoreError, UsageError (a name that cannot be one).
        """
        return self._folders.record(name)

    def open(self, name: str, embedding_model: str | None = None, dimension: int | None = None) -> LanceStore:
        """The knowledge base, checked against the embedding model that will be used with it, if given.

        Raises UnknownKnowledgeBase, EmbeddingMismatch, StoreError, UsageError.
        """
        return LanceStore(self._folders.path(name), self._folders.matching(name, embedding_model, dimension))

    def create(self, name: str, embedding_model: str, dimension: int) -> LanceStore:
        """The knowledge base, made empty if there is none.

        Raises EmbeddingMismatch, StoreError, UsageError.
        """
        if not self._folders.path(name).is_dir():
            from localcrag.store.tables import create, storing

            record = KnowledgeBaseRecord(name, embedding_model, dimension)
            with self._folders.making(record) as scratch, storing(self._folders.path(name), "make"):
                create(scratch, dimension)
        return self.open(name, embedding_model, dimension)

    def remove(self, name: str) -> None:
        """Delete it whole. Raises UnknownKnowledgeBase, StoreError, UsageError."""
        self._folders.remove(name)


class LanceStore:
    """One knowledge base: the :class:`localcrag.protocols.PassageStore` on disk.

    Cheap to make; the tables are opened on first use. May be shared by threads and processes.
    """

    def __init__(self, folder: Path, record: KnowledgeBaseRecord) -> None:
        self.folder = folder
        self.record = record
        self._identity = identity(folder)
        self._journal = Journal(folder)

    @property
    def is_current(self) -> bool:
        """Whether the folder still holds what was opened: it may have been removed, or made anew."""
        return self._identity is not None and identity(self.folder) == self._identity

    def warm(self) -> None:
        """Load LanceDB and open the tables, from any thread. Raises StoreError."""
        with self._using("open"):
            pass

    # ------------------------------------------------------------------------------ what is held

    def info(self) -> StoreInfo:
        """Counts, fields and size on disk. Raises StoreError."""
        from localcrag.store.tables import partitions_of

        with self._using("read") as tables:
            asked = tables.questions
            return StoreInfo(
                name=self.record.name,
                documents=tables.documents.count_rows(),
                passages=tables.passages.count_rows(),
                embedding_model=self.record.embedding_model,
                dimension=self.record.dimension,
                size=_size(self.folder),
                fields=tuple(tables.fields),
                vector_index=partitions_of(tables.passages) > 0,
                questions=0 if asked is None else asked.count_rows(),
            )

    def indexed(self) -> Mapping[str, IndexedDocument]:
        """What is held, by source. Raises StoreError.

        A document whose writing was cut off, so that its passages may be newer than what is known of
        it, has a hash and a size that equal no file's.
        """
        from localcrag.store.arrow_rows import UNFINISHED, indexed_of

        columns = ["source", "hash", "size", "mtime_ns", "passages", "title", "meta"]
        with self._using("read") as tables:
            doubtful = self._journal.sources()
            batches = tables.documents.search().select(columns).to_batches()
            held = {item.source: item for rows in batches for item in indexed_of(rows)}
        for source in doubtful & held.keys():
            held[source] = replace(held[source], hash=UNFINISHED, size=-1, mtime_ns=-1)
        return held

    def matching(self, filter: Filter) -> set[str]:
        """The sources of the documents that have a passage which passes. Raises FilterError, StoreError."""
        with self._using("read") as tables:
            query = tables.passages.search().where(_condition(tables, filter))
            batches = query.select(["source"]).to_batches()
            return {str(source) for rows in batches for source in rows["source"].to_pylist()}

    def documents(self, *, filter: Filter | None = None) -> Iterator[Document]:
        """The documents that match, with their stored text, one at a time. Raises FilterError, StoreError.

        One whose writing was cut off, or is under way, is as its passages say, like what a search finds;
        where it has none, it is left out.
        """
        from localcrag.store.arrow_rows import UNFINISHED, document_of

        columns = ["source", "hash", "digest", "title", "media_type", "meta"]
        with self._using("read") as tables:
            doubtful = self._journal.sources()
            rows = tables.documents.search().select(columns).to_arrow().to_pylist()
        chosen = None if filter is None else self.matching(filter)
        for row in sorted(rows, key=lambda row: str(row["source"])):
            if chosen is not None and row["source"] not in chosen:
                continue
            with self._using("read") as tables:
                if row["hash"] == UNFINISHED or row["source"] in doubtful:
                    if (said := _said_by_passages(tables, row["source"])) is None:
                        continue
                    row = {**row, **said}
                where = f"{sql.equals('document', row['hash'])} AND {sql.equals('digest', row['digest'])}"
                texts = tables.texts.search().where(where).to_arrow()
            yield document_of(row, texts)

    def facets(self, field: str, *, limit: int = 20, filter: Filter | None = None) -> list[Facet]:
        """The values of a field with the number of documents that have each, most first.

        With a filter, only what passes it counts. Raises FilterError for an unknown field, StoreError.
        """
        with self._using("read") as tables:
            check_field(field, tables.fields)
            column = sql.column(field)
            where = f"{sql.name(column)} IS NOT NULL"
            where = f"{where} AND {_condition(tables, filter)}" if filter else where
            query = tables.passages.search().where(where)
            pairs = {
                (value, source)
                for rows in query.select(list({"source", column})).to_batches()
                for value, source in zip(rows[column].to_pylist(), rows["source"].to_pylist(), strict=True)
            }
        counts = Counter(value for value, _ in pairs)
        best = sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))
        return [Facet(_plain(value), count) for value, count in best[:limit]]

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        """The stored text that offsets count in; ``document`` is a hash.

        ``source`` decides where two sources have the same bytes that were read differently. Raises
        StoreError for a document or a page that is not held.
        """
        from localcrag.store.arrow_rows import pages_of

        number = "number IS NULL" if page is None else sql.equals("number", page)
        with self._using("read") as tables:
            where = f"{sql.equals('document', document)} AND {number}"
            found = pages_of(tables.texts.search().where(where).to_arrow())
            if source is not None and len({digest for digest, _ in found}) > 1:
                where = f"{sql.equals('source', source)} AND {sql.equals('document', document)}"
                passages = tables.passages.search().where(where).select(["digest"]).limit(1).to_list()
                read = {row["digest"] for row in passages}
                found = {key: page for key, page in found.items() if key[0] in read} or found
        if not found:
            place = "" if page is None else f"page {page} of "
            raise StoreError(
                f"the text of {place}document {document[:12]} is no longer in {self.record.name!r}",
                hint="it was changed or removed since; ask again",
            )
        return found[min(found, key=lambda key: key[1])].text

    def neighbours(self, passage: Passage) -> list[Passage]:
        """The passages just before and just after, in the same document. Raises StoreError."""
        from localcrag.store.arrow_rows import PASSAGE, passages_of

        where = " AND ".join(
            [
                sql.equals("source", passage.source),
                sql.equals("document", passage.document),
                sql.one_of("ordinal", (passage.ordinal - 1, passage.ordinal + 1)),
            ]
        )
        with self._using("read") as tables:
            rows = tables.passages.search().where(where).select(PASSAGE).to_arrow()
        return sorted(passages_of(rows), key=lambda found: found.ordinal)

    # ------------------------------------------------------------------------------ searching

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """Hybrid search, best first, at most ``k``; each hit with its cosine to the passage.

        See :mod:`localcrag.store.hybrid_search`. ``vector`` has shape (dimension,). Raises FilterError,
        StoreError.
        """
        from localcrag.store.hybrid_search import hybrid

        with self._using("search") as tables:
            where = None if filter is None else _condition(tables, filter)
            return hybrid(tables, text, vector, k=k, where=where)

    # ------------------------------------------------------------------------------ questions

    def questionless(self) -> Iterator[Passage]:
        """The passages that no question was written for yet; may be written to on the way.

        Raises StoreError, StorageFull.
        """
        from localcrag.store.arrow_rows import PASSAGE, passages_of

        with self._using("read") as tables:
            self._writer.settle()
            ids = _unasked(tables)
        for start in range(0, len(ids), PAGE):
            with self._using("read") as tables:
                where = sql.one_of("id", ids[start : start + PAGE])
                rows = tables.passages.search().where(where).select(PASSAGE).to_arrow()
            yield from sorted(passages_of(rows), key=lambda passage: (passage.source, passage.ordinal))

    def add_questions(self, batch: Questions) -> None:
        """Index questions beside the passages they lead back to, in place of those they had.

        A passage that is no longer held is passed over. ``Vectors`` has shape (number of questions,
        dimension). Raises StoreError, StorageFull.
        """
        for passage, questions, vectors in batch:
            self._check_shape(passage.source, vectors, len(questions))
        if batch:
            with self._using("write to"):
                self._writer.add_questions(batch)

    # ------------------------------------------------------------------------------ writing

    def replace(self, batch: Batch) -> None:
        """Write documents with their passages, each in place of what its source had before.

        A kill or a StorageFull on the way leaves a source's old passages or its new ones.
        ``Vectors`` has shape (number of passages, dimension). Raises StoreError (also for a meta
        key whose type changes; then nothing is written), StorageFull.
        """
        self._check(batch)
        if batch:
            with self._using("write to"):
                self._writer.replace(batch)

    def remove(self, sources: Sequence[str]) -> int:
        """Forget documents; returns how many were held. Raises StoreError, StorageFull."""
        if not sources:
            return 0
        with self._using("write to"):
            return self._writer.remove(sources)

    def optimize(self, progress: Callable[[str], None] | None = None) -> None:
        """Compact, bring the search indexes up to date, drop texts and versions that nothing uses.

        ``progress`` is told each step. Raises StoreError, StorageFull.
        """
        with self._using("write to"):
            self._writer.optimize(progress or (lambda step: None))

    def _check(self, batch: Batch) -> None:
        """Mistakes of the caller, found before anything is touched."""
        sources = [document.source for document, *_ in batch]
        if len(set(sources)) < len(sources):
            raise ValueError("a source occurs twice in one batch")
        for document, _, passages, vectors in batch:
            self._check_shape(document.source, vectors, len(passages))

    def _check_shape(self, source: str, vectors: Vectors, rows: int) -> None:
        expected = (rows, self.record.dimension)
        if vectors.shape != expected:
            raise ValueError(f"{source}: vectors of shape {vectors.shape}, not {expected}")

    @cached_property
    def _tables(self) -> Tables:
        from localcrag.store.tables import Tables

        with standing(self.folder, self._identity):
            return Tables(self.folder)

    @cached_property
    def _writer(self) -> StoreWriter:
        from localcrag.store.writer import StoreWriter

        return StoreWriter(self.folder, self._identity, self._tables)

    @contextmanager
    def _using(self, attempt: str) -> Iterator[Tables]:
        from localcrag.store.tables import storing

        with storing(self.folder, attempt):
            yield self._tables


def _condition(tables: Tables, filter: Filter) -> str:
    """The filter as SQL. Raises FilterError for a field or a comparison that does not exist."""
    check(filter, tables.fields)
    return sql.compile(filter)


def _said_by_passages(tables: Tables, source: str) -> dict[str, str] | None:
    """What a row of ``documents`` tells too, from any of the passages, which change all at once."""
    columns = ["document", "digest", "title", "meta"]
    passages = tables.passages.search().where(sql.equals("source", source)).select(columns).limit(1)
    said = next(iter(passages.to_list()), None)
    return said and {**said, "hash": said["document"]}


def _unasked(tables: Tables) -> list[str]:
    """The ids of the passages without questions, by source and place."""
    done: set[str] = set()
    if (asked := tables.questions) is not None:
        for rows in asked.search().select(["passage"]).to_batches():
            done.update(rows["passage"].to_pylist())
    keys = [
        key
        for rows in tables.passages.search().select(["source", "ordinal", "id"]).to_batches()
        for key in zip(*(rows[name].to_pylist() for name in ("source", "ordinal", "id")), strict=True)
        if key[2] not in done
    ]
    return [str(id) for *_, id in sorted(keys)]


def _plain(value: MetaValue) -> MetaValue:
    """2024 rather than 2024.0: columns hold all numbers as floats."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _size(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with contextlib.suppress(FileNotFoundError):  # another process may be compacting
                total += (Path(place) / name).stat().st_size
    return total
