"""An ingestion on a Ray cluster of this machine against one in a single process, taken in turns.

The cluster has as many processors as this machine, so the ratio says what the cluster costs, and not what
further machines bring. Starting and ending it is in the time; the ratio without it is beside. Each turn reads
the same text into a knowledge base of its own.

Options: ``--set megabytes=2``, ``--set model=MODEL`` (the embedding model, by default the installed one),
``--set address=HOST:PORT`` (a cluster that runs already).
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

from benchmarks.material import corpus
from benchmarks.report import Figure, Report, Room
from localcrag import open as open_kb
from localcrag.cluster.cluster_address import AUTO_CLUSTER
from localcrag.events import Ingested, Progressed
from localcrag.settings import ModelSettings, Settings


def measure(room: Room) -> Report:
    size = int(float(room.options.get("megabytes", 0.05 if room.quick else 2)) * 1e6)
    folder = corpus(room.scratch / "text", size)
    model = ModelSettings(embedding=room.options.get("model", ModelSettings().embedding))
    settings = Settings(home=room.scratch / "home", model=model)
    address = room.options.get("address", AUTO_CLUSTER)
    whole, running, single, shared = [], [], [], []
    for turn in range(room.rounds):
        alone = _Run(f"alone{turn}", settings, folder, None)
        together = _Run(f"together{turn}", settings, folder, address)
        if together.passages != alone.passages:
            raise RuntimeError(f"{together.passages} passages are not {alone.passages}")
        single.append(alone.passages / alone.seconds)
        shared.append(together.passages / together.seconds)
        whole.append(alone.seconds / together.seconds)
        running.append((alone.seconds - alone.until_first) / (together.seconds - together.until_first))
    return Report(
        (
            Figure("ingestion, cluster of this machine / single process", median(whole), "times as fast"),
            Figure("the same from the first batch written", median(running), "times as fast"),
            Figure("single process", median(single), "passages/s"),
            Figure("cluster of this machine", median(shared), "passages/s"),
        )
    )


class _Run:
    """One ingestion: its passages, its seconds, and the seconds until the first batch was written."""

    def __init__(self, name: str, settings: Settings, folder: object, cluster: str | None) -> None:
        self.until_first = 0.0
        started = perf_counter()
        with open_kb(name, settings=settings) as base:
            for event in base.stream_ingestion(str(folder), cluster=cluster):
                if isinstance(event, Progressed) and not self.until_first:
                    self.until_first = perf_counter() - started
                if isinstance(event, Ingested):
                    self.passages = event.report.passages
            self.seconds = perf_counter() - started
            base.remove()
