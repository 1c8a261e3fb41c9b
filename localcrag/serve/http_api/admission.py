"""The bounds of the HTTP door: sizes and times of bodies, and a queue for what needs the models.

The models do one thing at a time. A request that comes meanwhile waits in the queue, in the order of coming.
If the queue is full it is refused at once (429), and if its turn does not come in time, then (503); both
replies say after how many seconds it is worth trying again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

import msgspec
from starlette.requests import ClientDisconnect, Request

from localcrag.serve.http_api.problems import Problem, ProblemError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DoorLimits:
    """The bounds of one door: bytes, counts, and seconds of wall time.

    ``queued`` is the most requests that wait for the models, ``queue_seconds`` the longest that one waits,
    and ``work_seconds`` the longest that one question takes then. ``connections`` is the most at a time.
    """

    json_bytes: int = 1 << 20
    json_seconds: float = 20.0
    upload_bytes: int = 1 << 30
    upload_seconds: float = 600.0
    upload_files: int = 200
    queued: int = 100
    queue_seconds: float = 300.0
    work_seconds: float = 900.0
    consent_seconds: float = 120.0
    header_seconds: float = 10.0
    connections: int = 256


async def json_body(request: Request, kind: type[T], limits: DoorLimits) -> T:
    """The body of a request as a value of ``kind``.

    Raises ProblemError if it is not JSON by its content type (415) or by its text, does not fit (400), is too
    large (413) or comes too slowly (408).
    """
    require_content_type(request, "application/json")
    body = await bounded_body(request, limits.json_bytes, limits.json_seconds)
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ProblemError(
            Problem(400, "BadBody", f"the body does not fit: {error}", "GET /api/openapi.json shows its form")
        ) from error


def require_content_type(request: Request, wanted: str) -> None:
    """Raise ProblemError unless the body says that it is of this type, and is not compressed."""
    given = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if given != wanted:
        raise ProblemError(
            Problem(415, "WrongContentType", f"the body must be {wanted}", f"send Content-Type: {wanted}")
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise ProblemError(
            Problem(415, "WrongContentType", "a compressed body is not taken", "send it as it is")
        )


async def bounded_body(request: Request, most_bytes: int, most_seconds: float) -> bytes:
    """The body of a request. Raises ProblemError if it is too large, too slow, or cut off."""
    refuse_announced(request, most_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(most_seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most_bytes:
                    raise too_large(most_bytes)
    except TimeoutError:
        raise too_slow(most_seconds) from None
    except ClientDisconnect:
        raise ProblemError(Problem(400, "BadBody", "the body was cut off", "send it again")) from None
    return bytes(body)


def refuse_announced(request: Request, most_bytes: int) -> None:
    """Raise ProblemError if the header says already that the body is too large."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > most_bytes:
        raise too_large(most_bytes)


def too_large(most_bytes: int) -> ProblemError:
    """The refusal of a body of more bytes; the rest of it is not read."""
    return ProblemError(
        Problem(
            413,
            "BodyTooLarge",
            f"the body has more than {most_bytes} bytes",
            "send less at a time",
        )
    )


def too_slow(most_seconds: float) -> ProblemError:
    """The refusal of a body that does not come."""
    return ProblemError(
        Problem(
            408,
            "BodyTooSlow",
            f"the body did not come within {most_seconds:.0f} s",
            "send it again",
        )
    )


class WorkQueue:
    """The queue before the models: first come, first served.

    ``running`` is the most that are let through at a time, ``queued`` the most that wait, and
    ``queue_seconds`` how long one waits.
    """

    def __init__(self, running: int, queued: int, queue_seconds: float) -> None:
        self._free = asyncio.Semaphore(running)
        self._running, self._most, self._seconds = running, queued, queue_seconds
        self._waiting = 0
        self._mean_seconds = 1.0

    @asynccontextmanager
    async def turn(self, tell: Callable[[int], Awaitable[None]] | None = None) -> AsyncIterator[None]:
        """Wait for a turn, and keep it for the block.

        ``tell`` is told, if it has to wait, how many are before it. Raises ProblemError.
        """
        if self._free.locked():
            if self._waiting >= self._most:
                raise self._refusal(429, "QueueFull", f"{self._waiting} requests wait already")
            ahead = self._waiting + 1
            self._waiting += 1
            try:
                if tell:
                    await tell(ahead)
                await self._wait()
            finally:
                self._waiting -= 1
        else:
            await self._free.acquire()
        began = time.monotonic()
        try:
            yield
        finally:
            self._free.release()
            self._mean_seconds += 0.2 * (time.monotonic() - began - self._mean_seconds)

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(self._seconds):
                await self._free.acquire()
        except TimeoutError:
            detail = f"no turn came within {self._seconds:.0f} s"
            raise self._refusal(503, "QueueSlow", detail) from None

    def _refusal(self, status: int, code: str, detail: str) -> ProblemError:
        """The refusal, with the time in which half of those that wait will be done."""
        seconds = math.ceil(max(1.0, self._mean_seconds * self._waiting / self._running / 2))
        return ProblemError(Problem(status, code, detail, f"try again in {seconds} s", retry_after=seconds))
