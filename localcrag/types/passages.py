"""Documents, the passages they are cut into, and what a knowledge base holds of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from localcrag.types.enums import Origin

MetaValue = str | int | float | bool
Meta = Mapping[str, MetaValue]
NO_META: Meta = MappingProxyType({})
JsonValue = str | int | float | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document: ``number`` counts from 1, or is None where the format has no pages."""

    number: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read: its stored text, page by page.

    ``source`` is an absolute path, a URL, or ``stdin:NAME``; ``hash`` is the sha256 (hex) of the
    bytes that were read.
    """

    source: str
    hash: str
    title: str
    media_type: str
    pages: tuple[Page, ...]
    meta: Meta = field(default_factory=lambda: NO_META)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one page of a document: what is embedded, searched, graded and cited.

    ``ordinal`` counts the passages of a document from 0; ``document`` is the document's hash;
    ``heading`` is the nearest section heading above it ("" where there is none).
    """

    id: str
    document: str
    source: str
    title: str
    heading: str
    page: int | None
    start: int
    end: int
    text: str
    ordinal: int = 0
    meta: Meta = field(default_factory=lambda: NO_META)
    origin: Origin = Origin.DOCUMENTS


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What one knowledge base holds; ``size`` in bytes on disk, ``questions`` written for its passages."""

    name: str
    documents: int
    passages: int
    embedding_model: str
    dimension: int
    size: int
    fields: tuple[str, ...]
    vector_index: bool
    questions: int = 0
