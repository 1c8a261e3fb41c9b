"""A door on a port of loopback, in a thread of the test's process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import uvicorn

from localcrag.serve.http_api.access import Access
from localcrag.serve.http_api.application import make_application
from localcrag.serve.http_api.backend import Backend

TOKEN = "token-of-the-tests-" + "x" * 32


@dataclass(frozen=True)
class Address:
    """Where a door listens."""

    port: int

    @property
    def openai(self) -> str:
        """The base of the OpenAI API."""
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def opened(backend: Backend) -> Iterator[Address]:
    """A door to a backend, for the length of a block."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(64)
        port = listener.getsockname()[1]
        application = make_application(backend, Access(TOKEN, port))
        server = uvicorn.Server(uvicorn.Config(application, log_level="warning", lifespan="off"))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        try:
            yield Address(port)
        finally:
            server.should_exit = True
            thread.join()
