"""uvicorn in a thread of the warm process, and the address it listens on.

This module imports what the extra ``localcrag[http]`` brings inside functions, so that a command can check
its options without it.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from localcrag.egress import is_loopback
from localcrag.errors import UsageError, WarmError
from localcrag.serve.endpoint import Endpoint
from localcrag.serve.protocol import StartConditions
from localcrag.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp

DEFAULT_PORT = 7429
"""The port if none is named."""
LOOPBACK_HOST = "127.0.0.1"
STARTING_SECONDS, ENDING_SECONDS = 10.0, 3.0
"""Seconds in which the thread must listen, and in which replies may end when it is to stop."""
MAX_WAITING_CONNECTIONS = 128
"""Connections that may wait to be accepted."""
REMOTE_HINT = (
    "with --allow-remote other machines may connect, and everything goes over the network unencrypted, the "
    "token too; ssh -L is the safe way"
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where the door listens; ``host`` is a literal IP address, or localhost."""

    host: str
    port: int

    @classmethod
    def of(cls, given: str) -> Address:
        """The address in ``PORT``, ``HOST:PORT`` or "", which means the default. Raises UsageError."""
        host, colon, port = given.rpartition(":")
        host = host.removeprefix("[").removesuffix("]") if colon else LOOPBACK_HOST
        port = port or str(DEFAULT_PORT)
        if not host or not port.isdecimal() or not port.isascii() or int(port) > 65535:
            raise UsageError(
                f"--http {given!r} is no address", hint="give PORT or HOST:PORT, for example 127.0.0.1:7429"
            )
        return cls(host, int(port))

    @property
    def local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def named(self) -> str:
        """The host as it stands in a URL; brackets go around an IPv6 address."""
        return f"[{self.host}]" if ":" in self.host else self.host

    @property
    def reachable(self) -> str:
        """The host by which it can be opened on this machine: loopback, if it listens everywhere."""
        return self.named if not _is_unspecified(self.host) else LOOPBACK_HOST


@dataclass(frozen=True, slots=True)
class DoorPlan:
    """How the HTTP door is to be opened: where, whether other machines may connect, whether it may ingest.

    Raises UsageError for an address that other machines can reach, unless that is allowed.
    """

    address: Address
    allow_remote: bool = False
    read_only: bool = False

    def __post_init__(self) -> None:
        if not self.address.local and not self.allow_remote:
            raise UsageError(f"{self.address.host} can be reached by other machines", hint=REMOTE_HINT)

    @property
    def arguments(self) -> list[str]:
        """The options of ``localcrag serve`` that open the same door."""
        flags = (("--allow-remote", self.allow_remote), ("--read-only", self.read_only))
        at = f"{self.address.named}:{self.address.port}"
        return ["--http", at, *(name for name, given in flags if given)]


@dataclass(frozen=True, slots=True)
class OpenDoor:
    """A door that is open: its plan, with the port that it listens on, and the address for the user."""

    plan: DoorPlan
    url: str


def require_extra() -> None:
    """Raise WarmError if a package of the extra ``http`` is not installed."""
    try:
        import multipart  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise WarmError(
            f"the HTTP door needs {error.name}, which is not installed",
            hint="install it: pip install 'localcrag[http]'",
        ) from error


@contextmanager
def open_door(
    plan: DoorPlan, settings: Settings, start: StartConditions, endpoint: Endpoint
) -> Iterator[OpenDoor]:
    """Open the HTTP door of the warm process at ``endpoint`` for the block.

    Raises WarmError if it cannot listen or a package is missing, UsageError for a file of the token that
    cannot be used, OfflineError.
    """
    require_extra()
    from localcrag.serve.http_api.access import LOOPBACK_NAMES, Access, kept_token
    from localcrag.serve.http_api.admission import DoorLimits
    from localcrag.serve.http_api.application import make_application
    from localcrag.serve.http_api.guarded_protocol import ProtocolFactory
    from localcrag.serve.http_api.warm_backend import WarmBackend
    from localcrag.serve.http_api.warm_connection import WarmConnections

    token = kept_token(settings.home)
    listener = listening(plan.address)
    address = Address(plan.address.host, listener.getsockname()[1])
    hosts = LOOPBACK_NAMES | ({address.named, socket.gethostname().lower()} if plan.allow_remote else set())
    access = Access(token, address.port, frozenset(hosts), addresses=plan.allow_remote)
    backend = WarmBackend(settings, start, WarmConnections(endpoint), plan.read_only)
    limits = DoorLimits()
    application = make_application(backend, access, limits)
    with DoorServer(application, listener, ProtocolFactory(limits)):
        url = f"http://{address.reachable}:{address.port}/#token={token}"
        yield OpenDoor(DoorPlan(address, plan.allow_remote, plan.read_only), url)


def listening(address: Address) -> socket.socket:
    """A socket that listens at an address. Raises WarmError, OfflineError."""
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with ExitStack() as closed_unless_it_listens:
        listener = closed_unless_it_listens.enter_context(socket.socket(family, socket.SOCK_STREAM))
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address.host, address.port))
            listener.listen(MAX_WAITING_CONNECTIONS)
        except OSError as error:
            taken = error.errno == errno.EADDRINUSE
            raise WarmError(
                f"cannot listen at {address.named}:{address.port}: {error.strerror or error}",
                hint="give another port: --http PORT" if taken else "give an address of this machine",
            ) from error
        closed_unless_it_listens.pop_all()
    return listener


class DoorServer:
    """Serves an application at a listening socket, in a thread, for the length of a ``with``."""

    def __init__(self, application: ASGIApp, listener: socket.socket, protocol: object) -> None:
        import uvicorn

        self._listener = listener
        self._server = uvicorn.Server(
            uvicorn.Config(
                application,
                http=protocol,  # type: ignore[arg-type]
                interface="asgi3",
                ws="none",
                loop="asyncio",
                lifespan="off",
                access_log=False,
                log_config=None,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=int(ENDING_SECONDS),
                timeout_keep_alive=30,
            )
        )
        self._thread = threading.Thread(target=self._run, name="http", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(ENDING_SECONDS + 2.0)
        self._listener.close()

    def _run(self) -> None:
        self._server.run(sockets=[self._listener])


def _is_unspecified(host: str) -> bool:
    """Whether an address means all interfaces."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False
