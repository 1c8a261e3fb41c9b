"""The routes of the OpenAI API, ``/v1/…``, for programs that know it: chat completions, models, embeddings.

A model is a knowledge base: ``localcrag/papers``, or ``localcrag`` for the default one. Everything goes the
way of the own API, with the same queue and the same limits; errors have the form of OpenAI's.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcrag.errors import LocalCragError
from localcrag.events import Delta, Finished
from localcrag.plain_answer import cited_piece
from localcrag.serve.http_api.backend import DoorQuestion, Embeddings
from localcrag.serve.http_api.door import Door
from localcrag.serve.http_api.event_stream import EventSender, EventStream, unless_disconnected
from localcrag.serve.http_api.openai_messages import (
    kb_of,
    read_chat,
    read_embeddings,
    refuse,
    unknown_model,
)
from localcrag.serve.http_api.openai_replies import ChatReply, JsonObject, embeddings, models
from localcrag.serve.http_api.problems import JsonResponse, ProblemError, problem_of
from localcrag.types import Answer

END_OF_CHUNKS = "[DONE]"
"""What stands in place of a chunk behind the last one."""


def openai_routes(door: Door) -> Sequence[BaseRoute]:
    """The routes of the OpenAI API."""
    routes = OpenAIRoutes(door)
    return [
        Route("/v1/chat/completions", routes.chat, methods=["POST"]),
        Route("/v1/embeddings", routes.embeddings, methods=["POST"]),
        Route("/v1/models", routes.models),
        Route("/v1/models/{model:path}", routes.model),
    ]


@dataclass(frozen=True)
class OpenAIRoutes:
    """The handlers of the OpenAI API."""

    door: Door

    async def chat(self, request: Request) -> Response | EventStream:
        """The answer to the last message, as one object or as chunks while it is written."""
        asked = await read_chat(request, self.door.limits)
        kb = await self.door.kb(asked.kb)
        question = DoorQuestion(kb, asked.question, asked.options)
        reply = ChatReply(asked.model, kb, asked.ignored, counted=asked.stream and asked.include_usage)
        if asked.stream:
            return EventStream(lambda sender: self._stream(question, reply, sender))
        answer = await unless_disconnected(request.receive, self._answer(question))
        return JsonResponse(reply.completion(answer))

    async def models(self, _: Request) -> Response:
        """The knowledge bases as models, and the embedding model."""
        return JsonResponse({"object": "list", "data": await self._models()})

    async def model(self, request: Request) -> Response:
        """One model."""
        name = request.path_params["model"]
        for found in await self._models():
            if found["id"] == name:
                return JsonResponse(found)
        raise ProblemError(unknown_model(name))

    async def embeddings(self, request: Request) -> Response:
        """The vectors of texts, by the model that embeds the passages of knowledge bases."""
        body = await read_embeddings(request, self.door.limits)
        texts = body.texts()
        if body.model != (await self.door.backend.status()).models.embedding:
            kb_of(body.model)

        async def found() -> Embeddings:
            async with self.door.queue.turn():
                return await self.door.backend.embed(texts)

        vectors = await unless_disconnected(request.receive, found())
        if body.dimensions not in (None, len(vectors.vectors[0])):
            refuse(f"vectors have {len(vectors.vectors[0])} dimensions", "dimensions", "leave it out")
        return JsonResponse(embeddings(vectors, packed=body.encoding_format == "base64"))

    async def _models(self) -> list[JsonObject]:
        status = await self.door.backend.status()
        bases = await self.door.backend.knowledge_bases()
        return models(bases, status.default_kb, status.models.embedding)

    async def _answer(self, question: DoorQuestion) -> Answer:
        answer: Answer | None = None
        async with aclosing(self.door.events(question)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    answer = event.answer
        assert answer is not None, "the last event is Finished"
        return answer

    async def _stream(self, question: DoorQuestion, reply: ChatReply, sender: EventSender) -> None:
        """Send the chunks. An error before the first event is raised; a later one is the last chunk."""
        written = ""
        try:
            async with aclosing(self.door.events(question)) as events:
                async for event in events:
                    if not sender.began:
                        await sender.data(reply.opening())
                    match event:
                        case Delta():
                            piece = cited_piece(event) if written else cited_piece(event).lstrip()
                            written += piece
                            await sender.data(reply.piece(piece))
                        case Finished(answer=answer):
                            await self._end(answer, reply, sender)
        except (LocalCragError, ProblemError) as error:
            if not sender.began:
                raise
            await sender.data(problem_of(error).openai_error())

    async def _end(self, answer: Answer, reply: ChatReply, sender: EventSender) -> None:
        """Send what follows the text."""
        if rest := reply.rest(answer):
            await sender.data(rest)
        await sender.data(reply.closing(answer))
        if reply.counted:
            await sender.data(reply.cost(answer))
        await sender.last_word(END_OF_CHUNKS)
