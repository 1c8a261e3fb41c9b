"""Asking without JavaScript, for text browsers: a form, and the report of the question as its answer.

A form can send no header, so the token is one of its fields. It never stands in an address.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcrag.errors import LocalCragError
from localcrag.options import AskOptions
from localcrag.printable_text import plain
from localcrag.serve.http_api.access import ACCESS_KEY
from localcrag.serve.http_api.admission import bounded_body, require_content_type
from localcrag.serve.http_api.backend import Question
from localcrag.serve.http_api.door import Door
from localcrag.serve.http_api.event_stream import unless_disconnected
from localcrag.serve.http_api.problems import Problem, ProblemError, problem_of
from localcrag.serve.http_api.report_routes import report_response

PATH = "/plain"
FORM_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "same-origin",
}
"""The form may be sent to this door, and nothing else. Under no-referrer a browser would hide its origin."""
FORM_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>localcrag: ask</title></head>
<body>
<main>
<h1>Ask your documents</h1>
<form method="post" action="/plain" autocomplete="off">
<p><label for="question">Question</label><br>
<textarea id="question" name="question" rows="3" cols="60"></textarea></p>
<p><label for="kb">Knowledge base (if not the default one)</label><br><input id="kb" name="kb"></p>
<p><label for="token">Token (behind #token= in the address that localcrag serve printed)</label><br>
<input id="token" name="token" type="password" size="50"></p>
<p><button type="submit">Ask</button></p>
</form>
</main>
</body>
</html>
"""
TROUBLE_PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>localcrag: this did not work</title></head>
<body><main><h1>This did not work</h1>
<p>{detail}</p><p>{hint}</p><p><a href="/plain">Ask again</a></p></main></body>
</html>
"""


def plain_routes(door: Door) -> Sequence[BaseRoute]:
    """The form, and its answer."""

    async def form(_: Request) -> Response:
        """The form."""
        return Response(FORM_PAGE, media_type="text/html; charset=utf-8", headers=FORM_HEADERS)

    async def answer(request: Request) -> Response:
        """The report of the question once it is answered, or what went wrong."""
        try:
            return report_response(await unless_disconnected(request.receive, asked(request)))
        except (LocalCragError, ProblemError) as error:
            return _trouble(problem_of(error))

    async def asked(request: Request) -> str:
        fields = await _fields(request, door)
        _require_token(request, fields.get("token", ""))
        question = Question(await door.kb(fields.get("kb", "")), fields.get("question", ""), AskOptions())
        return await door.backend.report(await door.asked(question))

    return [Route(PATH, form, methods=["GET"]), Route(PATH, answer, methods=["POST"])]


def _trouble(problem: Problem) -> Response:
    """A problem as a page."""
    page = TROUBLE_PAGE.format(detail=escape(plain(problem.detail)), hint=escape(plain(problem.hint)))
    return Response(page, problem.status, FORM_HEADERS, "text/html; charset=utf-8")


async def _fields(request: Request, door: Door) -> dict[str, str]:
    """The fields of the form, without white space around them. Raises ProblemError."""
    require_content_type(request, "application/x-www-form-urlencoded")
    body = await bounded_body(request, door.limits.json_bytes, door.limits.json_seconds)
    try:
        given = parse_qs(body.decode("ascii"), max_num_fields=10, errors="replace")
    except ValueError as error:
        raise ProblemError(Problem(400, "BadBody", "the form cannot be read", "send it again")) from error
    return {name: values[-1].strip() for name, values in given.items()}


def _require_token(request: Request, token: str) -> None:
    if not request.scope[ACCESS_KEY].is_token(token):
        raise ProblemError(
            Problem(
                401,
                "TokenNeeded",
                "the token is missing or wrong",
                "it is behind #token= in the address that localcrag serve printed",
            )
        )
