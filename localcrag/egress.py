"""The offline guard: no connection leaves the machine, whichever library tries.

:func:`go_offline` installs a Python audit hook (PEP 578) that sees every name lookup, connect,
bind and send of the :mod:`socket` module, and refuses those that are not loopback or a Unix
socket. An audit hook cannot be removed, so it consults a flag: :func:`offline` is the same for
the length of a block.

Why :class:`~localcrag.errors.OfflineError` is no :class:`OSError`: HTTP libraries and model hubs
take an OSError for a network hiccup: they retry, fall back to a cache, and end in a message about
something else. An error of another kind goes straight up to the one place that prints it.

What the hook cannot see is a native library that opens sockets of its own (LanceDB on object
storage, a hub's transfer library). For these :func:`quiet_hubs` sets the variables that they obey,
which child processes inherit.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import wraps

from localcrag.errors import OfflineError

VARIABLE = "LOCALCRAG_OFFLINE"

_QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "ANONYMIZED_TELEMETRY": "False",
}
_NO_PROXY = {"NO_PROXY": "*", "no_proxy": "*"}  # a proxy on loopback would lead outside
_LOCAL_FAMILIES = frozenset(
    getattr(socket, name) for name in ("AF_UNIX", "AF_NETLINK", "AF_ALG") if hasattr(socket, name)
)
_NAME_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_REVERSE_LOOKUPS = frozenset({"socket.gethostbyaddr", "socket.getnameinfo"})
_TRAFFIC = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"})
_FALSE = frozenset({"", "0", "false", "no", "off"})

_refusing = False
_hooked = False


class _NoName(OfflineError, socket.herror):
    """A reverse lookup refused: cosmetic, so callers such as :func:`socket.getfqdn` may go on without."""


def is_offline() -> bool:
    """Whether this process refuses the network: after :func:`go_offline`, or by ``LOCALCRAG_OFFLINE``."""
    return _refusing or os.environ.get(VARIABLE, "").strip().lower() not in _FALSE


def go_offline() -> None:
    """Refuse every connection that is not loopback, from now on, here and in child processes.

    May be called again. A child that is localcrag itself calls :func:`obey_environment` at its start.
    """
    global _refusing
    _install()
    _refusing = True
    os.environ.update({VARIABLE: "1"} | _NO_PROXY)
    quiet_hubs(os.environ)


def obey_environment() -> None:
    """At the start of a process: silence the hubs, and go offline if ``LOCALCRAG_OFFLINE`` says so."""
    quiet_hubs(os.environ)
    if is_offline():
        go_offline()


@contextmanager
def offline() -> Iterator[None]:
    """Offline for the length of a block; the process is as it was after it."""
    global _refusing
    refusing_before = _refusing
    variables_before = {name: os.environ.get(name) for name in (VARIABLE, *_NO_PROXY)}
    go_offline()
    try:
        yield
    finally:
        _refusing = refusing_before
        for name, value in variables_before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def quiet_hubs(environment: MutableMapping[str, str]) -> None:
    """Switch off hub look-ups, telemetry and update checks of the libraries localcrag uses.

    Most of them read these variables once, when they are imported: call it before. What the user
    has set is overruled, since the promise is localcrag's own.
    """
    environment.update(_QUIET)


def refuse_outside(host: str) -> None:
    """Raise OfflineError where this process is offline and ``host`` is not this machine."""
    if is_offline() and not is_loopback(host):
        raise _refusal(host)


def is_loopback(host: str) -> bool:
    """Whether a name or a literal address means this machine; a name is not looked up to find out."""
    import ipaddress

    name = host.strip("[]").partition("%")[0].rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


# ---------------------------------------------------------------------------------- the hook


def _install() -> None:
    global _hooked
    if not _hooked:
        _hooked = True
        sys.addaudithook(_watch)
        for method in ("connect", "connect_ex", "sendto", "bind"):
            setattr(socket.socket, method, _checked_first(getattr(socket.socket, method)))


def _checked_first(method: Callable[..., object]) -> Callable[..., object]:
    """A socket method that has its address checked before a name in it is looked up.

    The interpreter raises its audit event after that lookup, which would have left the machine.
    The address is the last argument of each of these methods.
    """

    @wraps(method)
    def checked(self: socket.socket, *args: object) -> object:
        if _refusing and args:
            _check_traffic(self, args[-1])
        return method(self, *args)

    return checked


def _watch(event: str, args: tuple[object, ...]) -> None:
    """The audit hook; ``args`` are the event's, as listed in CPython's table of audit events."""
    if not _refusing or not event.startswith("socket."):
        return
    if event in _NAME_LOOKUPS:
        _check_host(args[0])
    elif event in _REVERSE_LOOKUPS:
        address = args[0]
        host = address[0] if isinstance(address, tuple) else address
        if not is_loopback(_text(host)):
            raise _NoName(*_refusal(_text(host)).args)
    elif event in _TRAFFIC:
        _check_traffic(args[0], args[1])


def _check_traffic(sock: object, address: object) -> None:
    family = sock.family if isinstance(sock, socket.SocketType) else None
    if address is None or family in _LOCAL_FAMILIES:
        return  # a send on a connected socket: its connect was checked
    if family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple) and address:
        if not is_loopback(_text(address[0])):
            raise _refusal(_text(address[0]))
        return
    raise _refusal(f"{address!r} (not an internet or Unix socket)")


def _check_host(host: object) -> None:
    if host in (None, "", b""):
        return  # the wildcard or loopback address: nothing is looked up, and a bind to it is checked
    if not is_loopback(_text(host)):
        raise _refusal(_text(host))


def _text(host: object) -> str:
    return host.decode("ascii", "replace") if isinstance(host, (bytes, bytearray)) else str(host)


def _refusal(target: str) -> OfflineError:
    shown = target or "all interfaces"
    return OfflineError(
        f"a connection to {shown} was refused, because localcrag is offline",
        hint=f"leave out --offline and unset {VARIABLE} if this may reach the network",
    )
