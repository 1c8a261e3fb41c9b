"""The LanceDB tables of one knowledge base, and how values become rows.

The only module that imports lancedb and pyarrow; it is itself imported on first use.
- ``passages``: what is searched, one row a passage. Its text is kept once, in ``lexical``, behind the
  title and the heading that the full-text index reads with it; ``prefix`` characters come before it.
  Each meta key has a column of its own beside ``meta``, which holds the values exactly, as JSON.
- ``documents``: one small row a source, and nothing more, so that what is held can be listed quickly.
- ``texts``: the stored text, one row a page, by the document's hash and a digest of the text, because
  two readers may read the same bytes differently.
- ``questions``, only where some were written: one row a question, with the passage it leads back to, the
  mark of the text it was written for, and that passage's fields, so that a filter means the same in both.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localcrag.errors import StoreError, UnknownKnowledgeBase
from localcrag.filters import BUILT_IN, FieldType, is_key, type_of
from localcrag.index import lean, sql
from localcrag.index.folder import remake, storage_error
from localcrag.types import Document, Indexed, Meta, MetaValue, Passage

os.environ.setdefault("LANCEDB_LOG", "off")  # what matters is raised; the rest would only be noise on stderr
lean.few_heaps()
lean.defer("lance_namespace_urllib3_client")  # a client for catalogue servers: half of lancedb's import time

import lancedb  # noqa: E402
import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
from lancedb.index import FTS, BTree, IvfSq  # noqa: E402
from lancedb.query import MatchQuery  # noqa: E402

if TYPE_CHECKING:
    import numpy.typing as npt
    from lancedb.table import Table

    Vectors = npt.NDArray[np.float32]
    Batch = Sequence[tuple[Document, Indexed, Sequence[Passage], Vectors]]
    Questions = Sequence[tuple[Passage, Sequence[str], Vectors]]

FOLDER = "lance"
UNFINISHED = ""
"""The hash of a document whose passages may be newer than its row says: equal to no real hash."""

DOCUMENTS = pa.schema(
    [
        pa.field("source", pa.string(), nullable=False),
        pa.field("hash", pa.string(), nullable=False),
        pa.field("digest", pa.string()),
        pa.field("title", pa.string()),
        pa.field("media_type", pa.string()),
        pa.field("size", pa.int64()),
        pa.field("mtime_ns", pa.int64()),
        pa.field("passages", pa.int64()),
        pa.field("meta", pa.string()),
    ]
)
TEXTS = pa.schema(
    [
        pa.field("document", pa.string(), nullable=False),
        pa.field("digest", pa.string(), nullable=False),
        pa.field("position", pa.int32()),
        pa.field("number", pa.int32()),
        pa.field("text", pa.large_string()),
    ]
)
_PASSAGE = [
    pa.field("id", pa.string(), nullable=False),
    pa.field("source", pa.string(), nullable=False),
    pa.field("ordinal", pa.int32(), nullable=False),
    pa.field("document", pa.string()),
    pa.field("digest", pa.string()),
    pa.field("title", pa.string()),
    pa.field("heading", pa.string()),
    pa.field("page", pa.int32()),
    pa.field("start", pa.int64()),
    pa.field("stop", pa.int64()),
    pa.field("prefix", pa.int32()),
    pa.field("lexical", pa.string()),
    pa.field("meta", pa.string()),
]
PASSAGE = [field.name for field in _PASSAGE]
"""The columns that :func:`localcrag.index.values.passages_of` needs."""
_QUESTION = [
    pa.field("passage", pa.string(), nullable=False),
    pa.field("mark", pa.string(), nullable=False),
    pa.field("lexical", pa.string()),
]

PASSAGE_KEYS, QUESTION_KEYS = ("source", "id"), ("source", "passage")
"""The columns by which rows are looked up."""
ROUNDS, SAMPLE = 20, 128
"""How long the partitions of a vector index are trained, and on how many vectors each: less than LanceDB's
own 50 and 256, as that is most of the work. What is lost is made good by reading more partitions."""

_ARROW: Mapping[FieldType, pa.DataType] = {
    FieldType.TEXT: pa.string(),
    FieldType.NUMBER: pa.float64(),
    FieldType.BOOLEAN: pa.bool_(),
}


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
        copied = [field for field in self.passages.schema if is_filtered(field.name)]
        schema = pa.schema([*_QUESTION, *copied, self.passages.schema.field("vector")])
        made = lancedb.connect(scratch).create_table("questions", schema=schema)
        made.create_index("lexical", config=FULL_TEXT)
        make_indexes(made, QUESTION_KEYS)
        (scratch / "questions.lance").rename(self._folder / "questions.lance")
        shutil.rmtree(scratch, ignore_errors=True)
        return self._connection.open_table("questions")

    @property
    def fields(self) -> dict[str, FieldType]:
        """What a filter can speak of: the built-in fields, and the meta keys in alphabetical order."""
        columns = {field.name: field.type for field in self.passages.schema}
        kinds = {arrow: kind for kind, arrow in _ARROW.items()}
        keys = sorted(name for name in columns if name.startswith(sql.META))
        return {**BUILT_IN, **{key.removeprefix(sql.META): kinds[columns[key]] for key in keys}}

    def admit(self, documents: Iterable[Document]) -> None:
        """Make columns for meta keys that are new. Raises StoreError where a key changes its type."""
        known = self.fields
        new: dict[str, FieldType] = {}
        for document in documents:
            for key, value in document.meta.items():
                if not is_key(key):
                    continue
                kind = known.get(key) or new.setdefault(key, type_of(value))
                if kind is not type_of(value):
                    raise StoreError(
                        f"meta key {key!r} holds {kind}, and {document.source} gives it {value!r}",
                        hint="give the value in the same type, or use another key",
                    )
        if new:
            columns = pa.schema([pa.field(sql.META + key, _ARROW[kind]) for key, kind in new.items()])
            if (asked := self.questions) is not None:  # first, as a filter knows what the passages have
                if left := set(columns.names) & set(asked.schema.names):  # by a kill just here
                    asked.drop_columns(sorted(left))
                asked.add_columns(columns)
            self.passages.add_columns(columns)


def create(folder: Path, dimension: int) -> None:
    """Make the empty tables with their indexes, for vectors of ``dimension`` components."""
    connection = lancedb.connect(folder / FOLDER)
    vector = pa.field("vector", pa.list_(pa.float32(), dimension))
    passages = connection.create_table("passages", schema=pa.schema([*_PASSAGE, vector]))
    passages.create_index("lexical", config=FULL_TEXT)
    make_indexes(passages, PASSAGE_KEYS)
    connection.create_table("documents", schema=DOCUMENTS)
    connection.create_table("texts", schema=TEXTS).create_index("document", config=BTree())


def words(text: str) -> MatchQuery:
    """A full-text query for any of the words of ``text``; it has no syntax, so nothing needs escaping."""
    return MatchQuery(text, "lexical")  # type: ignore[call-arg]


def make_indexes(table: Table, columns: Iterable[str]) -> None:
    """Indexes for look-ups by these columns, where there are none yet."""
    held = {column for index in table.list_indices() for column in index.columns}
    for column in set(columns) - held:
        table.create_index(column, config=BTree())


def is_filtered(column: str) -> bool:
    """Whether filters read the column."""
    return column in BUILT_IN or column.startswith(sql.META)


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
    return [index.name for index in table.list_indices() if index.columns == ["vector"]]


@contextmanager
def storing(folder: Path, attempt: str) -> Iterator[None]:
    """Turns what LanceDB, Arrow and the system raise into StoreError or StorageFull, in one line."""
    try:
        yield
    except (RuntimeError, OSError, ValueError, pa.ArrowException) as error:
        if attempt != "make" and not folder.exists():
            raise UnknownKnowledgeBase(f"the knowledge base {folder.name!r} was removed meanwhile") from error
        typed = storage_error(error, f"{attempt} the knowledge base in {folder}")
        typed.hint = typed.hint or "if it stays so, " + remake(folder.name)
        raise typed from error


# ---------------------------------------------------------------------------------- values to rows


def digest_of(document: Document) -> str:
    """A digest of the stored text, page numbers included."""
    digest = hashlib.sha256()
    for page in document.pages:
        digest.update(f"{page.number}:{len(page.text)}:".encode())
        digest.update(page.text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:32]


def document_rows(batch: Batch) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "source": entry.source,
                "hash": entry.hash,
                "digest": digest_of(document),
                "title": document.title,
                "media_type": document.media_type,
                "size": entry.size,
                "mtime_ns": entry.mtime_ns,
                "passages": len(passages),
                "meta": _json(document.meta),
            }
            for document, entry, passages, _ in batch
        ],
        schema=DOCUMENTS,
    )


def text_rows(documents: Iterable[Document]) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "document": document.hash,
                "digest": digest_of(document),
                "position": position,
                "number": page.number,
                "text": page.text,
            }
            for document in documents
            for position, page in enumerate(document.pages)
        ],
        schema=TEXTS,
    )


def passage_rows(batch: Batch, schema: pa.Schema) -> pa.Table:
    """The rows of a batch in the table's own schema, meta columns included."""
    rows: list[dict[str, Any]] = []
    for document, _, passages, _ in batch:
        digest = digest_of(document)
        for ordinal, passage in enumerate(passages):
            front = "".join(line + "\n" for line in (passage.title, passage.heading) if line)
            rows.append(
                {
                    "id": passage.id,
                    "source": document.source,
                    "ordinal": ordinal,
                    "document": document.hash,
                    "digest": digest,
                    "title": passage.title,
                    "heading": passage.heading,
                    "page": passage.page,
                    "start": passage.start,
                    "stop": passage.end,
                    "prefix": len(front),
                    "lexical": front + passage.text,
                    "meta": _json(passage.meta),
                    **_cells(passage.meta),
                }
            )
    return _with_vectors(rows, [vectors for *_, vectors in batch], schema)


def question_rows(batch: Questions, schema: pa.Schema) -> pa.Table:
    """The rows of questions in the table's own schema, their passages' fields included."""
    rows = [
        {
            "passage": passage.id,
            "mark": mark_of(passage),
            "source": passage.source,
            "title": passage.title,
            "heading": passage.heading,
            "page": passage.page,
            "lexical": question,
            **_cells(passage.meta),
        }
        for passage, questions, _ in batch
        for question in questions
    ]
    return _with_vectors(rows, [vectors for *_, vectors in batch], schema)


def mark_of(passage: Passage) -> str:
    """Tells the text of a passage from any other that may come to have the same id."""
    return hashlib.sha256(passage.text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _with_vectors(rows: list[dict[str, Any]], vectors: Sequence[Vectors], schema: pa.Schema) -> pa.Table:
    table = pa.Table.from_pylist(rows, schema=schema.remove(schema.get_field_index("vector")))
    dimension = schema.field("vector").type.list_size
    stacked = np.concatenate(vectors).astype(np.float32, copy=False)
    column = pa.FixedSizeListArray.from_arrays(pa.array(stacked.reshape(-1)), dimension)
    return table.append_column(schema.field("vector"), column).select(schema.names)


def _cells(meta: Meta) -> dict[str, MetaValue]:
    """The columns of the keys that filters can speak of."""
    return {sql.META + key: _cell(value) for key, value in meta.items() if is_key(key)}


def _cell(value: MetaValue) -> MetaValue:
    """The value in the column that filters read, where numbers are 64-bit floats."""
    return float(value) if type_of(value) is FieldType.NUMBER else value


def _json(meta: Meta) -> str:
    return json.dumps(dict(meta), ensure_ascii=False) if meta else ""
