"""Questions to the client whether a line may be sent to the web, and their answers."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from localcrag.serve.http_api.problems import Problem, ProblemError


@dataclass(frozen=True, slots=True)
class AskedConsent:
    """One question; ``id`` cannot be guessed, and ``seconds`` are how long its answer is waited for."""

    id: str
    seconds: float
    reply: asyncio.Future[bool]

    async def allowed(self) -> bool:
        """Whether the client allows it; no answer in time is a no."""
        try:
            return await asyncio.wait_for(self.reply, self.seconds)
        except TimeoutError:
            return False


class Consents:
    """The questions that wait for an answer, each for ``seconds``."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._waiting: dict[str, AskedConsent] = {}

    @contextmanager
    def asked(self) -> Iterator[AskedConsent]:
        """A new question, which may be answered once, and only in the block."""
        reply = asyncio.get_running_loop().create_future()
        asked = AskedConsent(secrets.token_urlsafe(16), self._seconds, reply)
        self._waiting[asked.id] = asked
        try:
            yield asked
        finally:
            self._waiting.pop(asked.id, None)

    def answer(self, id: str, allow: bool) -> None:
        """Answer a question. Raises ProblemError if there is none, or none any more."""
        asked = self._waiting.pop(id, None)
        if asked is None or asked.reply.done():
            raise ProblemError(
                Problem(404, "NoSuchConsent", "nobody waits for that consent", "ask the question again")
            )
        asked.reply.set_result(allow)
