"""A knowledge base with static vectors, the hits of which are compared with the query by the real model.

Static vectors find most of what the real model finds, but in another order, and reranking looks first at what
comes first. So a search takes some more hits, embeds these few with the real model, and orders them by both
ranks. On three collections the nDCG@10 after reranking was 0.927, 0.807 and 0.417 without that, 0.944, 0.873
and 0.444 with it, and 0.937, 0.879 and 0.443 where all passages had vectors of the real model (60 questions
each; an encyclopaedia, health, library science).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from localcrag.crag.wrapped_readers.reader_around import ReaderAround
from localcrag.filters import Filter
from localcrag.protocols import Embedder, PassageReader
from localcrag.rank_fusion import HYBRID_RRF_K, ranked, rrf
from localcrag.types import Hit

if TYPE_CHECKING:
    from localcrag.protocols import Vectors

COMPARED_PER_HIT = 2
"""The hits that are compared for each hit that is wanted. With 1 the three figures were 0.933, 0.867 and
0.439, with 4 they were 0.944, 0.872 and 0.441."""


class ComparedReader(ReaderAround):
    """A :class:`~localcrag.protocols.PassageReader` that orders hits by their rank and by a better model.

    Its hits have the better model's cosine as their similarity. A passage is embedded once.

    Args:
        held: the knowledge base.
        model: the model that compares queries and hits.
    """

    def __init__(self, held: PassageReader, model: Embedder) -> None:
        super().__init__(held)
        self._model = model
        self._known: dict[str, Vectors] = {}

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """The best ``k`` hits by reciprocal rank; the score is 1 for one that is first in both orders."""
        hits = self._held.search(text, vector, k=COMPARED_PER_HIT * k, filter=filter)
        if not hits:
            return []
        cosines = self._cosines(text, hits)
        found = range(len(hits))
        by_cosine = sorted(found, key=lambda at: -cosines[at])
        weight = (HYBRID_RRF_K + 1) / 2
        scores = rrf([ranked(found, weight), ranked(by_cosine, weight)], HYBRID_RRF_K)
        best = sorted(found, key=lambda at: -scores[at])[:k]
        return [replace(hits[at], score=scores[at], similarity=cosines[at]) for at in best]

    def _cosines(self, text: str, hits: Sequence[Hit]) -> list[float]:
        """The cosine of each hit to the query."""
        asked = self._model.encode_questions([text])[0]
        texts = [hit.passage.searchable for hit in hits]
        fresh = [each for each in dict.fromkeys(texts) if each not in self._known]
        self._known.update(zip(fresh, self._model.encode(fresh), strict=True))
        return [float(self._known[each] @ asked) for each in texts]
