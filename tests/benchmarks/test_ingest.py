"""The parts ``ingest`` and ``memory`` of the benchmark: do they run, and measure what they say?"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package under `scripts/`, importable here and in child processes."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'scripts'}:{ROOT}")
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def figures(part: str, tmp_path: Path) -> dict[str, float]:
    from importlib import import_module

    from benchmarks.report import Room

    report = import_module(f"benchmarks.{part}").measure(Room(tmp_path, tmp_path, rounds=1, quick=True))
    return {f"{figure.name}, {figure.unit}": figure.value for figure in report.figures}


def test_ingest(tmp_path: Path) -> None:
    found = figures("ingest", tmp_path)
    assert found["ingestion / bare encode, ratio of passages/s"] > 0
    assert found["passages, passages"] > 10
    assert 0 < found["ingest of 100 unchanged files, cold process, s"] < 600


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read from /proc")
def test_memory_counts_children_too(tmp_path: Path) -> None:
    from benchmarks.footprint import peak

    child = "import time; block = bytearray(100 * 2**20); time.sleep(1)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}]); print('done')"
    out, seconds, most = peak([sys.executable, "-c", code])
    assert out == "done\n" and seconds >= 1 and 105 < most < 200


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="resident memory is read from /proc")
def test_memory_of_a_large_file_is_bounded(tmp_path: Path) -> None:
    from benchmarks.footprint import peak
    from benchmarks.memory import generated

    folder = generated(tmp_path / "much", 2**19)
    assert sum(file.stat().st_size for file in folder.iterdir()) >= 2**19
    out, _, most = peak([sys.executable, "-m", "benchmarks.scripted", str(tmp_path / "home"), str(folder)])
    assert int(out) > 375 and 100 < most < 1536


def test_static(tmp_path: Path) -> None:
    """With a tiny teacher, since the distillation of the installed model takes a minute."""
    from benchmarks import static
    from benchmarks.report import Room

    from tests.tiny_encoder import tiny_encoder

    options = {"model": str(tiny_encoder(tmp_path / "tiny")), "megabytes": "0.1"}
    report = static.measure(Room(tmp_path, tmp_path, rounds=1, quick=True, options=options))
    found = {f"{figure.name}, {figure.unit}": figure.value for figure in report.figures}
    assert found["vectors alone, static / real model, times, by processor time"] > 0
    assert found["whole ingestion, static / real model, times, by wall time"] > 0
    assert found["1 GiB at this pace, min"] > 0
