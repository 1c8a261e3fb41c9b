"""Arrow rows: the columns of the LanceDB tables, and conversions between values and rows.

This is the only module that imports pyarrow; it is itself imported on first use.

- ``passages``: the searchable passages, one row each. Its text is stored once, in ``lexical``, after the
  title and the heading, which the full-text index reads too; ``prefix`` characters come before it.
  ``blocks`` are "heading1:0-14 paragraph0:16-120": kind, level and characters of the page.
  Each field has a column for each type of its values beside ``meta``, which holds the exact values, as JSON.
- ``documents``: one small row for each source, without texts, so that the sources are listed quickly.
- ``texts``: the stored text, a row for each part of a page, by the document's hash and a digest of the
  text, because two readers may read the same bytes differently. Layout 1 had one row for each page.
- ``questions``, which exists only if some were written: one row for each question, with its passage, the
  mark of the text that it was written for, and that passage's fields, so that filters work in both tables.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from localcrag.filters import BUILT_IN, FieldType, FieldTypes, is_key, type_of
from localcrag.store import sql
from localcrag.types import (
    NO_META,
    READING,
    Block,
    BlockKind,
    Document,
    FieldValue,
    IndexedDocument,
    Meta,
    MetaValue,
    Page,
    Passage,
)

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    Batch = Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]
    Questions = Sequence[tuple[Passage, Sequence[str], Vectors]]

Digests = Mapping[str, str]
"""The digest of each document's text, by its source; see :func:`digest_of`."""

UNFINISHED_HASH = ""
"""The hash of a document whose passages may be newer than its row; it equals no real hash."""

DOCUMENTS_SCHEMA = pa.schema(
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
        pa.field("own", pa.string()),
        pa.field("left_out", pa.float64()),
    ]
)
LATE_DOCUMENT_COLUMNS = pa.schema([DOCUMENTS_SCHEMA.field(name) for name in ("own", "left_out")])
"""The columns of ``documents`` that a table has only from the first write of this version on."""
TEXT_PART_CHARACTERS = 1 << 14
"""The characters of a text in one row: LanceDB compacts 8,192 rows at a time, however long they are."""
TEXTS_SCHEMA = pa.schema(
    [
        pa.field("document", pa.string(), nullable=False),
        pa.field("digest", pa.string(), nullable=False),
        pa.field("position", pa.int32()),
        pa.field("number", pa.int32()),
        pa.field("part", pa.int32()),
        pa.field("text", pa.large_string()),
        pa.field("checksum", pa.string()),
    ]
)
LATE_TEXT_COLUMNS = pa.schema([TEXTS_SCHEMA.field("checksum")])
"""The checksum of a whole page in each of its rows, which a table has only from the first write of this
version on."""
_PASSAGE_FIELDS = [
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
    pa.field("blocks", pa.string()),
]
_WRITTEN_BLOCK = re.compile(r"([a-z]+)(\d+):(\d+)-(\d+)")
ArrowError = pa.ArrowException
"""The base class of Arrow's errors."""

BLOCKS_SCHEMA = pa.schema([_PASSAGE_FIELDS[-1]])
"""The column of a passage's blocks, which a table has only from the first write of this version on."""
_QUESTION_FIELDS = [
    pa.field("passage", pa.string(), nullable=False),
    pa.field("mark", pa.string(), nullable=False),
    pa.field("lexical", pa.string()),
]

_ARROW_TYPES: Mapping[FieldType, pa.DataType] = {
    FieldType.TEXT: pa.string(),
    FieldType.NUMBER: pa.float64(),
    FieldType.BOOLEAN: pa.bool_(),
    FieldType.LIST: pa.string(),
}
_ALSO_COLUMN = re.compile(sql.ALSO_PREFIX + r"(text|number|boolean|list)_(.+)")


def columns_schema(columns: Iterable[pa.Field]) -> pa.Schema:
    """The schema of these columns."""
    return pa.schema(list(columns))


def passages_schema(dimension: int) -> pa.Schema:
    """The columns of ``passages`` while no document has meta fields.

    ``dimension`` is the number of components of a vector.
    """
    return pa.schema([*_PASSAGE_FIELDS, pa.field("vector", pa.list_(pa.float32(), dimension))])


def passage_columns(passages: pa.Schema) -> list[str]:
    """The columns that :func:`passages_of` needs, of those that the table has."""
    return [field.name for field in _PASSAGE_FIELDS if field.name in passages.names]


def questions_schema(passages: pa.Schema) -> pa.Schema:
    """The columns of ``questions``, with those that filters read copied from ``passages``."""
    copied = [field for field in passages if is_filtered(field.name)]
    return pa.schema([*_QUESTION_FIELDS, *copied, passages.field("vector")])


def meta_schema(types: FieldTypes, held: FieldTypes) -> pa.Schema:
    """The columns of these fields and types, which come to those that are ``held``."""
    columns = []
    for key, kinds in types.items():
        taken = key in held
        for kind in (kind for kind in FieldType if kind in kinds):
            also = taken or kind is FieldType.LIST  # the type of a column does not tell a list from a text
            columns.append(pa.field(_also(key, kind) if also else sql.META_PREFIX + key, _ARROW_TYPES[kind]))
            taken = taken or not also
    return pa.schema(columns)


def _also(key: str, kind: FieldType) -> str:
    return f"{sql.ALSO_PREFIX}{kind.name.lower()}_{key}"


def field_columns(passages: pa.Schema) -> sql.FieldColumns:
    """The columns of the fields that a filter can name: the built-in ones, then the others by name."""
    kinds = {pa.string(): FieldType.TEXT, pa.float64(): FieldType.NUMBER, pa.bool_(): FieldType.BOOLEAN}
    found: dict[str, dict[FieldType, str]] = {}
    for column in meta_columns(passages):
        if also := _ALSO_COLUMN.fullmatch(column):
            found.setdefault(also[2], {})[FieldType[also[1].upper()]] = column
        else:
            kind = kinds[passages.field(column).type]
            found.setdefault(column.removeprefix(sql.META_PREFIX), {})[kind] = column
    built_in = {key: dict.fromkeys(held, key) for key, held in BUILT_IN.items()}
    return {**built_in, **dict(sorted(found.items()))}


def meta_columns(schema: pa.Schema) -> list[str]:
    """The names of the columns of meta keys, in alphabetical order."""
    return sorted(name for name in schema.names if name.startswith((sql.META_PREFIX, sql.ALSO_PREFIX)))


def is_filtered(column: str) -> bool:
    """Whether filters read the column."""
    return column in BUILT_IN or column.startswith((sql.META_PREFIX, sql.ALSO_PREFIX))


def digest_of(document: Document) -> str:
    """A digest of the document's text, pages and blocks: 32 hexadecimal digits, "-", and the reading."""
    digest = hashlib.sha256()
    for page in document.pages:
        digest.update(f"{page.number}:{len(page.text)}:".encode())
        digest.update(page.text.encode("utf-8", "surrogatepass"))
        digest.update(_written_blocks(page.blocks).encode())
    return f"{digest.hexdigest()[:32]}-{READING}"


def digests_of(documents: Iterable[Document]) -> Digests:
    """The digest of each document's text, by its source."""
    return {document.source: digest_of(document) for document in documents}


def document_columns(documents: pa.Schema) -> list[str]:
    """The columns that :func:`indexed_of` needs, of those that the table has."""
    return [name for name in DOCUMENTS_SCHEMA.names if name in documents.names and name != "media_type"]


def document_rows(batch: Batch, digests: Digests, schema: pa.Schema = DOCUMENTS_SCHEMA) -> pa.Table:
    """The rows of ``documents`` for a batch, in the schema of the table."""
    return pa.Table.from_pylist(
        [
            {
                "source": entry.source,
                "hash": entry.hash,
                "digest": digests[document.source],
                "title": document.title,
                "media_type": document.media_type,
                "size": entry.size,
                "mtime_ns": entry.mtime_ns,
                "passages": len(passages),
                "meta": _json(document.meta),
                "own": " ".join(document.own),
                "left_out": document.left_out,
            }
            for document, entry, passages, _ in batch
        ],
        schema=schema,
    )


def text_rows(documents: Iterable[Document], digests: Digests, schema: pa.Schema = TEXTS_SCHEMA) -> pa.Table:
    """The rows of ``texts`` for these documents, in the schema of the table (of layout 1, perhaps)."""
    size = TEXT_PART_CHARACTERS if "part" in schema.names else sys.maxsize
    return pa.Table.from_pylist(
        [
            {
                "document": document.hash,
                "digest": digests[document.source],
                "position": position,
                "number": page.number,
                "part": start // size,
                "text": page.text[start : start + size],
                "checksum": checksum,
            }
            for document in documents
            for position, page in enumerate(document.pages)
            for checksum in [_text_digest(page.text)]
            for start in range(0, max(1, len(page.text)), size)
        ],
        schema=schema,
    )


def passage_rows(batch: Batch, digests: Digests, schema: pa.Schema) -> pa.Table:
    """The rows of ``passages`` for a batch, in the schema of the table, meta columns included."""
    rows: list[dict[str, Any]] = []
    columns = field_columns(schema)
    for document, _, passages, _ in batch:
        digest = digests[document.source]
        cells = _meta_cells(document.meta, columns)
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
                    "blocks": _written_blocks(passage.blocks),
                    **(cells if passage.meta is document.meta else _meta_cells(passage.meta, columns)),
                }
            )
    return _with_vectors(rows, [vectors for *_, vectors in batch], schema)


def question_rows(batch: Questions, schema: pa.Schema) -> pa.Table:
    """The rows of ``questions`` for a batch, in the schema of the table."""
    columns = field_columns(schema)
    rows = [
        {
            "passage": passage.id,
            "mark": mark_of(passage),
            "source": passage.source,
            "title": passage.title,
            "heading": passage.heading,
            "page": passage.page,
            "lexical": question,
            **_meta_cells(passage.meta, columns),
        }
        for passage, questions, _ in batch
        for question in questions
    ]
    return _with_vectors(rows, [vectors for *_, vectors in batch], schema)


def mark_of(passage: Passage) -> str:
    """A digest of a passage's text, in 16 hexadecimal digits; another text may get the same id later."""
    return _text_digest(passage.text)


def _text_digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _with_vectors(rows: list[dict[str, Any]], vectors: Sequence[Vectors], schema: pa.Schema) -> pa.Table:
    """The rows with their vectors, arrays of shape (rows, dimension) one after the other, in the schema."""
    table = pa.Table.from_pylist(rows, schema=schema.remove(schema.get_field_index("vector")))
    return with_vectors(table, np.concatenate(vectors), schema)


def with_vectors(rows: pa.Table, vectors: Vectors, schema: pa.Schema) -> pa.Table:
    """Rows with these vectors, shape (rows, dimension), in place of those they have, in the schema."""
    dimension = schema.field("vector").type.list_size
    flat = pa.array(vectors.astype(np.float32, copy=False).reshape(-1))
    bare = rows.drop_columns("vector") if "vector" in rows.column_names else rows
    column = pa.FixedSizeListArray.from_arrays(flat, dimension)
    return bare.append_column(schema.field("vector"), column).select(schema.names)


def with_width(schema: pa.Schema, dimension: int) -> pa.Schema:
    """The schema of a table with vectors of another dimension."""
    place = schema.get_field_index("vector")
    return schema.set(place, pa.field("vector", pa.list_(pa.float32(), dimension)))


def _meta_cells(meta: Meta, columns: sql.FieldColumns) -> dict[str, MetaValue]:
    """The cells of the fields that have columns of the type of their value."""
    return {
        columns[key][type_of(value)]: _meta_cell(value)
        for key, value in meta.items()
        if is_key(key) and type_of(value) in columns.get(key, {})
    }


def _meta_cell(value: FieldValue) -> MetaValue:
    """The value in the column that filters read; numbers are 64-bit floats there."""
    if isinstance(value, tuple):
        return sql.listed(value)
    return value if isinstance(value, (str, bool)) else float(value)


def _json(meta: Meta) -> str:
    """The meta values as JSON, "" if there are none."""
    return json.dumps(dict(meta), ensure_ascii=False) if meta else ""


def passages_of(rows: pa.Table) -> list[Passage]:
    """The passages of rows that have the columns of :func:`passage_columns`."""
    return [
        Passage(
            id=row["id"],
            document=row["document"],
            source=row["source"],
            title=row["title"],
            heading=row["heading"],
            page=row["page"],
            start=row["start"],
            end=row["stop"],
            text=row["lexical"][row["prefix"] :],
            ordinal=row["ordinal"],
            meta=_meta(row["meta"]),
            blocks=_read_blocks(row.get("blocks") or ""),
        )
        for row in rows.select(passage_columns(rows.schema)).to_pylist()
    ]


def _written_blocks(blocks: Sequence[Block]) -> str:
    return " ".join(f"{block.kind}{block.level}:{block.start}-{block.end}" for block in blocks)


def _read_blocks(written: str) -> tuple[Block, ...]:
    found = (_WRITTEN_BLOCK.fullmatch(word) for word in written.split())
    return tuple(Block(BlockKind(m[1]), int(m[3]), int(m[4]), int(m[2])) for m in found if m)


def vectors_of(rows: pa.Table) -> Vectors:
    """The column ``vector`` as an array of shape (rows, dimension), float32; there must be a row."""
    column = rows["vector"].combine_chunks()
    found: Vectors = np.asarray(column.flatten(), np.float32).reshape(len(rows), -1)
    return found


def indexed_of(rows: pa.RecordBatch | pa.Table) -> Iterator[IndexedDocument]:
    """The entries of rows of ``documents``."""
    for row in rows.to_pylist():
        yield IndexedDocument(
            source=row["source"],
            hash=row["hash"],
            size=row["size"],
            mtime_ns=row["mtime_ns"],
            passages=row["passages"],
            title=row["title"],
            meta=_meta(row["meta"]),
            reading=int((row["digest"] or "").partition("-")[2] or 1),
            own=_names(row.get("own")),
            left_out=row.get("left_out") or 0.0,
        )


def pages_of(texts: pa.Table) -> dict[tuple[str, int], Page]:
    """The pages of rows of ``texts``, put together from their parts, by (digest, position) in this order."""
    rows: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in texts.to_pylist():
        rows.setdefault((row["digest"], row["position"]), []).append(row)
    return {key: _page(rows[key]) for key in sorted(rows)}


def _page(rows: list[Mapping[str, Any]]) -> Page:
    """The page of these rows, which come in any order. Raises ValueError if it is not the one written."""
    parts = sorted(rows, key=lambda row: row.get("part") or 0)
    text = "".join(row["text"] for row in parts)
    checksum = parts[0].get("checksum")
    if checksum and checksum != _text_digest(text):
        raise ValueError(f"the stored text of document {str(parts[0]['document'])[:12]} was damaged")
    return Page(parts[0]["number"], text)


def document_of(row: Mapping[str, Any], texts: pa.Table) -> Document:
    """The document of a row of ``documents`` and its rows of ``texts``."""
    return Document(
        source=row["source"],
        hash=row["hash"],
        title=row["title"],
        media_type=row["media_type"],
        pages=tuple(pages_of(texts).values()),
        meta=_meta(row["meta"]),
        own=_names(row.get("own")),
        left_out=row.get("left_out") or 0.0,
    )


def _meta(text: str) -> Meta:
    """The meta values of their JSON, none of ""."""
    if not text:
        return NO_META
    return {
        key: tuple(value) if isinstance(value, list) else value for key, value in json.loads(text).items()
    }


def _names(written: str | None) -> tuple[str, ...]:
    return tuple((written or "").split())
