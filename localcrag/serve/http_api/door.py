"""What the routes of one HTTP door share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime

from starlette.routing import BaseRoute

from localcrag.events import Event
from localcrag.object_address import is_object_address
from localcrag.report import AskedQuestion
from localcrag.serve.http_api.admission import DoorLimits, WorkQueue
from localcrag.serve.http_api.backend import Backend, DoorQuestion
from localcrag.serve.http_api.event_stream import EventSender
from localcrag.serve.http_api.problems import Problem, ProblemError
from localcrag.serve.http_api.report_shelf import ReportShelf

RUNNING_AT_ONCE = 2
"""Requests that are with the models: one that is answered, and the next, so that no time is lost between."""


@dataclass(frozen=True)
class Door:
    """The backend, the limits, and the queue that everything that needs the models goes through."""

    backend: Backend
    limits: DoorLimits = field(default_factory=DoorLimits)
    shelf: ReportShelf = field(default_factory=ReportShelf)
    queue: WorkQueue = field(init=False)

    def __post_init__(self) -> None:
        queue = WorkQueue(RUNNING_AT_ONCE, self.limits.queued, self.limits.queue_seconds)
        object.__setattr__(self, "queue", queue)

    async def kb(self, name: str | None) -> str:
        """The knowledge base of this name, or the default one. Raises UsageError.

        A client cannot name an address on object storage, unless it is the default one.
        """
        from localcrag.store.kb_names import checked_name

        if name and not is_object_address(name):
            return checked_name(name)
        default = (await self.backend.status()).default_kb
        return checked_name(name) if name and name != default else default

    async def asked(self, question: DoorQuestion) -> AskedQuestion:
        """A question with all its events, once it is answered."""
        began = datetime.now(UTC)
        async with aclosing(self.events(question)) as events:
            kept = [event async for event in events]
        return AskedQuestion(question.kb, question.text, question.options, began, kept)

    async def events(
        self, question: DoorQuestion, sender: EventSender | None = None
    ) -> AsyncGenerator[Event, None]:
        """The events of a question, once its turn has come.

        ``sender`` is sent ``queued`` with the number of those before it, if it has to wait. Closing the
        generator ends the question. Raises ProblemError, and the LocalCragError that the work raised.
        """

        async def tell(ahead: int) -> None:
            if sender:
                await sender.event("queued", {"ahead": ahead})

        async with self.queue.turn(tell), aclosing(self.backend.stream(question)) as events:
            try:
                async with asyncio.timeout(self.limits.work_seconds):
                    async for event in events:
                        yield event
            except TimeoutError:
                raise ProblemError(
                    Problem(503, "WorkTooLong", "the answer took too long", "ask a smaller question")
                ) from None


RouteMaker = Callable[[Door], Sequence[BaseRoute]]
"""Makes a group of routes for a door."""
