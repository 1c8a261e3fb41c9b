"""The part "warm" of the benchmark runs, and measures what its names say."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


def test_it_runs_and_a_warm_command_is_quicker_than_a_cold_one() -> None:
    command = [str(BENCH), "warm", "--quick", "--rounds", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = {item["name"]: item["value"] for item in json.loads(done.stdout)["warm"]["figures"]}
    assert 0 < figures["--help"] < figures["search, cold"]
    assert all(value > 0 for value in figures.values())
    assert figures["search without an evaluator, warm"] < figures["search without an evaluator, cold"]
    assert figures["search, warm, again"] < figures["search, cold"]
    assert figures["ask beyond the loop's own time, warm"] < figures["ask beyond the loop's own time, cold"]
    assert "evaluator, pairs of 250 tokens" in figures
