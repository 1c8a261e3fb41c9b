"""The part ``simulate`` of the benchmark: what is fitted, what is planned, and how far it can be trusted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The package under `scripts/`, importable here."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        del sys.modules[name]


def test_each_law_finds_what_it_was_made_from() -> None:
    from benchmarks.simulate import constant, power_law, straight_line

    line = straight_line([(n, 4 + 3e-6 * n) for n in (1e5, 3e5, 1e6)])
    assert line(1e8) == pytest.approx(304)
    power = power_law([(n, 2e-5 * n**1.1) for n in (1e4, 1e5, 1e6)])
    assert power(1e9) == pytest.approx(2e-5 * 1e9**1.1)
    assert constant([(1e4, 7.0), (1e6, 5.0)])(1e9) == 5.0
    assert straight_line([(1e5, 3.0)])(1e9) == 3.0 and power_law([(1e5, 3.0)])(1e6) == pytest.approx(30)


def test_the_error_is_that_at_the_largest_size_which_was_not_seen() -> None:
    from benchmarks.simulate import Cost, straight_line

    bent = Cost("search", "ms", [(1e5, 1.0), (2e5, 2.0), (1e6, 5.0)], straight_line)
    assert bent.error == pytest.approx(1.0), "the line of the first two says 10, and 5 were measured"
    assert Cost("search", "ms", [(1e5, 1.0), (1e6, 5.0)], straight_line).error is None


def test_a_plan_follows_from_what_was_saved(tmp_path: Path) -> None:
    from benchmarks.report import Room
    from benchmarks.simulate import measure

    options = {"sizes": "1e7,1e9", "cores": "8", "nodes": "1000"}
    found = {f.name: f.value for f in measure(Room(tmp_path, tmp_path, options=options)).figures}
    ten_million, billion = found["10,000,000: read, embed, write"], found["1,000,000,000: read, embed, write"]
    assert billion == pytest.approx(100 * ten_million) and ten_million > 0
    one = "1,000,000,000: the same on one machine of 8 cores"
    assert found[one] == pytest.approx(billion / 8 / 24)
    assert found["1,000,000,000: of it the writer is the limit"] == 1.0, "a thousand nodes outrun one writer"
    assert found["1,000,000,000: hybrid search in one knowledge base, p50"] > 1000
    assert found["1,000,000,000: knowledge bases of 5,000,000 passages"] == 200
    [largest] = [
        name for name in found if name.startswith("error at ") and name.endswith("building the indexes")
    ]
    assert abs(found[largest]) < 100


def test_without_saved_figures_it_says_how_to_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks import simulate

    monkeypatch.setattr(simulate, "RESULTS", tmp_path)
    with pytest.raises(SystemExit, match="bench scale --save"):
        simulate.saved("scale")
