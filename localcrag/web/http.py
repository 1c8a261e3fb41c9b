"""One bounded HTTP exchange; no other module of localcrag opens a socket to the web, to a model server or to
object storage.

It uses ``httpcore2``, the connection layer of ``httpx2``, and not the client above it, because that
client follows redirects, keeps cookies and uses proxies named in the environment, none of which may
happen here. The connection layer also allows two protections:

- a name is resolved once, each address is passed to ``admit``, and the connection goes to that
  very address, which prevents DNS rebinding (a name that changes its address after the check);
- every single read and write is limited by the rest of the *total* time, so a server that sends a
  byte now and then cannot prolong the exchange.

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
"""Called with host, port and resolved address before the connection; raises an error to refuse it."""

USER_AGENT = "Mozilla/5.0 (compatible; localcrag)"
"""The User-Agent header, which names the program but no version, system or library."""


class WireError(WebError):
    """An exchange that failed; ``str(error)`` is the reason alone. It is handled inside this package."""


class Unreachable(WireError):
    """There is no connection: refused, no such name, no route, an invalid certificate."""


class TimedOut(WireError):
    """The total time is over."""


class Oversized(WireError):
    """The decompressed body is larger than the limit."""


class Garbled(WireError):
    """The reply is not HTTP, cut off, or in a content coding that was not asked for."""


@dataclass(frozen=True, slots=True)
class HttpTarget:
    """A parsed http(s) address; ``host`` is in lower case and ASCII (IDNA), without brackets."""

    url: str
    scheme: str
    host: str
    port: int

    @classmethod
    def parse(cls, url: str) -> HttpTarget:
        """The target at ``url``, without its fragment.

        Raises ValueError, with the reason, for anything but an http or https address with a host and
        without a user name.
        """
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
    """A request and its bounds: ``seconds`` in total, ``size`` in bytes of the decompressed body.

    It is a POST of ``form`` or of the JSON text ``json`` if there is one, otherwise a GET; ``method`` names
    another one. ``content`` is a body in pieces, whose length is among the headers. The connection itself
    must be there within ``connect_seconds``, by default within the total.
    """

    target: HttpTarget
    seconds: float
    size: int
    headers: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, str] | None = None
    json: bytes | None = None
    connect_seconds: float | None = None
    method: str = ""
    content: Iterator[bytes] | None = None

    @property
    def body(self) -> bytes | None:
        """The JSON text, or the URL-encoded form; None for a GET."""
        if self.json is not None or self.form is None:
            return self.json
        return str(httpx2.QueryParams(dict(self.form))).encode("ascii")

    @property
    def body_type(self) -> str:
        """The media type of the body."""
        return "application/x-www-form-urlencoded" if self.json is None else "application/json"


@dataclass(frozen=True, slots=True)
class ResponseHead:
    """Status and headers of a reply; ``read`` returns the body, once, within the bounds of the call.

    ``pieces`` gives the body as it comes, within the same bounds, in place of ``read``; the call must then
    have asked for no content coding. ``media_type``, ``charset``, ``location`` and ``etag`` are "" if the
    reply does not name them.
    """

    status: int
    media_type: str
    charset: str
    location: str
    read: Callable[[], bytes]
    pieces: Callable[[], Iterator[bytes]]
    etag: str = ""


def anywhere(host: str, port: int, address: IPAddress) -> None:
    """Admit every address, which is right for a server that the user named."""


@contextmanager
def exchange(call: HttpCall, *, admit: Admit = anywhere) -> Iterator[ResponseHead]:
    """Send the call and give the head of the reply; the connection is open during the ``with``.

    Raises Unreachable, TimedOut, Oversized and Garbled, OfflineError before a name is resolved, and
    whatever ``admit`` raises.
    """
    refuse_outside(call.target.host)
    deadline = _Deadline(call.seconds)
    connect = _Deadline(min(call.seconds, call.connect_seconds or call.seconds))
    headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "gzip, deflate", "Accept-Language": "en"}
    headers |= call.headers
    body = call.body
    if body is not None:
        headers["Content-Type"] = call.body_type
    tls = _tls() if call.target.scheme == "https" else None
    with (
        _translated(),
        httpcore2.ConnectionPool(
            ssl_context=tls, network_backend=_AdmittingBackend(admit, connect, deadline)
        ) as pool,
        pool.stream(
            call.method or ("GET" if body is None else "POST"),
            _core_url(call.target),
            headers=list(headers.items()),
            content=body if call.content is None else call.content,
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
        pieces=lambda: _as_they_come(reply.iter_stream(), coding, size),
        etag=headers.get("etag", ""),
    )


@cache
def _tls() -> ssl.SSLContext:
    """The TLS context with the certificates that the system trusts; it takes some 20 ms to build."""
    return httpcore2.default_ssl_context()


@contextmanager
def _translated() -> Iterator[None]:
    """Translate the errors of the connection layer to WireErrors."""
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
    """The message of an error without its number: ``Connection refused``."""
    cause = error.__cause__
    text = cause.strerror if isinstance(cause, OSError) and cause.strerror else str(error)
    return " ".join(text.split()) or type(error).__name__


# ---------------------------------------------------------------------------------- the body


def inflated(chunks: Iterable[bytes], coding: str, size: int) -> bytes:
    """The body decoded from its content ``coding`` (gzip, deflate or none), at most ``size`` bytes.

    Raises Oversized as soon as it is longer, without decompressing the rest, and Garbled if the coding is
    unknown, damaged, or cut off.
    """
    if coding in ("", "identity"):
        body = bytearray()
        for chunk in chunks:
            body += chunk
            _check_size(len(body), size)
        return bytes(body)
    if coding not in ("gzip", "x-gzip", "deflate"):
        raise Garbled(f"it is encoded as {coding}, which was not asked for")
    try:
        return _unpacked(chunks, size)
    except zlib.error as error:
        raise Garbled(f"its {coding} encoding is damaged ({error})") from error


def _as_they_come(chunks: Iterable[bytes], coding: str, size: int) -> Iterator[bytes]:
    """The chunks of a body without a content coding, at most ``size`` bytes. Raises Oversized, Garbled."""
    if coding not in ("", "identity"):
        raise Garbled(f"it is encoded as {coding}, which was not asked for")
    total = 0
    for chunk in chunks:
        total += len(chunk)
        _check_size(total, size)
        yield chunk


def _unpacked(chunks: Iterable[bytes], size: int) -> bytes:
    body = bytearray()
    inflater = None
    for chunk in chunks:
        data = chunk
        while data:
            inflater = inflater or zlib.decompressobj(_window(data))
            body += inflater.decompress(data, size + 1 - len(body))
            _check_size(len(body), size)
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
    """The ``wbits`` of zlib for data that begins so: gzip or zlib by its header, else raw deflate."""
    return 47 if data[0] == 0x1F or data[0] & 0x0F == 8 else -15


def _check_size(length: int, size: int) -> None:
    if length > size:
        raise Oversized(f"it is larger than {size // 1024:,} KiB")


# ---------------------------------------------------------------------------------- connections


class _Deadline:
    """The end of the total time, ``seconds`` from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """The seconds that are left. Raises TimedOut if there are none."""
        seconds = self._end - time.monotonic()
        if seconds <= 0:
            raise TimedOut("it did not answer in time")
        return seconds


class _AdmittingBackend(httpcore2.NetworkBackend):
    """A network backend that connects only to admitted addresses, before ``connect`` is over."""

    def __init__(self, admit: Admit, connect: _Deadline, deadline: _Deadline) -> None:
        self._admit = admit
        self._connect = connect
        self._deadline = deadline
        self._plain = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.NetworkStream:
        addresses = _resolved(host, port, self._connect)
        for address in addresses:
            self._admit(host, port, address)
        failure: Exception = Unreachable("its name has no address")
        for address in addresses:
            try:
                stream = self._plain.connect_tcp(
                    str(address), port, self._connect.left(), local_address, socket_options or ()
                )
            except httpcore2.ConnectError as error:
                failure = error
            else:
                return _DeadlineStream(stream, self._deadline)
        raise failure


class _DeadlineStream(httpcore2.NetworkStream):
    """A network stream whose every read and write is bounded by a deadline."""

    def __init__(self, stream: httpcore2.NetworkStream, deadline: _Deadline) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, self._deadline.left())

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._deadline.left())

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        secure = self._stream.start_tls(ssl_context, server_hostname, self._deadline.left())
        return _DeadlineStream(secure, self._deadline)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _resolved(host: str, port: int, deadline: _Deadline) -> list[IPAddress]:
    """The addresses of a host. Raises TimedOut, Unreachable.

    A lookup has no time limit of its own, so it runs in a thread that is abandoned after the deadline.
    """
    address = literal(host)
    if address is not None:
        return [address]

    def look_up() -> list[IPAddress]:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(ipaddress.ip_address(str(entry[4][0]).split("%")[0]) for entry in found))

    try:
        return in_background(look_up).result(timeout=deadline.left())
    except TimeoutError as error:
        raise TimedOut("its name was not resolved in time") from error
    except (OSError, UnicodeError) as error:
        raise Unreachable(f"its name is unknown ({_reason(error)})") from error


def _reason(error: OSError | UnicodeError) -> str:
    return str(getattr(error, "strerror", None) or error)
