"""The columns of LanceDB's tables, how values become rows, and how rows become values again.

The only module that imports pyarrow; it is itself imported on first use.

- ``passages``: what is searched, one row a passage. Its text is kept once, in ``lexical``, behind the
  title and the heading that the full-text index reads with it; ``prefix`` characters come before it.
  Each meta key has a column of its own beside ``meta``, which holds the values exactly, as JSON.
- ``documents``: one small row a source, and nothing more, so that what is held can be listed quickly.
- ``texts``: the stored text, a row for each PART of a page, by the document's hash and a digest of the
  text, because two readers may read the same bytes differently. Layout 1 had one row a page.
- ``questions``, only where some were written: one row a question, with the passage it leads back to, the
  mark of the text it was written for, and that passage's fields, so that a filter means the same in both.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from localcrag.filters import BUILT_IN, FieldType, is_key, type_of
from localcrag.store import sql
from localcrag.types import NO_META, Document, IndexedDocument, Meta, MetaValue, Page, Passage

if TYPE_CHECKING:
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]
    Batch = Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]
    Questions = Sequence[tuple[Passage, Sequence[str], Vectors]]
    import pyarrow as pa


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
PART = 1 << 14
"""Characters of a text in one row: LanceDB compacts 8,192 rows at a time, whatever is in them."""
TEXTS = pa.schema(
    [
        pa.field("document", pa.string(), nullable=False),
        pa.field("digest", pa.string(), nullable=False),
        pa.field("position", pa.int32()),
        pa.field("number", pa.int32()),
        pa.field("part", pa.int32()),
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
ArrowError = pa.ArrowException
"""The base of what Arrow raises."""

PASSAGE = [field.name for field in _PASSAGE]
"""The columns that :func:`localcrag.store.arrow_rows.passages_of` needs."""
_QUESTION = [
    pa.field("passage", pa.string(), nullable=False),
    pa.field("mark", pa.string(), nullable=False),
    pa.field("lexical", pa.string()),
]

_ARROW: Mapping[FieldType, pa.DataType] = {
    FieldType.TEXT: pa.string(),
    FieldType.NUMBER: pa.float64(),
    FieldType.BOOLEAN: pa.bool_(),
}


def passages_schema(dimension: int) -> pa.Schema:
    """The passages' columns while no document has meta fields."""
    return pa.schema([*_PASSAGE, pa.field("vector", pa.list_(pa.float32(), dimension))])


def questions_schema(passages: pa.Schema) -> pa.Schema:
    """The questions' columns; those that filters read are as in the passages'."""
    copied = [field for field in passages if is_filtered(field.name)]
    return pa.schema([*_QUESTION, *copied, passages.field("vector")])


def meta_schema(types: Mapping[str, FieldType]) -> pa.Schema:
    """The columns of meta keys."""
    return pa.schema([pa.field(sql.META + key, _ARROW[kind]) for key, kind in types.items()])


def meta_types(passages: pa.Schema) -> dict[str, FieldType]:
    """The meta keys that have columns, in alphabetical order; the other way of :func:`meta_schema`."""
    kinds = {arrow: kind for kind, arrow in _ARROW.items()}
    return {name.removeprefix(sql.META): kinds[passages.field(name).type] for name in meta_columns(passages)}


def meta_columns(schema: pa.Schema) -> list[str]:
    """The names of the columns of meta keys, in alphabetical order."""
    return sorted(name for name in schema.names if name.startswith(sql.META))


def is_filtered(column: str) -> bool:
    """Whether filters read the column."""
    return column in BUILT_IN or column.startswith(sql.META)


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


def text_rows(documents: Iterable[Document], schema: pa.Schema = TEXTS) -> pa.Table:
    """The rows of whole texts in the table's own schema."""
    size = PART if "part" in schema.names else sys.maxsize
    return pa.Table.from_pylist(
        [
            {
                "document": document.hash,
                "digest": digest,
                "position": position,
                "number": page.number,
                "part": start // size,
                "text": page.text[start : start + size],
            }
            for document in documents
            for digest in [digest_of(document)]
            for position, page in enumerate(document.pages)
            for start in range(0, max(1, len(page.text)), size)
        ],
        schema=schema,
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


def passages_of(rows: pa.Table) -> list[Passage]:
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
        )
        for row in rows.select(PASSAGE).to_pylist()
    ]


def vectors_of(rows: pa.Table) -> Vectors:
    """The column ``vector`` as an array of shape (rows, dimension)."""
    column = rows["vector"].combine_chunks()
    found: Vectors = np.asarray(column.flatten(), np.float32).reshape(len(rows), -1)
    return found


def indexed_of(rows: pa.RecordBatch | pa.Table) -> Iterator[IndexedDocument]:
    for row in rows.to_pylist():
        yield IndexedDocument(
            source=row["source"],
            hash=row["hash"],
            size=row["size"],
            mtime_ns=row["mtime_ns"],
            passages=row["passages"],
            title=row["title"],
            meta=_meta(row["meta"]),
        )


def pages_of(texts: pa.Table) -> dict[tuple[str, int], Page]:
    """Pages put together from their parts: by digest and position, in that order."""
    rows: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for row in texts.to_pylist():
        rows.setdefault((row["digest"], row["position"]), []).append(row)
    return {key: _page(rows[key]) for key in sorted(rows)}


def _page(rows: list[Mapping[str, Any]]) -> Page:
    parts = sorted(rows, key=lambda row: row.get("part") or 0)
    return Page(parts[0]["number"], "".join(row["text"] for row in parts))


def document_of(row: Mapping[str, Any], texts: pa.Table) -> Document:
    return Document(
        source=row["source"],
        hash=row["hash"],
        title=row["title"],
        media_type=row["media_type"],
        pages=tuple(pages_of(texts).values()),
        meta=_meta(row["meta"]),
    )


def _meta(text: str) -> Meta:
    return json.loads(text) if text else NO_META
