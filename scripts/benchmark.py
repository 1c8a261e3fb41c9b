"""What ``./scripts/bench`` measures: each figure against a floor taken in the same run.

The text is what every installation has: the documentation and sources of the installed packages.
Times are of one machine and one moment, so they are given as ratios; token counts are exact.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from time import perf_counter

ROUNDS = 3
QUESTION = "How is a context manager closed when an error is raised?"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value beside what was wanted; ``wanted`` is "" where nothing was."""

    name: str
    value: float
    unit: str
    wanted: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure localcrag.")
    parser.add_argument("parts", nargs="*", choices=[[], *PARTS], help="by default all")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    figures: list[Figure] = []
    for part in given.parts or PARTS:
        print(f"bench: {part}", file=sys.stderr)
        figures += PARTS[part]()
    if given.json:
        print(json.dumps([asdict(figure) for figure in figures], indent=2))
    else:
        show(figures)
    return 0


def show(figures: Sequence[Figure]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("figure", "value", "unit", "wanted")
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:,.3f}".rstrip("0").rstrip("."), figure.unit, figure.wanted)
    Console().print(table)


# ---------------------------------------------------------------------------------- the text


def texts(limit: int) -> Iterator[tuple[str, str]]:
    """(name, text) of modules of the standard library, in a fixed order, about ``limit`` characters."""
    taken = 0
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        text = path.read_text("utf-8", errors="replace")
        yield path.stem, text
        taken += len(text)
        if taken >= limit:
            return


def corpus(folder: Path, characters: int, copies: int = 1) -> Path:
    """A folder of text files; copies differ in their first line, so that none is a duplicate."""
    folder.mkdir(parents=True)
    for copy in range(copies):
        for name, text in texts(characters):
            (folder / f"{name}-{copy}.txt").write_text(f"copy {copy}\n{text}", "utf-8")
    return folder


# ---------------------------------------------------------------------------------- ingestion


def ingestion() -> list[Figure]:
    """Passages per second of an ingestion against a bare encode of the same passages, taken in turns."""
    import localcrag
    from localcrag.events import Progressed

    with tempfile.TemporaryDirectory() as place:
        folder = corpus(Path(place) / "text", 250_000)
        kb = localcrag.open("warm", home=Path(place) / "home")
        kb.ingest([folder])
        passages = [hit.passage.text for hit in kb.search(QUESTION, k=1)] and list(_passages(kb))
        bare = _bare_encoder(kb)
        ratios, rates = [], []
        for turn in range(ROUNDS):
            started = perf_counter()
            bare(passages)
            floor = perf_counter() - started
            started = perf_counter()
            events = localcrag.open(f"turn{turn}", home=Path(place) / "home").ingesting([folder])
            done = sum(event.passages for event in events if isinstance(event, Progressed))
            seconds = perf_counter() - started
            ratios.append((done / seconds) / (len(passages) / floor))
            rates.append(done / seconds)
    return [
        Figure("ingestion / bare encode", median(ratios), "ratio of passages/s", "≥ 0.8"),
        Figure("ingestion", median(rates), "passages/s"),
        Figure("passages", len(passages), "passages"),
    ]


def _passages(kb: object) -> Iterator[str]:
    """The text of every passage of a knowledge base."""
    corpus_ = kb.corpus  # type: ignore[attr-defined]
    for document in kb.export():  # type: ignore[attr-defined]
        yield from (passage.text for passage in corpus_.split(document))


def _bare_encoder(kb: object) -> Callable[[list[str]], object]:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(str(kb.models.embedder.folder), device="cpu")  # type: ignore[attr-defined]
    model.encode(["warm"])
    return lambda passages: model.encode(passages, batch_size=32, show_progress_bar=False)


# ---------------------------------------------------------------------------------- choose


def choose() -> list[Figure]:
    """Tokens and time of one batched choice over 8 passages against 8 choices of their own."""
    from localcrag.app import models_for
    from localcrag.crag import prompts
    from localcrag.settings import load

    settings = load()
    model = models_for(settings.model, settings.home).language
    texts_ = [text[2000:3000] for _, text in texts(200_000)][:8]
    asked = [prompts.grade(QUESTION, text) for text in texts_]
    ratios = []
    together = apart = 0
    for _ in range(ROUNDS):
        together, fast = _cost(model, lambda: model.choose(asked, ("yes", "no")))
        apart, slow = 0, 0.0
        for prompt in asked:
            tokens, seconds = _cost(model, lambda prompt=prompt: model.choose([prompt], ("yes", "no")))  # type: ignore[misc]
            apart, slow = apart + tokens, slow + seconds
        ratios.append(slow / fast)
    return [
        Figure("choose over 8 passages", together, "tokens evaluated"),
        Figure("8 prompts of their own", apart, "tokens evaluated"),
        Figure("time of 8 on their own / together", median(ratios), "ratio"),
    ]


def _cost(model: object, work: Callable[[], object]) -> tuple[int, float]:
    model.close()  # type: ignore[attr-defined]
    model.load()  # type: ignore[attr-defined]
    before, started = model.tokens, perf_counter()  # type: ignore[attr-defined]
    work()
    return (model.tokens - before).evaluated, perf_counter() - started  # type: ignore[attr-defined]


# ---------------------------------------------------------------------------------- ask, memory


def asking() -> list[Figure]:
    """A whole ``ask`` as a user types it: cold process, seconds per stage, tokens, peak memory."""
    with tempfile.TemporaryDirectory() as place:
        folder, home = corpus(Path(place) / "text", 250_000), Path(place) / "home"
        _run(home, "ingest", str(folder))
        runs = [_measured(home, "ask", "--json", QUESTION) for _ in range(ROUNDS)]
        answer = json.loads(runs[-1][0])
        help_ = [_measured(home, "--help")[1] for _ in range(ROUNDS)]
        search = [_measured(home, "search", QUESTION)[1] for _ in range(ROUNDS)]
    stages = answer["usage"]["seconds"]
    return [
        Figure("--help", median(help_), "s", "< 0.3"),
        Figure("search, cold process", median(search), "s"),
        Figure("ask, cold process", median(run[1] for run in runs), "s"),
        *(Figure(f"ask: {stage}", seconds, "s") for stage, seconds in stages.items()),
        Figure("ask", answer["usage"]["tokens_evaluated"], "tokens evaluated"),
        Figure("ask, peak memory", max(run[2] for run in runs), "MiB", "≤ 1536"),
    ]


def memory() -> list[Figure]:
    """Peak memory of ingesting a corpus and one four times its size."""
    peaks = []
    for copies in (1, 4):
        with tempfile.TemporaryDirectory() as place:
            folder = corpus(Path(place) / "text", 400_000, copies)
            peaks.append(_measured(Path(place) / "home", "ingest", str(folder))[2])
    return [
        Figure("ingest, peak memory", peaks[0], "MiB"),
        Figure(
            "ingest of four times as much / of one", peaks[1] / peaks[0], "ratio of peak memory", "about 1"
        ),
    ]


def _run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("localcrag")), "--home", str(home), "--offline", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def _measured(home: Path, *arguments: str) -> tuple[str, float, float]:
    """stdout, wall seconds and peak memory in MiB of one command in a process of its own.

    A process in between waits for it alone, so that the peak is that command's and no other's.
    """
    program = (
        "import resource, subprocess, sys;"
        "done = subprocess.run(sys.argv[1:], stdout=sys.stdout, stderr=subprocess.DEVNULL);"
        "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))"
    )
    tool = str(Path(sys.executable).with_name("localcrag"))
    command = [sys.executable, "-c", program, tool, "--home", str(home), "--offline", *arguments]
    started = perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, perf_counter() - started, int(done.stderr) / 1024


PARTS: dict[str, Callable[[], list[Figure]]] = {
    "ingest": ingestion,
    "choose": choose,
    "ask": asking,
    "memory": memory,
}

if __name__ == "__main__":
    raise SystemExit(main())
