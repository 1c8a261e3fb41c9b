"""Hybrid search: the cosine order and the BM25 order of the passages, fused by rank.

If questions were written for the passages (doc2query: Nogueira et al. 2019, arXiv 1904.08375), the
questions are ranked in both orders too. A question's reciprocal rank counts for the passage that it was
written for, times its cosine to the query: a question that asks something else would otherwise put a wrong
passage first (on SQuAD, where none of the indexed questions was the one asked, hit@1 was 0.793 without
questions, 0.733 with their ranks counted in full, and 0.790 with the cosine). A question is dropped if its
passage is gone or has another text by now.

Both halves of the search run in parallel in one version of the table and return row ids only; texts and
vectors are read only for the hits that are returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localcrag.rank_fusion import HYBRID_RRF_K, ranked, rrf
from localcrag.store import sql
from localcrag.store.arrow_rows import mark_of, passages_of, vectors_of
from localcrag.store.full_text import words_weight
from localcrag.store.table_schemas import passage_columns
from localcrag.store.tables import Snapshot, Tables, match_query
from localcrag.types import Hit

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

    from localcrag.store.arrow_rows import Vectors

CANDIDATES_PER_HALF = 50
"""The least number of rows that each half of a search ranks, before they are fused."""
MAX_QUERY_CHARACTERS = 2000
"""The characters of a query that the full-text search reads; the embedding model's window is shorter."""
MIN_PROBES, PARTITIONS_PER_PROBE = 32, 4
"""The IVF partitions that a search reads: at least ``MIN_PROBES``, and one of every so many."""
FILTERED_REFINE_FACTOR = 2
"""Under a filter, so many times the wanted rows are taken from the vector index and compared exactly."""

Row = int
"""A row's id in one version of its table."""
Lead = tuple[str, str]
"""The passage of a question: its id, and the mark of the text that the question was written for."""
Placed = tuple[Row, int, float]
"""A row of an order, its rank from 1, and its weight in the fusion."""
STATIC_VECTORS_WEIGHT = 0.3
"""The weight of the order by static vectors. Of 30 questions about 400 paragraphs of an encyclopaedia, the
nDCG@10 of the fused order was 0.765 with the full weight, and 0.893 with this; with the real model 0.951."""
FULL_PLACE_WEIGHT = (HYBRID_RRF_K + 1) / 2
"""The weight of a rank that counts in full: a passage that is first in both orders has the score 1."""

_search_pool = ThreadPoolExecutor(4, thread_name_prefix="localcrag-search")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A query to both halves of the search.

    Attributes:
        text: the words for the full-text search.
        vector: the unit vector for the cosine search, shape (dimension,).
        where: an SQL condition on the rows, or None.
        depth: the number of rows to rank.
    """

    text: str
    vector: Vectors
    where: str | None
    depth: int


def hybrid(
    tables: Tables, text: str, vector: Vectors, *, k: int, where: str | None, vectors_weight: float = 1.0
) -> list[Hit]:
    """The best ``k`` passages, each once and with its own cosine, best first.

    The score is the reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009) of the two orders, 1
    for a passage that is first in both.

    Args:
        tables: the tables of a knowledge base.
        text: the query.
        vector: its unit vector, shape (dimension,).
        k: the most hits to return.
        where: an SQL condition on the passages, or None.
        vectors_weight: the weight of the cosine order beside that of the words.
    """
    wanted = Wanted(text, vector, where, max(CANDIDATES_PER_HALF, 2 * k))
    passages, asked = tables.snapshot(tables.passages), tables.questions
    halves = [_search_pool.submit(search, passages, wanted) for search in (nearest, matching)]
    led = [] if asked is None else _question_leads(tables.snapshot(asked), wanted)
    shares = (vectors_weight, words_weight(passages.language, text))
    weights = [FULL_PLACE_WEIGHT * share for share in shares]
    orders: list[list[Placed]] = [
        list(ranked(half.result(), weight)) for half, weight in zip(halves, weights, strict=True)
    ]
    if led:
        found = _passages_led_to(passages.table, {lead for leads in led for lead in leads}, where)
        for order, leads in zip(orders, led, strict=True):
            order += _placed_by_questions(found, leads)
    scores = rrf(orders, HYBRID_RRF_K)
    best = sorted(scores, key=lambda row: (-scores[row], row))[:k]
    return hits(passages, best, scores, vector)


def _placed_by_questions(found: Mapping[Lead, Row], leads: Mapping[Lead, float]) -> Iterator[Placed]:
    """The rows of the passages of ranked questions, with their ranks and weights.

    ``found`` has the rows of the passages that still exist, ``leads`` the cosine of each question.
    """
    kept = [lead for lead in leads if lead in found]
    for lead, rank, weight in ranked(kept, FULL_PLACE_WEIGHT):
        yield found[lead], rank, leads[lead] * weight


# ---------------------------------------------------------------------------------- the two orders


def nearest(snapshot: Snapshot, wanted: Wanted) -> list[Row]:
    """The rows whose vectors are nearest, nearest first, by the vector index if there is one."""
    return [int(row) for row in _nearest(snapshot, wanted, [])["_rowid"].to_pylist()]


def matching(snapshot: Snapshot, wanted: Wanted) -> list[Row]:
    """The rows whose words match best by BM25, best first."""
    return [int(row) for row in _matching(snapshot, wanted, [])["_rowid"].to_pylist()]


def probes(partitions: int) -> int:
    """The number of partitions to read of so many, chosen by the recall at 10 in ``scripts/bench scale``."""
    return max(MIN_PROBES, partitions // PARTITIONS_PER_PROBE)


def _nearest(snapshot: Snapshot, wanted: Wanted, columns: Sequence[str]) -> pa.Table:
    """The cosine half: the nearest rows in order, with these columns and ``_rowid``."""
    query = snapshot.table.search(wanted.vector, query_type="vector")
    query = query.distance_type("cosine")  # type: ignore[attr-defined]
    if not wanted.where:
        query = query.nprobes(probes(snapshot.partitions))
    elif snapshot.partitions:  # all partitions are read: the filter costs more than that
        query = query.where(wanted.where).nprobes(snapshot.partitions).refine_factor(FILTERED_REFINE_FACTOR)
    else:
        query = query.where(wanted.where)
    return query.select([*columns, "_distance"]).with_row_id(True).limit(wanted.depth).to_arrow()


def _matching(snapshot: Snapshot, wanted: Wanted, columns: Sequence[str]) -> pa.Table:
    """The BM25 half: the best rows in order, with these columns and ``_rowid``."""
    query = snapshot.table.search(match_query(wanted.text[:MAX_QUERY_CHARACTERS]))
    query = query.where(wanted.where) if wanted.where else query
    return query.select([*columns, "_score"]).with_row_id(True).limit(wanted.depth).to_arrow()


def hits(snapshot: Snapshot, rows: Sequence[Row], scores: Mapping[Row, float], vector: Vectors) -> list[Hit]:
    """The rows as hits in their order, each with the exact cosine of its vector to ``vector``."""
    if not rows:
        return []
    query = snapshot.table.take_row_ids(list(rows)).select(
        [*passage_columns(snapshot.table.schema), "vector"]
    )
    found = query.with_row_id().to_arrow()
    cosines = (vectors_of(found) @ vector).tolist()
    held = dict(zip(found["_rowid"].to_pylist(), zip(passages_of(found), cosines, strict=True), strict=True))
    return [Hit(held[row][0], scores[row], held[row][1]) for row in rows]


# ---------------------------------------------------------------------------------- questions

LEAD_COLUMNS = ["passage", "mark", "vector"]


def _question_leads(questions: Snapshot, wanted: Wanted) -> list[dict[Lead, float]]:
    """The passages of the nearest questions, and of those that match best by BM25."""
    searches = (_nearest, _matching)
    halves = [_search_pool.submit(search, questions, wanted, LEAD_COLUMNS) for search in searches]
    return [_leads(half.result(), wanted) for half in halves]


def _leads(rows: pa.Table, wanted: Wanted) -> dict[Lead, float]:
    """The passages of ranked questions, each once at its best rank, with that question's cosine in [0, 1]."""
    if not len(rows):
        return {}
    leads: dict[Lead, float] = {}
    cosines = (vectors_of(rows) @ wanted.vector).tolist()
    for id, mark, cosine in zip(rows["passage"].to_pylist(), rows["mark"].to_pylist(), cosines, strict=True):
        leads.setdefault((id, mark), min(max(cosine, 0.0), 1.0))
    return leads


def _passages_led_to(passages: Table, leads: Iterable[Lead], where: str | None) -> dict[Lead, Row]:
    """The rows of the passages that still have the text that their question was written for."""
    condition = sql.one_of("id", sorted({id for id, _ in leads}))
    condition = f"{condition} AND {where}" if where else condition
    columns = passage_columns(passages.schema)
    found = passages.search().where(condition).select(columns).with_row_id(True).to_arrow()
    rows = zip(passages_of(found), found["_rowid"].to_pylist(), strict=True)
    return {(passage.id, mark_of(passage)): row for passage, row in rows}
