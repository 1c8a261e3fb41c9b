"""One HTTP exchange, with bounds: the only place in localcrag that opens a socket to the web.

It speaks through ``httpcore2``, the connection layer of ``httpx2``, and not through the client
above it, because what that adds is what must not happen here: following redirects, keeping
cookies, going through a proxy named in the environment. In exchange two things can be done where
they are safe:

- a name is resolved once, each address is put before ``admit``, and the connection goes to that
  very address, so a name that changes its address in between (DNS rebinding) gains nothing;
- every single read and write has what is left of the *total* time as its limit, so a server that
  sends a byte now and then cannot hold us.

A compressed body is inflated up to the size limit and no further.
"""

from __future__ import annotations

import ipaddress
import socket
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from functools import cache
from typing import TYPE_CHECKING, Any

import httpcore2
import httpx2

from localcrag.background import in_background
from localcrag.egress import refuse_outside
from localcrag.errors import WebError
from localcrag.web.ssrf import IPAddress, literal

if TYPE_CHECKING:
    import ssl

Admit = Callable[[str, int, IPAddress], None]
"""Given host, port and resolved address before the connect; raises to refuse it."""

USER_AGENT = "Mozilla/5.0 (compatible; localcrag)"
"""Says what it is, and nothing of the machine it runs on: no version, system or library."""


class WireError(WebError):
    """An exchange that failed; ``str(error)`` is the reason alone. Never leaves this package."""


class Unreachable(WireError):
    """No connection: refused, no such name, no route, a certificate that does not hold."""


class TimedOut(WireError):
    """The total time was used up."""


class Oversized(WireError):
    """The body, inflated, is larger than the limit."""


class Garbled(WireError):
    """Not HTTP, cut off, or in an encoding that was not asked for."""


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """An http(s) address, taken apart; ``host`` is in lower case and ASCII (IDNA), without brackets."""

    url: str
    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> HttpTarget:
        """Raises ValueError, with the reason, for anything but a plain http or https address."""
        try:
            parsed = httpx2.URL(url)
        except (httpx2.InvalidURL, TypeError) as error:
            raise ValueError(f"not a valid address ({error})") from error
        if parsed.scheme not in ("http", "https"):
            raise ValueError("not an http or https address")
        host = parsed.raw_host.decode("ascii")
        if not host or "%" in host:
            raise ValueError("the address names no host")
        if parsed.userinfo:
            raise ValueError("the address carries a user name or password")
        port = parsed.port or (443 if parsed.scheme == "https" else 80)
        if not 0 < port < 65536:
            raise ValueError(f"there is no port {port}")
        return cls(str(parsed.copy_with(fragment=None)), parsed.scheme, host.lower(), port)

    def join(self, location: str) -> HttpTarget:
        """The target of a redirect; ``location`` may be relative. Raises ValueError as ``parse`` does."""
        try:
            return HttpTarget.parse(str(httpx2.URL(self.url).join(location)))
        except httpx2.InvalidURL as error:
            raise ValueError(f"not a valid address ({error})") from error


@dataclass(frozen=True, slots=True)
class HttpCall:
    """What is asked, and its bounds: ``seconds`` in total, ``size`` in bytes of the inflated body."""

    target: HttpTarget
    seconds: float
    size: int
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None

    @property
    def body(self) -> bytes | None:
        return None if self.form is None else str(httpx2.QueryParams(dict(self.form))).encode("ascii")


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """The start of a reply; ``read`` brings the rest, once, within the bounds of the call."""

    status: int
    media_type: str
    charset: str
    location: str
    read: Callable[[], bytes]


def anywhere(host: str, port: int, address: IPAddress) -> None:
    """Admits every address: for a server that the user named."""


@contextmanager
def exchange(call: HttpCall, *, admit: Admit = anywhere) -> Iterator[ResponseHead]:
    """Send the call (a POST where it has a form, else a GET) and give the head of the reply.

    Raises Unreachable, TimedOut, Oversized, Garbled; OfflineError before anything is looked up;
    and what ``admit`` raises.
    """
    refuse_outside(call.target.host)
    clock = _Clock(call.seconds)
    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate", "Accept-Language": "en"}
    headers |= call.headers
    body = call.body
    if body is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    tls = _tls() if call.target.scheme == "https" else None
    with (
        _translated(),
        httpcore2.ConnectionPool(ssl_context=tls, network_backend=_Guarded(admit, clock)) as pool,
        pool.stream(
            "GET" if body is None else "POST",
            _core_url(call.target),
            headers=list(headers.items()),
            content=body,
        ) as reply,
    ):
        yield _head(reply, call.size)


def _core_url(target: HttpTarget) -> httpcore2.URL:
    url = httpx2.URL(target.url)
    return httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


def _head(reply: httpcore2.Response, size: int) -> ResponseHead:
    headers = httpx2.Headers(reply.headers)
    content_type = Message()
    content_type["Content-Type"] = headers.get("content-type", "")
    coding = headers.get("content-encoding", "").strip().lower()
    return ResponseHead(
        status=reply.status,
        media_type=content_type.get_content_type() if "content-type" in headers else "",
        charset=content_type.get_content_charset(""),
        location=headers.get("location", ""),
        read=lambda: inflated(reply.iter_stream(), coding, size),
    )


@cache
def _tls() -> ssl.SSLContext:
    """The certificates that the system trusts; built on the first https call (some 20 ms)."""
    return httpcore2.default_ssl_context()


@contextmanager
def _translated() -> Iterator[None]:
    """The connection layer's errors, as ours."""
    try:
        yield
    except httpcore2.TimeoutException as error:
        raise TimedOut("it did not answer in time") from error
    except httpcore2.ConnectError as error:
        raise Unreachable(_plain(error)) from error
    except httpcore2.NetworkError as error:
        raise Garbled(f"the connection broke off ({_plain(error)})") from error
    except httpcore2.ProtocolError as error:
        raise Garbled(f"what it sent is not HTTP ({_plain(error)})") from error


def _plain(error: Exception) -> str:
    """``[Errno 111] Connection refused`` → ``Connection refused``."""
    cause = error.__cause__
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__


# ---------------------------------------------------------------------------------- the body


def inflated(chunks: Iterable[bytes], coding: str, size: int) -> bytes:
    """The body with its content coding (gzip, deflate or none) undone, at most ``size`` bytes.

    Raises Oversized as soon as it is longer, without inflating the rest; Garbled where the coding
    is unknown, damaged, or cut off.
    """
    if coding in ("", "identity"):
        body = bytearray()
        for chunk in chunks:
            body += chunk
            _check_size(body, size)
        return bytes(body)
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise Garbled(f"it is encoded as {coding}, which was not asked for")
    try:
        return _unpacked(chunks, size)
    except zlib.error as error:
        raise Garbled(f"its {coding} encoding is damaged ({error})") from error


def _unpacked(chunks: Iterable[bytes], size: int) -> bytes:
    body = bytearray()
    inflater = None
    for chunk in chunks:
        data = chunk
        while data:
            inflater = inflater or zlib.decompressobj(_window(data))
            body += inflater.decompress(data, size + 1 - len(body))
            _check_size(body, size)
            if not inflater.eof:
                data = inflater.unconsumed_tail
            elif inflater.unused_data.startswith(b"\x1f\x8b"):  # one more gzip member
                data, inflater = inflater.unused_data, None
            else:
                return bytes(body)
    if inflater is not None and not inflater.eof:
        raise Garbled("its body is cut off")
    return bytes(body)


def _window(data: bytes) -> int:
    """zlib's ``wbits``: find out between gzip and zlib, or raw deflate, which some servers send."""
    return 47 if data[0] == 0x1F or data[0] & 0x0F == 8 else -15


def _check_size(body: bytearray, size: int) -> None:
    if len(body) > size:
        raise Oversized(f"it is larger than {size // 1024:,} KiB")


# ---------------------------------------------------------------------------------- connections


class _Clock:
    """What is left of the total time."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimedOut("it did not answer in time")
        return seconds


class _Guarded(httpcore2.NetworkBackend):
    """Connects to addresses that were admitted, and to nothing else."""

    def __init__(self, admit: Admit, clock: _Clock) -> None:
        self._admit = admit
        self._clock = clock
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        addresses = _resolved(host, port, self._clock)
        for address in addresses:
            self._admit(host, port, address)
        failure: Exception = Unreachable("its name has no address")
        for address in addresses:
            try:
                stream = self._plain.connect_tcp(
                    str(address), port, self._clock.left(), local_address, socket_options or ()
                )
            except httpcore2.ConnectError as error:
                failure = error
            else:
                return _Timed(stream, self._clock)
        raise failure


class _Timed(httpcore2.NetworkStream):
    """A connection whose every read and write is bounded by the total time."""

    def __init__(self, stream: httpcore2.NetworkStream, clock: _Clock) -> None:
        self._stream = stream
        self._clock = clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._clock.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._clock.left())

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secure = self._stream.start_tls(ssl_context, server_hostname, self._clock.left())
        return _Timed(secure, self._clock)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _resolved(host: str, port: int, clock: _Clock) -> list[IPAddress]:
    """The addresses of a host. A lookup knows no time limit, so it runs in a thread that is left behind."""
    address = literal(host)
    if address is not None:
        return [address]

    def look_up() -> list[IPAddress]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found))

    try:
        return in_background(look_up).result(timeout=clock.left())
    except TimeoutError as error:
        raise TimedOut("its name was not resolved in time") from error
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"its name is unknown ({_reason(error)})") from error


def _reason(error: OSError | UnicodeError) -> str:
    return str(getattr(error, "strerror", None) or error)
