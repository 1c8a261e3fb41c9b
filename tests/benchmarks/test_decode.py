"""The part ``decode`` of the benchmark: what is given is written, in fewer batches by reading ahead."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.shape_models import CACHE, shape

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package under `scripts/`, importable for a test; the shape model, or a skip."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    shape("qwen3")
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def figures(tmp_path: Path, **options: str) -> dict[str, float]:
    from benchmarks import decode
    from benchmarks.report import Room

    report = decode.measure(Room(tmp_path, CACHE, rounds=1, quick=True, options=options))
    assert [chart.name for chart in report.charts] == ["decode", "decode-batches"]
    return {figure.name: figure.value for figure in report.figures}


def test_a_quotation_takes_fewer_batches_than_a_text_about_something_else(tmp_path: Path) -> None:
    found = figures(tmp_path)
    assert found["qwen3, quote: batches"] < 0.8 < found["qwen3, unrelated: batches"] <= 1
    assert (
        found["qwen3, quote: guessed tokens that came"] > found["qwen3, unrelated: guessed tokens that came"]
    )
    for words in ("yes or no", "a line", "an answer of two pieces", "an answer of six pieces"):
        assert found[f"qwen3: constraint of {words}, compiled"] > 0
    assert found["qwen3: constraint of a line, loaded"] < found["qwen3: constraint of a line, compiled"]


def test_texts_of_ones_own(tmp_path: Path) -> None:
    evidence = "The kiln is fired twice a year, in May and in October, by the guild of potters of Arn."
    file = tmp_path / "texts.jsonl"
    file.write_text(json.dumps({"evidence": evidence, "answer": evidence}) + "\n\n")
    found = figures(tmp_path, texts=str(file))
    assert found["qwen3, given: batches"] < 0.8
    assert not any("quote" in name for name in found)
