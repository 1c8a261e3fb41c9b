"""Hybrid search: the cosine order and the BM25 order of the passages, fused by rank.

Where questions were written for the passages (doc2query: Nogueira et al. 2019, arXiv 1904.08375), both
orders are taken of the questions too, and a question's place counts for the passage that it leads
back to, times its cosine to the query: a question that asks something else would otherwise put a wrong
passage first (on SQuAD, where none of the questions indexed was the one asked, hit@1 was 0.793 without
them, 0.733 where their places counted in full, 0.790 times the cosine). A question whose passage is
gone, or has another text by now, leads nowhere and is dropped.

The orders are made of row numbers alone, side by side, in one version of the table; texts and vectors
are read only for what is returned.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localcrag.rank_fusion import HYBRID_RRF_K, ranked, rrf
from localcrag.store import sql
from localcrag.store.arrow_rows import PASSAGE, mark_of, passages_of, vectors_of
from localcrag.store.tables import Snapshot, Tables, words
from localcrag.types import Hit

if TYPE_CHECKING:
    import pyarrow as pa
    from lancedb.table import Table

    from localcrag.store.arrow_rows import Vectors

DEPTH = 50
"""The hits that each half of a hybrid search gives at least, before they are fused."""
LONGEST_QUERY = 2000
"""Characters of a question that the full-text search reads; the embedding model's window ends before."""
PROBES, SHARE = 32, 4
"""Partitions of the vector index that are read: so many at least, and one of so many."""
REFINE = 2
"""Behind a filter, how many times the rows wanted are taken from the index, to be compared exactly."""

Row = int
"""A row's number in one version of its table."""
Lead = tuple[str, str]
"""Where a question leads: its passage's id, and the mark of the text it was written for."""
Placed = tuple[Row, int, float]
"""A row of an order, its rank from 1, and how far its place counts."""
FIRST_IN_BOTH = (HYBRID_RRF_K + 1) / 2
"""How far a place counts in full, so that what is first in both orders has the score 1."""

_halves = ThreadPoolExecutor(4, thread_name_prefix="localcrag-search")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for; ``where`` is the condition on a passage, ``vector`` has shape (dimension,)."""

    text: str
    vector: Vectors
    where: str | None
    depth: int


def hybrid(tables: Tables, text: str, vector: Vectors, *, k: int, where: str | None) -> list[Hit]:
    """The best ``k`` passages, each once and with its own cosine.

    The score is the reciprocal rank fusion (Cormack, Clarke, Büttcher, SIGIR 2009) of the two orders,
    1 for what is first in both.
    """
    wanted = Wanted(text, vector, where, max(DEPTH, 2 * k))
    passages, asked = tables.snapshot(tables.passages), tables.questions
    halves = [_halves.submit(search, passages, wanted) for search in (nearest, matching)]
    led = [] if asked is None else _asked(tables.snapshot(asked), wanted)
    orders: list[list[Placed]] = [list(ranked(half.result(), FIRST_IN_BOTH)) for half in halves]
    if led:
        found = _led_to(passages.table, {lead for leads in led for lead in leads}, where)
        for order, leads in zip(orders, led, strict=True):
            order += _asked_about(found, leads)
    scores = rrf(orders, HYBRID_RRF_K)
    best = sorted(scores, key=lambda row: (-scores[row], row))[:k]
    return hits(passages, best, scores, vector)


def _asked_about(found: Mapping[Lead, Row], leads: Mapping[Lead, float]) -> Iterator[Placed]:
    """The passages that ranked questions lead to, in a list of their own; a place counts times the cosine."""
    kept = [lead for lead in leads if lead in found]
    for lead, rank, weight in ranked(kept, FIRST_IN_BOTH):
        yield found[lead], rank, leads[lead] * weight


# ---------------------------------------------------------------------------------- the two orders


def nearest(snapshot: Snapshot, wanted: Wanted) -> list[Row]:
    """The rows whose vectors are nearest, nearest first: as the index has them, where there is one."""
    return [int(row) for row in _nearest(snapshot, wanted, [])["_rowid"].to_pylist()]


def matching(snapshot: Snapshot, wanted: Wanted) -> list[Row]:
    """The rows whose words match best by BM25, best first."""
    return [int(row) for row in _matching(snapshot, wanted, [])["_rowid"].to_pylist()]


def probes(partitions: int) -> int:
    """How many partitions are read, by what was found of the ten nearest (``scripts/bench scale``)."""
    return max(PROBES, partitions // SHARE)


def _nearest(snapshot: Snapshot, wanted: Wanted, columns: Sequence[str]) -> pa.Table:
    query = snapshot.table.search(wanted.vector, query_type="vector")
    query = query.distance_type("cosine")  # type: ignore[attr-defined]
    if not wanted.where:
        query = query.nprobes(probes(snapshot.partitions))
    elif snapshot.partitions:  # what passes is read wholly, and compared exactly: the filter costs more
        query = query.where(wanted.where).nprobes(snapshot.partitions).refine_factor(REFINE)
    else:
        query = query.where(wanted.where)
    return query.select([*columns, "_distance"]).with_row_id(True).limit(wanted.depth).to_arrow()


def _matching(snapshot: Snapshot, wanted: Wanted, columns: Sequence[str]) -> pa.Table:
    query = snapshot.table.search(words(wanted.text[:LONGEST_QUERY]))
    query = query.where(wanted.where) if wanted.where else query
    return query.select([*columns, "_score"]).with_row_id(True).limit(wanted.depth).to_arrow()


def hits(snapshot: Snapshot, rows: Sequence[Row], scores: Mapping[Row, float], vector: Vectors) -> list[Hit]:
    """The rows as hits in their order, each with the exact cosine of its vector to ``vector``."""
    if not rows:
        return []
    found = snapshot.table.take_row_ids(list(rows)).select([*PASSAGE, "vector"]).with_row_id().to_arrow()
    cosines = (vectors_of(found) @ vector).tolist()
    held = dict(zip(found["_rowid"].to_pylist(), zip(passages_of(found), cosines, strict=True), strict=True))
    return [Hit(held[row][0], scores[row], held[row][1]) for row in rows]


# ---------------------------------------------------------------------------------- questions

LEAD = ["passage", "mark", "vector"]


def _asked(questions: Snapshot, wanted: Wanted) -> list[dict[Lead, float]]:
    """Where the nearest questions lead, and those whose words match best."""
    halves = [_halves.submit(search, questions, wanted, LEAD) for search in (_nearest, _matching)]
    return [_leads(half.result(), wanted) for half in halves]


def _leads(rows: pa.Table, wanted: Wanted) -> dict[Lead, float]:
    """Where ranked questions lead, each place once, at its best rank, with that question's cosine."""
    if not len(rows):
        return {}
    leads: dict[Lead, float] = {}
    cosines = (vectors_of(rows) @ wanted.vector).tolist()
    for id, mark, cosine in zip(rows["passage"].to_pylist(), rows["mark"].to_pylist(), cosines, strict=True):
        leads.setdefault((id, mark), min(max(cosine, 0.0), 1.0))
    return leads


def _led_to(passages: Table, leads: Iterable[Lead], where: str | None) -> dict[Lead, Row]:
    """The passages that are still there, as they were when the question was written."""
    condition = sql.one_of("id", sorted({id for id, _ in leads}))
    condition = f"{condition} AND {where}" if where else condition
    found = passages.search().where(condition).select(PASSAGE).with_row_id(True).to_arrow()
    rows = zip(passages_of(found), found["_rowid"].to_pylist(), strict=True)
    return {(passage.id, mark_of(passage)): row for passage, row in rows}
