"""An HTTP server on loopback that answers as it is told, and remembers what it was asked."""

from __future__ import annotations

import json
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import parse_qs


@dataclass(frozen=True)
class Answer:
    """``body`` goes out at once; with ``drip`` byte by byte, that many seconds apart.

    With ``after`` nothing goes out before so many requests have come.
    """

    status: int = 200
    body: bytes = b""
    media_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    drip: float = 0.0
    after: int = 0

    @classmethod
    def json(cls, value: object, status: int = 200) -> Answer:
        return cls(status, json.dumps(value).encode(), "application/json")

    @classmethod
    def redirect(cls, location: str, status: int = 302) -> Answer:
        return cls(status, headers=(("Location", location),))


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def form(self) -> dict[str, str]:
        return {key: values[0] for key, values in parse_qs(self.body.decode()).items()}


@dataclass
class ScriptedServer:
    """``answers`` by path (without the query string), or a rule of the request; anything else is 404."""

    port: int
    answers: dict[str, Answer | Callable[[Request], Answer]] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    stopped: Event = field(default_factory=Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    script: ScriptedServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that breaks off is what some tests are about."""
        if not isinstance(sys.exception(), (ConnectionError, ssl.SSLError)):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def running_script(tls: ssl.SSLContext | None = None) -> Iterator[ScriptedServer]:
    server = _Server(("127.0.0.1", 0), _Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    script = server.script = ScriptedServer(server.server_address[1])
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield script
    finally:
        script.stopped.set()
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        assert isinstance(self.server, _Server)
        script = self.server.script
        length = int(self.headers.get("Content-Length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.command, self.path, headers, self.rfile.read(length))
        script.requests.append(request)
        found = script.answers.get(self.path.partition("?")[0], Answer(404, b"no such page"))
        answer = found(request) if callable(found) else found
        while len(script.requests) < answer.after and not script.stopped.wait(0.01):
            pass
        self.send_response(answer.status)
        if answer.media_type:
            self.send_header("Content-Type", answer.media_type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers:
            self.send_header(name, value)
        self.end_headers()
        try:
            self._write(answer, script.stopped)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _write(self, answer: Answer, stopped: Event) -> None:
        if not answer.drip:
            self.wfile.write(answer.body)
            return
        for byte in answer.body:
            self.wfile.write(bytes((byte,)))
            self.wfile.flush()
            if stopped.wait(answer.drip):
                return

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass
