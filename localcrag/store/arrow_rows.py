"""Arrow rows: conversions between values and rows of the LanceDB tables.

:mod:`localcrag.store.table_schemas` says what the columns hold. Both import pyarrow, and are themselves
imported on first use.
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

from localcrag.filters import is_key, type_of
from localcrag.store import sql
from localcrag.store.box_cells import read_boxes, written_boxes
from localcrag.store.table_schemas import DOCUMENTS_SCHEMA, TEXTS_SCHEMA, field_columns, passage_columns
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

TEXT_PART_CHARACTERS = 1 << 14
"""The characters of a text in one row: LanceDB compacts 8,192 rows at a time, however long they are."""
_WRITTEN_BLOCK = re.compile(r"([a-z]+)(\d+):(\d+)-(\d+)")
ArrowError = pa.ArrowException
"""The base class of Arrow's errors."""


def digest_of(document: Document) -> str:
    """A digest of the document's text, pages and blocks: 32 hexadecimal digits, "-", and the reading."""
    digest = hashlib.sha256()
    for page in document.pages:
        digest.update(f"{page.number}:{len(page.text)}:".encode())
        digest.update(page.text.encode("utf-8", "surrogatepass"))
        digest.update(_written_blocks(page.blocks).encode())
        digest.update(written_boxes(page.boxes).encode())
    return f"{digest.hexdigest()[:32]}-{READING}"


def digests_of(documents: Iterable[Document]) -> Digests:
    """The digest of each document's text, by its source."""
    return {document.source: digest_of(document) for document in documents}


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
                "boxes": "" if start else written_boxes(page.boxes),
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
    return Page(parts[0]["number"], text, boxes=read_boxes(parts[0].get("boxes") or ""))


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
