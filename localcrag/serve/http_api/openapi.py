"""The OpenAPI document of both APIs, made of the types of their bodies and replies.

See https://spec.openapis.org/oas/v3.1.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcrag import __version__
from localcrag.json_schema import AnswerObject, event_schema
from localcrag.serve.http_api.api_bodies import AskBody, ConsentBody, PlaceQuery, SearchBody
from localcrag.serve.http_api.backend import DoorStatus, HeldDocuments, PlaceText
from localcrag.serve.http_api.door import Door
from localcrag.serve.http_api.openai_messages import ChatBody, EmbeddingsBody
from localcrag.serve.http_api.problems import MEDIA_TYPE, OPENAI_PATH, JsonResponse
from localcrag.types import StoreInfo, Thread

PATH = "/api/openapi.json"
SCHEMA_PLACE = "#/components/schemas/{name}"
EVENTS, JSON, PICTURE, FORM = "text/event-stream", "application/json", "image/png", "multipart/form-data"
PAGE = "text/html"


@dataclass(frozen=True, slots=True)
class Operation:
    """One method of one path: what it does, its body, and its reply by media type.

    A body or a reply is a type, or a schema as it stands in the document.
    """

    method: str
    path: str
    summary: str
    replies: Mapping[str, object]
    body: object = None
    body_type: str = JSON
    query: type | None = None


OPERATIONS = (
    Operation("get", "/api/status", "The version, the models, and what is allowed.", {JSON: DoorStatus}),
    Operation(
        "get",
        "/api/knowledge-bases",
        "The knowledge bases there are.",
        {
            JSON: {
                "type": "object",
                "properties": {
                    "default": {"type": "string"},
                    "knowledge_bases": {"type": "array", "items": StoreInfo},
                },
            }
        },
    ),
    Operation("get", "/api/knowledge-bases/{kb}/documents", "What one of them holds.", {JSON: HeldDocuments}),
    Operation(
        "post",
        "/api/knowledge-bases/{kb}/documents",
        "Ingest files; the events of the ingestion, the last one `ingested`.",
        {EVENTS: {"$ref": SCHEMA_PLACE.format(name="Event")}},
        {
            "type": "object",
            "required": ["files"],
            "properties": {
                "files": {"type": "array", "items": {"type": "string", "contentMediaType": "*/*"}}
            },
        },
        FORM,
    ),
    Operation(
        "post",
        "/api/ask",
        "Ask; the events, the last one `finished`, or with Accept: application/json the answer alone.",
        {EVENTS: {"$ref": SCHEMA_PLACE.format(name="Event")}, JSON: AnswerObject},
        AskBody,
    ),
    Operation("post", "/api/consents/{id}", "Answer an event `consent`.", {}, ConsentBody),
    Operation(
        "post",
        "/api/search",
        "The passages that bear on a query, as `search --json` prints them.",
        {JSON: {"type": "object"}},
        SearchBody,
    ),
    Operation(
        "get",
        "/api/citations/text",
        "The text of a citation, with what stands around it.",
        {JSON: PlaceText},
        query=PlaceQuery,
    ),
    Operation(
        "get",
        "/api/citations/page",
        "The page of a citation as a picture, with the quoted words boxed.",
        {PICTURE: {"type": "string", "contentMediaType": PICTURE}},
        query=PlaceQuery,
    ),
    Operation(
        "get",
        "/api/reports/{id}",
        "The report of a question, by the id of its event `finished`.",
        {PAGE: {"type": "string"}},
    ),
    Operation(
        "get",
        "/api/threads",
        "The conversations.",
        {JSON: {"type": "object", "properties": {"threads": {"type": "array", "items": Thread}}}},
    ),
    Operation("get", "/api/threads/{name}", "The turns of a conversation.", {JSON: {"type": "object"}}),
    Operation(
        "post",
        "/v1/chat/completions",
        "Ask as a client of the OpenAI API does; with `stream`, chunks, and `[DONE]` behind the last one.",
        {JSON: {"type": "object"}, EVENTS: {"type": "string"}},
        ChatBody,
    ),
    Operation("get", "/v1/models", "The knowledge bases as models.", {JSON: {"type": "object"}}),
    Operation("get", "/v1/models/{model}", "One of them.", {JSON: {"type": "object"}}),
    Operation("post", "/v1/embeddings", "The vectors of texts.", {JSON: {"type": "object"}}, EmbeddingsBody),
)
"""Every operation of the two APIs; a test compares them with the routes."""


def openapi_routes(_: Door) -> Sequence[BaseRoute]:
    """The route of the document."""

    async def send(request: Request) -> Response:
        """The document."""
        return JsonResponse(openapi_document())

    return [Route(PATH, send)]


@cache
def openapi_document() -> dict[str, Any]:
    """The document, as an object."""
    types: list[type] = []
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method] = _described(operation, types)
    _, components = msgspec.json.schema_components(types, ref_template=SCHEMA_PLACE)
    return {
        "openapi": "3.1.1",
        "info": {"title": "localcrag", "version": __version__, "license": {"name": "Apache-2.0"}},
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": {
                **components,
                **_event_components(),
                "Problem": _PROBLEM,
                "OpenAIError": _OPENAI_ERROR,
            },
        },
    }


def _described(operation: Operation, types: list[type]) -> dict[str, Any]:
    """An operation as it stands in the document; the types that it names are added to ``types``."""
    replies = {kind: {"schema": _schema(shape, types)} for kind, shape in operation.replies.items()}
    content = {"content": replies} if replies else {}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "parameters": _parameters(operation, types),
        "responses": {
            "200" if replies else "204": {"description": "Done.", **content},
            "default": _refusal(operation),
        },
    }
    if operation.body is not None:
        body = {operation.body_type: {"schema": _schema(operation.body, types)}}
        described["requestBody"] = {"required": True, "content": body}
    return described


def _refusal(operation: Operation) -> dict[str, Any]:
    """The reply to a request that is refused or fails, in the form of its API."""
    openai = operation.path.startswith(OPENAI_PATH)
    name, kind = ("OpenAIError", JSON) if openai else ("Problem", MEDIA_TYPE)
    said = "An error of the OpenAI API." if openai else "A problem (RFC 9457)."
    return {
        "description": said,
        "content": {kind: {"schema": {"$ref": SCHEMA_PLACE.format(name=name)}}},
    }


def _parameters(operation: Operation, types: list[type]) -> list[dict[str, Any]]:
    """The names in braces in the path, and the fields of the query."""
    named = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in named
    ]
    if operation.query:
        _, shapes = msgspec.json.schema_components([operation.query], ref_template=SCHEMA_PLACE)
        shape = shapes[operation.query.__name__]
        found += [
            {"name": name, "in": "query", "required": name in shape.get("required", ()), "schema": schema}
            for name, schema in shape["properties"].items()
        ]
    return found


def _schema(shape: object, types: list[type]) -> Any:
    """A shape with references in place of its types, which are added to ``types``."""
    if isinstance(shape, type):
        types.append(shape)
        return {"$ref": SCHEMA_PLACE.format(name=shape.__name__)}
    if isinstance(shape, Mapping):
        return {key: _schema(value, types) for key, value in shape.items()}
    return shape


def _event_components() -> dict[str, Any]:
    """The schemas of the events, with the places of this document."""
    schema = event_schema()
    moved = msgspec.json.decode(msgspec.json.encode(schema).replace(b"#/$defs/", b"#/components/schemas/"))
    return {**moved["$defs"], "Event": {"anyOf": moved["anyOf"]}}


_PROBLEM = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "code"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "code": {"type": "string"},
        "hint": {"type": "string"},
        "retry_after": {"type": "integer"},
    },
}
_OPENAI_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": "string"},
            },
        }
    },
}
