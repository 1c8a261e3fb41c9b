"""The HTTP door as an ASGI application: routes, access checks, problem details, and the page."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from localcrag.errors import LocalCragError
from localcrag.serve.http_api.access import Access, AccessMiddleware
from localcrag.serve.http_api.admission import DoorLimits
from localcrag.serve.http_api.backend import Backend
from localcrag.serve.http_api.door import Door, RouteMaker
from localcrag.serve.http_api.openai_routes import openai_routes
from localcrag.serve.http_api.openapi import openapi_routes
from localcrag.serve.http_api.own_routes import own_routes
from localcrag.serve.http_api.plain_routes import plain_routes
from localcrag.serve.http_api.problems import ProblemError, handle
from localcrag.serve.http_api.report_routes import report_routes
from localcrag.serve.http_api.upload_routes import upload_routes

PAGE_FOLDER = Path(__file__).parent / "page"
PAGE_MODULES = (
    "adding_files.js",
    "answer_form.js",
    "asking.js",
    "conversation_list.js",
    "door_api.js",
    "elements.js",
    "kb_list.js",
    "loop_path.js",
    "page.js",
    "page_state.js",
    "question_turn.js",
    "shown_text.js",
    "source_panel.js",
)
"""The modules of the page's script; the first that is loaded is ``page.js``."""
PAGE_FILES = {
    "/": ("index.html", "text/html"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
    "/page.css": ("page.css", "text/css"),
    **{f"/{name}": (name, "text/javascript") for name in PAGE_MODULES},
}
"""The files of the page by their path, with their media types; nothing else is served from a folder."""
ROUTE_MAKERS: tuple[RouteMaker, ...] = (
    own_routes,
    upload_routes,
    report_routes,
    plain_routes,
    openai_routes,
    openapi_routes,
)
"""The groups of routes of a door."""


def make_application(
    backend: Backend,
    access: Access,
    limits: DoorLimits | None = None,
    makers: Sequence[RouteMaker] = ROUTE_MAKERS,
) -> Starlette:
    """The application of one door.

    Parameters:
        backend: what does the work.
        access: whom the door lets in.
        limits: sizes, counts and times.
        makers: the groups of routes beside the page.
    """
    door = Door(backend, limits or DoorLimits())
    routes: list[BaseRoute] = [route for make in makers for route in make(door)]
    routes += [Route(path, _file_sender(*file)) for path, file in PAGE_FILES.items()]
    return Starlette(
        routes=routes,
        middleware=[Middleware(AccessMiddleware, access=access)],
        exception_handlers={
            HTTPException: handle,
            LocalCragError: handle,
            ProblemError: handle,
            Exception: handle,
        },
    )


def _file_sender(name: str, media_type: str) -> Callable[[Request], Awaitable[Response]]:
    """The handler that sends one file of the page."""

    async def send(_: Request) -> Response:
        """The file, as it was installed."""
        return Response((PAGE_FOLDER / name).read_bytes(), media_type=f"{media_type}; charset=utf-8")

    return send
