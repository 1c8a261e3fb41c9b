"""The part "warm" of the benchmark runs; which command is quicker is no matter of a test."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


def test_it_runs_and_has_all_its_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCALCRAG_HOME", str(tmp_path / "users"))
    command = [str(BENCH), "warm", "--quick", "--rounds", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "users").exists(), "nothing is kept in the home of whoever runs it"
    figures = {item["name"]: item["value"] for item in json.loads(done.stdout)["warm"]["figures"]}
    assert all(value > 0 for value in figures.values())
    cold = {name.removesuffix(", cold") for name in figures if name.endswith(", cold")}
    assert cold == {"search", "search without an evaluator", "ask", "ask beyond the loop's own time"}
    assert {"--help", "search, warm, again", "evaluator, pairs of 250 tokens"} <= figures.keys()
