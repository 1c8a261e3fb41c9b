"""Writes to a knowledge base so that a kill leaves no half-written document, and maintains its tables.

Documents are written in four steps, under a lock that one process holds at a time:

1. their texts are added, by hash; nothing refers to them yet;
2. their sources are recorded in the journal;
3. their passages replace the old ones of these sources, all in one commit of one table; then the questions
   written for the old passages, which a search ignores from that commit on, are deleted;
4. their rows replace the old ones in ``documents``, and the journal is deleted.

After a kill before step 3, a search finds what it found before. After one between steps 3 and 4, the
passages are the new ones while ``documents`` still has the old rows; and if only the meta values or the
reading changed, the hash does not show it. So every document in the journal is listed with a hash that
equals none until it is written again. A document that was whole all the same is then read once more.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.languages import ENGLISH
from localcrag.store import checksums, native_memory, sql
from localcrag.store.arrow_rows import (
    UNFINISHED_HASH,
    digests_of,
    document_rows,
    mark_of,
    passage_rows,
    question_rows,
    text_rows,
)
from localcrag.store.journal import Journal, strings
from localcrag.store.json_files import write_json
from localcrag.store.kb_record import RECORD_FILE, TABLES_FOLDER, TABLES_WITH_VECTORS, stored_name
from localcrag.store.lost_documents import LostDocuments
from localcrag.store.source_moves import MoveJournal, SourceMove, move_rows
from localcrag.store.table_schemas import meta_columns
from localcrag.store.tables import (
    PASSAGE_KEYS,
    QUESTION_KEYS,
    Tables,
    index_vectors,
    index_words,
    language_of_index,
    language_of_rows,
    make_indexes,
    partitions_of,
    passages_where,
)
from localcrag.store.write_lock import write_lock
from localcrag.types import Document

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

    from localcrag.store.arrow_rows import Batch, Digests, Questions

MAX_EXACT_PASSAGES = 20_000
"""Up to so many passages, a search compares every vector and every meta value, in some 10 ms; beyond, indexes
are built."""
VECTORS_PER_PARTITION = 2048
"""The vectors of an IVF partition, about; an index whose partitions have four times as many is made anew."""
OLD_VERSION_RETENTION = timedelta(minutes=10)
"""How long old versions of a table stay, for readers that still use them."""
WRITES_PER_COMPACTION = 64
"""After so many writes a long ingestion compacts the table of documents, and every table that has doubled.

Compacting rewrites a table of up to a million rows with its indexes: done more often, it would take most of
the time of an ingestion of a million passages."""


class StoreWriter:
    """Writes to the knowledge base in ``folder``; several writers may exist and take turns.

    Every method raises UnknownKnowledgeBase if the knowledge base was removed or replaced.

    Args:
        folder: the folder of the knowledge base.
        known: its :func:`localcrag.store.kb_record.identity` when it was opened.
        tables: its open tables.
    """

    def __init__(self, folder: Path, known: tuple[int, int] | None, tables: Tables) -> None:
        self._folder = folder
        self._known = known
        self._tables = tables
        self._journal = Journal(folder)
        self._moves = MoveJournal(folder)
        self._writes = 0
        self._compacted: dict[str, int] = {}
        """The rows of each table when this writer last compacted it, or first wrote to it."""

    def replace(self, batch: Batch) -> None:
        """Write documents; see :meth:`localcrag.store.lance_store.LanceStore.replace`."""
        documents = [document for document, *_ in batch]
        sources, digests = [document.source for document in documents], digests_of(documents)
        if not self._writes:
            native_memory.release_large_blocks()
        with self._exclusive():
            self._tables.add_meta_columns(documents)
            self._tables.add_late_columns()
            self._add_texts(documents, digests)
            self._journal.begin(sources)
            are_new = self._tables.documents.count_rows(sql.one_of("source", sources)) == 0
            rows = passage_rows(batch, digests, self._tables.passages.schema)
            self._replace_passages(rows, sources, are_new)
            self._delete_questions(sources)
            rows = document_rows(batch, digests, self._tables.documents.schema)
            self._replace_documents(rows, are_new)
            self._journal.end()
            LostDocuments(self._folder).settle(sources)
            self._compact_grown(self._tables.passages, self._tables.texts)

    def remove(self, sources: Sequence[str]) -> int:
        """Remove the documents of these sources; returns how many there were."""
        with self._exclusive():
            where = sql.one_of("source", sources)
            held: int = self._tables.documents.count_rows(where)
            if held:
                self._journal.begin(sources)
                self._delete_documents(where)
                self._delete_passages(where)
                self._delete_questions(sources)
                self._journal.end()
                LostDocuments(self._folder).settle(sources)
            return held

    def move(self, moves: Sequence[SourceMove]) -> None:
        """Give documents other sources; see :meth:`localcrag.store.lance_store.LanceStore.move`."""
        with self._exclusive():
            self._moves.begin(moves)
            move_rows(self._tables, moves)
            self._moves.end()

    def add_questions(self, batch: Questions) -> None:
        """Index questions; see :meth:`localcrag.store.lance_store.LanceStore.add_questions`."""
        with self._exclusive():
            where = sql.one_of("id", [passage.id for passage, *_ in batch])
            found = passages_where(self._tables.passages, where)
            held = {(passage.id, mark_of(passage)) for passage in found}
            leading = [item for item in batch if item[1] and (item[0].id, mark_of(item[0])) in held]
            if leading:
                self._write_questions(leading)
                self._compact_grown(self._tables.make_questions())

    def recover(self) -> None:
        """Repair the tables if a killed process left an unfinished write."""
        if self._journal.sources() or self._moves.pending():
            with self._exclusive():
                pass

    def optimize(self, tell: Callable[[str], None]) -> None:
        """Maintain the tables; see :meth:`localcrag.store.lance_store.LanceStore.optimize`."""
        tables = self._tables
        with self._exclusive():
            tell("full-text index")
            language = language_of_rows(tables.passages)
            self._index(tables.passages, PASSAGE_KEYS, language, tell)
            if (asked := tables.questions) is not None:
                tell("questions")
                self._index(asked, QUESTION_KEYS, language, tell)
            tell("compacting")
            self._drop_unused_texts()
            drop_former_generations(self._folder)
            self._compact(tables.documents, tables.texts)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the write lock in the block, and first repair the tables after a killed process.

        Raises UnknownKnowledgeBase if the knowledge base was removed.
        """
        with write_lock(self._folder, self._known):
            self._recover()
            yield
            with suppress(OSError):  # what is written stays; a record that is older than it says less
                checksums.record_files(self._folder)

    def _add_texts(self, documents: Sequence[Document], digests: Digests) -> None:
        """Add the texts of these documents that are not stored."""
        where = sql.one_of("document", {document.hash for document in documents})
        rows = self._tables.texts.search().where(where).select(["document", "digest"]).to_arrow().to_pylist()
        held = {(row["document"], row["digest"]) for row in rows}
        new = {(doc.hash, digests[doc.source]): doc for doc in documents}
        missing = [document for key, document in new.items() if key not in held]
        if missing:
            self._tables.texts.add(text_rows(missing, digests, self._tables.texts.schema))

    def _replace_passages(self, rows: pa.Table, sources: Sequence[str], are_new: bool) -> None:
        """Replace the passages of these sources in one commit.

        It is an append if the sources are new, else a merge that also deletes. The smaller table of
        documents tells which: after :meth:`_recover`, no passage is without a document.
        """
        old = sql.one_of("source", sources)
        if are_new:
            if len(rows):
                self._tables.passages.add(rows)
        elif len(rows):
            merge = self._tables.passages.merge_insert(["source", "ordinal"]).when_matched_update_all()
            merge.when_not_matched_insert_all().when_not_matched_by_source_delete(old).execute(rows)
        else:
            self._tables.passages.delete(old)

    def _replace_documents(self, rows: pa.Table, are_new: bool) -> None:
        """Replace the rows of documents in one commit; a merge reads the whole table, an append does not."""
        if are_new:
            self._tables.documents.add(rows)
        else:
            merge = self._tables.documents.merge_insert("source").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(rows)

    def _write_questions(self, batch: Questions) -> None:
        """Replace the questions of these passages in one commit."""
        asked = self._tables.make_questions()
        rows = question_rows(batch, asked.schema)
        old = sql.one_of("passage", [passage.id for passage, *_ in batch])
        if asked.count_rows(old) == 0:
            asked.add(rows)
        else:
            merge = asked.merge_insert(["passage", "lexical"]).when_matched_update_all()
            merge.when_not_matched_insert_all().when_not_matched_by_source_delete(old).execute(rows)

    def _index(self, table: Table, keys: Collection[str], language: str, tell: Callable[[str], None]) -> None:
        """Update all indexes of a table; those of meta values and vectors only if it has many rows."""
        make_indexes(table, keys)
        if (language_of_index(table) or ENGLISH) != language:
            index_words(table, language)
        self._compact(table)
        index_many_rows(table, tell)

    def _drop_unused_texts(self) -> None:
        """Delete the texts that were unused at the last call too; a reader may still need the others."""
        seen = self._folder / "unused-texts.json"
        used = set(self._tables.documents.search().select(["hash"]).to_arrow()["hash"].to_pylist())
        if UNFINISHED_HASH in used:
            used |= self._used_by_unfinished()
        stored = self._tables.texts.search().select(["document"]).to_batches()
        unused = {hash for rows in stored for hash in rows["document"].to_pylist()} - used
        before = set(strings(seen))
        if gone := unused & before:
            self._tables.texts.delete(sql.one_of("document", sorted(gone)))
        if unused != before:
            write_json(seen, sorted(unused - gone))

    def _used_by_unfinished(self) -> set[str]:
        """The hashes of unfinished documents, which no row has but their passages."""
        where = sql.equals("hash", UNFINISHED_HASH)
        sources = self._tables.documents.search().where(where).select(["source"]).to_arrow()["source"]
        where = sql.one_of("source", sources.to_pylist())
        passages = self._tables.passages.search().where(where).select(["document"]).to_arrow()
        return set(passages["document"].to_pylist())

    def _delete_documents(self, where: str) -> None:
        """Delete the rows of documents that match a condition."""
        self._tables.documents.delete(where)

    def _delete_passages(self, where: str) -> None:
        """Delete the passages that match a condition."""
        self._tables.passages.delete(where)

    def _delete_questions(self, sources: Collection[str]) -> None:
        """Delete the questions of all passages of these sources; most knowledge bases have none."""
        where = sql.one_of("source", sources)
        if (asked := self._tables.questions) is not None and asked.count_rows(where):
            asked.delete(where)

    def _compact_grown(self, *tables: Table) -> None:
        """Count a write, and after many of them compact the documents and the tables that have doubled."""
        for table in tables:
            self._compacted.setdefault(table.name, table.count_rows())
        self._writes += 1
        if self._writes % WRITES_PER_COMPACTION == 0:
            doubled = [table for table in tables if table.count_rows() >= 2 * self._compacted[table.name]]
            self._compact(self._tables.documents, *doubled)

    def _compact(self, *tables: Table) -> None:
        """Merge small files, add new rows to the indexes, and delete versions that are old enough."""
        checksums.record_files(self._folder, cleaning=True)
        for table in tables:
            table.optimize(cleanup_older_than=OLD_VERSION_RETENTION)
            self._compacted[table.name] = table.count_rows()
        checksums.record_files(self._folder, cleaned=True)
        native_memory.trim()

    def _recover(self) -> None:
        """Repair the tables after a kill, by the journal.

        Passages of sources without a row in ``documents`` are deleted, and rows that may be older than their
        passages are marked as unfinished. The questions of all these sources are deleted, since they may be
        those of former passages. Moves that were cut off are done again.
        """
        if moves := self._moves.pending():
            move_rows(self._tables, moves)
        self._moves.end()
        sources = self._journal.sources()
        if not sources:
            return
        where = sql.one_of("source", sources)
        rows = self._tables.documents.search().where(where).select(["source"]).to_arrow()
        held = set(rows["source"].to_pylist())
        if orphans := sources - held:
            self._tables.passages.delete(sql.one_of("source", sorted(orphans)))
        if held:
            values = {"hash": UNFINISHED_HASH, "size": -1, "mtime_ns": -1}
            self._tables.documents.update(sql.one_of("source", sorted(held)), values)
        self._delete_questions(sources)
        self._journal.end()


def index_many_rows(table: Table, tell: Callable[[str], None]) -> None:
    """Make the indexes of meta values and vectors that a table with many rows has; ``tell`` is told each."""
    rows = table.count_rows()
    if rows <= MAX_EXACT_PASSAGES:
        return
    tell("filters")
    make_indexes(table, meta_columns(table.schema))
    if rows > 4 * VECTORS_PER_PARTITION * partitions_of(table):
        tell("vector index")
        index_vectors(table, max(1, rows // VECTORS_PER_PARTITION))


def drop_former_generations(folder: Path) -> None:
    """Delete the tables of former embedding models, once no reader uses them any more."""
    age = time.time() - (folder / RECORD_FILE).stat().st_mtime
    if age < OLD_VERSION_RETENTION.total_seconds():
        return
    generation = checksums.generation_of(folder)
    for name in TABLES_WITH_VECTORS:
        for former in range(generation):
            place = folder / TABLES_FOLDER / f"{stored_name(name, former)}.lance"
            shutil.rmtree(place, ignore_errors=True)
