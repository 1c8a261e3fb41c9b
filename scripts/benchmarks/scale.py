"""Searching 10,000, 100,000, a million passages: how long, how well, how large.

``--set sizes=10000,100000,1000000`` chooses the sizes. Vectors and texts are made
(:mod:`benchmarks.synthetic`), everything else is the product's own: its rows, its upkeep that builds the
indexes, its search. A size is made once and kept in ``.cache/scale-SIZE``: some 6 GB at a million;
``--set fresh=yes`` makes it anew, which is when building is timed.
"""

from __future__ import annotations

import json
import resource
import shutil
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.picture import Chart, Line
from benchmarks.report import Figure, Report, Room
from benchmarks.synthetic import DIMENSION, Corpus, Query, vocabulary

if TYPE_CHECKING:
    from localcrag.store.lance_store import LanceStore
    from localcrag.store.tables import Snapshot

NAME = "made"
K = 24
"""What a retrieval asks for before its hits are reranked."""
WARMING, TIMED = 40, 200
"""Queries that are not timed, so that the caches hold what they hold in a process that runs, and that are."""
FILTER = "shelf = 'shelf 7'"
"""What one document in a thousand passes."""
WANTED = {"hybrid": "≤ 60 at 1,000,000"}


@dataclass(frozen=True, slots=True)
class Built:
    """What making one knowledge base took; ``seconds`` of wall and ``cpu_seconds`` of building indexes."""

    passages: int
    seconds: float
    cpu_seconds: float
    steps: tuple[tuple[str, float], ...]
    size: int


@dataclass(frozen=True, slots=True)
class Searched:
    """Seconds of each query by kind, of wall and of all cores (which other work on the machine disturbs
    less), what was found of the exact ten nearest, and the MiB that the process held."""

    seconds: dict[str, list[float]]
    cpu_seconds: dict[str, float]
    recall: float
    filtered_recall: float
    memory: float


def measure(room: Room) -> Report:
    asked = "2000,5000" if room.quick else "10000,100000"
    sizes = [int(size) for size in room.options.get("sizes", asked).split(",")]
    counts = (5, 20) if room.quick else (WARMING, TIMED)
    words = vocabulary(vocabulary_file())
    figures: list[Figure] = []
    latencies: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        corpus = Corpus(size, words)
        home = (room.scratch if room.quick else room.cache) / f"scale-{size}"
        built = _made(corpus, home, fresh="fresh" in room.options)
        searched = _searched(corpus, home, *counts)
        figures += _figures(built, searched)
        for kind, seconds in searched.seconds.items():
            latencies.setdefault(kind, []).append((size, _ms(seconds, 95)))
    lines = tuple(Line(kind, tuple(points)) for kind, points in latencies.items())
    chart = Chart("scale", "A search, warm, by size", "passages", "p95, ms", lines, logarithmic=True)
    return Report(tuple(figures), (chart,))


def _figures(built: Built, searched: Searched) -> list[Figure]:
    size = f"{built.passages:,}"
    figures = [
        Figure(f"{size}: {kind} search, p{share}", _ms(seconds, share), "ms", wanted)
        for kind, seconds in searched.seconds.items()
        for share, wanted in ((50, ""), (95, WANTED.get(kind, "")))
    ]
    return [
        *figures,
        *(
            Figure(f"{size}: {kind} search", s * 1000, "ms of CPU")
            for kind, s in searched.cpu_seconds.items()
        ),
        Figure(f"{size}: recall@10 of the vector search", searched.recall, "of exact search", "≥ 0.95"),
        Figure(f"{size}: the same behind a filter", searched.filtered_recall, "of exact search", "≥ 0.95"),
        Figure(f"{size}: indexes built", built.seconds, "s"),
        Figure(f"{size}: the same, of all cores", built.cpu_seconds, "s of CPU"),
        *(Figure(f"{size}: of it {step}", seconds, "s") for step, seconds in built.steps),
        Figure(f"{size}: on disk", built.size / built.passages, "bytes a passage"),
        Figure(f"{size}: memory of the searching process, peak", searched.memory, "MiB"),
    ]


def _ms(seconds: Sequence[float], share: int) -> float:
    return float(np.percentile(seconds, share)) * 1000


# ---------------------------------------------------------------------------------- making


def _made(corpus: Corpus, home: Path, *, fresh: bool) -> Built:
    """The knowledge base in ``home``, made if it is not there whole."""
    done = home / "built.json"
    if fresh or not done.is_file():
        shutil.rmtree(home, ignore_errors=True)
        built = _optimized(_filled(corpus, home))
        done.write_text(json.dumps(asdict(built)), "utf-8")
    told = json.loads(done.read_text("utf-8"))
    return Built(**{**told, "steps": tuple((step, seconds) for step, seconds in told["steps"])})


def _filled(corpus: Corpus, home: Path) -> LanceStore:
    """Rows as an ingestion writes them, but appended without looking whether they replace others."""
    from localcrag.embedding.embedder import DEFAULT_MODEL
    from localcrag.store.arrow_rows import digests_of, document_rows, passage_rows, text_rows
    from localcrag.store.knowledge_bases import KnowledgeBases
    from localcrag.store.tables import Tables

    store = KnowledgeBases(home).create(NAME, DEFAULT_MODEL, DIMENSION)
    tables = Tables(store.folder)
    for items in corpus.items():
        documents = [document for document, *_ in items]
        digests = digests_of(documents)
        tables.add_meta_columns(documents)
        tables.texts.add(text_rows(documents, digests))
        tables.passages.add(passage_rows(items, digests, tables.passages.schema))
        tables.documents.add(document_rows(items, digests))
    return store


def _optimized(store: LanceStore) -> Built:
    """Compacted, with all indexes: what an ingestion ends with."""
    from localcrag.store.checksums import record_files

    begun: list[tuple[str, float]] = []
    cpu = process_time()
    store.optimize(lambda step: begun.append((step, perf_counter())))
    seconds, cpu = perf_counter(), process_time() - cpu
    ends = [at for _, at in begun[1:]] + [seconds]
    steps = tuple((step, end - at) for (step, at), end in zip(begun, ends, strict=True))
    with warnings.catch_warnings(action="ignore"):  # readers of older versions would fail: there are none
        for table in (store._tables.passages, store._tables.documents, store._tables.texts):
            table.optimize(cleanup_older_than=timedelta(0))
    record_files(store.folder, cleaned=True)
    info = store.info()
    return Built(info.passages, seconds - begun[0][1], cpu, steps, info.size)


def vocabulary_file() -> Path:
    """The vocabulary of the installed embedding model."""
    from localcrag.embedding.embedder import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder().folder / "vocab.txt"


# ---------------------------------------------------------------------------------- searching


def _searched(corpus: Corpus, home: Path, warming: int, timed: int) -> Searched:
    from localcrag.filters import parse
    from localcrag.store.hybrid_search import CANDIDATES_PER_HALF, Wanted, matching, nearest
    from localcrag.store.knowledge_bases import KnowledgeBases

    store = KnowledgeBases(home).open(NAME)
    queries, narrow = corpus.queries(warming + timed), parse(FILTER)

    def wanted(query: Query) -> Wanted:
        return Wanted(query.text, query.vector, None, CANDIDATES_PER_HALF)

    def snapshot() -> Snapshot:
        return store._tables.snapshot(store._tables.passages)

    kinds: dict[str, Callable[[Query], object]] = {
        "vector": lambda query: nearest(snapshot(), wanted(query)),
        "full-text": lambda query: matching(snapshot(), wanted(query)),
        "hybrid": lambda query: store.search(query.text, query.vector, k=K),
        "filtered hybrid": lambda query: store.search(query.text, query.vector, k=K, filter=narrow),
    }
    seconds: dict[str, list[float]] = {kind: [] for kind in kinds}
    cpu = dict.fromkeys(kinds, 0.0)
    for number, query in enumerate(queries):  # in turns, so that a slow moment is everyone's
        for kind, search in kinds.items():
            started, used = perf_counter(), process_time()
            search(query)
            if number >= warming:
                seconds[kind].append(perf_counter() - started)
                cpu[kind] += (process_time() - used) / timed
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    recall, filtered = _recall(snapshot(), queries[warming:])
    return Searched(seconds, cpu, recall, filtered, memory)


def _recall(snapshot: Snapshot, queries: Sequence[Query]) -> tuple[float, float]:
    """The share of the ten nearest, by comparing every vector, that are the first ten found."""
    from localcrag.filters import parse
    from localcrag.store import sql
    from localcrag.store.hybrid_search import CANDIDATES_PER_HALF, Wanted, nearest
    from localcrag.store.table_schemas import field_columns

    shares = []
    for where in (None, sql.compile(parse(FILTER), field_columns(snapshot.table.schema))):
        found = []
        for query, exact in zip(queries, _exact(snapshot, queries, where), strict=True):
            near = nearest(snapshot, Wanted(query.text, query.vector, where, CANDIDATES_PER_HALF))
            found.append(len(exact.intersection(near[:10])) / max(1, len(exact)))
        shares.append(float(np.mean(found)))
    return shares[0], shares[1]


def _exact(snapshot: Snapshot, queries: Sequence[Query], where: str | None) -> list[set[int]]:
    """The rows of the ten nearest of each query."""
    asked = np.stack([query.vector for query in queries])
    best = np.full((len(queries), 10), -2.0, np.float32)
    rows = np.full((len(queries), 10), -1, np.int64)
    scan = snapshot.table.search().select(["vector"]).with_row_id(True)
    for batch in (scan.where(where) if where else scan).to_batches():
        vectors = np.asarray(batch["vector"].flatten(), np.float32).reshape(-1, DIMENSION)
        cosines = np.concatenate([best, asked @ vectors.T], axis=1)
        numbers = np.asarray(batch["_rowid"]).astype(np.int64)
        known = np.concatenate([rows, np.broadcast_to(numbers, (len(queries), len(numbers)))], axis=1)
        first = np.argpartition(-cosines, 9, axis=1)[:, :10]
        best, rows = np.take_along_axis(cosines, first, 1), np.take_along_axis(known, first, 1)
    return [{row for row in found.tolist() if row >= 0} for found in rows]
