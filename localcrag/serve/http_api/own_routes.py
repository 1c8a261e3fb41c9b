"""The routes of the own API, ``/api/…``: questions, searches, knowledge bases, conversations.

Their objects are those of the command line: events as ``ask --jsonl`` prints them, answers as ``ask --json``,
hits as ``search --json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcrag.events import Finished, json_value, to_dict
from localcrag.serve.http_api.admission import json_body
from localcrag.serve.http_api.api_bodies import AskBody, SearchBody
from localcrag.serve.http_api.backend import Question
from localcrag.serve.http_api.door import Door
from localcrag.serve.http_api.event_stream import EventSender, EventStream, unless_disconnected
from localcrag.serve.http_api.problems import JsonResponse
from localcrag.types import Answer, JsonValue


def own_routes(door: Door) -> Sequence[BaseRoute]:
    """The routes of the own API."""
    routes = OwnRoutes(door)
    return [
        Route("/api/status", routes.status),
        Route("/api/knowledge-bases", routes.knowledge_bases),
        Route("/api/knowledge-bases/{kb}/documents", routes.documents),
        Route("/api/ask", routes.ask, methods=["POST"]),
        Route("/api/search", routes.search, methods=["POST"]),
    ]


@dataclass(frozen=True)
class OwnRoutes:
    """The handlers of the own API."""

    door: Door

    async def status(self, _: Request) -> Response:
        """The version, the models, and what is allowed."""
        return JsonResponse(json_value(await self.door.backend.status()))

    async def knowledge_bases(self, _: Request) -> Response:
        """The knowledge bases there are, and which one is meant if none is named."""
        status = await self.door.backend.status()
        found = [json_value(info) for info in await self.door.backend.knowledge_bases()]
        return JsonResponse({"default": status.default_kb, "knowledge_bases": found})

    async def documents(self, request: Request) -> Response:
        """The documents of a knowledge base, and what was skipped."""
        held = await self.door.backend.documents(await self.door.kb(request.path_params["kb"]))
        return JsonResponse(
            {
                "documents": [json_value(document) for document in held.documents],
                "skipped": [json_value(item) for item in held.skipped],
            }
        )

    async def search(self, request: Request) -> Response:
        """The passages that bear on a query."""
        body = await json_body(request, SearchBody, self.door.limits)
        kb, k = await self.door.kb(body.kb), body.checked_k()

        async def found() -> list[JsonValue]:
            async with self.door.queue.turn():
                hits = await self.door.backend.search(kb, body.query, k, body.filter)
            return [hit.to_dict(rank) for rank, hit in enumerate(hits, 1)]

        hits = await unless_disconnected(request.receive, found())
        return JsonResponse({"query": body.query, "kb": kb, "hits": hits})

    async def ask(self, request: Request) -> Response | EventStream:
        """The events of a question, or its answer alone if the client accepts JSON only."""
        body = await json_body(request, AskBody, self.door.limits)
        question = Question(await self.door.kb(body.kb), body.question, body.options.options(body.turns()))
        if "text/event-stream" not in request.headers.get("accept", "") and _accepts_json(request):
            return JsonResponse(await unless_disconnected(request.receive, self._answer(question)))

        async def send(sender: EventSender) -> None:
            async with aclosing(self.door.events(question, sender)) as events:
                async for event in events:
                    data = to_dict(event)
                    await sender.event(str(data["event"]), data)

        return EventStream(send)

    async def _answer(self, question: Question) -> dict[str, JsonValue]:
        answer: Answer | None = None
        async with aclosing(self.door.events(question)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    answer = event.answer
        assert answer is not None, "the last event is Finished"
        return answer.to_dict()


def _accepts_json(request: Request) -> bool:
    """Whether a client wants one JSON object in place of events."""
    return "application/json" in request.headers.get("accept", "")
