"""Retrieval that has happened already: a store and an embedder for the product's loop."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from localcrag.errors import StoreError
from localcrag.filters import Filter
from localcrag.types import Hit, Passage, Skipped

if TYPE_CHECKING:
    from localcrag.protocols import Vectors


def hits(texts: Sequence[str]) -> list[Hit]:
    """Passages as a search would bring them, each a document of its own, the best first."""
    found = []
    for rank, text in enumerate(texts, 1):
        digest = hashlib.sha256(text.encode()).hexdigest()
        passage = Passage(digest, digest, f"/given/{rank}", "", "", None, 0, len(text), text)
        found.append(Hit(passage, 1 / rank))
    return found


@dataclass(frozen=True)
class Given:
    """As much of a :class:`~localcrag.protocols.PassageStore` as a question without correction asks for."""

    hits: Sequence[Hit]

    def require_whole(self, *, thorough: bool = False) -> None:
        """What is in memory is whole."""

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        return list(self.hits[:k])

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        for hit in self.hits:
            if hit.passage.document == document:
                return hit.passage.text
        raise StoreError(f"{document} is not held")

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        return [hit.passage for hit in self.hits if hit.passage.source in documents][:limit]

    def neighbours(self, passage: Passage) -> list[Passage]:
        return []

    def skipped(self) -> Sequence[Skipped]:
        return ()


@dataclass(frozen=True)
class Still:
    """An embedder that need not look at the text."""

    name: str = "still"
    dimension: int = 1

    def encode(self, texts: Sequence[str]) -> Vectors:
        return np.ones((len(texts), 1), np.float32)

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        return self.encode(texts)
