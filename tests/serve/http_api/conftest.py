"""HTTP doors for tests: in this process over a scripted backend, and a real ``localcrag serve --http``."""

from __future__ import annotations

import json
import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from localcrag.cli.main import main
from localcrag.serve.client import start_conditions
from localcrag.serve.endpoint import endpoint_of
from localcrag.serve.http_api.access import Access
from localcrag.serve.http_api.admission import DoorLimits
from localcrag.serve.http_api.application import make_application
from localcrag.serve.http_api.backend import Backend
from localcrag.serve.http_api.door_server import Address, DoorServer, listening
from localcrag.serve.http_api.guarded_protocol import ProtocolFactory
from localcrag.serve.http_api.warm_backend import WarmBackend
from localcrag.serve.http_api.warm_connection import WarmConnections
from localcrag.settings import load
from tests.fakes.door import TEXT, ScriptedBackend
from tests.forked import Forked
from tests.serve.conftest import DEADLINE, until
from tests.web.scripted import Answer, ScriptedServer, running_script

TOKEN = "t" * 43
PORT = 7429
AUTHORIZED = {"Authorization": f"Bearer {TOKEN}"}
QUESTION = "What is the usual dose of Zeldrine?"
UNKNOWN = "Who won the chess championship of 1972?"


@dataclass(frozen=True)
class SentEvent:
    name: str
    data: dict[str, Any]


def sent_events(text: str) -> list[SentEvent]:
    """The events of a stream, by the rules of server-sent events."""
    found = []
    for block in text.split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if lines:
            found.append(SentEvent(lines["event"], json.loads(lines["data"])))
    return found


def scripted_client(
    backend: Backend | None = None, limits: DoorLimits | None = None, headers: Mapping[str, str] = AUTHORIZED
) -> TestClient:
    """A client of the application itself, without a network."""
    application = make_application(backend or ScriptedBackend(), Access(TOKEN, PORT), limits)
    url = f"http://127.0.0.1:{PORT}"
    return TestClient(application, base_url=url, headers=dict(headers), raise_server_exceptions=False)


@dataclass
class LiveDoor:
    """A door on loopback, and clients of it."""

    port: int
    backend: ScriptedBackend

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.url, headers=AUTHORIZED, timeout=DEADLINE, trust_env=False)

    def connected(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE)

    def said(self, *pieces: bytes) -> bytes:
        """What the door says to these bytes, up to the end of the connection."""
        with self.connected() as link:
            for piece in pieces:
                link.sendall(piece)
            return received(link)


def received(link: socket.socket) -> bytes:
    """All that comes until the other side closes the connection."""
    heard = b""
    try:
        while more := link.recv(1 << 16):
            heard += more
    except ConnectionResetError:
        pass  # it was closed with something unread
    return heard


@contextmanager
def live_door(backend: ScriptedBackend | None = None, limits: DoorLimits | None = None) -> Iterator[LiveDoor]:
    """A scripted backend behind uvicorn, on a free port."""
    backend, limits = backend or ScriptedBackend(), limits or DoorLimits()
    listener = listening(Address("127.0.0.1", 0))
    port = listener.getsockname()[1]
    application = make_application(backend, Access(TOKEN, port), limits)
    with DoorServer(application, listener, ProtocolFactory(limits)):
        yield LiveDoor(port, backend)


# ---------------------------------------------------------------------------------- the real one


@dataclass
class WarmDoor:
    """A real ``localcrag serve --http``, its home, and the SearXNG that it may ask."""

    home: Path
    runtime: str
    searxng: ScriptedServer
    environment: dict[str, str]
    address: str = ""
    processes: list[Forked] = field(default_factory=list)

    @property
    def leaflet(self) -> Path:
        return self.home.parent / "documents" / "leaflet.txt"

    @property
    def url(self) -> str:
        return self.address.partition("/#")[0]

    @property
    def token(self) -> str:
        return self.address.partition("token=")[2]

    def serve(self) -> None:
        program = ["-m", "localcrag", "--home", str(self.home), "serve", "--http", "0"]
        process = Forked(program, env=self.environment)
        self.processes.append(process)
        self.address = process.stdout.readline().strip()
        assert self.address, process.communicate()[1]

    def client(self) -> httpx2.Client:
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=DEADLINE, trust_env=False)

    def backend(self) -> WarmBackend:
        """The backend of the door, as another client of the same process."""
        with pytest.MonkeyPatch.context() as patch:
            for name in [name for name in os.environ if name.startswith("LOCALCRAG_")]:
                patch.delenv(name)
            for name in ("XDG_RUNTIME_DIR", "LOCALCRAG_WEB_URL"):
                patch.setenv(name, self.environment[name])
            settings = load(home=self.home)
            start = start_conditions(settings, self.home)
            return WarmBackend(settings, start, WarmConnections(endpoint_of(settings.home)))


@pytest.fixture(scope="session")
def warm_door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmDoor]:
    """One for all tests of a run, because it takes seconds to load its models."""
    place = tmp_path_factory.mktemp("door")
    with tempfile.TemporaryDirectory(prefix="lc-") as runtime, running_script() as searxng:
        searxng.answers["/search"] = Answer.json({"query": "", "results": [], "unresponsive_engines": []})
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LOCALCRAG_")},
            "XDG_RUNTIME_DIR": runtime,
            "LOCALCRAG_WEB_URL": searxng.url,
        }
        door = WarmDoor(place / "home", runtime, searxng, environment)
        door.leaflet.parent.mkdir()
        door.leaflet.write_text(f"{TEXT} Zeldrine is made by the Orlan company in Porto.")
        assert main(["--home", str(door.home), "ingest", str(door.leaflet), "--json"]) == 0
        door.serve()
        yield door
        for process in door.processes:
            process.terminate()
            process.communicate(timeout=DEADLINE)


__all__ = ["until"]
