"""The part "doors" of the benchmark runs, and every client gets its answer."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

BENCH = Path(__file__).parents[2] / "scripts" / "bench"


def test_it_runs_and_nobody_is_refused() -> None:
    command = [str(BENCH), "doors", "--quick", "--rounds", "1", "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    figures = {item["name"]: item["value"] for item in json.loads(done.stdout)["doors"]["figures"]}
    assert figures["errors"] == 0
    assert 0 < figures["ask, 3 clients at once, median"] <= figures["ask, 3 clients at once, p95"]
