"""What training measures: rankings with several right texts, the library collection, adversarial pairs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
zstandard = pytest.importorskip("zstandard")

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def scripts() -> Iterator[None]:
    """The package under `scripts/`, importable for this module."""
    sys.path.insert(0, str(ROOT / "scripts"))
    yield
    sys.path.remove(str(ROOT / "scripts"))


def test_ndcg_counts_every_right_text_and_what_the_ranking_lacks() -> None:
    from training.retrieval import Ranked, hit_at, ndcg_of

    one = Ranked.of([4, 7, 2], {7})
    assert ndcg_of(one) == pytest.approx(1 / math.log2(3))
    both = Ranked.of([7, 4, 2], {7, 2})
    assert ndcg_of(both) == pytest.approx((1 + 1 / 2) / (1 + 1 / math.log2(3)))
    assert ndcg_of(Ranked.of([7, 4], {7, 9})) == pytest.approx(1 / (1 + 1 / math.log2(3)))
    assert ndcg_of(Ranked.of(range(20), {15})) == 0
    assert [hit_at([one, both], k) for k in (1, 2)] == [0.5, 1.0]


def test_the_library_collection_has_the_judged_queries_only(tmp_path: Path) -> None:
    from training import benchmarks

    assert benchmarks.library_collection(tmp_path) is None
    folder = tmp_path / "qa" / "retrieval"
    folder.mkdir(parents=True)
    parts: dict[str, list[dict[str, object]]] = {
        "docs": [{"doc_id": str(n), "title": f"Title {n}", "text": f"Text {n}."} for n in (1, 2, 3)],
        "queries": [{"query_id": "1", "text": "Two  lines"}, {"query_id": "2", "text": "Not judged"}],
        "qrels": [{"query_id": "1", "doc_id": n, "relevance": 1} for n in ("1", "3")],
    }
    for name, records in parts.items():
        packed = zstandard.compress("\n".join(json.dumps(record) for record in records).encode())
        (folder / f"cisi_{name}.jsonl.zst").write_bytes(packed)
    found = benchmarks.library_collection(tmp_path)
    assert found is not None
    assert found.questions == ["Two lines"]
    assert found.right == [frozenset({0, 2})]
    assert found.passages[1] == "Title 2\nText 2."


def test_adversarial_pairs_are_as_many_of_each_kind() -> None:
    from training import benchmarks
    from training.data import Example

    examples = [Example("squad_v2", "Warsaw", f"Who {n}?", ("Ann did.",), (), n % 3 == 0) for n in range(12)]
    made = benchmarks.adversarial(examples, 100)
    assert made.labels.tolist() == [1.0] * 4 + [0.0] * 4
    assert {question for question, _ in made.pairs[:4]} == {f"Who {n}?" for n in (0, 3, 6, 9)}
    assert len(benchmarks.adversarial(examples, 2).pairs) == 4
    assert not benchmarks.adversarial([], 2).pairs
