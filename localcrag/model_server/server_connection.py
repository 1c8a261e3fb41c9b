"""Bounded exchanges with one model server, each recorded in the ledger without its text.

A server is sent passages of documents. So it is only ever the host that the settings name: a redirect is
refused, and so is a name that has a public address, unless ``model.servers`` names it too. A reply has a
greatest size and a longest time. A request is sent again if the server is busy or the connection broke off,
and never if it took too long or was refused.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localcrag.egress import refuse_outside
from localcrag.errors import ModelServerError, SettingsError
from localcrag.model_address import ModelAddress
from localcrag.model_server.chat_replies import unreadable
from localcrag.model_server.constraint_dialects import Fields
from localcrag.printable_text import one_line

if TYPE_CHECKING:
    from localcrag.web.http import HttpCall, HttpTarget, ResponseHead
    from localcrag.web.ssrf import IPAddress

API_KEY_VARIABLE = "LOCALCRAG_MODEL_API_KEY"
"""The environment variable of the key that the server asks for; no file of localcrag ever holds it."""
MAX_REPLY_BYTES = 4 << 20
MAX_STREAM_BYTES = 32 << 20
CONNECT_SECONDS = 10.0
"""The longest time until the connection is there."""
RETRY_SECONDS = (0.5, 2.0)
"""The pauses before a request is sent again, and so how often."""
_BUSY_STATUSES = (429, 502, 503, 504)
_OVERFLOW_WORDS = (b"context_length_exceeded", b"exceed_context_size", b"maximum context length")
"""What llama.cpp, llama-cpp-python and vLLM say of a prompt that is too long."""
_MAX_SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ServerReply:
    """The status and the body of a reply."""

    status: int
    body: bytes

    @property
    def fine(self) -> bool:
        """Whether the server did what it was asked for."""
        return self.status == 200

    @property
    def overflows(self) -> bool:
        """Whether the server refuses a prompt because it is too long."""
        return any(word in self.body.lower() for word in _OVERFLOW_WORDS)

    @property
    def reason(self) -> str:
        """What the server says of its refusal, on one line."""
        try:
            found = json.loads(self.body)
        except (ValueError, RecursionError):
            return f"status {self.status}"
        error = (
            found.get("error", found.get("detail", found.get("message"))) if isinstance(found, dict) else None
        )
        said = error.get("message") if isinstance(error, dict) else error
        text = one_line(said if isinstance(said, str) else json.dumps(said))[:_MAX_SHOWN_CHARACTERS]
        return f"status {self.status}, {text}" if said else f"status {self.status}"


class _BusyError(Exception):
    """The server is to be asked again; the message says why."""


@dataclass(frozen=True)
class ServerConnection:
    """The exchanges with one server.

    Attributes:
        address: the server.
        record: records (kind, target) in the ledger before a request is sent; its error stops the request.
        servers: the ``host:port``s that may have a public address.
        seconds: the longest time of an exchange.
        key: the API key; "" for none.
        pause: waits for some seconds.
    """

    address: ModelAddress
    record: Callable[[str, str], None]
    servers: tuple[str, ...] = ()
    seconds: float = 300.0
    key: str = field(default="", repr=False)
    pause: Callable[[float], None] = time.sleep

    def get(self, path: str) -> ServerReply:
        """The reply to a GET of a path below the address of the server; see :meth:`post`."""
        return self._repeated(lambda: self._exchange(self._call(path, None)))

    def post(self, path: str, body: Fields) -> ServerReply:
        """The reply to a JSON object.

        A reply that refuses the request itself, such as 400 or 404, is returned for the caller to judge.
        Raises ModelServerError for every other failure, OfflineError, LedgerError, SettingsError.
        """
        return self._repeated(lambda: self._exchange(self._call(path, body)))

    def stream(self, path: str, body: Fields) -> Generator[bytes | ServerReply]:
        """The data of the server-sent events that answer a JSON object, one by one.

        A refusal is the only item. Nothing is sent again once an event was given. Closing the iterator ends
        the connection. Raises as :meth:`post` does.
        """
        call = self._call(path, body, size=MAX_STREAM_BYTES)
        for waited in (*RETRY_SECONDS, None):
            began = False
            try:
                with self._opened(call) as head:
                    refusal = self._refusal(head)
                    if refusal is None and head.media_type != "text/event-stream":
                        raise unreadable(
                            f"{one_line(head.media_type) or 'no media type'} in place of a stream"
                        )
                    for item in [refusal] if refusal else _events(head.pieces()):
                        began = True
                        yield item
                return
            except _BusyError as why:
                if began or waited is None:
                    raise self._unusable(str(why)) from why
                self.pause(waited)

    # -------------------------------------------------------------------------------- one request

    def _repeated(self, once: Callable[[], ServerReply]) -> ServerReply:
        """The reply to a request that is sent again after a pause if the server is busy."""
        for waited in (*RETRY_SECONDS, None):
            try:
                return once()
            except _BusyError as why:
                if waited is None:
                    raise self._unusable(str(why)) from why
                self.pause(waited)
        raise AssertionError("the last round returns or raises")

    def _exchange(self, call: HttpCall) -> ServerReply:
        with self._opened(call) as head:
            return self._refusal(head) or ServerReply(head.status, head.read())

    def _call(self, path: str, body: Fields | None, *, size: int = 0) -> HttpCall:
        from localcrag.web.http import HttpCall

        headers = {"Accept": "application/json, text/event-stream", "Accept-Encoding": "identity"}
        if self.key:
            headers["Authorization"] = f"Bearer {self._checked_key()}"
        text = None if body is None else json.dumps(body).encode()
        target = self._target(path)
        return HttpCall(
            target, self.seconds, size or MAX_REPLY_BYTES, headers, json=text, connect_seconds=CONNECT_SECONDS
        )

    def _target(self, path: str) -> HttpTarget:
        from localcrag.web.http import HttpTarget

        try:
            return HttpTarget.parse(f"{self.address.base}{path}")
        except ValueError as error:
            raise SettingsError(
                f"the address of the model server {self.address.base!r} cannot be used: {error}",
                hint="an address looks like http://gpu-box:8080",
            ) from error

    def _checked_key(self) -> str:
        """The key, which must be able to stand in a header. Raises SettingsError."""
        if not (self.key.isascii() and self.key.isprintable()) or " " in self.key:
            raise SettingsError(
                f"{API_KEY_VARIABLE} holds something else than a key", hint="give the key alone, on one line"
            )
        return self.key

    def _admit(self, host: str, port: int, address: IPAddress) -> None:
        """Refuse a public address that the settings do not name. Raises ModelServerError."""
        from localcrag.web.ssrf import is_public

        if is_public(address) and not self.address.is_named(self.servers):
            raise ModelServerError(
                f"the model server {host}:{port} has the public address {address}, and passages of your "
                "documents would be sent to it",
                hint=f"if you mean that: localcrag config set model.servers {self.address.place}",
            )

    # ---------------------------------------------------------------------------------- its reply

    @contextmanager
    def _opened(self, call: HttpCall) -> Iterator[ResponseHead]:
        """Record a request, send it, and give the head of its reply.

        Raises _BusyError if it may be sent again, ModelServerError, OfflineError and LedgerError.
        """
        from localcrag.web.http import Garbled, TimedOut, Unreachable, WireError, exchange

        refuse_outside(call.target.host)
        kind, size = ("GET", "") if call.body is None else ("POST", f" ({len(call.body):,} bytes)")
        self.record("model", f"{kind} {call.target.url}{size}")
        try:
            with exchange(call, admit=self._admit) as head:
                yield head
        except TimedOut as error:
            raise self._down(error, "raise model.server_timeout if it is only slow") from error
        except Unreachable as error:
            raise self._down(error, "start it, or correct model.language in the settings") from error
        except Garbled as error:
            raise _BusyError(str(error)) from error
        except WireError as error:
            raise unreadable(str(error)) from error

    def _refusal(self, head: ResponseHead) -> ServerReply | None:
        """The reply if the server refuses the request itself; None if it does what it was asked for.

        Raises ModelServerError for a refusal of another kind, and _BusyError.
        """
        if head.status == 200:
            return None
        if 300 <= head.status < 400:
            raise self._unusable(
                f"it redirects to {one_line(head.location)[:_MAX_SHOWN_CHARACTERS] or 'nowhere'}"
            )
        reply = ServerReply(head.status, head.read())
        if head.status in (401, 403):
            raise ModelServerError(
                f"the model server at {self.address.base} wants {'another' if self.key else 'an'} API key "
                f"({head.status})",
                hint=f"export {API_KEY_VARIABLE}=…; no file of localcrag holds it",
            )
        if head.status in _BUSY_STATUSES:
            raise _BusyError(f"it is busy, or still loads its model ({reply.reason})")
        return reply

    def _unusable(self, why: str) -> ModelServerError:
        return ModelServerError(
            f"the model server at {self.address.base} cannot be used: {why}",
            hint="look at its log; `localcrag docs models` says which servers can be used",
        )

    def _down(self, why: object, hint: str) -> ModelServerError:
        return ModelServerError(
            f"the model server at {self.address.base} cannot be reached: {why}", hint=hint
        )


def _events(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The data of server-sent events, without the one that ends them."""
    waiting = b""
    for piece in pieces:
        *lines, waiting = (waiting + piece).split(b"\n")
        for line in lines:
            field_name, _, value = line.strip().partition(b":")
            if field_name == b"data" and value.strip() not in (b"", b"[DONE]"):
                yield value.strip()
