"""Passages per second of an ingestion against a bare encode of the same passages, taken in turns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.material import corpus
from benchmarks.report import Figure, Report, Room


def measure(room: Room) -> Report:
    import localcrag
    from localcrag.events import Progressed

    folder, home = corpus(room.scratch / "text", 60_000 if room.quick else 250_000), room.scratch / "home"
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
        events = localcrag.open(f"turn{turn}", home=home).ingesting([folder])
        done = sum(event.passages for event in events if isinstance(event, Progressed))
        seconds = perf_counter() - started
        ratios.append((done / seconds) / (len(passages) / floor))
        rates.append(done / seconds)
    return Report(
        (
            Figure("ingestion / bare encode", median(ratios), "ratio of passages/s", "≥ 0.95"),
            Figure("ingestion", median(rates), "passages/s"),
            Figure("passages", len(passages), "passages"),
        )
    )


def _passages(kb: Any) -> Iterator[str]:
    """The text of every passage of a knowledge base."""
    for document in kb.export():
        yield from (passage.text for passage in kb.corpus.split(document))


def _bare_encoder(kb: Any) -> Callable[[list[str]], object]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(kb.models.embedder.folder), device="cpu")
    model.encode(["warm"])
    return lambda passages: model.encode(passages, batch_size=32, show_progress_bar=False)
