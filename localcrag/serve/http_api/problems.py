"""Errors of the HTTP door as problem details (RFC 9457, ``application/problem+json``).

Below ``/v1`` they have the form of the OpenAI API, which its clients read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from types import MappingProxyType

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from localcrag import errors
from localcrag.errors import LocalCragError
from localcrag.types import JsonValue

MEDIA_TYPE = "application/problem+json"
OPENAI_PATH = "/v1/"
"""The beginning of the paths of the OpenAI API."""
OPENAI_CODES: Mapping[str, str] = MappingProxyType(
    {"UnknownKnowledgeBase": "model_not_found", "TokenNeeded": "invalid_api_key"}
)
"""The codes that the OpenAI API has for a problem, by localcrag's own; others are spelled in its way."""
RETRY_SECONDS = 5
"""Seconds after which to ask again a warm process that begins again."""
NO_HEADERS: Mapping[str, str] = MappingProxyType({})

STATUSES: Mapping[type[LocalCragError], int] = MappingProxyType(
    {
        errors.UsageError: 400,
        errors.CorpusError: 400,
        errors.UnreadableError: 422,
        errors.ContextOverflow: 400,
        errors.OfflineError: 403,
        errors.UnknownKnowledgeBase: 404,
        errors.UnknownThread: 404,
        errors.ModelNotFound: 404,
        errors.WebNotConfigured: 409,
        errors.EmbeddingMismatch: 409,
        errors.DocumentGone: 410,
        errors.WebError: 502,
        errors.WarmError: 503,
        errors.StorageFull: 507,
    }
)
"""The status of a reply by the class of the error, or of the nearest base of it; any other error is 500."""


class JsonResponse(Response):
    """A reply of one JSON value; half a character, as in the name of a file that is not text, is escaped."""

    media_type = "application/json"

    def render(self, content: JsonValue) -> bytes:
        """The value as bytes."""
        return json.dumps(content, ensure_ascii=False).encode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong, and what to do now.

    ``status`` is that of the HTTP reply, ``code`` a name that programs may compare, ``detail`` one line for
    people, ``hint`` the next step or "". ``retry_after`` is the number of seconds after which to try again.
    ``parameter`` is the place in the body that is wrong, "" if there is none.
    """

    status: int
    code: str
    detail: str
    hint: str = ""
    retry_after: int | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: NO_HEADERS)
    parameter: str = ""

    @classmethod
    def of(cls, error: LocalCragError) -> Problem:
        """The problem of an error, under the name of the nearest of its classes in localcrag.errors."""
        kinds = [kind for kind in type(error).__mro__ if getattr(errors, kind.__name__, None) is kind]
        status = next((STATUSES[kind] for kind in kinds if kind in STATUSES), 500)
        again = RETRY_SECONDS if status == 503 else None
        return cls(status, kinds[0].__name__, str(error), error.hint, again)

    def to_dict(self) -> dict[str, JsonValue]:
        """The members of the problem details; the type is about:blank, so the title is that of the status."""
        members: dict[str, JsonValue] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.hint:
            members["hint"] = self.hint
        if self.retry_after is not None:
            members["retry_after"] = self.retry_after
        return members

    def openai_error(self) -> dict[str, JsonValue]:
        """The object of an error in the OpenAI API, which has one message for people."""
        by_status = {429: "rate_limit_error"}
        kind = "server_error" if self.status >= 500 else by_status.get(self.status, "invalid_request_error")
        error: dict[str, JsonValue] = {
            "message": f"{self.detail}; {self.hint}" if self.hint else self.detail,
            "type": kind,
            "param": self.parameter or None,
            "code": OPENAI_CODES.get(self.code) or re.sub(r"(?<!^)(?=[A-Z])", "_", self.code).lower(),
        }
        return {"error": error}

    def response(self, path: str = "") -> Response:
        """The reply with this problem, in the form of the API that ``path`` belongs to."""
        headers = dict(self.headers)
        if self.retry_after is not None:
            headers["Retry-After"] = str(self.retry_after)
        if path.startswith(OPENAI_PATH):
            return JsonResponse(self.openai_error(), self.status, headers)
        return JsonResponse(self.to_dict(), self.status, headers, MEDIA_TYPE)


class ProblemError(Exception):
    """Raised by what checks a request, to refuse it with a problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.problem = problem


def problem_of(error: Exception) -> Problem:
    """The problem for an error of a handler.

    An error that nobody foresaw is told without its text, which may hold anything.
    """
    if isinstance(error, ProblemError):
        return error.problem
    if isinstance(error, LocalCragError):
        return Problem.of(error)
    if isinstance(error, HTTPException):
        return _routing_problem(error)
    return Problem(
        500,
        "InternalError",
        f"an unexpected error: {type(error).__name__}",
        "the terminal of localcrag serve shows more",
    )


def handle(request: Request, error: Exception) -> Response:
    """The reply to an error, for Starlette's table of handlers."""
    return problem_of(error).response(request.url.path)


def _routing_problem(error: HTTPException) -> Problem:
    """The problem for a path or a method that there is not."""
    if error.status_code == 404:
        return Problem(404, "NotFound", "there is nothing at this path", "GET /api/openapi.json lists all")
    if error.status_code == 405:
        headers = dict(error.headers or {})
        return Problem(
            405,
            "MethodNotAllowed",
            "this path does not know that method",
            f"it knows: {headers.get('Allow', '')}",
            headers=headers,
        )
    return Problem(error.status_code, "BadRequest", error.detail)
