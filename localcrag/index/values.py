"""How the rows of LanceDB's tables become values; :mod:`localcrag.index.rows` has the other way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from localcrag.index.rows import PASSAGE
from localcrag.types import NO_META, Document, IndexedDocument, Meta, Page, Passage

if TYPE_CHECKING:
    import pyarrow as pa

    from localcrag.index.rows import Vectors


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
