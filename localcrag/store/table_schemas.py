"""The columns of the LanceDB tables.

- ``passages``: the searchable passages, one row each. Its text is stored once, in ``lexical``, after the
  title and the heading, which the full-text index reads too; ``prefix`` characters come before it.
  ``blocks`` are "heading1:0-14 paragraph0:16-120": kind, level and characters of the page.
  Each field has a column for each type of its values beside ``meta``, which holds the exact values, as JSON.
- ``documents``: one small row for each source, without texts, so that the sources are listed quickly.
- ``texts``: the stored text, a row for each part of a page, by the document's hash and a digest of the
  text, because two readers may read the same bytes differently. Layout 1 had one row for each page.
  ``boxes`` are those of the words of a scanned page (:mod:`localcrag.store.box_cells`), in its first row.
- ``questions``, which exists only if some were written: one row for each question, with its passage, the
  mark of the text that it was written for, and that passage's fields, so that filters work in both tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

import pyarrow as pa

from localcrag.filters import BUILT_IN, FieldType, FieldTypes
from localcrag.store import sql

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
TEXTS_SCHEMA = pa.schema(
    [
        pa.field("document", pa.string(), nullable=False),
        pa.field("digest", pa.string(), nullable=False),
        pa.field("position", pa.int32()),
        pa.field("number", pa.int32()),
        pa.field("part", pa.int32()),
        pa.field("text", pa.large_string()),
        pa.field("checksum", pa.string()),
        pa.field("boxes", pa.string()),
    ]
)
LATE_TEXT_COLUMNS = pa.schema([TEXTS_SCHEMA.field(name) for name in ("checksum", "boxes")])
"""The checksum of a whole page in each of its rows, and its boxes: columns that a table has only from the
first write of this version on."""
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
    """The columns that :func:`~localcrag.store.arrow_rows.passages_of` needs, of those that the table has."""
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


def document_columns(documents: pa.Schema) -> list[str]:
    """The columns that :func:`~localcrag.store.arrow_rows.indexed_of` needs, of those that the table has."""
    return [name for name in DOCUMENTS_SCHEMA.names if name in documents.names and name != "media_type"]


def with_width(schema: pa.Schema, dimension: int) -> pa.Schema:
    """The schema of a table with vectors of another dimension."""
    place = schema.get_field_index("vector")
    return schema.set(place, pa.field("vector", pa.list_(pa.float32(), dimension)))
