"""A door on a port of loopback, in a thread of the test's process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from localcrag.serve.http_api.access import Access
from localcrag.serve.http_api.admission import DoorLimits
from localcrag.serve.http_api.application import make_application
from localcrag.serve.http_api.backend import Backend
from localcrag.serve.http_api.door_server import Address, DoorServer, listening
from localcrag.serve.http_api.guarded_protocol import ProtocolFactory

TOKEN = "token-of-the-tests-" + "x" * 32


@dataclass(frozen=True)
class LoopbackDoor:
    """Where a door listens."""

    port: int
    token: str = TOKEN

    @property
    def openai(self) -> str:
        """The base of the OpenAI API."""
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def opened(backend: Backend) -> Iterator[LoopbackDoor]:
    """A door to a backend, for the length of a block."""
    limits, listener = DoorLimits(), listening(Address.of("0"))
    port = listener.getsockname()[1]
    application = make_application(backend, Access(TOKEN, port), limits)
    with DoorServer(application, listener, ProtocolFactory(limits)):
        yield LoopbackDoor(port)
