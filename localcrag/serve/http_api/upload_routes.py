"""The route by which documents come in: an upload, and the ingestion of its files."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.routing import BaseRoute, Route

from localcrag.events import to_dict
from localcrag.serve.http_api.admission import (
    WorkQueue,
    refuse_announced,
    require_content_type,
    too_large,
    too_slow,
)
from localcrag.serve.http_api.door import Door
from localcrag.serve.http_api.event_stream import EventSender, EventStream
from localcrag.serve.http_api.problems import Problem, ProblemError
from localcrag.serve.http_api.uploads import Upload

FILES_FIELD = "files"
"""The name of the parts of the form that are files."""
MAX_FIELDS = 10
"""Parts of a form that are no files, which are not looked at."""
UPLOADS_QUEUED = 4
"""Uploads that wait while another one is read and ingested."""


def upload_routes(door: Door) -> Sequence[BaseRoute]:
    """The route of uploads."""
    return [Route("/api/knowledge-bases/{kb}/documents", UploadRoutes(door).ingest, methods=["POST"])]


@dataclass(frozen=True)
class UploadRoutes:
    """The handler of uploads; one upload after the other is read and ingested."""

    door: Door
    queue: WorkQueue = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "queue", WorkQueue(1, UPLOADS_QUEUED, self.door.limits.queue_seconds))

    async def ingest(self, request: Request) -> EventStream:
        """Keep the files of a form, and send the events of their ingestion."""
        if (await self.door.backend.status()).read_only:
            raise ProblemError(
                Problem(
                    403, "ReadOnly", "nothing may be ingested here", "use localcrag ingest at the terminal"
                )
            )
        kb = await self.door.kb(request.path_params["kb"])
        require_content_type(request, "multipart/form-data")
        refuse_announced(request, self.door.limits.upload_bytes)
        async with self.queue.turn():
            files = await self._kept_files(request, kb)
        return EventStream(lambda sender: self._send_events(sender, kb, files))

    async def _send_events(self, sender: EventSender, kb: str, files: Sequence[Path]) -> None:
        async def tell(ahead: int) -> None:
            await sender.event("queued", {"ahead": ahead})

        async with self.queue.turn(tell), aclosing(self.door.backend.ingest(kb, files)) as events:
            async for event in events:
                data = to_dict(event)
                await sender.event(str(data["event"]), data)

    async def _kept_files(self, request: Request, kb: str) -> list[Path]:
        """The files of a form, where they are kept. Raises ProblemError, StoreError."""
        async with self._form_files(request) as files:
            uploads = [Upload(file.filename or "", file.file) for file in files]
            return await self.door.backend.keep_uploads(kb, uploads)

    @asynccontextmanager
    async def _form_files(self, request: Request) -> AsyncGenerator[list[UploadFile], None]:
        """The files of a form, in scratch files until the block ends. Raises ProblemError."""
        limits = self.door.limits
        body = _bounded(request, limits.upload_bytes)
        parser = MultiPartParser(request.headers, body, max_files=limits.upload_files, max_fields=MAX_FIELDS)
        try:
            async with asyncio.timeout(limits.upload_seconds):
                form = await parser.parse()
        except TimeoutError:
            raise too_slow(limits.upload_seconds) from None
        except (MultiPartException, ClientDisconnect) as error:
            reason = getattr(error, "message", "it was cut off")
            raise _bad_form(f"the form cannot be read: {reason}") from error
        try:
            files = [item for item in form.getlist(FILES_FIELD) if isinstance(item, UploadFile)]
            if not files:
                raise _bad_form("there is no file in the form")
            yield files
        finally:
            await form.close()


async def _bounded(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    """The body of a request in pieces. Raises ProblemError after ``most`` bytes."""
    left = most
    async for piece in request.stream():
        left -= len(piece)
        if left < 0:
            raise too_large(most)
        yield piece


def _bad_form(detail: str) -> ProblemError:
    return ProblemError(
        Problem(400, "BadBody", detail, f"send the documents as the parts {FILES_FIELD!r} of a form")
    )
