"""A proxy on loopback before a server, which breaks the exchanges that a test chooses."""

from __future__ import annotations

import re
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from urllib.parse import urlsplit

REDIRECT_TARGET = "http://127.0.0.1:9/elsewhere"


class Fault(Enum):
    """What happens to an exchange."""

    BUSY = auto()
    """Status 503."""
    STALLED = auto()
    """No answer, until the client goes away."""
    CUT = auto()
    """The answer is cut off in the middle."""
    LOST_REPLY = auto()
    """The server does it, and the answer is lost."""
    RUBBISH = auto()
    """Status 200 with something else."""
    CHANGED = auto()
    """The answer with another last byte."""
    REDIRECT = auto()
    CARELESS = auto()
    """A condition is not looked at: status 200."""
    FORBIDDEN = auto()


@dataclass(frozen=True)
class SeenRequest:
    """A request that came to the proxy; ``key`` is below the bucket."""

    method: str
    path: str
    conditional: bool

    @property
    def is_head(self) -> bool:
        return self.path.endswith("/localcrag.json")

    @property
    def is_lease(self) -> bool:
        return self.path.endswith("/writer.lease")


Chooser = Callable[[SeenRequest], Fault | None]


@dataclass
class FaultProxy:
    """``choose`` gives the fault of a request, None to pass it on; ``seen`` are all requests."""

    url: str
    target: tuple[str, int]
    choose: Chooser = field(default=lambda request: None)
    seen: list[SeenRequest] = field(default_factory=list)

    def fail(self, fault: Fault, matches: Callable[[SeenRequest], bool], times: int = 1_000_000) -> None:
        """Break the next exchanges that match."""
        left = [times]

        def choose(request: SeenRequest) -> Fault | None:
            if left[0] and matches(request):
                left[0] -= 1
                return fault
            return None

        self.choose = choose

    def handle(self, client: socket.socket) -> None:
        """One exchange, and the end of its connection."""
        head, body = _read_message(client)
        method, path = head.split(b" ")[:2]
        conditional = re.search(rb"(?i)\r\nif-(none-)?match:", head) is not None
        request = SeenRequest(method.decode(), path.decode(), conditional)
        self.seen.append(request)
        fault = self.choose(request)
        if fault is Fault.STALLED:
            client.recv(1)
        elif canned := _canned(fault):
            client.sendall(canned)
        else:
            reply = self._passed_on(head + body)
            if fault is Fault.CUT:
                reply = reply[: max(1, len(reply) - 7)]
            elif fault is Fault.CHANGED:
                reply = reply[:-1] + bytes([reply[-1] ^ 1])
            if fault is not Fault.LOST_REPLY:
                client.sendall(reply)

    def _passed_on(self, message: bytes) -> bytes:
        message = re.sub(rb"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", message, count=1)
        with socket.create_connection(self.target) as server:
            server.sendall(message)
            pieces = []
            while piece := server.recv(1 << 16):
                pieces.append(piece)
        return b"".join(pieces)


def _canned(fault: Fault | None) -> bytes:
    if fault is Fault.BUSY:
        return _answer("503 Slow Down")
    if fault is Fault.RUBBISH:
        return _answer("200 OK", b"<html>it works!</html>", b'ETag: "0"\r\n')
    if fault is Fault.REDIRECT:
        return _answer("307 Elsewhere", headers=f"Location: {REDIRECT_TARGET}\r\n".encode())
    if fault is Fault.CARELESS:
        return _answer("200 OK", headers=b'ETag: "1"\r\n')
    if fault is Fault.FORBIDDEN:
        return _answer("403 Forbidden", b"<Error><Code>AccessDenied</Code></Error>")
    return b""


def _answer(status: str, body: bytes = b"", headers: bytes = b"") -> bytes:
    length = f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
    return f"HTTP/1.1 {status}\r\n".encode() + headers + length + body


def _read_message(client: socket.socket) -> tuple[bytes, bytes]:
    received = b""
    while b"\r\n\r\n" not in received and (piece := client.recv(1 << 16)):
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    found = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    while found and len(body) < int(found[1]) and (piece := client.recv(1 << 16)):
        body += piece
    return head + b"\r\n\r\n", body


@contextmanager
def running_proxy(url: str) -> Iterator[FaultProxy]:
    """A proxy before the server at an address."""
    parts = urlsplit(url)
    assert parts.hostname and parts.port
    proxy = FaultProxy("", (parts.hostname, parts.port))

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with suppress(OSError):
                proxy.handle(self.request)

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        proxy.url = f"http://127.0.0.1:{server.server_address[1]}"
        yield proxy
        server.shutdown()
