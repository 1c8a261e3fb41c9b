"""Rebuilds the damaged parts of a knowledge base from the whole ones.

Search indexes are made anew from their tables, the table of documents from the passages, ``kb.json`` from the
checksums. Of a damaged table of texts or passages the rows are kept that can be read and that agree with the
other tables. A document that is not whole afterwards is taken out and listed as lost, until it is read again
from its source: only the source has what was destroyed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from localcrag.errors import DamagedKnowledgeBase
from localcrag.store import checksums, sql
from localcrag.store.arrow_rows import UNFINISHED_HASH, vectors_of
from localcrag.store.integrity import (
    COLUMNS,
    QUESTIONS,
    TABLE_NAMES,
    Tell,
    check,
    fault_of_document,
    passages_by_source,
    texts_by_document,
)
from localcrag.store.journal import Journal
from localcrag.store.json_files import write_json
from localcrag.store.kb_record import (
    RECORD_FILE,
    TABLES_FOLDER,
    record_in,
    remake_hint,
    shown_name,
    stored_name,
)
from localcrag.store.lost_documents import LostDocuments
from localcrag.store.source_roots import ROOTS_FILE, SourceRoot, SourceRoots, SourceRootsFile
from localcrag.store.store_faults import StoreFault, store_faults
from localcrag.store.table_schemas import DOCUMENTS_SCHEMA, TEXTS_SCHEMA, passages_schema
from localcrag.store.tables import (
    PASSAGE_KEYS,
    QUESTION_KEYS,
    drop_indexes,
    index_words,
    language_of_rows,
    make_indexes,
    open_table,
    write_table,
)
from localcrag.store.write_lock import try_lock
from localcrag.types import Mending, StoreProblem

if TYPE_CHECKING:
    from lancedb.table import Table

ROWS_PER_READ = 1024
"""Rows of a damaged table that are read at a time; if one of them cannot be, they are read one by one."""
DOCUMENTS_PER_STEP = 64
UNIT_LENGTH_TOLERANCE = 0.01
"""By how much the length of a vector may differ from 1, to be taken for one that was not damaged."""
_KEYS = {"documents": (), "texts": ("document",), "passages": PASSAGE_KEYS, QUESTIONS: QUESTION_KEYS}


def repair(folder: Path, tell: Tell | None = None) -> list[str]:
    """Rebuild what is damaged in the knowledge base in a folder; returns what was rebuilt, in words.

    Lost documents are listed in :class:`~localcrag.store.lost_documents.LostDocuments`. It waits while
    another process writes. Raises DamagedKnowledgeBase if nothing whole is left to rebuild from, OSError.
    """
    with try_lock(folder, patience=-1):
        problems = list(check(folder, tell))
        work = _Repair(folder, problems)
        if any(problem.mending is not Mending.REREAD or problem.table for problem in problems) or any(
            problem.source and problem.source not in work.lost_sources for problem in problems
        ):
            work.run()
        elif checksums.recorded(folder) is None:
            checksums.record_files(folder)
        return work.rebuilt


class _Repair:
    """The repair of the knowledge base in ``folder``, which has these problems; the lock is held."""

    def __init__(self, folder: Path, problems: Sequence[StoreProblem]) -> None:
        self._folder = folder
        self._problems = problems
        self._broken = {problem.table for problem in problems if problem.table}
        self.lost = LostDocuments(folder)
        self.rebuilt: list[str] = []
        self._damaged = {file.path for file in checksums.damaged_files(folder, thorough=True)}
        self._half_written = Journal(folder).sources()

    @property
    def lost_sources(self) -> set[str]:
        """The sources of the lost documents, as problems name them."""
        return set(map(SourceRootsFile(self._folder).readable().shown, self.lost.sources()))

    def run(self) -> None:
        """Rebuild everything that is damaged, and record the files as they are then."""
        if {"documents", "passages"} <= self._broken:
            name = shown_name(self._folder)
            raise DamagedKnowledgeBase(
                f"both the documents and the passages of knowledge base {name!r} are damaged",
                hint=remake_hint(name),
            )
        self._mend_record()
        self._mend_roots()
        self._drop_lists()
        if any(not self._is_small(problem) for problem in self._problems):
            self._drop_superseded_manifests()
            self._mend_tables()
        (self._folder / checksums.CHECKSUMS_FILE).unlink(missing_ok=True)
        checksums.record_files(self._folder)

    @staticmethod
    def _is_small(problem: StoreProblem) -> bool:
        """Whether a problem is about a file beside the tables."""
        return problem.mending is Mending.COMPACT and problem.what.split()[0].endswith(".json")

    def _mend_record(self) -> None:
        """Write ``kb.json`` again from the checksums if it is damaged. Raises DamagedKnowledgeBase."""
        damaged = [problem for problem in self._problems if problem.what.startswith(RECORD_FILE)]
        recorded = checksums.recorded(self._folder)
        if damaged and recorded:
            write_json(self._folder / RECORD_FILE, dict(recorded.record))
            self.rebuilt.append(RECORD_FILE)
        elif removal := [problem for problem in self._problems if problem.mending is Mending.REMOVE]:
            raise DamagedKnowledgeBase(removal[0].what, hint=remake_hint(shown_name(self._folder)))

    def _mend_roots(self) -> None:
        """Write ``roots.json`` again from the checksums if it is damaged, else delete it."""
        if not any(problem.what.startswith(ROOTS_FILE) for problem in self._problems):
            return
        if known := checksums.recorded_roots(self._folder):
            roots = SourceRoots(tuple(SourceRoot(key, place) for key, place in known.items()))
            SourceRootsFile(self._folder).write(roots)
            self.rebuilt.append(ROOTS_FILE)
        else:
            (self._folder / ROOTS_FILE).unlink(missing_ok=True)
            name = shown_name(self._folder)
            self.rebuilt.append(
                f"{ROOTS_FILE}, empty: `localcrag kb relocate {name} @1 FOLDER` fills it again"
            )

    def _drop_lists(self) -> None:
        """Delete the lists beside the tables that cannot be read; ingestions make them anew."""
        for problem in self._problems:
            name = problem.what.split()[0]
            if self._is_small(problem) and name not in (RECORD_FILE, ROOTS_FILE, checksums.CHECKSUMS_FILE):
                (self._folder / name).unlink(missing_ok=True)
                gone = ", which the next ingestion with --reread fills again" if "skipped" in name else ""
                self.rebuilt.append(f"{name}{gone}")
            elif name == checksums.CHECKSUMS_FILE:
                self.rebuilt.append(name)

    def _mend_tables(self) -> None:
        """Rebuild the damaged tables and all indexes, and take out the documents that are not whole."""
        record = record_in(self._folder, shown_name(self._folder))
        old = {name: self._opened(name) for name in (*TABLE_NAMES, QUESTIONS)}
        for name, table in old.items():
            if table is not None and name not in self._broken:
                drop_indexes(table)
                make_indexes(table, _KEYS[name])
        if QUESTIONS in self._broken:
            self._remove_questions()
        if "documents" in self._broken:
            self._rewrite("documents", old, DOCUMENTS_SCHEMA, self._documents)
        if "texts" in self._broken:
            self._rewrite("texts", old, TEXTS_SCHEMA, self._texts)
        if "passages" in self._broken:
            self._rewrite("passages", old, passages_schema(record.dimension), self._passages)
        self._take_out_lost()
        self._index()
        if self._broken:  # open handles are of the former tables: the next use opens the new ones
            write_json(self._folder / RECORD_FILE, asdict(record))

    def _opened(self, name: str) -> Table | None:
        """A table in its newest version that can be opened; broken manifests of newer ones are deleted."""
        versions = self._folder / TABLES_FOLDER / self._stored(name) / "_versions"
        while True:
            manifests = sorted(versions.glob("*.manifest"))  # names count downwards: the newest comes first
            newest = manifests[0].relative_to(self._folder).as_posix() if manifests else ""
            with suppress(StoreFault), store_faults():
                if newest not in self._damaged and not self._has_lost_deletions(name, newest):
                    table = open_table(self._folder, name)
                    if COLUMNS[name] in table.schema.names:
                        return table
            if not manifests or name not in self._broken:
                return None
            manifests[0].unlink()
            (versions / "latest_version_hint.json").unlink(missing_ok=True)

    def _has_lost_deletions(self, name: str, manifest: str) -> bool:
        """Whether a version of a table may need a damaged list of deleted rows, without which it has no rows.

        The name of such a list has the version before it: "FRAGMENT-VERSION-NUMBER".
        """
        lists = [
            Path(path).stem.split("-")
            for path in self._damaged
            if f"/{self._stored(name)}/_deletions/" in path
        ]
        before = [int(parts[1]) for parts in lists if len(parts) > 1 and parts[1].isdecimal()]
        return bool(before) and (checksums.version_of_manifest(Path(manifest).stem) or 0) > min(before)

    def _drop_superseded_manifests(self) -> None:
        """Delete damaged manifests of old versions, which nobody needs."""
        for path in self._damaged:
            if checksums.is_superseded(self._folder, path):
                (self._folder / path).unlink(missing_ok=True)

    def _remove_questions(self) -> None:
        shutil.rmtree(self._folder / TABLES_FOLDER / self._stored(QUESTIONS), ignore_errors=True)
        self.rebuilt.append("the table questions, which is empty now")

    def _stored(self, name: str) -> str:
        """The name of the folder of a table."""
        return f"{stored_name(name, checksums.generation_of(self._folder))}.lance"

    def _rewrite(
        self,
        name: str,
        old: dict[str, Table | None],
        schema: pa.Schema,
        rows: Callable[[Table | None], Iterator[pa.Table]],
    ) -> None:
        """Put a table of the rows that are whole in the place of a damaged one."""
        table = old[name]
        write_table(self._folder, name, schema if table is None else table.schema, rows(table))
        make_indexes(open_table(self._folder, name), _KEYS[name])
        self.rebuilt.append(f"the table {name}")

    def _documents(self, damaged: Table | None) -> Iterator[pa.Table]:
        """A row of each document with passages: the one it had, if that agrees with them, or a new one."""
        known = {row["source"]: row for some in _readable(damaged) for row in some.to_pylist()}
        passages = open_table(self._folder, "passages")
        columns = ["source", "document", "digest", "title", "meta"]
        found: dict[str, dict[str, Any]] = {}
        counts: dict[str, int] = {}
        for batch in passages.search().select(columns).to_batches():
            for row in batch.to_pylist():
                counts[row["source"]] = counts.get(row["source"], 0) + 1
                found.setdefault(row["source"], row)
        rows = []
        for source, row in found.items():
            same = {"hash": row["document"], "digest": row["digest"], "passages": counts[source]}
            before = known.get(source, {})
            if any(before.get(key) != value for key, value in same.items()):
                before = {"media_type": "", "size": -1, "mtime_ns": -1, "own": "", "left_out": 0.0}
                before |= {"source": source, "title": row["title"], "meta": row["meta"], **same}
            rows.append(before)
        schema = DOCUMENTS_SCHEMA if damaged is None else damaged.schema
        yield pa.Table.from_pylist(rows, schema=schema)

    def _texts(self, damaged: Table | None) -> Iterator[pa.Table]:
        """The rows of texts that can be read; their checksums are looked at with the documents."""
        yield from _readable(damaged)

    def _passages(self, damaged: Table | None) -> Iterator[pa.Table]:
        """The rows of passages of known documents that can be read, with vectors of length 1.

        Whether they are in the texts of their documents is looked at later.
        """
        documents = open_table(self._folder, "documents").search().select(["source"]).to_arrow()
        known = set(documents["source"].to_pylist())
        for rows in _readable(damaged):
            if len(rows):
                lengths = np.linalg.norm(vectors_of(rows), axis=1)
                of_known = np.array([source in known for source in rows["source"].to_pylist()])
                yield rows.filter(pa.array(of_known & (np.abs(lengths - 1) < UNIT_LENGTH_TOLERANCE)))

    def _take_out_lost(self) -> None:
        """Take out the documents whose texts or passages are not whole, and list them as lost."""
        documents, texts, passages = (open_table(self._folder, name) for name in TABLE_NAMES)
        rows = documents.search().select(["source", "hash", "digest", "passages"]).to_arrow().to_pylist()
        lost = []
        for start in range(0, len(rows), DOCUMENTS_PER_STEP):
            step = rows[start : start + DOCUMENTS_PER_STEP]
            held = passages_by_source(passages, [row["source"] for row in step])
            stored = texts_by_document(texts, [row["hash"] for row in step])
            lost += [
                row
                for row in step
                if row["hash"] != UNFINISHED_HASH
                and row["source"] not in self._half_written
                and fault_of_document(row, held.get(row["source"], []), stored)
            ]
        sources = {row["source"] for row in lost}
        if self.lost.exist and not self.lost.sources():  # the list itself was damaged
            self.lost.replace([row["source"] for row in rows if row["hash"] == UNFINISHED_HASH])
        self.lost.add(sources)
        if sources:
            where = sql.one_of("source", sorted(sources))
            documents.update(where, {"hash": UNFINISHED_HASH, "size": -1, "mtime_ns": -1})
            passages.delete(where)
            needed = {row["hash"] for row in rows if row["source"] not in sources}
            if spoilt := {row["hash"] for row in lost} - needed:
                texts.delete(sql.one_of("document", sorted(spoilt)))

    def _index(self) -> None:
        """Make the full-text indexes, and delete what the former versions of the tables left."""
        passages = open_table(self._folder, "passages")
        language = language_of_rows(passages)
        for name in checksums.newest_versions(self._folder):
            table = open_table(self._folder, name)
            if name in ("passages", QUESTIONS):
                index_words(table, language)
            table.optimize(cleanup_older_than=timedelta(milliseconds=1))
        self.rebuilt.append("the search indexes")


def _readable(table: Table | None) -> Iterator[pa.Table]:
    """The rows of a damaged table that can be read, some at a time."""
    total = 0 if table is None else table.count_rows()
    for start in range(0, total, ROWS_PER_READ):
        offsets = list(range(start, min(start + ROWS_PER_READ, total)))
        if (rows := _taken(table, offsets)) is not None:
            yield rows
            continue
        for offset in offsets:
            if (rows := _taken(table, [offset])) is not None:
                yield rows


def _taken(table: Any, offsets: Sequence[int]) -> pa.Table | None:
    """The rows at these offsets, or None if they cannot be read."""
    try:
        with store_faults():
            rows = table.take_offsets(list(offsets)).to_arrow()
            rows.validate(full=True)
            return rows
    except StoreFault:
        return None
