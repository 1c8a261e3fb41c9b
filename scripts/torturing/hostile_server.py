"""A server on loopback that answers every request with the bytes it is told, and with no HTTP of its own."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Reply = Callable[[socket.socket], None]
"""Answers on a connection whose request has come."""
REQUEST_SECONDS = 5.0


@dataclass
class HostileServer:
    """A server; ``reply`` is what it answers next, and ``connections`` how many came."""

    listener: socket.socket
    reply: Reply = field(default=lambda link: None)
    connections: int = 0
    closed: threading.Event = field(default_factory=threading.Event)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.listener.getsockname()[1])

    @property
    def host(self) -> str:
        """Its address without a scheme."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://{self.host}"

    def run(self) -> None:
        """Accept connections until the listener is closed."""
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(link, self.reply), daemon=True).start()

    def _answer(self, link: socket.socket, reply: Reply) -> None:
        with link, suppress(OSError):
            link.settimeout(REQUEST_SECONDS)
            request = b""
            while b"\r\n\r\n" not in request:
                if not (more := link.recv(1 << 16)):
                    return
                request += more
            reply(link)
            link.shutdown(socket.SHUT_WR)


@contextmanager
def hostile_server() -> Iterator[HostileServer]:
    """A server for the length of a block."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = HostileServer(listener)
        threading.Thread(target=server.run, daemon=True).start()
        try:
            yield server
        finally:
            server.closed.set()
            listener.shutdown(socket.SHUT_RDWR)


def whole(
    body: bytes, media_type: str, status: str = "200 OK", *headers: str, length: int | None = None
) -> Reply:
    """A reply with these headers; ``length`` is what it says of its length, if that is a lie."""
    said = len(body) if length is None else length
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {media_type}", f"Content-Length: {said}", *headers, "", ""]
    return lambda link: link.sendall("\r\n".join(lines).encode("latin-1", "replace") + body)


def raw(data: bytes) -> Reply:
    """These bytes, and the end of the connection."""
    return lambda link: link.sendall(data)


def endless(head: bytes, piece: bytes, pause: float = 0.0, seconds: float = 20.0) -> Reply:
    """A beginning, and then the same bytes until nobody takes them any more."""

    def reply(link: socket.socket) -> None:
        ends = time.monotonic() + seconds
        link.sendall(head)
        while time.monotonic() < ends:
            link.sendall(piece)
            time.sleep(pause)

    return reply


def silent(seconds: float = 20.0) -> Reply:
    """Nothing, while the connection stays open."""

    def reply(link: socket.socket) -> None:
        link.settimeout(seconds)
        link.recv(1)

    return reply
