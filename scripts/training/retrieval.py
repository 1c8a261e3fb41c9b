"""Small reference retrieval: BM25, the fusion of rankings, and the metrics of a ranking."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer

from localcrag.crag.questions.query_terms import STOP_WORDS
from localcrag.rank_fusion import STANDARD_RRF_K, ranked, rrf

Scores = npt.NDArray[np.float32]
Indices = npt.NDArray[np.intp]

_TOKEN = re.compile(r"[^\W_]+")


def terms(text: str) -> list[str]:
    """Lower-cased words without stop words, plurals folded (the S-stemmer, Harman 1991)."""
    return [_singular(t) for t in _TOKEN.findall(text.lower()) if t not in STOP_WORDS]


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("us", "ss")) and len(word) > 3:
        return word[:-1]
    return word


class Bm25:
    """Okapi BM25 (Robertson and Zaragoza 2009) over a list of texts, as one sparse matrix."""

    def __init__(self, texts: Sequence[str], k1: float = 1.2, b: float = 0.75) -> None:
        self._counter = CountVectorizer(analyzer=terms)  # type: ignore[no-untyped-call]
        counts = self._counter.fit_transform(texts).tocsr().astype(np.float32)
        length = np.asarray(counts.sum(axis=1)).ravel()
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        idf = np.log1p((counts.shape[0] - frequency + 0.5) / (frequency + 0.5))
        norm = k1 * (1 - b + b * length / max(length.mean(), 1.0))
        rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
        counts.data = counts.data * (k1 + 1) / (counts.data + norm[rows]) * idf[counts.indices]
        self._weights: sparse.csr_matrix = counts

    def scores(self, queries: Sequence[str]) -> Scores:
        """Scores of shape (queries, texts)."""
        asked = self._counter.transform(queries)  # type: ignore[no-untyped-call]
        once = asked.astype(bool).astype(np.float32)
        found: Scores = (once @ self._weights.T).toarray()
        return found

    def top(self, queries: Sequence[str], k: int, batch: int = 512) -> Indices:
        """Indices of the `k` best texts of each query, best first: shape (queries, k)."""
        parts = [top(self.scores(queries[i : i + batch]), k) for i in range(0, len(queries), batch)]
        return np.concatenate(parts)


def top(scores: Scores, k: int) -> Indices:
    """Columns of the `k` highest scores of each row, best first; ties go to the lower column."""
    k = min(k, scores.shape[1])
    best = np.sort(np.argpartition(-scores, k - 1, axis=1)[:, :k], axis=1)
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    found: Indices = np.take_along_axis(best, order, axis=1)
    return found


def fused(rankings: Iterable[Sequence[int]]) -> list[int]:
    """The product's reciprocal rank fusion of several rankings, best first.

    The constant is the standard one, on whose order calibration and cards were made; the product's own
    hybrid search uses a smaller one.
    """
    scores = rrf(map(ranked, rankings), STANDARD_RRF_K)
    return sorted(scores, key=lambda item: -scores[item])


@dataclass(frozen=True)
class Ranked:
    """Where the right texts of one query stand in a ranking: their ranks, from 1, and how many there are."""

    ranks: tuple[int, ...]
    right: int

    @classmethod
    def of(cls, ranking: Iterable[int], right: Collection[int]) -> Ranked:
        """The ranks of the items that are `right`, of those that the ranking has."""
        return cls(tuple(rank for rank, item in enumerate(ranking, 1) if item in right), len(right))


def hit_at(rankings: Sequence[Ranked], k: int) -> float:
    """Share of queries with a right text among the first `k`."""
    return float(np.mean([any(rank <= k for rank in each.ranks) for each in rankings]))


def ndcg_at(rankings: Sequence[Ranked], k: int = 10) -> float:
    """nDCG@k (Järvelin and Kekäläinen 2002) with gains of 0 and 1: discounts of 1 / log2(rank + 1)."""
    return float(np.mean([ndcg_of(each, k) for each in rankings]))


def ndcg_of(ranked: Ranked, k: int = 10) -> float:
    """nDCG@k of one query."""
    best = sum(1 / np.log2(rank + 1) for rank in range(1, min(ranked.right, k) + 1))
    return float(sum(1 / np.log2(rank + 1) for rank in ranked.ranks if rank <= k) / best)
