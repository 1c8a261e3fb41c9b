"""Large tables, made small: the vector index, look-ups by id, filters, and versions that change meanwhile."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from localcrag.filters import parse
from localcrag.store import hybrid_search, sql, tables, writer
from localcrag.store.hybrid_search import MIN_PROBES, Wanted, nearest, probes
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.store.tables import make_indexes, partitions_of
from tests.store.conftest import EMBEDDER, Item, asked, item

Vectors = npt.NDArray[np.float32]


def clustered(count: int, seed: int = 0) -> Vectors:
    """Vectors about forty centres, of shape (count, dimension)."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).standard_normal((40, EMBEDDER.dimension))
    made = centres[rng.integers(0, 40, count)] + 0.7 * rng.standard_normal((count, EMBEDDER.dimension))
    unit: Vectors = (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)
    return unit


def placed(sources: int, each: int, seed: int = 0) -> list[Item]:
    """Documents of ``each`` passages with such vectors."""
    vectors = clustered(sources * each, seed).reshape(sources, each, -1)
    made = []
    for n in range(sources):
        texts = [f"word{n} item{m} seed{seed}" for m in range(each)]
        document, entry, passages, _ = item(f"/{seed}-{n}", *texts, meta={"shelf": n % 50})
        made.append((document, entry, passages, vectors[n]))
    return made


@pytest.mark.parametrize(
    ("rows", "machine", "cached"),
    [
        (100_000, 8, 1.0),
        (5_000_000, 24, 2.98),
        (5_000_000, 8, 2.0),
        (5_000_000, 2, 1.0),
        (5_000_000, None, 1.0),
    ],
)
def test_searches_of_a_large_table_cache_its_indexes_as_far_as_there_is_memory(
    monkeypatch: pytest.MonkeyPatch, rows: int, machine: int | None, cached: float
) -> None:
    gib = 1024**3
    monkeypatch.setattr(tables, "machine_memory", lambda: machine * gib if machine else None)
    assert tables.reader_cache_bytes(rows, dimension=384) / gib == pytest.approx(cached, abs=0.01)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index from 500 passages, of partitions of 32."""
    monkeypatch.setattr(writer, "MAX_EXACT_PASSAGES", 500)
    monkeypatch.setattr(writer, "VECTORS_PER_PARTITION", 32)


def ids(store: LanceStore, vector: Vectors, filter: str | None = None, k: int = 10) -> list[str]:
    hits = store.search("", vector, k=k, filter=parse(filter) if filter else None)
    return [hit.passage.id for hit in hits]


def test_an_index_finds_what_comparing_every_vector_finds(
    lance: LanceStore, small: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    lance.replace(placed(100, 30))
    queries = clustered(40, seed=1)
    exact = [set(ids(lance, vector)) for vector in queries]
    lance.optimize()
    assert partitions_of(lance._tables.passages) == 93
    monkeypatch.setattr(hybrid_search, "MIN_PROBES", 8)
    assert hybrid_search.probes(93) == 23 < 93, "not all of it is read"
    found = [set(ids(lance, vector)) for vector in queries]
    recall = np.mean([len(one & other) / 10 for one, other in zip(found, exact, strict=True)])
    assert recall >= 0.95


def test_cosines_are_exact_though_the_index_rounds(lance: LanceStore, small: None) -> None:
    written = placed(40, 30)
    lance.replace(written)
    lance.optimize()
    vector = clustered(1, seed=2)[0]
    held = {p.id: v for _, _, passages, vectors in written for p, v in zip(passages, vectors, strict=True)}
    hits = lance.search("", vector, k=20)
    assert [hit.similarity for hit in hits] == pytest.approx(
        [held[h.passage.id] @ vector for h in hits], abs=1e-6
    )
    similarities = [hit.similarity for hit in hits if hit.similarity is not None]
    assert len(similarities) == len(hits)
    assert similarities == pytest.approx(sorted(similarities, reverse=True), abs=0.01)


@pytest.mark.parametrize("filter", ["shelf = 7", "shelf < 2 and not source = '/0-1'", "source = '/0-33'"])
def test_a_filter_is_exact_behind_an_index(lance: LanceStore, small: None, filter: str) -> None:
    written = placed(100, 30)
    lance.replace(written)
    lance.optimize()
    passing = {"shelf = 7": {7, 57}, "shelf < 2 and not source = '/0-1'": {0, 50, 51}}.get(filter, {33})
    pool = [(p, v) for n in passing for p, v in zip(written[n][2], written[n][3], strict=True)]
    for vector in clustered(10, seed=3):
        wanted = sorted(pool, key=lambda pair: -float(pair[1] @ vector))[:10]
        assert ids(lance, vector, filter) == [passage.id for passage, _ in wanted]
    assert set(ids(lance, vector, filter, k=200)) == {passage.id for passage, _ in pool}


def test_meta_fields_are_indexed_once_there_are_many_passages(lance: LanceStore, small: None) -> None:
    def indexed() -> set[str]:
        return {column for index in lance._tables.passages.list_indices() for column in index.columns}

    few, more = placed(10, 30), placed(20, 30, seed=1)
    lance.replace(few)
    lance.optimize()
    assert "meta_shelf" not in indexed()
    lance.replace(more)
    steps: list[str] = []
    lance.optimize(steps.append)
    assert "meta_shelf" in indexed() and "filters" in steps
    lance.replace([item("/red", "a late one", meta={"colour": "red", "shelf": 7})])
    assert lance.matching(parse("shelf = 7")) == {"/0-7", "/1-7", "/red"}
    lance.optimize(steps.append)
    assert "meta_colour" in indexed()
    assert lance.matching(parse("colour = 'red'")) == {"/red"}


def test_no_index_of_a_meta_field_is_made_twice(lance: LanceStore, small: None) -> None:
    lance.replace(placed(20, 30))
    lance.replace([item("/red", "a late one", meta={"my-key": "v", "Key2": 2, "a_b": True})])
    lance.optimize()
    passages = lance._tables.passages
    before = passages.version
    make_indexes(passages, ["meta_my-key", "meta_Key2", "meta_a_b", "meta_shelf", "source"])
    assert passages.version == before
    assert lance.matching(parse('my-key = "v" and Key2 = 2 and a_b = true')) == {"/red"}


def test_new_rows_and_removals_of_another_process_are_seen(
    bases: KnowledgeBases, lance: LanceStore, small: None
) -> None:
    lance.replace(placed(20, 30))
    lance.optimize()
    vector = clustered(1, seed=4)[0]
    before = ids(lance, vector)
    document, entry, passages, _ = item("/new", "a late one")
    other = bases.open("kb")
    other.replace([(document, entry, passages, vector[None, :])])
    assert ids(lance, vector)[0] == passages[0].id
    other.optimize()
    assert ids(lance, vector)[0] == passages[0].id
    other.remove(["/new"])
    assert ids(lance, vector) == before


def test_a_search_under_way_reads_one_version(bases: KnowledgeBases, lance: LanceStore) -> None:
    """Row numbers change when a table is compacted; a snapshot's do not."""
    for written in placed(6, 5):
        lance.replace([written])
    vector = clustered(1, seed=5)[0]
    tables = lance._tables
    snapshot = tables.snapshot(tables.passages)
    rows = nearest(snapshot, Wanted("", vector, None, 10))
    found = hybrid_search.hits(snapshot, rows, dict.fromkeys(rows, 1.0), vector)
    other = bases.open("kb")
    other.remove(["/0-0", "/0-1"])
    other.optimize()
    assert nearest(snapshot, Wanted("", vector, None, 10)) == rows
    again = hybrid_search.hits(snapshot, rows, dict.fromkeys(rows, 1.0), vector)
    assert [hit.passage for hit in again] == [hit.passage for hit in found]
    assert [hit.score for hit in again] == pytest.approx([hit.score for hit in found], abs=1e-6)
    assert [hit.similarity for hit in again] == pytest.approx([hit.similarity for hit in found], abs=1e-6)
    later = tables.snapshot(tables.passages)
    assert later.version > snapshot.version and later.table.count_rows() == 20
    assert tables.snapshot(tables.passages) is later, "not opened again while nothing changed"


def test_an_index_is_made_anew_when_a_table_has_outgrown_it(lance: LanceStore, small: None) -> None:
    lance.replace(placed(20, 30))
    lance.optimize()
    assert partitions_of(lance._tables.passages) == 18
    lance.replace(placed(20, 30, seed=6))
    lance.optimize()
    assert partitions_of(lance._tables.passages) == 18
    lance.replace(placed(60, 30, seed=7))
    lance.optimize()
    assert partitions_of(lance._tables.passages) == 93
    indexes = [index for index in lance._tables.passages.list_indices() if index.columns == ["vector"]]
    assert len(indexes) == 1
    assert ids(lance, clustered(1, seed=8)[0])


def test_passages_are_looked_up_by_an_index_on_their_ids(lance: LanceStore) -> None:
    written = [item(f"/{n}", f"text {n}") for n in range(50)]
    lance.replace(written)
    passages = lance._tables.passages
    passages.drop_index("id_idx")  # as in a knowledge base that was made before there was one
    lance.optimize()
    wanted = written[17][2][0]
    plan = passages.search().where(sql.one_of("id", [wanted.id])).select(["id"]).explain_plan()
    assert "ScalarIndexQuery" in plan or "MaterializeIndex" in plan, plan
    lance.add_questions([asked(wanted, "Where do zebras live?")])
    questions = lance._tables.questions
    assert questions is not None
    assert {column for index in questions.list_indices() for column in index.columns} >= {"source", "passage"}
    vector = EMBEDDER.encode(["where do zebras live"])[0]
    assert lance.search("where do zebras live", vector, k=1)[0].passage == wanted


def test_more_partitions_are_read_where_there_are_more() -> None:
    assert [probes(n) for n in (0, 10, 48)] == [MIN_PROBES] * 3
    assert probes(4000) > probes(1000) > MIN_PROBES
