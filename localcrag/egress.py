"""The offline guard: refuses every connection of Python code that would leave the machine.

The threat is data that leaves the machine against the user's will because some code in the process,
localcrag's own or a library's, opens a connection that nobody asked for: a look-up on a model hub,
telemetry, an update check, a name sent to a DNS server, or a mistake of ours. The guard is no sandbox: it
does not hold back code that attacks it on purpose, nor native code that opens sockets of its own (see
below).

:func:`go_offline` installs a Python audit hook (PEP 578) that sees every name lookup, connect, bind and
send of the :mod:`socket` module, and refuses those whose address is neither loopback nor a local socket,
such as a Unix socket. An audit hook cannot be removed, so it consults a flag: :func:`offline` is the guard
for the length of a block.

:class:`~localcrag.errors.OfflineError` is not an :class:`OSError` because HTTP libraries and model hubs
take an OSError for a fault of the network: they retry, fall back to a cache, and end in a message about
something else. An error of another kind reaches the one place that prints it.

The hook cannot see a native library that opens sockets of its own, such as a hub's transfer library. For
these, :func:`quiet_hubs` sets the variables that they obey, which child processes inherit. LanceDB could open
object storage in this way, and is never given an address there.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import wraps

from localcrag.errors import OfflineError

OFFLINE_VARIABLE = "LOCALCRAG_OFFLINE"
"""The environment variable by which a process and its children are offline."""

_QUIET_VARIABLES = {
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
_NO_PROXY_VARIABLES = {"NO_PROXY": "*", "no_proxy": "*"}  # a proxy on loopback would lead outside
_LOCAL_FAMILIES = frozenset(
    getattr(socket, name) for name in ("AF_UNIX", "AF_NETLINK", "AF_ALG") if hasattr(socket, name)
)
_NAME_LOOKUP_EVENTS = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})
_REVERSE_LOOKUP_EVENTS = frozenset({"socket.gethostbyaddr", "socket.getnameinfo"})
_TRAFFIC_EVENTS = frozenset({"socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg"})
_FALSE_VALUES = frozenset({"", "0", "false", "no", "off"})

_refusing = False
_hooked = False


class _ReverseLookupRefused(OfflineError, socket.herror):
    """The refusal of a reverse lookup.

    It is also the socket module's own error, so that callers which can do without the name, such as
    :func:`socket.getfqdn`, go on.
    """


def is_offline() -> bool:
    """Whether this process refuses the network: after :func:`go_offline`, or by ``LOCALCRAG_OFFLINE``."""
    return _refusing or os.environ.get(OFFLINE_VARIABLE, "").strip().lower() not in _FALSE_VALUES


def go_offline() -> None:
    """Refuse every connection that is not local, from now on, in this process and in localcrag's children.

    A child that is localcrag itself calls :func:`obey_environment` at its start; another one inherits the
    variables only. A second call changes nothing.
    """
    global _refusing
    _install()
    _refusing = True
    os.environ.update({OFFLINE_VARIABLE: "1"} | _NO_PROXY_VARIABLES)
    quiet_hubs(os.environ)


def obey_environment() -> None:
    """Quiet the hubs, and go offline if ``LOCALCRAG_OFFLINE`` says so; for the start of a process."""
    quiet_hubs(os.environ)
    if is_offline():
        go_offline()


@contextmanager
def offline() -> Iterator[None]:
    """Go offline for the length of a block.

    Afterwards the process refuses what it refused before; the variables of :func:`quiet_hubs` stay set.
    """
    global _refusing
    refusing_before = _refusing
    variables_before = {name: os.environ.get(name) for name in (OFFLINE_VARIABLE, *_NO_PROXY_VARIABLES)}
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
    """Switch off hub look-ups, telemetry and update checks of the libraries, in these variables.

    Most libraries read them once, when they are imported, so call this before. The user's own values are
    replaced, since the promise is localcrag's.
    """
    environment.update(_QUIET_VARIABLES)


def refuse_outside(host: str) -> None:
    """Raise OfflineError if this process is offline and ``host`` is not this machine."""
    if is_offline() and not is_loopback(host):
        raise _refusal(host)


def is_loopback(host: str) -> bool:
    """Whether a name or a literal address means this machine; no name is looked up."""
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
    """Install the audit hook and the checked socket methods, once in a process."""
    global _hooked
    if not _hooked:
        _hooked = True
        sys.addaudithook(_watch)
        for method in ("connect", "connect_ex", "sendto", "bind"):
            setattr(socket.socket, method, _checked_first(getattr(socket.socket, method)))


def _checked_first(method: Callable[..., object]) -> Callable[..., object]:
    """A socket method that checks its address before the interpreter looks up a name in it.

    The audit event comes only after that lookup, which leaves the machine. The address is the last
    argument of each of these methods.
    """

    @wraps(method)
    def checked(self: socket.socket, *args: object) -> object:
        """Check the address, then call the method."""
        if _refusing and args:
            _check_traffic(self, args[-1])
        return method(self, *args)

    return checked


def _watch(event: str, args: tuple[object, ...]) -> None:
    """The audit hook; ``args`` are those of the event in CPython's table of audit events.

    Raises OfflineError for an address or a name outside the machine.
    """
    if not _refusing or not event.startswith("socket."):
        return
    if event in _NAME_LOOKUP_EVENTS:
        _check_host(args[0])
    elif event in _REVERSE_LOOKUP_EVENTS:
        address = args[0]
        host = address[0] if isinstance(address, tuple) else address
        if not is_loopback(_text(host)):
            raise _ReverseLookupRefused(*_refusal(_text(host)).args)
    elif event in _TRAFFIC_EVENTS:
        _check_traffic(args[0], args[1])


def _check_traffic(sock: object, address: object) -> None:
    """Raise OfflineError unless the address is loopback, or the socket is of a local family."""
    family = sock.family if isinstance(sock, socket.SocketType) else None
    if address is None or family in _LOCAL_FAMILIES:
        return  # a send on a connected socket: its connect was checked
    if family in (socket.AF_INET, socket.AF_INET6) and isinstance(address, tuple) and address:
        if not is_loopback(_text(address[0])):
            raise _refusal(_text(address[0]))
        return
    raise _refusal(f"{address!r} (not an internet or Unix socket)")


def _check_host(host: object) -> None:
    """Raise OfflineError unless the name to look up means this machine."""
    if host in (None, "", b""):
        return  # the wildcard or loopback address: nothing is looked up, and a bind to it is checked
    if not is_loopback(_text(host)):
        raise _refusal(_text(host))


def _text(host: object) -> str:
    """A host as text."""
    return host.decode("ascii", "replace") if isinstance(host, (bytes, bytearray)) else str(host)


def _refusal(target: str) -> OfflineError:
    """The error for a refused connection."""
    shown = target or "all interfaces"
    return OfflineError(
        f"a connection to {shown} was refused, because localcrag is offline",
        hint=f"leave out --offline and unset {OFFLINE_VARIABLE} if this may reach the network",
    )
