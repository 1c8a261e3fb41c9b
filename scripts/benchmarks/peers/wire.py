"""How the benchmark talks to a worker: one JSON object a line, over its stdin and stdout.

Used on both sides, and in the environment of the peers too, which has nothing but the peers: only
the standard library is imported here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Setup:
    """What every worker is started with, the same for all."""

    model: str
    context: int
    threads: int
    batch: int


@dataclass(frozen=True)
class Cost:
    """What one query cost, and which of its passages were kept.

    ``evaluated`` tokens were read by the language model, ``generated`` written by it; ``evaluator``
    tokens were read by a small model beside it. ``seconds`` count from the moment the passages are there.
    """

    evaluated: int
    generated: int
    evaluator: int
    seconds: float
    kept: tuple[int, ...]
    text: str

    @property
    def tokens(self) -> int:
        """All tokens that went through the language model."""
        return self.evaluated + self.generated


class WorkerError(Exception):
    """A worker ended, or said something that is no answer; the message has the last it wrote on stderr."""


def serve(begin: Callable[[Setup], Callable[[Mapping[str, Any]], Cost]]) -> None:
    """Answer requests until stdin ends. What the libraries print goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    ask = begin(Setup(**json.loads(sys.argv[1])))
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        print(json.dumps(asdict(ask(json.loads(line)))), file=out, flush=True)


class Worker:
    """A contender's process, with its model loaded; lives until it is closed."""

    def __init__(self, python: Path, module: str, setup: Setup, log: Path) -> None:
        self.module, self._log = module, log
        command = [str(python), "-W", "ignore", "-m", module, json.dumps(asdict(setup))]
        root = str(SCRIPTS.parent)
        environment = {**os.environ, "PYTHONPATH": f"{SCRIPTS}{os.pathsep}{root}", **QUIET}
        with log.open("w") as errors:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=environment,
            )
        self._read()

    def ask(self, request: Mapping[str, object]) -> Cost:
        """One query. Raises WorkerError."""
        assert self._process.stdin is not None
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            pass
        reply = self._read()
        return Cost(**{**reply, "kept": tuple(reply["kept"])})

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self.close()
            said = self._log.read_text("utf-8", errors="replace").strip()[-2000:]
            raise WorkerError(f"{self.module} ended with {self._process.returncode}: {said}")
        return json.loads(line)

    def close(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()


QUIET: Mapping[str, str] = {
    "LANGSMITH_TRACING": "false",
    "LANGCHAIN_TRACING_V2": "false",
    "TOKENIZERS_PARALLELISM": "false",
    "PYTHONWARNINGS": "ignore",
}
