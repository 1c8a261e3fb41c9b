"""A text that is given with a question: its passages are found beside those of the knowledge base.

They are graded, refined and cited as any other. Half of what a search may bring is kept for them, since
somebody thought that they bear on the question; a filter does not concern them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.wrapped_readers.reader_around import ReaderAround
from localcrag.filters import Filter
from localcrag.protocols import Embedder, PassageReader
from localcrag.rank_fusion import HYBRID_RRF_K, ranked, rrf
from localcrag.types import Document, Hit, Passage

if TYPE_CHECKING:
    from localcrag.protocols import Vectors


class ReaderWithText(ReaderAround):
    """A :class:`~localcrag.protocols.PassageReader` that finds the passages of one more document.

    Args:
        held: the knowledge base.
        document: the text that was given, as a document.
        passages: its passages, in order.
        embedder: the model that the passages are embedded with when they are first searched.
    """

    def __init__(
        self, held: PassageReader, document: Document, passages: Sequence[Passage], embedder: Embedder
    ) -> None:
        super().__init__(held)
        self._document, self._passages, self._embedder = document, passages, embedder

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """The best passages of the given text, at most half of ``k``; then those of the knowledge base."""
        held = self._held.search(text, vector, k=k, filter=filter)
        above = max((hit.score for hit in held), default=0.0)
        given = [
            Hit(self._passages[at], above + score, float(self._vectors[at] @ vector))
            for at, score in self._ranking(text, vector)[: max(1, k // 2)]
        ]
        return [*given, *held][:k]

    def _ranking(self, text: str, vector: Vectors) -> list[tuple[int, float]]:
        """The numbers of the passages with their scores, best first: by cosine and by shared words."""
        wanted = terms(text)
        shared = [len(wanted & words) for words in self._terms]
        cosines = self._vectors @ vector
        numbers = range(len(self._passages))
        by_words = sorted((at for at in numbers if shared[at]), key=lambda at: -shared[at])
        by_cosine = sorted(numbers, key=lambda at: -cosines[at])
        scores = rrf([ranked(by_cosine), ranked(by_words)], HYBRID_RRF_K)
        return sorted(scores.items(), key=lambda item: -item[1])

    @cached_property
    def _vectors(self) -> Vectors:
        """The vectors of the passages, of shape (passages, dimension)."""
        return self._embedder.encode([passage.searchable for passage in self._passages])

    @cached_property
    def _terms(self) -> list[set[str]]:
        """The content words of each passage."""
        return [terms(passage.searchable) for passage in self._passages]

    def neighbours(self, passage: Passage) -> list[Passage]:
        """The passages just before and just after a passage, in the same document."""
        if not self._is_given(passage.source, passage.document):
            return self._held.neighbours(passage)
        beside = (passage.ordinal - 1, passage.ordinal + 1)
        return [other for other in self._passages if other.ordinal in beside]

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        """The first passages of documents, by source and position."""
        others = {source: hash for source, hash in documents.items() if not self._is_given(source, hash)}
        given = list(self._passages[:limit]) if len(others) < len(documents) else []
        held = self._held.passages(others, limit=limit) if others else []
        return sorted([*given, *held], key=lambda passage: (passage.source, passage.ordinal))

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        """The stored text of a document or page."""
        if self._is_given(source, document):
            return self._document.pages[0].text
        return self._held.text(document, page, source=source)

    def _is_given(self, source: str | None, hash: str) -> bool:
        return (source, hash) == (self._document.source, self._document.hash)
