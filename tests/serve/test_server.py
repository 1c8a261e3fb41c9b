"""What goes wrong with one command is that command's alone."""

from __future__ import annotations

import contextlib
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from localcrag.errors import ModelNotFound
from localcrag.protocols import Consent
from localcrag.serve import endpoint as endpoints
from localcrag.serve import protocol, request_job, server
from localcrag.serve.endpoint import UNIX, Endpoint, claimed, connect
from localcrag.serve.protocol import (
    Done,
    SearchReply,
    SearchRequest,
    ServerStatus,
    StartConditions,
    StatusRequest,
    StopRequest,
    WorkRequest,
)
from localcrag.serve.request_job import Job, received_line
from localcrag.serve.server import CommandGone, Server
from localcrag.settings import Settings, load
from localcrag.types import Hit, Passage
from tests.serve.conftest import DEADLINE

pytestmark = pytest.mark.skipif(not UNIX, reason="Unix sockets")

START = StartConditions("v", "python", "", False, "", {})
LONG = Passage("id", "hash", "/a", "title", "", None, 0, 1500, "x" * 1500)


class Verbose:
    """A worker that answers with as many long replies as hits are asked for."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def changed(self, request: WorkRequest) -> str:
        return ""

    def reset(self, request: WorkRequest) -> None:
        raise ModelNotFound("there is no such model")

    def do(self, request: WorkRequest, consent: Consent | None = None) -> Iterator[Any]:
        assert isinstance(request, SearchRequest)
        if not request.k:
            raise CommandGone
        for _ in range(request.k):
            yield SearchReply((Hit(LONG, 1.0),) * 24)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="lc-") as folder:
        endpoint = Endpoint(Path(folder), "a")
        with claimed(endpoint) as listener:
            assert listener is not None
            yield Server(endpoint, listener, START, Verbose(load(home=tmp_path)), limit=0)  # type: ignore[arg-type]


def connected(served: Server) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    link.settimeout(DEADLINE)
    link.connect(str(served.endpoint.address))
    return link


def asked(served: Server, k: int) -> socket.socket:
    link = connected(served)
    link.sendall(protocol.encode(SearchRequest(START, "x", served.worker.settings.model, "q", k, None)))
    return link


def test_a_command_that_takes_nothing_does_not_hold_up_the_others(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_job, "TAKING_SECONDS", 0.5)
    replies: list[Any] = []

    def commands() -> None:
        with asked(served, 50), asked(served, 1) as other, other.makefile("rb") as text:
            other.settimeout(DEADLINE)
            replies.extend(map(protocol.decode, text))
        with connected(served) as link:
            link.sendall(protocol.encode(StopRequest()))
            link.recv(1)

    thread = threading.Thread(target=commands)
    thread.start()
    assert served.run() is None
    thread.join()
    assert isinstance(replies[-1], Done) and any(isinstance(reply, SearchReply) for reply in replies)


def test_who_has_the_last_reply_finds_the_server_free(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a command that comes at once, in need of other conditions, would have to do its work alone."""
    deliver, found = Job.deliver, []

    def watched(job: Job, message: object) -> None:
        if isinstance(message, Done):
            with connected(served) as link, link.makefile("rb") as text:
                link.sendall(protocol.encode(StatusRequest()))
                found.append(protocol.decode(text.readline()))
        deliver(job, message)

    def commands() -> None:
        with asked(served, 1) as link, link.makefile("rb") as text:
            list(text)
        with connected(served) as link:
            link.sendall(protocol.encode(StopRequest()))
            link.recv(1)

    monkeypatch.setattr(Job, "deliver", watched)
    thread = threading.Thread(target=commands)
    thread.start()
    assert served.run() is None
    thread.join()
    assert [status.busy for status in found] == [False]


def test_the_time_for_a_request_is_not_renewed_by_each_byte() -> None:
    ours, theirs = socket.socketpair()
    ended = threading.Event()

    def drip() -> None:
        with contextlib.suppress(OSError):
            while not ended.wait(0.05):
                theirs.send(b"x")

    with ours, theirs:
        thread = threading.Thread(target=drip)
        thread.start()
        with pytest.raises(TimeoutError):
            received_line(ours, 0.5)
        ended.set()
        thread.join()


def test_the_time_for_taking_replies_is_not_renewed_by_each_reply(
    served: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_job, "TAKING_SECONDS", 0.5)
    ours, theirs = socket.socketpair()
    ended = threading.Event()

    def sip() -> None:
        while not ended.wait(0.02) and theirs.recv(4096):
            pass

    with ours, theirs:
        thread = threading.Thread(target=sip)
        thread.start()
        job = Job(SearchRequest(START, "x", served.worker.settings.model, "q", 5000, None), ours)
        served._work(job)
        assert not job.done, "some hundred megabytes, which such a command takes in an hour"
        ended.set()
        thread.join()


def test_what_cannot_be_reset_does_not_end_the_server(served: Server) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        served._work(Job(SearchRequest(START, "x", served.worker.settings.model, "q", 0, None), ours))
        assert theirs.recv(1) == b"", "the command is told by the end of the connection"


def test_a_newer_server_keeps_its_socket(served: Server) -> None:
    address = served.endpoint.address
    address.unlink()
    with socket.socket(socket.AF_UNIX) as newer:
        newer.bind(str(address))
        served.close()
        assert address.exists()


def test_without_unix_sockets_a_request_is_answered_on_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "UNIX", False)
    monkeypatch.setattr(server, "UNIX", False)
    endpoint = Endpoint(tmp_path / "run", "a")
    replies: list[Any] = []

    def command() -> None:
        link = connect(endpoint, DEADLINE)
        assert link is not None
        with link, link.makefile("rb") as text:
            link.sendall(protocol.encode(StopRequest()))
            replies.extend(map(protocol.decode, text))

    with claimed(endpoint) as listener:
        assert listener is not None
        served = Server(endpoint, listener, START, Verbose(load(home=tmp_path)), limit=0)  # type: ignore[arg-type]
        thread = threading.Thread(target=command)
        thread.start()
        assert served.run() is None
        thread.join()
    assert [type(reply) for reply in replies] == [ServerStatus, Done]
    assert not endpoint.address.exists()
