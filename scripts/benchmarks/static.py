"""A first ingestion with static embeddings against one with the real model, taken in turns.

The vectors alone, of the same passages; and the whole ingestion, with reading, splitting, writing and the
search indexes, of a folder of text. The real model reads the first files of the folder only, since it would
take hours for all. Beside wall seconds stand the seconds of processor time of this process and its children,
which say more on a machine that others use too. The minutes for 1 GiB are computed from the pace of this
folder, and not measured.

Options: ``--set megabytes=8``, ``--set texts=FILE`` (JSON lines with ``text``, perhaps compressed with
zstandard; by default modules of the standard library), ``--set home=FOLDER`` (to keep the token vectors in),
``--set model=MODEL`` (the real model, by default the installed one).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.json_lines import records
from benchmarks.material import corpus
from benchmarks.report import Figure, Report, Room
from localcrag import open as open_kb
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.settings import ModelSettings, Settings

FULL_SHARE = 24
"""The real model reads one of so many files."""
EMBEDDED_PASSAGES, FULL_PASSAGES = 4000, 96
"""The passages whose vectors are computed at once by the static model and by the real one."""
WARM_PASSAGES = 64
"""The passages that are embedded before any are timed; so many load the real model whole."""
GIBIBYTE = 1 << 30


@dataclass(frozen=True)
class Pace:
    """Passages, and what they took."""

    passages: int
    wall: float
    processor: float

    @property
    def per_second(self) -> float:
        """Passages a second."""
        return self.passages / self.wall

    @property
    def per_processor_second(self) -> float:
        """Passages a second of processor time, of all processes together."""
        return self.passages / self.processor


def measure(room: Room) -> Report:
    folder, first = _folders(room)
    home = Path(room.options.get("home", room.scratch / "home"))
    began = perf_counter()
    teacher = room.options.get("model", ModelSettings().embedding)
    static = Settings(home=home, model=ModelSettings(embedding=f"static:{teacher}"))
    steps = list(open_kb("none", settings=static).models.distil())
    distilling = perf_counter() - began
    full = Settings(home=home, model=ModelSettings(embedding=teacher))
    figures: list[Figure] = []
    if steps:
        figures.append(Figure("distilling the token vectors, once", distilling, "s", "≤ 60"))
    return Report(
        (*figures, *_embedding(room, static, full, folder), *_whole(room, static, full, folder, first))
    )


def _embedding(room: Room, static: Settings, full: Settings, folder: Path) -> Iterator[Figure]:
    passages = _passages(open_kb("none", settings=static), folder, EMBEDDED_PASSAGES)
    models = [open_kb("none", settings=settings).models.embedder for settings in (static, full)]
    library = SentenceTransformerEmbedder(full.model.embedding)
    for model in (*models, library):
        model.encode(passages[:WARM_PASSAGES])
    quick, slow, slowest = [], [], []
    for _ in range(room.rounds):
        quick.append(_timed(lambda: models[0].encode(passages), len(passages)))
        slow.append(_timed(lambda: models[1].encode(passages[:FULL_PASSAGES]), FULL_PASSAGES))
        slowest.append(_timed(lambda: library.encode(passages[:FULL_PASSAGES]), FULL_PASSAGES))
    yield from _compared("vectors alone", quick, slow, "≥ 40")
    times = median(a.per_second / b.per_second for a, b in zip(quick, slowest, strict=True))
    yield Figure("vectors alone, static / real model by sentence-transformers", times, "times, by wall time")
    rate = median(pace.per_second for pace in slowest)
    yield Figure("vectors alone, real model by sentence-transformers", rate, "passages/s")


def _whole(room: Room, static: Settings, full: Settings, folder: Path, first: Path) -> Iterator[Figure]:
    quick, slow = [], []
    for turn in range(room.rounds):
        quick.append(_ingested(f"static{turn}", static, folder))
        slow.append(_ingested(f"full{turn}", full, first))
    yield from _compared("whole ingestion", quick, slow, "≥ 25")
    size = sum(path.stat().st_size for path in folder.iterdir())
    yield Figure("size of the folder", size / 1e6, "MB")
    wall = median(pace.wall for pace in quick) * GIBIBYTE / size / 60
    processor = median(pace.processor for pace in quick) * GIBIBYTE / size / 60
    yield Figure("1 GiB at this pace", wall, "min", "≤ 15")
    yield Figure("1 GiB at this pace, two cores that do nothing else", processor / 2, "min", "≤ 15")


def _compared(what: str, quick: Sequence[Pace], slow: Sequence[Pace], wanted: str) -> Iterator[Figure]:
    pairs = list(zip(quick, slow, strict=True))
    times = median(a.per_processor_second / b.per_processor_second for a, b in pairs)
    yield Figure(f"{what}, static / real model", times, "times, by processor time", wanted)
    times = median(a.per_second / b.per_second for a, b in pairs)
    yield Figure(f"{what}, static / real model", times, "times, by wall time", wanted)
    for name, paces in (("static", quick), ("real model", slow)):
        yield Figure(f"{what}, {name}", median(pace.per_second for pace in paces), "passages/s")
        rate = median(pace.per_processor_second for pace in paces)
        yield Figure(f"{what}, {name}", rate, "passages/processor s")


def _ingested(name: str, settings: Settings, folder: Path) -> Pace:
    with open_kb(name, settings=settings) as base:
        done: list[int] = []
        pace = _timed(lambda: done.append(base.ingest(folder).passages), 0)
        base.remove()
    return Pace(done[0], pace.wall, pace.processor)


def _timed(work: Callable[[], object], passages: int) -> Pace:
    """What work takes; the processor time is that of this process and of its children that have ended."""
    before, started = os.times(), perf_counter()
    work()
    wall, after = perf_counter() - started, os.times()
    return Pace(passages, wall, sum(after[:4]) - sum(before[:4]))


def _folders(room: Room) -> tuple[Path, Path]:
    """The folder of texts, and one with the first of them."""
    size = int(float(room.options.get("megabytes", 0.2 if room.quick else 8)) * 1e6)
    whole = room.scratch / "texts"
    if given := room.options.get("texts"):
        whole.mkdir()
        for number, text in enumerate(_texts(Path(given), size)):
            (whole / f"{number:06}.txt").write_text(text, "utf-8")
    else:
        corpus(whole, size)
    first = room.scratch / "first"
    first.mkdir()
    for path in sorted(whole.iterdir())[::FULL_SHARE]:
        (first / path.name).write_bytes(path.read_bytes())
    return whole, first


def _texts(path: Path, size: int) -> Iterator[str]:
    """The texts of a file of JSON lines, about ``size`` characters."""
    taken = 0
    for record in records(path):
        yield record["text"]
        taken += len(record["text"])
        if taken >= size:
            return


def _passages(kb: Any, folder: Path, count: int) -> list[str]:
    """The first passages of the files in a folder, as they are embedded."""
    from localcrag.documents.sources import TextSource

    found: list[str] = []
    for path in sorted(folder.iterdir()):
        document = kb.corpus.read(TextSource.of(path.read_text("utf-8"), path.name))
        found += [passage.searchable for passage in kb.corpus.split(document)]
        if len(found) >= count:
            break
    return found[:count]
