"""The routes of the own API, ``/api/…``: questions, searches, knowledge bases, citations, conversations.

Their objects are those of the command line: events as ``ask --jsonl`` prints them, answers as ``ask --json``,
hits as ``search --json``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcrag.errors import UsageError
from localcrag.events import Finished, answer_of, json_value, to_dict
from localcrag.report import AskedQuestion
from localcrag.serve.http_api.admission import json_body
from localcrag.serve.http_api.api_bodies import AskBody, ConsentBody, PlaceQuery, SearchBody
from localcrag.serve.http_api.backend import AsyncConsent, CitedPlace, DoorQuestion
from localcrag.serve.http_api.consents import Consents
from localcrag.serve.http_api.door import Door
from localcrag.serve.http_api.event_stream import EventSender, EventStream, unless_disconnected
from localcrag.serve.http_api.problems import JsonResponse
from localcrag.types import Answer, JsonValue, Turn, WebPolicy


def own_routes(door: Door) -> Sequence[BaseRoute]:
    """The routes of the own API, but for uploads and for the OpenAPI document."""
    routes = OwnRoutes(door)
    return [
        Route("/api/status", routes.status),
        Route("/api/knowledge-bases", routes.knowledge_bases),
        Route("/api/knowledge-bases/{kb}/documents", routes.documents, methods=["GET"]),
        Route("/api/ask", routes.ask, methods=["POST"]),
        Route("/api/consents/{id}", routes.consent, methods=["POST"]),
        Route("/api/search", routes.search, methods=["POST"]),
        Route("/api/citations/text", routes.cited_text),
        Route("/api/citations/page", routes.cited_page),
        Route("/api/threads", routes.threads),
        Route("/api/threads/{name}", routes.thread),
    ]


@dataclass(frozen=True)
class OwnRoutes:
    """The handlers of the own API."""

    door: Door
    consents: Consents = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "consents", Consents(self.door.limits.consent_seconds))

    # ------------------------------------------------------------------------------ what there is

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
        return JsonResponse(json_value(held))

    # ------------------------------------------------------------------------------ questions

    async def search(self, request: Request) -> Response:
        """The passages that bear on a query."""
        body = await json_body(request, SearchBody, self.door.limits)
        kb = await self.door.kb(body.kb)

        async def found() -> list[JsonValue]:
            async with self.door.queue.turn():
                hits = await self.door.backend.search(kb, body.query, body.k, body.filter)
            return [hit.to_dict(rank) for rank, hit in enumerate(hits, 1)]

        hits = await unless_disconnected(request.receive, found())
        return JsonResponse({"query": body.query, "kb": kb, "hits": hits})

    async def ask(self, request: Request) -> Response | EventStream:
        """The events of a question, or its answer alone if the client accepts JSON only."""
        body = await json_body(request, AskBody, self.door.limits)
        earlier = (*await self._kept_turns(body.thread), *body.turns())
        question = DoorQuestion(await self.door.kb(body.kb), body.question, body.options.options(earlier))
        if _wants_json(request):
            answer = await unless_disconnected(request.receive, self._answer(question, body.thread))
            return JsonResponse(answer.to_dict())

        async def send(sender: EventSender) -> None:
            asking = replace(question, consent=self._consent_of(question, sender))
            await self._answer(asking, body.thread, sender)

        return EventStream(send)

    async def _answer(self, question: DoorQuestion, thread: str, sender: EventSender | None = None) -> Answer:
        """The answer to a question, whose events are sent, and which is kept in the conversation, if any."""
        began, kept = datetime.now(UTC), []
        async with aclosing(self.door.events(question, sender)) as events:
            async for event in events:
                kept.append(event)
                if sender and not isinstance(event, Finished):
                    data = to_dict(event)
                    await sender.event(str(data["event"]), data)
        answer = answer_of(kept)
        if thread:
            turns = [Turn("user", answer.question), Turn("assistant", answer.text, answer.to_json())]
            await self.door.backend.keep_turns(thread, question.kb, turns)
        if sender:
            asked = AskedQuestion(question.kb, question.text, question.options, began, kept)
            await sender.event("finished", to_dict(Finished(answer)), self.door.shelf.put(asked))
        return answer

    def _consent_of(self, question: DoorQuestion, sender: EventSender) -> AsyncConsent | None:
        """What asks the client before a line is sent to the web, if it said that it can be asked."""
        if question.options.web is not WebPolicy.ASK:
            return None

        async def ask(query: str) -> str | None:
            with self.consents.asked() as asked:
                await sender.event("consent", {"id": asked.id, "query": query})
                return query if await asked.allowed() else None

        return ask

    async def consent(self, request: Request) -> Response:
        """Take the answer to an event ``consent``."""
        body = await json_body(request, ConsentBody, self.door.limits)
        self.consents.answer(request.path_params["id"], body.allow)
        return Response(status_code=204)

    # ------------------------------------------------------------------------------ citations

    async def cited_text(self, request: Request) -> Response:
        """The text of a citation, with what stands around it."""
        found = await self.door.backend.cited_text(await self._place(request))
        return JsonResponse(json_value(found))

    async def cited_page(self, request: Request) -> Response:
        """The page of a citation as a picture."""
        place = await self._place(request)
        drawn = await unless_disconnected(request.receive, self.door.backend.page_picture(place))
        return Response(drawn, media_type="image/png")

    async def _place(self, request: Request) -> CitedPlace:
        """The place that the address names. Raises UsageError."""
        try:
            query = msgspec.convert(dict(request.query_params), PlaceQuery, strict=False)
        except msgspec.ValidationError as error:
            raise UsageError(
                f"the address names no place: {error}", hint="give kb, source, page, start and end"
            ) from error
        return CitedPlace(await self.door.kb(query.kb), query.source, query.page, query.start, query.end)

    # ------------------------------------------------------------------------------ conversations

    async def threads(self, _: Request) -> Response:
        """The conversations, the one used last first."""
        return JsonResponse({"threads": json_value(await self.door.backend.threads())})

    async def thread(self, request: Request) -> Response:
        """The turns of a conversation; an assistant's turn holds its answer as an object."""
        name = request.path_params["name"]
        turns = await self.door.backend.turns(name)
        return JsonResponse({"name": name, "turns": [_turn_object(turn) for turn in turns]})

    async def _kept_turns(self, thread: str) -> Sequence[Turn]:
        """The turns of a conversation; none if it is new. Raises UsageError for what cannot be its name."""
        if not thread:
            return ()
        from localcrag.conversations import checked_name

        checked_name(thread)
        held = {one.name for one in await self.door.backend.threads()}
        return await self.door.backend.turns(thread) if thread in held else ()


def _turn_object(turn: Turn) -> JsonValue:
    """A turn in JSON; ``answer`` is the object of its answer, or null."""
    try:
        answer = msgspec.json.decode(turn.record) if turn.record else None
    except msgspec.DecodeError:
        answer = None
    return {"role": turn.role, "content": turn.text, "answer": answer}


def _wants_json(request: Request) -> bool:
    """Whether a client wants one JSON object in place of events."""
    accepted = request.headers.get("accept", "")
    return "application/json" in accepted and "text/event-stream" not in accepted
