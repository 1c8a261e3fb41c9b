"""The report of a question that was answered, for saving."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcrag.report import report_policy
from localcrag.serve.http_api.door import Door
from localcrag.serve.http_api.event_stream import unless_disconnected


def report_routes(door: Door) -> Sequence[BaseRoute]:
    """The route of reports."""

    async def send(request: Request) -> Response:
        """The report of a question, by the id that the event ``kept`` told."""
        asked = door.shelf.find(request.path_params["id"])
        page = await unless_disconnected(request.receive, door.backend.report(asked))
        return report_response(page)

    return [Route("/api/reports/{id}", send)]


def report_response(page: str) -> Response:
    """A report as a reply, which may show its own style and pictures, and load nothing."""
    return Response(
        page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": report_policy()}
    )
