"""Small documents for the stores, embedded by hashing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.types import NO_META, Document, IndexedDocument, Meta, Page, Passage
from tests.fakes.store import HashEmbedder

EMBEDDER = HashEmbedder()
Item = tuple[Document, IndexedDocument, list[Passage], npt.NDArray[np.float32]]


def item(
    source: str, *texts: str, meta: Meta = NO_META, paged: bool = False, heading: str = "", hash: str = ""
) -> Item:
    """A document whose passages are ``texts``: a page each if ``paged``, else the lines of one text."""
    whole = "\n".join(texts)
    digest = hash or hashlib.sha256(whole.encode()).hexdigest()
    pages = tuple(Page(n, text) for n, text in enumerate(texts, 1)) if paged else (Page(None, whole),)
    title = source.rpartition("/")[2]
    document = Document(source, digest, title, "text/plain", pages, meta)
    passages, at = [], 0
    for ordinal, text in enumerate(texts):
        start = 0 if paged else at
        page = ordinal + 1 if paged else None
        passages.append(
            Passage(
                f"{source}:{digest[:8]}:{ordinal}", digest, source, title, heading, page, start,
                start + len(text), text, ordinal, meta,
            )
        )  # fmt: skip
        at += len(text) + 1
    entry = IndexedDocument(source, digest, len(whole), 1_000, len(passages), title, meta)
    return document, entry, passages, EMBEDDER.encode([p.text for p in passages])


def asked(passage: Passage, *questions: str) -> tuple[Passage, list[str], npt.NDArray[np.float32]]:
    """Questions for a passage, as a store takes them."""
    return passage, list(questions), EMBEDDER.encode(questions)


@pytest.fixture
def bases(tmp_path: Path) -> KnowledgeBases:
    return KnowledgeBases(tmp_path)


@pytest.fixture
def lance(bases: KnowledgeBases) -> LanceStore:
    return bases.create("kb", EMBEDDER.name, EMBEDDER.dimension)


@pytest.fixture
def found(lance: LanceStore) -> Callable[[str], list[str]]:
    """The texts that a search finds, best first."""

    def search(text: str) -> list[str]:
        return [hit.passage.text for hit in lance.search(text, EMBEDDER.encode([text])[0], k=50)]

    return search
