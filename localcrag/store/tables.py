"""The LanceDB tables of one knowledge base and their indexes.

:mod:`localcrag.store.arrow_rows` has their columns.

The only module that imports lancedb; it is itself imported on first use.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import StoreError
from localcrag.filters import BUILT_IN, FieldType, is_key, type_of
from localcrag.store import native_memory
from localcrag.store.arrow_rows import (
    DOCUMENTS,
    TEXTS,
    ArrowError,
    meta_schema,
    meta_types,
    passages_schema,
    questions_schema,
)
from localcrag.store.kb_folders import is_gone, remake, removed, storage_error
from localcrag.types import Document, MetaValue

os.environ.setdefault("LANCEDB_LOG", "off")  # what matters is raised; the rest would only be noise on stderr
native_memory.few_heaps()
native_memory.defer(
    "lance_namespace_urllib3_client"
)  # a client for catalogue servers: half of lancedb's import time

import lancedb  # noqa: E402
from lancedb.index import FTS, BTree, IvfSq  # noqa: E402
from lancedb.query import MatchQuery  # noqa: E402

if TYPE_CHECKING:
    from lancedb.table import Table

FOLDER = "lance"
PASSAGE_KEYS, QUESTION_KEYS = ("source", "id"), ("source", "passage")
"""The columns by which rows are looked up."""
ROUNDS, SAMPLE = 20, 128
"""How long the partitions of a vector index are trained, and on how many vectors each: less than LanceDB's
own 50 and 256, as that is most of the work. What is lost is made good by reading more partitions."""

_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being between both but by can
could did do does doing don down during each few for from further had has have having he her here hers
herself him himself his how i if in into is it its itself just me might more most must my myself no nor not
now of off on once only or other our ours ourselves out over own s same shall she should so some such t than
that the their theirs them themselves then there these they this those through to too under until up very
was we were what when where which while who whom why will with would you your yours yourself yourselves
"""
FULL_TEXT = FTS(
    base_tokenizer="icu/split", stem=True, ascii_folding=True, custom_stop_words=_STOP_WORDS.split()
)
"""Words as Unicode's dictionaries divide them, so that scripts without blanks can be searched too; English
words by their stems. The list of stop words is our own: the built-in one of this tokenizer covers all
languages at once, and takes digits and single letters with it."""


_MIB = 1024**2
_WRITING, _READING = (128 * _MIB, 64 * _MIB), (1024 * _MIB, 64 * _MIB)
"""Most that is cached of indexes and of metadata; Lance's own 7 GiB fill with versions that have gone."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One version of a table, in a handle that stays at it: row ids mean the same in all its reads.

    ``partitions`` are those of its vector index, 0 where it has none.
    """

    table: Table
    version: int
    partitions: int


class Tables:
    """The open tables of the knowledge base in ``folder``; every read sees the latest version."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER
        writing, reading = lancedb.Session(*_WRITING), lancedb.Session(*_READING)
        now = timedelta(0)
        self._connection = lancedb.connect(self._folder, session=writing, read_consistency_interval=now)
        self._still = lancedb.connect(self._folder, session=reading)
        self._snapshots: dict[str, Snapshot] = {}
        self.passages: Table = self._connection.open_table("passages")
        self.documents: Table = self._connection.open_table("documents")
        self.texts: Table = self._connection.open_table("texts")
        self._questions: Table | None = None

    def snapshot(self, table: Table) -> Snapshot:
        """The latest version of one of these tables; opened anew only where another was committed since."""
        held = self._snapshots.get(table.name)
        if held is None or held.version != table.version:
            still = self._still.open_table(table.name)
            held = self._snapshots[table.name] = Snapshot(still, still.version, partitions_of(still))
        return held

    @property
    def questions(self) -> Table | None:
        """The table of questions, if any was ever written; looking for it costs one look at the disk."""
        if self._questions is None and (self._folder / "questions.lance").is_dir():
            self._questions = self._connection.open_table("questions")
        return self._questions

    def make_questions(self) -> Table:
        """The table of questions, made if there is none: under another name, so that it is met whole."""
        if (held := self.questions) is not None:
            return held
        scratch = self._folder.with_name(".questions")
        shutil.rmtree(scratch, ignore_errors=True)
        schema = questions_schema(self.passages.schema)
        made = lancedb.connect(scratch).create_table("questions", schema=schema)
        made.create_index("lexical", config=FULL_TEXT)
        make_indexes(made, QUESTION_KEYS)
        (scratch / "questions.lance").rename(self._folder / "questions.lance")
        shutil.rmtree(scratch, ignore_errors=True)
        return self._connection.open_table("questions")

    @property
    def fields(self) -> dict[str, FieldType]:
        """What a filter can speak of: the built-in fields, and the meta keys in alphabetical order."""
        return {**BUILT_IN, **meta_types(self.passages.schema)}

    def admit(self, documents: Iterable[Document]) -> None:
        """Make columns for meta keys that are new.

        Raises StoreError where a key changes its type, or has a value that cannot be kept or compared.
        """
        known = self.fields
        new: dict[str, FieldType] = {}
        for document in documents:
            for key, value in document.meta.items():
                if not _is_storable(value):
                    raise StoreError(
                        f"meta key {key!r} cannot hold {str(value)[:40]}, which {document.source} gives it",
                        hint="give it text, true or false, or a finite number",
                    )
                if not is_key(key):
                    continue
                kind = known.get(key) or new.setdefault(key, type_of(value))
                if kind is not type_of(value):
                    raise StoreError(
                        f"meta key {key!r} holds {kind}, and {document.source} gives it {value!r}",
                        hint="give the value in the same type, or use another key",
                    )
        if new:
            columns = meta_schema(new)
            if (asked := self.questions) is not None:  # first, as a filter knows what the passages have
                if left := set(columns.names) & set(asked.schema.names):  # by a kill just here
                    asked.drop_columns(sorted(left))
                asked.add_columns(columns)
            self.passages.add_columns(columns)


def _is_storable(value: MetaValue) -> bool:
    """Whether JSON and a column can hold the value: no NaN or infinity, nor a whole number beyond floats."""
    if isinstance(value, str):
        return True
    try:
        return isinstance(value, (int, float)) and math.isfinite(value)
    except OverflowError:
        return False


def create(folder: Path, dimension: int) -> None:
    """Make the empty tables with their indexes, for vectors of ``dimension`` components."""
    connection = lancedb.connect(folder / FOLDER)
    passages = connection.create_table("passages", schema=passages_schema(dimension))
    passages.create_index("lexical", config=FULL_TEXT)
    make_indexes(passages, PASSAGE_KEYS)
    connection.create_table("documents", schema=DOCUMENTS)
    connection.create_table("texts", schema=TEXTS).create_index("document", config=BTree())


def words(text: str) -> MatchQuery:
    """A full-text query for any of the words of ``text``; it has no syntax, so nothing needs escaping."""
    return MatchQuery(text, "lexical")  # type: ignore[call-arg]


def make_indexes(table: Table, columns: Iterable[str]) -> None:
    """Indexes for look-ups by these columns, where there are none yet."""
    held = {column for of in _indexes(table).values() for column in of}
    for column in set(columns) - held:
        table.create_index(column, config=BTree())


def index_vectors(table: Table, partitions: int) -> None:
    """Divide the vectors among partitions, eight bits a component, in place of the index there was.

    The number is in the index's name, as LanceDB does not tell it.
    """
    name, old = f"vector_{partitions}", _vector_indexes(table)
    config = IvfSq("cosine", num_partitions=partitions, max_iterations=ROUNDS, sample_rate=SAMPLE)
    table.create_index("vector", config=config, name=name)
    for other in set(old) - {name}:
        table.drop_index(other)


def partitions_of(table: Table) -> int:
    """The partitions of the vector index, 0 where there is none; as many as can be where it does not tell."""
    numbers = [name.removeprefix("vector_") for name in _vector_indexes(table)]
    return max((int(number) if number.isdecimal() else table.count_rows() for number in numbers), default=0)


def _vector_indexes(table: Table) -> list[str]:
    return [name for name, columns in _indexes(table).items() if columns == ["vector"]]


def _indexes(table: Table) -> dict[str, list[str]]:
    """The columns by index; LanceDB quotes those whose names are no plain words."""
    return {index.name: [column.strip("`") for column in index.columns] for index in table.list_indices()}


@contextmanager
def storing(folder: Path, attempt: str) -> Iterator[None]:
    """Turns what LanceDB, Arrow and the system raise into StoreError or StorageFull, in one line."""
    try:
        yield
    except (RuntimeError, OSError, ValueError, ArrowError) as error:
        if attempt != "make" and is_gone(folder):
            raise removed(folder.name) from error
        typed = storage_error(error, f"{attempt} the knowledge base in {folder}")
        typed.hint = typed.hint or "if it stays so, " + remake(folder.name)
        raise typed from error
