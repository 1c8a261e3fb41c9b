"""Peak memory of ingesting, of the process and its children together: much text, one large file, more text.

``--set gib=1`` for as much text as that (default 0.03). Embedding so much takes hours and no more
memory than embedding little, so there the vectors are random, and everything else is real.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from benchmarks.footprint import peak
from benchmarks.material import corpus, texts, tool
from benchmarks.report import Figure, Report, Room

GIBIBYTE = 1024**3
LARGE = 60 * 1024**2
"""Bytes of a file just under the limit on one."""


def measure(room: Room) -> Report:
    gib = 0.004 if room.quick else float(room.options.get("gib", 0.03))
    folder = generated(room.scratch / "much", int(gib * GIBIBYTE))
    out, seconds, much = _scripted(room, folder)
    large = generated(room.scratch / "large", LARGE // 30 if room.quick else LARGE, files=1)
    peaks = []
    for copies in (1, 4):
        few = corpus(room.scratch / f"text{copies}", 40_000 if room.quick else 400_000, copies)
        peaks.append(peak(tool(room.scratch / f"home{copies}", "ingest", str(few)))[2])
    return Report(
        (
            Figure(f"ingest of {gib:g} GiB of text, scripted vectors", much, "MiB at the peak", "≤ 2048"),
            Figure(f"ingest of {gib:g} GiB of text, scripted vectors", int(out), "passages"),
            Figure(f"ingest of {gib:g} GiB of text, scripted vectors", seconds, "s"),
            Figure("ingest of one file of 60 MiB", _scripted(room, large)[2], "MiB at the peak", "≤ 2048"),
            Figure("ingest with the model", peaks[0], "MiB at the peak", "≤ 2048"),
            Figure("ingest of four times as much / of once", peaks[1] / peaks[0], "ratio", "1 or so"),
        )
    )


def _scripted(room: Room, folder: Path) -> tuple[str, float, float]:
    home = room.scratch / f"home of {folder.name}"
    return peak([sys.executable, "-m", "benchmarks.scripted", str(home), str(folder)])


def generated(folder: Path, size: int, files: int = 0) -> Path:
    """Files of some 1 MiB each, or so many, of ``size`` bytes together: paragraphs of real text, numbered."""
    material = "\n\n".join(text for _, text in texts(3_000_000))
    paragraphs = [part for part in material.encode("ascii", "replace").split(b"\n\n") if len(part) > 80]
    chance = random.Random(7)
    folder.mkdir(parents=True)
    count = files or max(1, size // 1024**2)
    number = 0
    for name in range(count):
        with (folder / f"{name:05}.txt").open("wb") as file:
            while file.tell() < size // count:
                number += 1
                file.write(b"Section %d of %x\n" % (number, chance.getrandbits(32)))
                file.write(chance.choice(paragraphs) + b"\n\n")
    return folder
