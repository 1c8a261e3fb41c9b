"""Commands and warm processes as users run them: real processes, the embedded models, a home of their own."""

from __future__ import annotations

import io
import os
import re
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from localcrag.cli.command_state import CommandState
from localcrag.cli.main import main
from localcrag.cli.serve import server_status
from localcrag.errors import WarmError
from localcrag.serve.endpoint import Endpoint, endpoint_of
from localcrag.serve.protocol import ServerStatus
from tests.forked import Forked
from tests.serve import patient

NOTES = """# Notes of the garden club

The garden club meets every second Tuesday in the old mill.

Lavender needs a sunny place and very little water. Ferns like shade.
"""
LEAFLET = "The usual dose of Zeldrine is 35 mg once a day. Zeldrine is made by the Orlan company in Porto."
QUESTION = "What is the usual dose of Zeldrine?"
DEADLINE = 240.0
"""Seconds for whatever is waited for: against a hang, and nothing about speed."""
PAUSED = Path(__file__).with_name("paused.py")
PATIENT = Path(__file__).with_name("patient.py")


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def timeless(self) -> tuple[int, str, str]:
        """Without seconds, and without the tokens read: what was judged before is not read again."""
        clocks = r'(?<="(?:seconds"):) \{[^}]*\}|"seconds": [\d.e-]+|[\d.]+ s,'
        costs = r'"tokens_evaluated": \d+|"evaluated": \d+|\d+ tokens read'
        numbers = re.compile(f"{clocks}|{costs}", re.DOTALL)
        return self.code, numbers.sub("T", self.out), numbers.sub("T", self.err)


@dataclass
class House:
    """A home, what runs in it, and how to run more."""

    home: Path
    patch: pytest.MonkeyPatch
    processes: list[Forked] = field(default_factory=list)

    @property
    def endpoint(self) -> Endpoint:
        return endpoint_of(self.home)

    @property
    def served(self) -> ServerStatus | None:
        return server_status(CommandState(self.home, offline=False))

    @property
    def server(self) -> ServerStatus:
        found = self.served
        assert found is not None, "no warm process runs"
        return found

    def run(self, *arguments: str, stdin: str = "") -> Result:
        """A command line in this process, which is a client like any other."""
        out, err = io.StringIO(), io.StringIO()
        self.patch.setattr("sys.stdin", io.StringIO(stdin))
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["--home", str(self.home), *arguments])
        return Result(code, out.getvalue(), err.getvalue())

    def begin(self, *program: str) -> Forked:
        """A Python program in a process of its own."""
        process = Forked(program)
        self.processes.append(process)
        return process

    def client(self, *arguments: str) -> Forked:
        return self.begin(str(PATIENT), "--home", str(self.home), *arguments)

    def hurry(self) -> None:
        """From now on commands in this process wait no longer for the warm one than a user's do."""
        patient.as_shipped(self.patch.setattr)

    def serve(self, *arguments: str) -> ServerStatus:
        """A server in the foreground; returns when it answers."""
        self.client("serve", *arguments)
        until(lambda: self.served is not None)
        return self.server

    def serve_paused(self, gate: Path) -> ServerStatus:
        """A server that stops after the first event of each question, until there is a file ``gate``."""
        self.begin(str(PAUSED), str(self.home), str(gate))
        until(lambda: self.served is not None)
        return self.server

    def kill(self) -> None:
        process = self.server.pid
        os.kill(process, signal.SIGKILL)
        for child in self.processes:
            if child.pid == process:
                child.wait(DEADLINE)
        until(self.deserted)

    def deserted(self) -> bool:
        """Whether nobody listens; a process that is being killed may still reset a connection."""
        try:
            return self.served is None
        except WarmError:
            return False

    def end(self) -> None:
        if self.endpoint.address.exists() and (found := self.served):
            os.kill(found.pid, signal.SIGKILL)
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=DEADLINE)


def until(condition: Callable[[], object], seconds: float = DEADLINE) -> None:
    """Look again and again, and fail at the deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not come about in time"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with two documents."""
    folder, place = tmp_path_factory.mktemp("documents"), tmp_path_factory.mktemp("home")
    (folder / "notes.md").write_text(NOTES)
    (folder / "leaflet.txt").write_text(LEAFLET)
    assert main(["--home", str(place), "ingest", str(folder), "--json"]) == 0
    return place


@pytest.fixture
def house(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """The home, with nothing running in it before and after, and no server started unasked."""
    with tempfile.TemporaryDirectory(prefix="lc-") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.delenv("LOCALCRAG_HOME", raising=False)
        monkeypatch.setenv("LOCALCRAG_SERVE_WARM", "never")
        patient.patient(monkeypatch.setattr)
        house = House(home, monkeypatch)
        yield house
        house.end()
        (home / "config.toml").unlink(missing_ok=True)
