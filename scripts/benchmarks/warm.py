"""The warm process beside a process of its own for each command, and how fast the evaluator reads.

Every command is timed from its start to its end, the interpreter's start included. A question is new
to the warm process each time, except where it says "again": there the evaluator remembers the pairs.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import TYPE_CHECKING

from benchmarks.material import QUESTION, corpus, run, tool
from benchmarks.report import Figure, Report, Room

if TYPE_CHECKING:
    from localcrag.protocols import Evaluator

TOKENS, PAIRS = 250, 24
"""Tokens of a pair with its passage, and the pairs that one search has judged."""
WITHOUT = ("--evaluator", "none")
_WORDS = "when where why what which who error file name list value object module string context call"


def measure(room: Room) -> Report:
    folder, home = corpus(room.scratch / "text", 3_000 if room.quick else 250_000), room.scratch / "home"
    run(home, "ingest", str(folder))
    questions = _questions()
    help_ = _median(room, lambda: _timed(home, "--help"))
    cold = _commands(room, home, questions)
    with _served(home):
        warm = _commands(room, home, questions)
        again = _median(room, lambda: _timed(home, "search", QUESTION))
    return Report(
        (
            Figure("--help", help_, "s", "≤ 0.15"),
            Figure("search without an evaluator, warm", warm["search without"], "s", "≤ 0.15"),
            Figure("search without an evaluator, cold", cold["search without"], "s"),
            Figure("search, warm, again", again, "s", "≤ 0.15"),
            Figure("search, warm, a new question", warm["search"], "s", "≤ 0.35"),
            Figure("search, cold", cold["search"], "s"),
            Figure("ask beyond the loop's own time, warm", warm["ask beyond"], "s", "≤ 0.2"),
            Figure("ask beyond the loop's own time, cold", cold["ask beyond"], "s"),
            Figure("ask, warm", warm["ask"], "s"),
            Figure("ask, cold", cold["ask"], "s", "≤ 1.8"),
            *_evaluator_figures(room, home),
        )
    )


def _commands(room: Room, home: Path, questions: Iterator[str]) -> dict[str, float]:
    """Medians of the seconds of each command, each time with another question."""
    whole, beyond = [], []
    for _ in range(room.rounds):
        seconds, answer = _run(home, "ask", "--json", next(questions))
        whole.append(seconds)
        beyond.append(seconds - json.loads(answer)["usage"]["seconds"]["total"])
    return {
        "search without": _median(room, lambda: _timed(home, "search", *WITHOUT, next(questions))),
        "search": _median(room, lambda: _timed(home, "search", next(questions))),
        "ask": median(whole),
        "ask beyond": median(beyond),
    }


def _evaluator_figures(room: Room, home: Path) -> Iterator[Figure]:
    """How many pairs the evaluator in use judges a second, as the product computes it and in llama.cpp."""
    from localcrag.llm.evaluator import GgufEvaluator
    from localcrag.loaded_models import models_for
    from localcrag.settings import load

    settings = load(home=home)
    models = models_for(settings.model, settings.home)
    if models.evaluator is not None:
        name = f"evaluator, pairs of {TOKENS} tokens"
        yield Figure(name, _pairs_per_second(room, models.evaluator), "pairs/s", "≥ 60")
        with GgufEvaluator(models.evaluator_file) as in_llama_cpp:
            yield Figure("the same in llama.cpp", _pairs_per_second(room, in_llama_cpp), "pairs/s")


def _pairs_per_second(room: Room, evaluator: Evaluator) -> float:
    """How many pairs an evaluator judges a second, each of :data:`TOKENS` tokens in all."""
    count = PAIRS // 8 if room.quick else PAIRS
    texts = [f"{_WORDS} " * (TOKENS // len(_WORDS.split()) - 1) + f"number {n}" for n in range(count)]
    before = evaluator.tokens
    evaluator.score(QUESTION, texts)
    tokens = (evaluator.tokens - before).evaluated

    def seconds() -> float:
        started = perf_counter()
        evaluator.score(QUESTION, texts)
        return perf_counter() - started

    return tokens / TOKENS / _median(room, seconds)


@contextmanager
def _served(home: Path) -> Iterator[None]:
    """A warm process in which everything is loaded."""
    server = subprocess.Popen(tool(home, "serve"), stderr=subprocess.DEVNULL)
    try:
        while subprocess.run(tool(home, "serve", "--status"), capture_output=True).returncode:
            if server.poll() is not None:
                raise RuntimeError("the warm process did not start")
            sleep(0.05)
        for command in ("ask", "search"):  # the first waits until it has loaded
            _run(home, command, QUESTION)
        yield
    finally:
        server.terminate()
        server.wait()


def _questions() -> Iterator[str]:
    """Questions that are all different, and that the text can be asked."""
    words = _WORDS.split()
    number = 0
    while True:
        first, second = words[number % len(words)], words[number // len(words) % len(words)]
        yield f"How is a {first} made from the {second} of another one?"
        number += 1


def _median(room: Room, seconds: Callable[[], float]) -> float:
    return median(seconds() for _ in range(room.rounds))


def _timed(home: Path, *arguments: str) -> float:
    return _run(home, *arguments)[0]


def _run(home: Path, *arguments: str) -> tuple[float, str]:
    """Wall seconds and stdout. An answer that was not found has an exit code of its own."""
    started = perf_counter()
    done = subprocess.run(tool(home, *arguments), capture_output=True, text=True)
    seconds = perf_counter() - started
    if done.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(arguments)}: {done.stderr}")
    return seconds, done.stdout
