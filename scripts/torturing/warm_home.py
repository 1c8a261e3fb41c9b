"""A home with a few documents and a warm process in it, as several campaigns need it."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from torturing import forked, small_documents
from torturing.campaign import Broken

READY_SECONDS = 60.0
"""Seconds in which a warm process must answer after its start."""
STATUS_SECONDS = 20.0
"""Seconds in which a warm process must say how it is, whatever it is doing."""
SMALL: Mapping[str, str] = {"LOCALCRAG_LOOP_CANDIDATES": "2", "LOCALCRAG_LOOP_PASSAGES": "2"}
"""Settings with which a question costs two passages of the evaluator."""


@dataclass
class WarmHome:
    """A home; ``server`` is the warm process that runs in it."""

    home: Path
    server: forked.Forked | None = None

    @classmethod
    def of(cls, folder: Path, random: Random, documents: int = 3) -> WarmHome:
        """Ingest a few documents into a new home."""
        for number in range(documents):
            small_documents.write(folder / "documents", random, number, "a", "txt")
        forked.run(folder / "home", "ingest", str(folder / "documents")).checked("ingest")
        return cls(folder / "home")

    def begin(self, *options: str) -> forked.Forked:
        """Start a warm process, without waiting until it answers."""
        self.server = forked.start(self.home, "serve", *options, environment=SMALL, name="server")
        return self.server

    def ready(self) -> int:
        """Wait until the warm process answers; returns its number. Raises Broken."""
        assert self.server is not None
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            if self.server.poll() is not None:
                ended = self.server.ended()
                raise Broken(f"the warm process did not start: {ended.err.strip()[-300:]}")
            try:
                return self.status()
            except (OSError, Broken):
                time.sleep(0.02)
        raise Broken(f"the warm process does not answer {READY_SECONDS:.0f} s after its start")

    def status(self) -> int:
        """Ask the warm process how it is; returns its number. Raises Broken, OSError if none listens."""
        from localcrag.serve.protocol import ServerStatus, StatusRequest, decode, encode

        with self.connected() as link:
            link.settimeout(STATUS_SECONDS)
            link.sendall(encode(StatusRequest()))
            text = b""
            while not text.endswith(b"\n"):
                if not (more := link.recv(1 << 16)):
                    raise Broken("the warm process ended a connection without an answer")
                text += more
        found = decode(text.splitlines(keepends=True)[0])
        if not isinstance(found, ServerStatus):
            raise Broken(f"the warm process says {type(found).__name__} when it is asked how it is")
        return found.pid

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        """A connection to the warm process. Raises OSError."""
        from localcrag.serve.endpoint import endpoint_of

        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
            link.settimeout(STATUS_SECONDS)
            ends = time.monotonic() + STATUS_SECONDS
            while True:
                try:
                    link.connect(str(endpoint_of(self.home).address))
                    break
                except BlockingIOError:  # so many wait that no more may
                    if time.monotonic() > ends:
                        raise
                    time.sleep(0.01)
            yield link

    def run(self, *arguments: str) -> forked.Ended:
        """Run a command with the same settings, so that the warm process may answer it."""
        return forked.run(self.home, *arguments, environment=SMALL)

    def end(self) -> None:
        """Kill the warm process."""
        if self.server is not None:
            self.server.kill()
