"""The part ``scale`` of the benchmark: does it run, and is what it makes what it says?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def test_scale_measures_each_size_and_reuses_what_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import scale
    from benchmarks.report import Room

    monkeypatch.setattr(scale, "WARMING", 2)
    monkeypatch.setattr(scale, "TIMED", 4)
    room = Room(tmp_path / "scratch", tmp_path / "cache", options={"sizes": "300,900"})
    report = scale.measure(room)
    values = {figure.name: figure.value for figure in report.figures}
    for size in ("300", "900"):
        assert values[f"{size}: recall@10 of the vector search"] == 1
        assert values[f"{size}: the same behind a filter"] == 1
        assert values[f"{size}: hybrid search, p95"] > 0
        assert values[f"{size}: on disk"] > 384 * 4
    (chart,) = report.charts
    assert chart.logarithmic and {line.name for line in chart.lines} >= {"vector", "full-text", "hybrid"}
    assert [x for x, _ in chart.lines[0].points] == [300, 900]
    monkeypatch.setattr(scale, "_filled", lambda *_: pytest.fail("what is there whole is not made anew"))
    scale.measure(Room(tmp_path / "scratch", tmp_path / "cache", options={"sizes": "300"}))


def test_what_is_made_is_the_same_each_time_and_shaped_like_what_is_real() -> None:
    from benchmarks.scale import vocabulary_file
    from benchmarks.synthetic import Corpus, vocabulary

    words = vocabulary(vocabulary_file())
    items = [made for some in Corpus(3000, words).items() for made in some]
    again = [made for some in Corpus(3000, words).items() for made in some]
    assert [one[0] for one in items] == [one[0] for one in again]
    vectors = np.concatenate([made[3] for made in items])
    assert vectors.shape == (3000, 384)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    for document, entry, passages, _ in items[:50]:
        assert entry.passages == len(passages) > 0
        for passage in passages:
            assert document.pages[0].text[passage.start : passage.end] == passage.text
            assert 150 <= len(passage.text.split()) <= 200
    queries = Corpus(3000, words).queries(100)
    assert all(4 <= len(query.text.split()) <= 10 for query in queries)
    cosines = -np.sort(-np.stack([query.vector for query in queries]) @ vectors.T, axis=1)
    first, tenth = np.median(cosines[:, 0]), np.median(cosines[:, 9])
    assert 0.6 < first < 0.75 and 0.25 < tenth < 0.4, "as BoolQ's questions: 0.67 and 0.32"
