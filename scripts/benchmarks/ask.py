"""A whole ``ask`` as a user types it: cold process, seconds per stage, tokens, peak memory."""

from __future__ import annotations

import json
from statistics import median

from benchmarks.material import QUESTION, corpus, measured, run
from benchmarks.report import Figure, Report, Room


def measure(room: Room) -> Report:
    folder, home = corpus(room.scratch / "text", 60_000 if room.quick else 250_000), room.scratch / "home"
    run(home, "ingest", str(folder))
    runs = [measured(home, "ask", "--json", QUESTION) for _ in range(room.rounds)]
    answer = json.loads(runs[-1][0])
    help_ = [measured(home, "--help")[1] for _ in range(room.rounds)]
    search = [measured(home, "search", QUESTION)[1] for _ in range(room.rounds)]
    return Report(
        (
            Figure("--help", median(help_), "s", "≤ 0.15"),
            Figure("search, cold process", median(search), "s"),
            Figure("ask, cold process", median(run[1] for run in runs), "s"),
            *(Figure(f"ask: {stage}", seconds, "s") for stage, seconds in answer["usage"]["seconds"].items()),
            Figure("ask", answer["usage"]["tokens_evaluated"], "tokens evaluated"),
            Figure("ask, peak memory", max(run[2] for run in runs), "MiB", "≤ 1536"),
        )
    )
