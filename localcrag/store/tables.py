"""The LanceDB tables of one knowledge base and their indexes.

:mod:`localcrag.store.arrow_rows` defines their columns. This is the only module that imports lancedb; it is
itself imported on first use.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag._platform import machine_memory
from localcrag.errors import StoreError
from localcrag.filters import FieldType, FieldTypes, is_key, type_of
from localcrag.languages import ENGLISH
from localcrag.store import native_memory, sql
from localcrag.store.arrow_rows import passages_of
from localcrag.store.checksums import generation_of
from localcrag.store.full_text import SAMPLED_PASSAGES, UNKNOWN, index_settings, main_language
from localcrag.store.kb_record import TABLES_FOLDER, stored_name
from localcrag.store.table_schemas import (
    BLOCKS_SCHEMA,
    DOCUMENTS_SCHEMA,
    LATE_DOCUMENT_COLUMNS,
    LATE_TEXT_COLUMNS,
    TEXTS_SCHEMA,
    columns_schema,
    field_columns,
    meta_columns,
    meta_schema,
    passage_columns,
    passages_schema,
    questions_schema,
)
from localcrag.types import Document, FieldValue, Passage

os.environ.setdefault("LANCEDB_LOG", "off")  # errors are raised; the log would only be noise on stderr
native_memory.limit_heaps()
# A client for catalogue servers, which takes half of lancedb's import time.
native_memory.defer("lance_namespace_urllib3_client")

with native_memory.defer_validators(), native_memory.skip_override_checks():
    import lancedb
    from lancedb.index import FTS, BTree, IvfSq
    from lancedb.query import MatchQuery

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

PASSAGE_KEYS, QUESTION_KEYS = ("source", "id"), ("source", "passage")
"""The columns by which rows are looked up."""
TRAINING_ROUNDS, TRAINING_VECTORS_PER_PARTITION = 20, 128
"""The k-means iterations, and the sampled vectors per partition, that train the IVF partitions of a vector
index: less than LanceDB's own 50 and 256, since training is most of the work of indexing. The loss of recall
is made up by more probes."""

MAX_OWN_FIELD_COLUMNS = 200
"""The columns of fields up to which those get one that only documents give; their values are kept anyway."""
_WORD_INDEX, _UNNAMED = "lexical_", "idx"
"""What stands before the language in the name of a full-text index, and what stood there before."""
_MIB = 1024**2
_METADATA_CACHE_BYTES = 64 * _MIB
_WRITER_CACHE_BYTES, _READER_CACHE_BYTES = 128 * _MIB, 1024 * _MIB
"""The most bytes cached of indexes in the sessions of writing and of searching; the latter is for up to some
two million passages. Lance's own limit of 7 GiB fills with old versions."""
_CACHED_BYTES_PER_ROW, _MAX_CACHED_SHARE = 256, 0.25
"""What a search caches of a row besides the bytes of its vector index, and the most of the machine's memory
that it takes for more than ``_READER_CACHE_BYTES``. What does not fit is read from the disk for each search:
with five million passages one took 0.30 s with 1 GiB, and 0.09 s with 3 GiB."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A handle on one version of a table, in which a row id always means the same row.

    Attributes:
        table: the handle.
        version: the number of the version.
        partitions: the number of IVF partitions of its vector index, 0 if it has none.
        language: the language of its full-text index, "" if it is not known.
    """

    table: Table
    version: int
    partitions: int
    language: str


class Tables:
    """The open tables of the knowledge base in ``folder``; every read sees the latest version.

    ``generation`` is that in its record.

    Attributes:
        passages: the searchable passages.
        documents: a row for each source.
        texts: the stored text of the documents.
    """

    def __init__(self, folder: Path, generation: int = 0) -> None:
        self._folder = folder / TABLES_FOLDER
        self._questions_name = stored_name("questions", generation)
        writing, now = lancedb.Session(_WRITER_CACHE_BYTES, _METADATA_CACHE_BYTES), timedelta(0)
        self._connection = lancedb.connect(self._folder, session=writing, read_consistency_interval=now)
        self.passages: Table = self._connection.open_table(stored_name("passages", generation))
        dimension = self.passages.schema.field("vector").type.list_size
        cached = reader_cache_bytes(self.passages.count_rows(), dimension)
        reading = lancedb.Session(cached, _METADATA_CACHE_BYTES)
        self._still = lancedb.connect(self._folder, session=reading)
        self._snapshots: dict[str, Snapshot] = {}
        self.documents: Table = self._connection.open_table("documents")
        self.texts: Table = self._connection.open_table("texts")
        self._questions: Table | None = None

    def snapshot(self, table: Table) -> Snapshot:
        """The latest version of one of these tables, opened anew only if there is a newer one."""
        held = self._snapshots.get(table.name)
        if held is None or held.version != table.version:
            still = self._still.open_table(table.name)
            held = self._snapshots[table.name] = Snapshot(
                still, still.version, partitions_of(still), language_of_index(still)
            )
        return held

    @property
    def questions(self) -> Table | None:
        """The table of questions, None if none was ever written; until then, each call looks at the disk."""
        if self._questions is None and (self._folder / f"{self._questions_name}.lance").is_dir():
            self._questions = self._connection.open_table(self._questions_name)
        return self._questions

    def make_questions(self) -> Table:
        """The table of questions, made if there is none.

        It is made in another folder and then renamed, so that no process sees it half made.
        """
        if (held := self.questions) is not None:
            return held
        scratch = self._folder.with_name(".questions")
        shutil.rmtree(scratch, ignore_errors=True)
        schema = questions_schema(self.passages.schema)
        made = lancedb.connect(scratch).create_table("questions", schema=schema)
        index_words(made, language_of_index(self.passages) or ENGLISH)
        make_indexes(made, QUESTION_KEYS)
        (scratch / "questions.lance").rename(self._folder / f"{self._questions_name}.lance")
        shutil.rmtree(scratch, ignore_errors=True)
        return self._connection.open_table(self._questions_name)

    @property
    def columns(self) -> sql.FieldColumns:
        """The columns of the fields that a filter can name, by type."""
        return field_columns(self.passages.schema)

    @property
    def fields(self) -> FieldTypes:
        """The fields that a filter can name: the built-in ones, and the meta keys in alphabetical order."""
        return {key: frozenset(columns) for key, columns in self.columns.items()}

    def add_meta_columns(self, documents: Iterable[Document]) -> None:
        """Add columns for the new meta keys of these documents, and for new types of their values.

        A key that only documents give has none if there are very many. Raises StoreError for a value that
        cannot be stored or compared; then nothing is changed.
        """
        known = self.fields
        room = MAX_OWN_FIELD_COLUMNS - len(meta_columns(self.passages.schema))
        new: dict[str, set[FieldType]] = {}
        for document in documents:
            for key, value in document.meta.items():
                if not _is_storable(value):
                    raise StoreError(
                        f"meta key {key!r} cannot hold {str(value)[:40]}, which {document.source} gives it",
                        hint="give it text, true or false, or a finite number",
                    )
                held = known.get(key, frozenset()) | new.get(key, set())
                if not is_key(key) or type_of(value) in held:
                    continue
                if key not in document.own or sum(map(len, new.values())) < room:
                    new.setdefault(key, set()).add(type_of(value))
        if new:
            columns = meta_schema({key: frozenset(kinds) for key, kinds in new.items()}, known)
            if (asked := self.questions) is not None:  # first, as a filter knows the passages' columns
                if left := set(columns.names) & set(asked.schema.names):  # left by a kill at this point
                    asked.drop_columns(sorted(left))
                asked.add_columns(columns)
            self.passages.add_columns(columns)

    def add_late_columns(self) -> None:
        """Add the columns that tables have not which an earlier version made; their rows have no values."""
        late = (
            (self.passages, BLOCKS_SCHEMA),
            (self.documents, LATE_DOCUMENT_COLUMNS),
            (self.texts, LATE_TEXT_COLUMNS),
        )
        for table, columns in late:
            held = table.schema.names
            if missing := [field for field in columns if field.name not in held]:
                table.add_columns(columns_schema(missing))


def passages_where(passages: Table, where: str) -> list[Passage]:
    """The passages whose rows meet an SQL condition, in any order."""
    columns = passage_columns(passages.schema)
    return passages_of(passages.search().where(where).select(columns).to_arrow())


def _is_storable(value: FieldValue) -> bool:
    """Whether JSON and a column can hold the value: no NaN, no infinity, no integer beyond floats."""
    if isinstance(value, (str, tuple)):
        return True
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:
        return False


def open_table(folder: Path, name: str) -> Table:
    """One table of the knowledge base in ``folder``, although another one may be damaged."""
    return lancedb.connect(folder / TABLES_FOLDER).open_table(stored_name(name, generation_of(folder)))


def write_table(folder: Path, name: str, schema: pa.Schema, rows: Iterable[pa.Table]) -> None:
    """Put a table with these rows, without indexes, in the place of the one of that name, if there is one."""
    name = stored_name(name, generation_of(folder))
    scratch, place = folder / ".rebuilt", folder / TABLES_FOLDER / f"{name}.lance"
    shutil.rmtree(scratch, ignore_errors=True)
    made = lancedb.connect(scratch).create_table(name, schema=schema)
    for some in rows:
        if len(some):
            made.add(some)
    shutil.rmtree(place, ignore_errors=True)
    place.parent.mkdir(exist_ok=True)
    (scratch / place.name).rename(place)
    shutil.rmtree(scratch, ignore_errors=True)


def drop_indexes(table: Table) -> None:
    """Drop all indexes of a table."""
    for name in _indexes(table):
        table.drop_index(name)


def create_tables(folder: Path, dimension: int) -> None:
    """Make the empty tables with their indexes in ``folder``, for vectors of ``dimension`` components."""
    connection = lancedb.connect(folder / TABLES_FOLDER)
    passages = connection.create_table("passages", schema=passages_schema(dimension))
    index_words(passages, ENGLISH)
    make_indexes(passages, PASSAGE_KEYS)
    connection.create_table("documents", schema=DOCUMENTS_SCHEMA)
    connection.create_table("texts", schema=TEXTS_SCHEMA).create_index("document", config=BTree())


def match_query(text: str) -> MatchQuery:
    """A full-text query for any of the words of ``text``, which has no syntax and needs no escaping."""
    return MatchQuery(text, "lexical")  # type: ignore[call-arg]


def index_words(table: Table, language: str) -> None:
    """Make the full-text index with the stemmer of a language, and drop the one of another language.

    The language is in the index's name, because LanceDB does not report it.
    """
    name, old = _WORD_INDEX + language, _word_indexes(table)
    table.create_index("lexical", config=FTS(**index_settings(language)), name=name)
    for other in set(old) - {name}:
        table.drop_index(other)


def language_of_index(table: Table) -> str:
    """The language of the full-text index; "" for one that an earlier version made, with English stems."""
    names = (name.removeprefix(_WORD_INDEX) for name in _word_indexes(table))
    return next((name for name in sorted(names) if len(name) in (2, 3) and name != _UNNAMED), UNKNOWN)


def language_of_rows(table: Table) -> str:
    """The language that most passages of a table are in, by some of them at equal distances."""
    rows = table.count_rows()
    offsets = sorted({at * rows // SAMPLED_PASSAGES for at in range(SAMPLED_PASSAGES)}) if rows else []
    found = table.take_offsets(offsets).select(["lexical"]).to_arrow() if offsets else None
    return main_language(found["lexical"].to_pylist()) if found is not None else ENGLISH


def reader_cache_bytes(rows: int, dimension: int) -> int:
    """The most bytes of indexes that searching so many passages caches, as far as the machine has memory."""
    wanted = rows * (dimension + _CACHED_BYTES_PER_ROW)
    room = _MAX_CACHED_SHARE * (machine_memory() or 0)
    return max(_READER_CACHE_BYTES, int(min(wanted, room)))


def make_indexes(table: Table, columns: Iterable[str]) -> None:
    """Make B-tree indexes of these columns, as far as they have none."""
    held = {column for of in _indexes(table).values() for column in of}
    for column in set(columns) - held:
        table.create_index(column, config=BTree())


def index_vectors(table: Table, partitions: int) -> None:
    """Make the IVF index of the vectors, with eight bits for each component, and drop the old one.

    The number of partitions is in the index's name, because LanceDB does not report it.
    """
    name, old = f"vector_{partitions}", _vector_indexes(table)
    config = IvfSq(
        "cosine",
        num_partitions=partitions,
        max_iterations=TRAINING_ROUNDS,
        sample_rate=TRAINING_VECTORS_PER_PARTITION,
    )
    table.create_index("vector", config=config, name=name)
    for other in set(old) - {name}:
        table.drop_index(other)


def partitions_of(table: Table) -> int:
    """The number of IVF partitions, 0 if there is no vector index; that of the rows if its name has none."""
    numbers = [name.removeprefix("vector_") for name in _vector_indexes(table)]
    return max((int(number) if number.isdecimal() else table.count_rows() for number in numbers), default=0)


def _vector_indexes(table: Table) -> list[str]:
    """The names of the indexes of the vectors."""
    return [name for name, columns in _indexes(table).items() if columns == ["vector"]]


def _word_indexes(table: Table) -> list[str]:
    """The names of the full-text indexes."""
    return [name for name, columns in _indexes(table).items() if columns == ["lexical"]]


def _indexes(table: Table) -> dict[str, list[str]]:
    """The columns of each index; LanceDB puts backticks around unusual names."""
    return {index.name: [column.strip("`") for column in index.columns] for index in table.list_indices()}
