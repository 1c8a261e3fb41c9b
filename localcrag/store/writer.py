"""Writing to a knowledge base so that a kill cannot halve it, and its upkeep.

A write of some documents goes in four steps, under a lock that one process holds at a time:

1. their texts are added, by hash; nothing refers to them yet;
2. their sources are noted in the journal;
3. their passages replace the old ones of these sources, all in one commit of one table, and the
   questions written for the old ones, which a search passes over from that commit on, are deleted;
4. their rows replace the old ones in ``documents``, and the note is deleted.

After a kill before 3 everything is as it was. After one between 3 and 4 the passages are the new
ones while ``documents`` still tells of the old, and where only the meta or the reading changed, no
hash betrays it: so every document that the note names is listed with a hash that equals none, until
it is written again. One that was as it should be costs reading it once more.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.store import native_memory, sql
from localcrag.store.arrow_rows import (
    PASSAGE,
    UNFINISHED,
    digest_of,
    document_rows,
    mark_of,
    meta_columns,
    passage_rows,
    passages_of,
    question_rows,
    text_rows,
)
from localcrag.store.journal import Journal, strings
from localcrag.store.kb_folders import write_json, write_lock
from localcrag.store.tables import (
    PASSAGE_KEYS,
    QUESTION_KEYS,
    Tables,
    index_vectors,
    make_indexes,
    partitions_of,
)
from localcrag.types import Document

if TYPE_CHECKING:
    from lancedb.table import Table

    from localcrag.store.arrow_rows import Batch, Questions

EXACT_UP_TO = 20_000
"""Passages up to which every vector and every meta field is compared, in some 10 ms; beyond, indexes are
built."""
PARTITION = 2048
"""Vectors a partition of an index holds, about; where they are four times as many, it is made anew."""
KEPT = timedelta(minutes=10)
"""How long old versions stay, for the readers that still use them."""
TIDY_EVERY = 64
"""Writes after which a long ingestion compacts the table of documents, and every table that has doubled.

Compacting rewrites a table up to a million rows, and its indexes: done each time, an ingestion of a
million passages would spend most of its time on it."""


class StoreWriter:
    """The one who writes to the knowledge base in ``folder``; several may exist, and take turns.

    ``known`` is its :func:`localcrag.store.kb_folders.identity`: another one in its place is not written to.
    """

    def __init__(self, folder: Path, known: tuple[int, int] | None, tables: Tables) -> None:
        self._folder = folder
        self._known = known
        self._tables = tables
        self._journal = Journal(folder)
        self._writes = 0
        self._compacted: dict[str, int] = {}
        """The rows that each table had when it was last compacted here, or first written to."""

    def replace(self, batch: Batch) -> None:
        """See :meth:`localcrag.store.lance_store.LanceStore.replace`."""
        sources = [document.source for document, *_ in batch]
        if not self._writes:
            native_memory.give_back()
        with self._turn():
            self._tables.admit(document for document, *_ in batch)
            self._add_texts([document for document, *_ in batch])
            self._journal.begin(sources)
            self._replace_passages(batch, sources)
            self._delete_questions(sources)
            self._replace_documents(batch)
            self._journal.end()
            self._tidy(self._tables.passages, self._tables.texts)

    def remove(self, sources: Sequence[str]) -> int:
        """Forget documents; returns how many were held."""
        with self._turn():
            where = sql.one_of("source", sources)
            held: int = self._tables.documents.count_rows(where)
            if held:
                self._journal.begin(sources)
                self._delete_documents(where)
                self._delete_passages(where)
                self._delete_questions(sources)
                self._journal.end()
            return held

    def add_questions(self, batch: Questions) -> None:
        """See :meth:`localcrag.store.lance_store.LanceStore.add_questions`."""
        with self._turn():
            where = sql.one_of("id", [passage.id for passage, *_ in batch])
            rows = self._tables.passages.search().where(where).select(PASSAGE).to_arrow()
            held = {(passage.id, mark_of(passage)) for passage in passages_of(rows)}
            leading = [item for item in batch if item[1] and (item[0].id, mark_of(item[0])) in held]
            if leading:
                self._write_questions(leading)
                self._tidy(self._tables.make_questions())

    def settle(self) -> None:
        """Put in order what a killed process left, if one did."""
        if self._journal.sources():
            with self._turn():
                pass

    def optimize(self, tell: Callable[[str], None]) -> None:
        """See :meth:`localcrag.store.lance_store.LanceStore.optimize`."""
        tables = self._tables
        with self._turn():
            tell("full-text index")
            self._index(tables.passages, PASSAGE_KEYS, tell)
            if (asked := tables.questions) is not None:
                tell("questions")
                self._index(asked, QUESTION_KEYS, tell)
            tell("compacting")
            self._drop_unused_texts()
            self._compact(tables.documents, tables.texts)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Waits until no other process writes, and first puts in order what a killed one left.

        Raises UnknownKnowledgeBase where the knowledge base was removed.
        """
        with write_lock(self._folder, self._known):
            self._recover()
            yield

    def _add_texts(self, documents: Sequence[Document]) -> None:
        where = sql.one_of("document", {document.hash for document in documents})
        rows = self._tables.texts.search().where(where).select(["document", "digest"]).to_arrow().to_pylist()
        held = {(row["document"], row["digest"]) for row in rows}
        new = {(doc.hash, digest_of(doc)): doc for doc in documents}
        missing = [document for key, document in new.items() if key not in held]
        if missing:
            self._tables.texts.add(text_rows(missing, self._tables.texts.schema))

    def _replace_passages(self, batch: Batch, sources: Sequence[str]) -> None:
        """One commit: an append where the sources are new, else a merge that also deletes.

        The documents, which are fewer, tell which: no passage is without one, after :meth:`_recover`.
        """
        rows = passage_rows(batch, self._tables.passages.schema)
        old = sql.one_of("source", sources)
        if self._tables.documents.count_rows(old) == 0:
            if len(rows):
                self._tables.passages.add(rows)
        elif len(rows):
            merge = self._tables.passages.merge_insert(["source", "ordinal"]).when_matched_update_all()
            merge.when_not_matched_insert_all().when_not_matched_by_source_delete(old).execute(rows)
        else:
            self._tables.passages.delete(old)

    def _replace_documents(self, batch: Batch) -> None:
        merge = self._tables.documents.merge_insert("source").when_matched_update_all()
        merge.when_not_matched_insert_all().execute(document_rows(batch))

    def _write_questions(self, batch: Questions) -> None:
        """One commit, whether or not the passages had questions before."""
        asked = self._tables.make_questions()
        rows = question_rows(batch, asked.schema)
        old = sql.one_of("passage", [passage.id for passage, *_ in batch])
        if asked.count_rows(old) == 0:
            asked.add(rows)
        else:
            merge = asked.merge_insert(["passage", "lexical"]).when_matched_update_all()
            merge.when_not_matched_insert_all().when_not_matched_by_source_delete(old).execute(rows)

    def _index(self, table: Table, keys: Collection[str], tell: Callable[[str], None]) -> None:
        """All indexes of a table with its new rows; those that only many rows need, once there are many."""
        make_indexes(table, keys)
        self._compact(table)
        rows = table.count_rows()
        if rows <= EXACT_UP_TO:
            return
        tell("filters")
        make_indexes(table, meta_columns(table.schema))
        if rows > 4 * PARTITION * partitions_of(table):
            tell("vector index")
            index_vectors(table, max(1, rows // PARTITION))

    def _drop_unused_texts(self) -> None:
        """Delete texts that no document has since the last upkeep; a reader may still need newer ones."""
        seen = self._folder / "unused-texts.json"
        used = set(self._tables.documents.search().select(["hash"]).to_arrow()["hash"].to_pylist())
        if UNFINISHED in used:
            used |= self._used_by_unfinished()
        stored = self._tables.texts.search().select(["document"]).to_batches()
        unused = {hash for rows in stored for hash in rows["document"].to_pylist()} - used
        before = set(strings(seen))
        if gone := unused & before:
            self._tables.texts.delete(sql.one_of("document", sorted(gone)))
        if unused != before:
            write_json(seen, sorted(unused - gone))

    def _used_by_unfinished(self) -> set[str]:
        """The hashes of documents that were cut off: no row names them, but their passages do."""
        where = sql.equals("hash", UNFINISHED)
        sources = self._tables.documents.search().where(where).select(["source"]).to_arrow()["source"]
        where = sql.one_of("source", sources.to_pylist())
        passages = self._tables.passages.search().where(where).select(["document"]).to_arrow()
        return set(passages["document"].to_pylist())

    def _delete_documents(self, where: str) -> None:
        self._tables.documents.delete(where)

    def _delete_passages(self, where: str) -> None:
        self._tables.passages.delete(where)

    def _delete_questions(self, sources: Collection[str]) -> None:
        """Those of all passages of the sources; most knowledge bases have none."""
        where = sql.one_of("source", sources)
        if (asked := self._tables.questions) is not None and asked.count_rows(where):
            asked.delete(where)

    def _tidy(self, *tables: Table) -> None:
        """Now and then in a long run, :meth:`_compact`: the documents, and those tables that have doubled."""
        for table in tables:
            self._compacted.setdefault(table.name, table.count_rows())
        self._writes += 1
        if self._writes % TIDY_EVERY == 0:
            doubled = [table for table in tables if table.count_rows() >= 2 * self._compacted[table.name]]
            self._compact(self._tables.documents, *doubled)

    def _compact(self, *tables: Table) -> None:
        """Merge small files, take new rows into the indexes, delete versions that are old enough."""
        for table in tables:
            table.optimize(cleanup_older_than=KEPT)
            self._compacted[table.name] = table.count_rows()
        native_memory.trim()

    def _recover(self) -> None:
        """After a kill: passages of sources without a row go; rows that may be older than theirs say so.

        Questions of all these sources go: they may be of passages that were there before.
        """
        sources = self._journal.sources()
        if not sources:
            return
        where = sql.one_of("source", sources)
        rows = self._tables.documents.search().where(where).select(["source"]).to_arrow()
        held = set(rows["source"].to_pylist())
        if orphans := sources - held:
            self._tables.passages.delete(sql.one_of("source", sorted(orphans)))
        if held:
            values = {"hash": UNFINISHED, "size": -1, "mtime_ns": -1}
            self._tables.documents.update(sql.one_of("source", sorted(held)), values)
        self._delete_questions(sources)
        self._journal.end()
