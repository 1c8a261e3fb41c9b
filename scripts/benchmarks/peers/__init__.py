"""What a query costs: localcrag beside plain RAG and beside two peers' corrective loops.

The same GGUF, the same eight passages, the same question, two passages kept and 48 tokens answered.
Weights may be random, so each model evaluates its grades in full and is then told the verdict. Nothing
is searched for, and nothing that the peers do not do is done: no sentence of the answer is held against
the evidence, no passage cut to strips. Token counts are exact; seconds count from the moment the
passages are there (24 of them for the cascade, whose evaluator picks the eight), with an empty cache.

::

    questions.py   questions, passages, labels          results.py   medians, ratios, pictures
    wire.py        a worker a library, its model loaded: one JSON object a line
    own.py         localcrag, and plain RAG with its model and prompt       (this environment)
    langgraph_crag.py, llamaindex_crag.py                                   (.cache/peers-venv)

Options: ``--set models=embedded,0.6b,1.7b``, ``--set questions=FILE.jsonl``, ``--set contenders=…``,
``--set peers=PYTHON`` for an interpreter that has the peers already, ``--set passage=CHARACTERS``,
``--set threads=N``. Model ``qwen3`` is a thin one with the same tokenizer: same counts, meaningless times.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.peers import environment
from benchmarks.peers.wire import Cost, Setup, Worker
from benchmarks.report import Report, Room

if TYPE_CHECKING:
    from benchmarks.peers.questions import Question

ANSWER_TOKENS = 48
OWN = ("plain", "plain-kept", "yesno", "yesno-joint", "cascade", "cascade-joint")
PEERS = {"langgraph": "benchmarks.peers.langgraph_crag", "llamaindex": "benchmarks.peers.llamaindex_crag"}


@dataclass(frozen=True)
class Size:
    """How much a model can hold: its context in tokens, and passages of how many characters."""

    context: int
    passage: int


SIZES = {
    "embedded": Size(2048, 550),
    "qwen3": Size(4096, 300),
    "0.6b": Size(4096, 1000),
    "1.7b": Size(4096, 1000),
}
"""A thousand characters are some 250 tokens; the embedded model has a smaller context, and shorter tokens."""


@dataclass(frozen=True)
class Run:
    """One query of one contender."""

    model: str
    contender: str
    question: str
    round: int
    cost: Cost


def measure(room: Room) -> Report:
    from benchmarks.peers.results import report

    models = ["qwen3"] if room.quick else room.options.get("models", "embedded,0.6b,1.7b").split(",")
    python = None
    if set(wanted(room)) & set(PEERS):
        given = room.options.get("peers")
        python = Path(given) if given else environment.python(room.cache, make=not room.quick)
    kept = room.cache / "peers" / f"{datetime.now(UTC):%Y%m%d-%H%M%S}.jsonl"
    kept.parent.mkdir(parents=True, exist_ok=True)
    runs: list[Run] = []
    for name in models:
        for run in Bench(room, name, python).runs():
            runs.append(run)
            with kept.open("a") as file:
                print(json.dumps(asdict(run)), file=file)
    print(f"bench: every query is in {kept}", file=sys.stderr)
    return report(runs)


@dataclass(frozen=True)
class Bench:
    """All contenders with one model."""

    room: Room
    model: str
    python: Path | None

    def runs(self) -> Iterator[Run]:
        """Every contender answers the question of each round in turn, in each round another one first."""
        from benchmarks.peers.questions import WARMING

        questions = self._questions()
        with ExitStack() as stack:
            workers = self._workers(stack)
            for contender, worker in workers.items() if not self.room.quick else ():
                self._say("warming up", contender)
                worker.ask(WARMING.request(contender, ANSWER_TOKENS))
            for number in range(self.room.rounds if not self.room.quick else 1):
                question = questions[number % len(questions)]
                for contender in turned(list(workers), number):
                    cost = workers[contender].ask(question.request(contender, ANSWER_TOKENS))
                    said = f"{cost.evaluated} + {cost.generated} tokens, {cost.seconds:.1f} s"
                    self._say(f"round {number + 1}", contender, said)
                    yield Run(self.model, contender, question.text, number, cost)

    def _workers(self, stack: ExitStack) -> dict[str, Worker]:
        size, threads = SIZES[self.model], int(self.room.options.get("threads", "0")) or default_threads()
        setup = Setup(str(self._file()), size.context, threads, 512)
        workers: dict[str, Worker] = {}
        own = [name for name in OWN if name in wanted(self.room)]
        if own:
            worker = self._worker(stack, Path(sys.executable), "benchmarks.peers.own", setup)
            workers |= dict.fromkeys(own, worker)
        for name, module in PEERS.items():
            if name in wanted(self.room) and self.python is not None:
                workers[name] = self._worker(stack, self.python, module, setup)
        return workers

    def _worker(self, stack: ExitStack, python: Path, module: str, setup: Setup) -> Worker:
        log = self.room.scratch / f"{self.model}-{module}.log"
        worker = Worker(python, module, setup, log)
        stack.callback(worker.close)
        return worker

    def _file(self) -> Path:
        if self.model == "embedded":
            from localcrag.llm.registry import Registry

            return Registry(self.room.scratch).resolve("smollm2-135m-instruct")
        from benchmarks import shapes

        return shapes.model(self.model, self.room.cache)

    def _questions(self) -> list[Question]:
        from benchmarks.peers import questions

        count = 1 if self.room.quick else self.room.rounds
        size = int(self.room.options.get("passage", SIZES[self.model].passage))
        self._say("choosing", f"{count} questions")
        evaluator = questions.reranking(self.room.scratch / "home")
        if file := self.room.options.get("questions"):
            return questions.of_file(Path(file), count, size, evaluator)
        return questions.documented(count, size, evaluator)

    def _say(self, *words: str) -> None:
        print(f"bench: {self.model}: {': '.join(words)}", file=sys.stderr)


def wanted(room: Room) -> list[str]:
    """The contenders that are to run: all, if it is not said."""
    names = room.options.get("contenders", ",".join([*OWN, *PEERS])).split(",")
    if unknown := set(names) - {*OWN, *PEERS}:
        raise SystemExit(f"bench: no contender {sorted(unknown)}; there are {', '.join([*OWN, *PEERS])}")
    return names


def turned(items: Sequence[str], number: int) -> list[str]:
    """The items in their order, another one first each time: none always comes after a rest."""
    start = number % len(items)
    return [*items[start:], *items[:start]]


def default_threads() -> int:
    from localcrag.llm.llama_backend import default_threads

    return default_threads()
