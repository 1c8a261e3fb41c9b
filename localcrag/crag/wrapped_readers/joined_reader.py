"""Several knowledge bases as one: each is searched, and the hits of all are ranked together.

Only ranks are fused, so the knowledge bases may have been made with different embedding models. A query is
then embedded by each of them, and its vector is the vectors of all, one after the other: each knowledge base
is searched with its own part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from localcrag.errors import DocumentGone, FilterError
from localcrag.filters import Filter
from localcrag.protocols import Embedder, PassageReader
from localcrag.rank_fusion import STANDARD_RRF_K, ranked, rrf
from localcrag.types import Hit, Passage, Skipped, StoreInfo

if TYPE_CHECKING:
    from localcrag.protocols import Vectors

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class NamedReader:
    """One of several knowledge bases: its name, its content, and the number of the model of its vectors."""

    name: str
    reader: PassageReader
    model: int = 0


class JoinedEmbedder:
    """Several embedding models as one: the vectors of each, one after the other, with length 1 together."""

    def __init__(self, embedders: Sequence[Embedder]) -> None:
        self._embedders = embedders

    @property
    def name(self) -> str:
        """The names of the models."""
        return ", ".join(embedder.name for embedder in self._embedders)

    @property
    def dimension(self) -> int:
        """The number of components of all vectors together."""
        return sum(embedder.dimension for embedder in self._embedders)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The embeddings of passages, of shape (number of texts, dimension), float32."""
        return _side_by_side([embedder.encode(texts) for embedder in self._embedders])

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """The embeddings of questions, of the same shape."""
        return _side_by_side([embedder.encode_questions(texts) for embedder in self._embedders])

    def part(self, vector: Vectors, model: int) -> Vectors:
        """The part of a vector that is of one model, with length 1."""
        import numpy as np

        start = sum(embedder.dimension for embedder in self._embedders[:model])
        found = vector[start : start + self._embedders[model].dimension]
        length = float(np.linalg.norm(found))
        return found / length if length else found


def _side_by_side(vectors: Sequence[Vectors]) -> Vectors:
    import numpy as np

    joined: Vectors = np.concatenate(vectors, axis=1) / np.float32(len(vectors) ** 0.5)
    return joined


class JoinedReader:
    """A :class:`~localcrag.protocols.PassageReader` of several knowledge bases.

    Args:
        readers: the knowledge bases, in the order in which they were named.
        embedder: the model that made the vectors, if they have several models.
    """

    def __init__(self, readers: Sequence[NamedReader], embedder: JoinedEmbedder | None = None) -> None:
        self._readers, self._embedder = readers, embedder

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """The best hits of all by reciprocal rank; those of the same rank by their own scores.

        A knowledge base that has no field of the filter's has no document that passes it. Raises FilterError
        if none has. The cosines of different models cannot be compared, and are left out.
        """
        lists = self._of_some(lambda named: self._hits(named, text, vector, k, filter))
        hits = {(hit.passage.kb, hit.passage.id): hit for found in lists for hit in found}
        order = [ranked((hit.passage.kb, hit.passage.id) for hit in found) for found in lists]
        scores = rrf(order, STANDARD_RRF_K)
        best = sorted(scores, key=lambda key: (-scores[key], -hits[key].score))[:k]
        return [replace(hits[key], score=scores[key]) for key in best]

    def _hits(
        self, named: NamedReader, text: str, vector: Vectors, k: int, filter: Filter | None
    ) -> list[Hit]:
        """The hits of one knowledge base, with its name."""
        own = vector if self._embedder is None else self._embedder.part(vector, named.model)
        return [
            replace(
                hit,
                passage=replace(hit.passage, kb=named.name),
                similarity=hit.similarity if self._embedder is None else None,
            )
            for hit in named.reader.search(text, own, k=k, filter=filter)
        ]

    def _of_some(self, look: Callable[[NamedReader], T]) -> list[T]:
        """What the knowledge bases give that have the fields of a filter. Raises FilterError if none has."""
        found, refused = [], None
        for named in self._readers:
            try:
                found.append(look(named))
            except FilterError as error:
                refused = refused or error
        if refused and not found:
            raise refused
        return found

    def neighbours(self, passage: Passage) -> list[Passage]:
        """The passages just before and just after a passage, in the same document."""
        return [
            replace(other, kb=named.name)
            for named in self._readers
            if named.name == passage.kb
            for other in named.reader.neighbours(passage)
        ]

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        """The first passages of documents, by source and position; a document that two have counts once."""
        found: dict[tuple[str, int], Passage] = {}
        for named in self._readers:
            for passage in named.reader.passages(documents, limit=limit):
                found.setdefault((passage.source, passage.ordinal), replace(passage, kb=named.name))
        return sorted(found.values(), key=lambda passage: (passage.source, passage.ordinal))

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        """The stored text of a document or page, of the first knowledge base that holds it."""
        gone: DocumentGone | None = None
        for named in self._readers:
            try:
                return named.reader.text(document, page, source=source)
            except DocumentGone as error:
                gone = gone or error
        assert gone is not None  # there is a reader
        raise gone

    def require_whole(self, *, thorough: bool = False) -> None:
        """Raise DamagedKnowledgeBase if a part of one of them is missing or was changed."""
        for named in self._readers:
            named.reader.require_whole(thorough=thorough)

    def info(self) -> StoreInfo:
        """What all of them hold together."""
        held = [named.reader.info() for named in self._readers]
        return StoreInfo(
            name="+".join(named.name for named in self._readers),
            documents=sum(info.documents for info in held),
            passages=sum(info.passages for info in held),
            embedding_model=", ".join(_distinct(info.embedding_model for info in held)),
            dimension=held[0].dimension if self._embedder is None else self._embedder.dimension,
            size=sum(info.size for info in held),
            fields=tuple(_distinct(field for info in held for field in info.fields)),
            vector_index=any(info.vector_index for info in held),
            questions=sum(info.questions for info in held),
            places=tuple(_distinct(place for info in held for place in info.places)),
        )

    def skipped(self) -> Sequence[Skipped]:
        """The sources that could not be read into one of them."""
        return [item for named in self._readers for item in named.reader.skipped()]


def _distinct(values: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(values))
