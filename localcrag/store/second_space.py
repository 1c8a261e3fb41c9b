"""The passages of a knowledge base with the vectors of another embedding model, beside those in use.

They are written to tables of their own in the folder ``reembedding``, some at a time, and nothing else
refers to them; a search goes on to use the former vectors. When every passage has its new vector, and the
search indexes are made, the tables are moved to those in use, and the record of the knowledge base names them
together with the new model, by one replacement of one file. So a search uses either space, and never both.
The former tables stay for the readers that still use them, and are deleted by a later write.

After a kill, the passages that were written are kept: a row is compared by everything that its text depends
on, so that a passage that was changed or removed meanwhile is not taken for the one that was embedded.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import lancedb
import numpy as np

from localcrag.errors import StoreError
from localcrag.languages import ENGLISH
from localcrag.store import checksums, sql
from localcrag.store.arrow_rows import passages_of, with_vectors
from localcrag.store.journal import Journal
from localcrag.store.json_files import read_json, write_json
from localcrag.store.kb_record import (
    RECORD_FILE,
    REEMBEDDING_FOLDER,
    TABLES_FOLDER,
    KnowledgeBaseRecord,
    shown_name,
    stored_name,
)
from localcrag.store.source_moves import MoveJournal
from localcrag.store.table_schemas import columns_schema, with_width
from localcrag.store.tables import (
    PASSAGE_KEYS,
    QUESTION_KEYS,
    Tables,
    index_words,
    language_of_index,
    make_indexes,
)
from localcrag.store.write_lock import write_lock
from localcrag.store.writer import OLD_VERSION_RETENTION, index_many_rows

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa
    from lancedb.table import Table

    from localcrag.store.arrow_rows import Vectors

    Numbers = npt.NDArray[np.int64]

_TARGET_FILE = "target.json"
"""The record that the knowledge base gets at the end."""
_LOCK_FILE = "reembedding.lock"


@dataclass(frozen=True, slots=True)
class _Kind:
    """A table with vectors: its name, the columns it is looked up by, and those that tell its rows apart."""

    name: str
    keys: tuple[str, ...]
    identity: tuple[str, ...]


_PASSAGES = _Kind(
    "passages",
    PASSAGE_KEYS,
    (
        "source",
        "ordinal",
        "document",
        "digest",
        "title",
        "heading",
        "page",
        "start",
        "stop",
        "prefix",
        "meta",
    ),
)
_QUESTIONS = _Kind("questions", QUESTION_KEYS, ("source", "passage", "mark", "lexical"))


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows that are to be embedded again; ``texts`` are questions if ``asked``, else passages."""

    rows: pa.Table
    texts: list[str]
    asked: bool


class SecondSpace:
    """The tables of the knowledge base in ``folder`` for another embedding model; one process at a time.

    Args:
        folder: the folder of the knowledge base.
        known: its :func:`localcrag.store.kb_record.identity` when it was opened.
        tables: its open tables.
        target: the record that it gets at the end, with the new model and the next generation.
    """

    def __init__(
        self, folder: Path, known: tuple[int, int] | None, tables: Tables, target: KnowledgeBaseRecord
    ) -> None:
        self._folder, self._known, self._tables, self._target = folder, known, tables, target
        self._scratch = folder / REEMBEDDING_FOLDER
        self._copies: dict[str, Table] = {}
        self._versions: dict[str, int] = {}

    @contextmanager
    def held(self) -> Iterator[None]:
        """Prepare the tables, and keep other processes from them in the block.

        Tables for another model are deleted. Raises StoreError if another process holds them, and OSError.
        """
        from filelock import FileLock, Timeout

        lock = FileLock(self._folder / _LOCK_FILE)
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise StoreError(
                f"another process refines the knowledge base {shown_name(self._folder)!r}",
                hint="wait until that is done; `localcrag kb show` says how far it is",
            ) from error
        try:
            self._prepare()
            yield
        finally:
            lock.release()

    def total(self) -> int:
        """The number of rows that need a new vector, done or not."""
        return sum(table.count_rows() for _, table in self._current())

    def missing(self) -> list[tuple[str, list[int]]]:
        """The ids of the rows that have no new vector yet, by table, in the versions that are read now.

        New vectors of rows that were changed or removed are deleted.
        """
        return [(kind.name, self._missing(kind, table).tolist()) for kind, table in self._current()]

    def batch(self, name: str, ids: Sequence[int]) -> Batch | None:
        """The rows of a table with these ids; None if the table was written to since they were listed."""
        current = {kind.name: table for kind, table in self._current()}[name]
        snapshot = self._tables.snapshot(current)
        if snapshot.version != self._versions[name]:
            return None
        rows = snapshot.table.take_row_ids(list(ids)).to_arrow()
        if name == _QUESTIONS.name:
            return Batch(rows, rows["lexical"].to_pylist(), True)
        return Batch(rows, [passage.searchable for passage in passages_of(rows)], False)

    def add(self, batch: Batch, vectors: Vectors) -> None:
        """Write rows with their new vectors, shape (rows, dimension), in one commit."""
        copy = self._copy(_QUESTIONS if batch.asked else _PASSAGES)
        held = copy.schema.names
        if new := [field for field in batch.rows.schema if field.name not in held]:
            copy.add_columns(columns_schema(new))
        copy.add(with_vectors(batch.rows, vectors, copy.schema))

    def index(self) -> None:
        """Make the search indexes of the new tables, or bring them up to date."""
        for kind, current in self._current():
            copy = self._copy(kind)
            make_indexes(copy, kind.keys)
            language = language_of_index(current) or ENGLISH
            if language_of_index(copy) != language:
                index_words(copy, language)
            copy.optimize(cleanup_older_than=OLD_VERSION_RETENTION)
            index_many_rows(copy, lambda step: None)

    def switch(self) -> bool:
        """Let searches use the new vectors from now on; False if a row has none, and nothing is changed.

        Raises UnknownKnowledgeBase if the knowledge base was removed, and OSError.
        """
        with write_lock(self._folder, self._known):
            half_written = Journal(self._folder).sources() or MoveJournal(self._folder).pending()
            if half_written or any(ids for _, ids in self.missing()):
                return False
            for kind, _ in self._current():
                self._scratch_place(kind).rename(self._final_place(kind))
            (self._folder / checksums.CHECKSUMS_FILE).unlink(missing_ok=True)  # they are of the former tables
            write_json(self._folder / RECORD_FILE, asdict(self._target))
            checksums.record_files(self._folder)
        shutil.rmtree(self._scratch, ignore_errors=True)
        return True

    # ------------------------------------------------------------------------------ tables

    def _current(self) -> list[tuple[_Kind, Table]]:
        """The tables in use that have vectors."""
        asked = self._tables.questions
        return [(_PASSAGES, self._tables.passages), *([] if asked is None else [(_QUESTIONS, asked)])]

    def _prepare(self) -> None:
        """Delete what was written for another model, and undo a switch that was cut off."""
        marked = self._scratch / _TARGET_FILE
        wanted = asdict(self._target)
        for kind, _ in self._current():  # a kill may have cut off the switch just before its last step
            if self._final_place(kind).exists() and not self._scratch_place(kind).exists():
                self._final_place(kind).rename(self._scratch_place(kind))
        if read_json(marked) != wanted:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch.mkdir()
            write_json(marked, wanted)
        self._copies.clear()

    def _copy(self, kind: _Kind) -> Table:
        """The new table of a kind, made if there is none."""
        if kind.name not in self._copies:
            connection = lancedb.connect(self._scratch)
            name = stored_name(kind.name, self._target.generation)
            if self._scratch_place(kind).is_dir():
                self._copies[kind.name] = connection.open_table(name)
            else:
                schema = with_width(dict(self._current())[kind].schema, self._target.dimension)
                self._copies[kind.name] = connection.create_table(name, schema=schema)
        return self._copies[kind.name]

    def _scratch_place(self, kind: _Kind) -> Path:
        return self._scratch / f"{stored_name(kind.name, self._target.generation)}.lance"

    def _final_place(self, kind: _Kind) -> Path:
        return self._folder / TABLES_FOLDER / self._scratch_place(kind).name

    def _missing(self, kind: _Kind, current: Table) -> Numbers:
        """The ids of the rows of a table that have no new vector yet, ascending."""
        snapshot, copy = self._tables.snapshot(current), self._copy(kind)
        self._versions[kind.name] = snapshot.version
        wanted, ids = _marks(snapshot.table, kind)
        done, _ = _marks(copy, kind)
        if len(stale := done[~np.isin(done, wanted)]) or len(np.unique(done)) < len(done):
            _delete_sources(copy, kind, stale)
            done, _ = _marks(copy, kind)
        found: Numbers = np.sort(ids[~np.isin(wanted, done)])
        return found


def rows_written(folder: Path) -> int:
    """The passages of the knowledge base in ``folder`` that were embedded again, and are not in use yet."""
    target = read_json(folder / REEMBEDDING_FOLDER / _TARGET_FILE)
    if not isinstance(target, dict):
        return 0
    name = stored_name(_PASSAGES.name, int(target["generation"]))
    if not (folder / REEMBEDDING_FOLDER / f"{name}.lance").is_dir():
        return 0
    return lancedb.connect(folder / REEMBEDDING_FOLDER).open_table(name).count_rows()


def _marks(table: Table, kind: _Kind) -> tuple[Numbers, Numbers]:
    """A number for each row by what its text depends on, the same in one process, and the ids of the rows."""
    marks: list[int] = []
    ids: list[int] = []
    for rows in table.search().select(list(kind.identity)).with_row_id(True).to_batches():
        columns = (rows[name].to_pylist() for name in kind.identity)
        marks += map(hash, zip(*columns, strict=True))
        ids += rows["_rowid"].to_pylist()
    return np.array(marks, np.int64), np.array(ids, np.int64)


def _delete_sources(table: Table, kind: _Kind, stale: Numbers) -> None:
    """Delete all rows of the sources that have a stale row, or a row twice."""
    seen, former = set(), set(stale.tolist())
    sources: set[str] = set()
    for rows in table.search().select(list(kind.identity)).to_batches():
        for row in zip(*(rows[name].to_pylist() for name in kind.identity), strict=True):
            if (mark := hash(row)) in former or mark in seen:
                sources.add(row[0])
            seen.add(mark)
    table.delete(sql.one_of("source", sorted(sources)))
