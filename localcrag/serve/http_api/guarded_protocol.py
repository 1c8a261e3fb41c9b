"""uvicorn's HTTP/1.1 with bounds on connections that send no whole request.

uvicorn limits the bytes of a head, but not the time in which it comes, and it answers what is no HTTP in
plain text. Here a head that does not come in time, and a connection that is one too many, get problem
details.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from localcrag.serve.http_api.admission import DoorLimits
from localcrag.serve.http_api.problems import MEDIA_TYPE, Problem

MAX_HEAD_BYTES = 1 << 14
"""Bytes of the first line and the headers of a request."""


@dataclass(frozen=True, slots=True)
class ProtocolFactory:
    """Makes the protocol of a connection; what uvicorn takes for the class of a protocol."""

    limits: DoorLimits

    def __call__(self, *args: Any, **settings: Any) -> GuardedProtocol:
        """The protocol of a new connection."""
        protocol = GuardedProtocol(*args, **settings)
        protocol.limits = self.limits
        return protocol


class GuardedProtocol(H11Protocol):
    """One connection."""

    limits = DoorLimits()
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, or refuse a connection that is one too many."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            self._refuse(Problem(503, "TooManyConnections", "too many connections", retry_after=5))
        else:
            self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._stop_watching()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and watch whether they are the beginning of a head."""
        if self.transport.is_closing():
            return
        super().data_received(data)
        self._watch_head()

    def on_response_complete(self) -> None:
        """Go on; the beginning of a further head may have come already."""
        super().on_response_complete()
        if self.conn.trailing_data[0]:
            self._watch_head()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or a head that is too large."""
        self._refuse(Problem(400, "BadRequest", "this is no HTTP request, or its head is too large"))

    def _watch_head(self) -> None:
        """Start the clock if a head is awaited, and stop it if one has come."""
        awaited = self.conn.their_state is h11.IDLE and not self.transport.is_closing()
        if not awaited:
            self._stop_watching()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(self.limits.header_seconds, self._head_is_late)

    def _stop_watching(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _head_is_late(self) -> None:
        self._head_timer = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self._refuse(Problem(408, "HeadTooSlow", "the head of the request did not come in time"))

    def _refuse(self, problem: Problem) -> None:
        """Send a problem and close the connection."""
        self._stop_watching()
        body = problem.response().body
        head = [
            f"HTTP/1.1 {problem.status} {problem.to_dict()['title']}",
            f"Content-Type: {MEDIA_TYPE}",
            f"Content-Length: {len(body)}",
            "X-Content-Type-Options: nosniff",
            "Connection: close",
        ]
        if problem.retry_after is not None:
            head.append(f"Retry-After: {problem.retry_after}")
        self.transport.write("\r\n".join([*head, "", ""]).encode() + bytes(body))
        self.transport.close()
