"""Server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) as a reply.

The reply begins with the first event, so an error before it is an ordinary reply with problem details. If the
client goes away, the work is cancelled at once, even if it has nothing to send.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypeVar

from starlette.types import Receive, Scope, Send

from localcrag.errors import LocalCragError
from localcrag.serve.http_api.problems import Problem, ProblemError, problem_of
from localcrag.types import JsonValue

T = TypeVar("T")
KEEP_ALIVE_SECONDS = 10.0
"""Seconds without an event after which a comment is sent, so that nobody takes the connection for dead."""


class EventSender:
    """Sends events to one client; ``began`` says whether the reply has begun."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._sending = asyncio.Lock()
        self.began = False

    async def event(self, name: str, data: Mapping[str, JsonValue]) -> None:
        """Send an event."""
        await self._write(b"event: " + name.encode() + b"\ndata: " + _json_line(data) + b"\n\n")

    async def data(self, data: Mapping[str, JsonValue]) -> None:
        """Send an event without a name."""
        await self._write(b"data: " + _json_line(data) + b"\n\n")

    async def last_word(self, word: str) -> None:
        """Send an event that is a word in place of data."""
        await self._write(f"data: {word}\n\n".encode())

    async def keep_alive(self) -> None:
        """Send comments for as long as it takes, once the reply has begun."""
        while True:
            await asyncio.sleep(KEEP_ALIVE_SECONDS)
            if self.began:
                await self._write(b": working\n\n")

    async def end(self) -> None:
        """End the reply."""
        await self._begin()
        await self._send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _write(self, text: bytes) -> None:
        async with self._sending:
            await self._begin()
            await self._send({"type": "http.response.body", "body": text, "more_body": True})

    async def _begin(self) -> None:
        if not self.began:
            self.began = True
            headers = [
                (b"content-type", b"text/event-stream; charset=utf-8"),
                (b"x-accel-buffering", b"no"),
            ]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})


def _json_line(data: Mapping[str, JsonValue]) -> bytes:
    """The data of an event; line ends and lone surrogates are escaped, so it cannot become another event."""
    return json.dumps(data, ensure_ascii=False).encode("utf-8", "backslashreplace")


Produce = Callable[[EventSender], Awaitable[None]]
"""The work of a reply, which sends its events."""


class EventStream:
    """A reply of events that ``produce`` sends; an ASGI application, as all replies of Starlette are."""

    def __init__(self, produce: Produce) -> None:
        self._produce = produce

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events until the work is done or the client is gone.

        Raises what the work raised before its first event.
        """
        sender = EventSender(send)
        alive = asyncio.ensure_future(sender.keep_alive())
        try:
            await unless_disconnected(receive, self._send_all(sender))
        except ClientGone:
            pass
        finally:
            alive.cancel()
            await asyncio.wait({alive})

    async def _send_all(self, sender: EventSender) -> None:
        try:
            await self._produce(sender)
        except (LocalCragError, ProblemError) as error:
            if not sender.began:
                raise
            await sender.event("error", problem_of(error).to_dict())
        await sender.end()


class ClientGone(ProblemError):
    """Raised in place of a result if the client went away before there was one."""

    def __init__(self) -> None:
        super().__init__(Problem(408, "ClientGone", "the client went away"))


async def unless_disconnected(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """The result of work, which is cancelled if the client goes away; then ClientGone is raised.

    The body of the request must have been read.
    """
    task, gone = asyncio.ensure_future(work), asyncio.ensure_future(_disconnected(receive))
    try:
        await asyncio.wait({task, gone}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        task.cancel()  # of no effect if it is done
        gone.cancel()
        await asyncio.wait({task, gone})
    if task.cancelled():
        raise ClientGone
    return task.result()


async def _disconnected(receive: Receive) -> None:
    """Return when the client goes away."""
    while (await receive())["type"] != "http.disconnect":
        pass
