"""Peak memory of ingesting a corpus and one four times its size."""

from __future__ import annotations

from benchmarks.material import corpus, measured
from benchmarks.report import Figure, Report, Room


def measure(room: Room) -> Report:
    peaks = []
    for copies in (1, 4):
        folder = corpus(room.scratch / f"text{copies}", 100_000 if room.quick else 400_000, copies)
        peaks.append(measured(room.scratch / f"home{copies}", "ingest", str(folder))[2])
    return Report(
        (
            Figure("ingest, peak memory", peaks[0], "MiB", "≤ 2048"),
            Figure(
                "ingest of four times as much / of once",
                peaks[1] / peaks[0],
                "ratio of peak memory",
                "1 or so",
            ),
        )
    )
