"""Who may use the HTTP door: the token, the checks of Host and Origin, and the headers of every reply.

A page of another site that runs in the user's browser can send requests to loopback. Three checks hold it
back, each by itself: its requests carry its own Origin; after DNS rebinding they carry its own name as Host;
and it does not know the token. The token is sent as ``Authorization: Bearer TOKEN``, which no form can send.
It is not accepted in an address, because addresses are kept in histories and logs.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.parse import parse_qsl

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from localcrag.errors import UsageError
from localcrag.serve.http_api.problems import Problem

TOKEN_FILE = "http-token"
"""The file of the token in the home."""
TOKEN_BYTES = 32
"""Random bytes of a token."""
ACCESS_KEY = "localcrag.access"
"""The key of the Access in the scope of a request."""
GUARDED_PATHS = ("/api", "/v1")
"""The beginnings of the paths that need the token."""
TOKEN_PARAMETERS = frozenset({"token", "access_token", "api_key", "apikey", "key", "authorization"})
"""Parameters of an address in which somebody may try to send the token."""
BODILESS_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]"})
CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' blob:; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
SECURITY_HEADERS: Mapping[str, str] = MappingProxyType(
    {
        "Content-Security-Policy": CONTENT_SECURITY_POLICY,
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Cache-Control": "no-store",
    }
)
"""The headers of every reply. None of them allows another origin anything (there is no CORS)."""


@dataclass(frozen=True, slots=True)
class Access:
    """Whom the door lets in.

    ``hosts`` are the names, in lower case and without a port, by which it may be called, and ``port`` is the
    port it listens on. ``addresses`` says that any literal IP address is a name as well, for a door that
    other machines may reach: DNS rebinding needs a name that is looked up.
    """

    token: str
    port: int
    hosts: frozenset[str] = LOOPBACK_NAMES
    addresses: bool = False

    def refusal(self, path: str, query: str, headers: Headers) -> Problem | None:
        """Why a request may not be answered; None if it may."""
        if problem := self._host_refusal(headers) or self._origin_refusal(headers):
            return problem
        if not path.startswith(GUARDED_PATHS):
            return None
        if any(name.lower() in TOKEN_PARAMETERS for name, _ in parse_qsl(query, keep_blank_values=True)):
            return Problem(
                400,
                "TokenInAddress",
                "a token does not belong in an address",
                "send it as the header Authorization: Bearer TOKEN",
            )
        return self._token_refusal(headers)

    def _host_refusal(self, headers: Headers) -> Problem | None:
        given = headers.getlist("host")
        if len(given) == 1:
            name, _, port = given[0].lower().rpartition(":") if _has_port(given[0]) else (given[0], "", "80")
            name = name.lower().removesuffix(".")
            if port == str(self.port) and (name in self.hosts or (self.addresses and _is_address(name))):
                return None
        return Problem(
            421,
            "ForeignHost",
            "this door is not called by that name",
            "use the address that localcrag serve printed",
        )

    def _origin_refusal(self, headers: Headers) -> Problem | None:
        """Why the page that sends a request may not; a browser names the page in Origin."""
        own = f"http://{headers['host'].lower()}"
        foreign = any(origin.lower() != own for origin in headers.getlist("origin"))
        site = headers.get("sec-fetch-site", "none")
        navigates = headers.get("sec-fetch-mode") == "navigate"
        if foreign or (site not in ("none", "same-origin") and not navigates):
            return Problem(
                403,
                "ForeignOrigin",
                "pages of other sites may not use this door",
                "open the address that localcrag serve printed",
            )
        return None

    def is_token(self, given: str) -> bool:
        """Whether this is the token; the time that it takes does not tell how much of it is right."""
        return hmac.compare_digest(given.encode("utf-8", "replace"), self.token.encode())

    def _token_refusal(self, headers: Headers) -> Problem | None:
        given = headers.getlist("authorization")
        scheme, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        if scheme.lower() == "bearer" and self.is_token(token.strip()):
            return None
        return Problem(
            401,
            "TokenNeeded",
            "the token is missing or wrong" if given else "a token is needed",
            "it is behind #token= in the address that localcrag serve printed",
            headers={"WWW-Authenticate": 'Bearer realm="localcrag"'},
        )


class AccessMiddleware:
    """Refuses what :class:`Access` refuses, before anything of a request is read, and sets the headers."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; a websocket is refused, because there is none."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in SECURITY_HEADERS.items():
                    headers.setdefault(name, value)
                if message["status"] >= 400 and scope["method"] not in BODILESS_METHODS:
                    headers["Connection"] = "close"  # a body that was refused is not read to its end
            await send(message)

        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
        else:
            query = scope["query_string"].decode("latin-1")
            problem = self.access.refusal(scope["path"], query, Headers(scope=scope))
            answer: ASGIApp = problem.response(scope["path"]) if problem else self.app
            scope[ACCESS_KEY] = self.access
            await answer(scope, receive, send_with_headers)


def kept_token(home: Path) -> str:
    """The token in the home; it is made, readable by its owner only, if there is none.

    Raises UsageError for a file that others may read or that holds no token, OSError.
    """
    path = home / TOKEN_FILE
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(TOKEN_BYTES) + "\n")
    except FileExistsError:
        pass
    token = path.read_text("utf-8", "replace").strip()
    if os.name != "nt" and path.stat().st_mode & 0o077:
        raise UsageError(f"{path} may be read by others", hint="remove it, and a new token is made")
    if len(token) < TOKEN_BYTES or not token.isascii():
        raise UsageError(f"{path} holds no token", hint="remove it, and a new token is made")
    return token


def _has_port(host: str) -> bool:
    """Whether a Host names a port; the colons of an IPv6 address stand in brackets."""
    return ":" in host.rpartition("]")[2]


def _is_address(name: str) -> bool:
    """Whether a name of a Host is a literal IP address."""
    try:
        ipaddress.ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True
