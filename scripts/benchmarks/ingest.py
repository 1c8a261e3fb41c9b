"""Passages per second of an ingestion against a bare encode of the same passages, taken in turns;
and the command once more over files that did not change.

The floor is ``SentenceTransformer.encode`` as one calls it, 32 texts at a time, all of them at once
and already cut; the ingestion reads the files, cuts, embeds, writes and indexes them. The model is
loaded in both. ``--set characters=250000`` and ``--set files=10000`` are the default sizes of the text
and of the folder that did not change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.material import corpus, measured
from benchmarks.report import Figure, Report, Room
from benchmarks.scripted import ingest


def measure(room: Room) -> Report:
    return Report((*_against_bare(room), *_unchanged(room)))


def _against_bare(room: Room) -> Iterator[Figure]:
    import localcrag
    from localcrag.events import Progressed

    size = 6_000 if room.quick else int(room.options.get("characters", 250_000))
    folder, home = corpus(room.scratch / "text", size), room.scratch / "home"
    kb = localcrag.open("warm", home=home)
    kb.ingest([folder])
    passages = list(_passages(kb))
    bare = _bare_encoder(kb)
    ratios, rates = [], []
    for turn in range(room.rounds):
        started = perf_counter()
        bare(passages)
        floor = perf_counter() - started
        started = perf_counter()
        events = localcrag.open(f"turn{turn}", home=home).stream_ingestion([folder])
        done = sum(event.passages for event in events if isinstance(event, Progressed))
        seconds = perf_counter() - started
        ratios.append((done / seconds) / (len(passages) / floor))
        rates.append(done / seconds)
    yield Figure("ingestion / bare encode", median(ratios), "ratio of passages/s", "≥ 0.95")
    yield Figure("ingestion", median(rates), "passages/s")
    yield Figure("passages", len(passages), "passages")


def _unchanged(room: Room) -> Iterator[Figure]:
    """The whole command in a cold process, after a first ingestion with vectors that cost no time."""
    count = 100 if room.quick else int(room.options.get("files", 10_000))
    folder, home = _notes(room.scratch / "notes", count), room.scratch / "home of notes"
    ingest(home, folder)
    runs = [measured(home, "ingest", str(folder), "--json") for _ in range(room.rounds)]
    found = {json.loads(run[0])["unchanged"] for run in runs}
    if found != {count}:
        raise RuntimeError(f"{found} of {count} files were unchanged")
    yield Figure(f"ingest of {count:,} unchanged files, cold process", median(r[1] for r in runs), "s", "≤ 3")


def _notes(folder: Path, count: int) -> Path:
    """Small files, a hundred to a folder."""
    for number in range(count):
        place = folder / f"{number // 100:03}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{number}.txt").write_text(
            f"Note {number} speaks of herons, storks and valve {number % 7}."
        )
    return folder


def _passages(kb: Any) -> Iterator[str]:
    """The text of every passage of a knowledge base."""
    for document in kb.export():
        yield from (passage.text for passage in kb.corpus.split(document))


def _bare_encoder(kb: Any) -> Callable[[list[str]], object]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(kb.models.embedder.folder), device="cpu")
    model.encode(["warm"])
    return lambda passages: model.encode(passages, batch_size=32, show_progress_bar=False)
