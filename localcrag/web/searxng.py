"""Web search with the user's own SearXNG.

Several replies of a SearXNG look like an empty result and are failures. This module, the only one that
talks to it, distinguishes them:

===============================================  ==========================================
reply                                            meaning
===============================================  ==========================================
no connection, or no answer in time              ServerDown
403                                              JsonDisabled: upstream's default settings
429                                              RateLimited: its limiter is on
200 with no results, ``unresponsive_engines``    EnginesFailed: names them, and their reasons
a redirect, HTML, no list of results, or other   BadReply
200 with no results and nothing else             an empty list: nothing was found
===============================================  ==========================================

The query is sent in the body of a POST, so that it does not appear in access logs on the way and cannot
be too long for a URL (414).
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from localcrag.egress import refuse_outside
from localcrag.errors import (
    BadReply,
    EnginesFailed,
    JsonDisabled,
    RateLimited,
    ServerDown,
    UsageError,
    WebNotConfigured,
)
from localcrag.types import JsonValue, WebResult
from localcrag.web import searxng_json

if TYPE_CHECKING:
    from localcrag.web.http import HttpCall, HttpTarget, ResponseHead

RecordEgress = Callable[[str, str], None]
"""Records (kind, target) before the request leaves the machine; its error stops the request."""

MAX_REPLY_BYTES = 4 * 1024 * 1024
CHECK_HINT = "`localcrag web check` says more"
JSON_HINT = "add to its settings.yml, then restart it:  search: {formats: [html, json]}"
LIMITER_HINT = (
    "in its settings.yml set  server: {limiter: false}  (it only serves this machine), and restart it"
)


@dataclass(frozen=True, slots=True)
class SearxngOptions:
    """Options of a search beyond the query; an empty one is left to the settings of the server.

    ``safesearch`` is 0 (off), 1 (moderate), 2 (strict) or None.
    """

    engines: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    safesearch: int | None = None


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The configuration that a SearXNG reports (``/config``).

    ``engines`` are the enabled ones; ``known`` are all of them, each of which can be asked for by name.
    """

    version: str
    engines: tuple[str, ...]
    known: tuple[str, ...]
    categories: tuple[str, ...]


class SearxngSearch:
    """:class:`~localcrag.protocols.WebSearch` on one SearXNG server.

    ``url`` is the address of its start page. ``record`` is told each query before it is sent. ``timeout``
    bounds a whole request in seconds; a slow engine makes the server wait up to that engine's own limit.
    No connection is made before the first search.
    """

    def __init__(
        self,
        url: str,
        *,
        record: RecordEgress,
        language: str = "en",
        timeout: float = 15.0,
        options: SearxngOptions | None = None,
    ) -> None:
        self._url = url
        self._record = record
        self._language = language
        self._timeout = timeout
        self._options = options or SearxngOptions()
        self._options_checked = not (self._options.engines or self._options.categories)

    def line(self, query: str) -> str:
        """The words of ``query`` as they are sent. Raises UsageError if there is none."""
        return search_line(query)

    def search(self, query: str, *, limit: int = 5) -> list[WebResult]:
        """The results for the words of ``query`` (see :func:`search_line`), best first.

        Raises UsageError for a query without a word, OfflineError, and the WebErrors listed above.
        """
        line = search_line(query)
        target = self._target("search")
        refuse_outside(target.host)
        self._check_options()
        self._record("query", line)
        found = self._ask(target, self._form(line))
        if not isinstance(found.get("results"), list):
            raise self._bad("its JSON has no list of results")
        reply = searxng_json.parsed(found)
        if not reply.results and reply.failed:
            raise EnginesFailed(
                "every search engine of the SearXNG failed: "
                + ", ".join(f"{name} ({reason})" for name, reason in reply.failed),
                hint=f"wait a while, or enable other engines in its settings.yml; {CHECK_HINT}",
            )
        return list(reply.results[:limit])

    def info(self) -> ServerInfo:
        """The configuration of the server.

        Raises WebNotConfigured, OfflineError, ServerDown, RateLimited, JsonDisabled, BadReply.
        """
        target = self._target("config")
        refuse_outside(target.host)
        reply = self._ask(target, None)
        engines, categories = reply.get("engines"), reply.get("categories")
        if not isinstance(engines, list) or not isinstance(categories, list):
            raise BadReply(f"{self._url} is not a SearXNG: its /config lists no engines", hint=CHECK_HINT)
        named = [e for e in engines if isinstance(e, Mapping) and isinstance(e.get("name"), str)]
        return ServerInfo(
            version=str(reply.get("version", "")),
            engines=tuple(str(e["name"]) for e in named if e.get("enabled", True)),
            known=tuple(str(e["name"]) for e in named),
            categories=tuple(str(c) for c in categories),
        )

    def healthy(self) -> bool:
        """Whether ``/healthz`` answers OK.

        Raises WebNotConfigured, OfflineError, and ServerDown if nothing answers.
        """
        from localcrag.web import http

        target = self._target("healthz")
        call = http.HttpCall(target, self._timeout, MAX_REPLY_BYTES)
        try:
            with http.exchange(call) as head:
                return head.status == 200 and head.read().strip() == b"OK"
        except (http.Unreachable, http.TimedOut) as error:
            raise self._down(error) from error
        except http.WireError:
            return False

    # ------------------------------------------------------------------------------ the request

    def _target(self, path: str) -> HttpTarget:
        from localcrag.web import http

        if not self._url.strip():
            raise WebNotConfigured(
                "no SearXNG is configured", hint="`localcrag docs web` says how to start one"
            )
        try:
            return http.HttpTarget.parse(f"{self._url.strip().rstrip('/')}/{path}")
        except ValueError as error:
            raise WebNotConfigured(
                f"the SearXNG address {self._url!r} cannot be used: {error}",
                hint="an address looks like http://127.0.0.1:8888",
            ) from error

    def _form(self, line: str) -> Mapping[str, str]:
        options = self._options
        form = {"q": line, "format": "json", "language": self._language, "pageno": "1"}
        if options.engines:
            form["engines"] = ",".join(options.engines)
        if options.categories:
            form["categories"] = ",".join(options.categories)
        if options.safesearch is not None:
            form["safesearch"] = str(options.safesearch)
        return form

    def _check_options(self) -> None:
        """Refuse engines and categories that the server does not know; it is asked once.

        The server would silently ask its default engines instead, and a query meant for a private engine
        would go to the web. Raises WebNotConfigured and the errors of ``info``.
        """
        if self._options_checked:
            return
        info = self.info()
        for word, names, known, listed in (
            ("engine", self._options.engines, info.known, info.engines),
            ("category", self._options.categories, info.categories, info.categories),
        ):
            unknown = next((name for name in names if name not in known), None)
            if unknown is not None:
                raise WebNotConfigured(
                    f"the SearXNG knows no {word} {unknown!r}, and would ask its default engines instead",
                    hint=f"it has {', '.join(sorted(listed)[:12]) or 'none'}{', …' * (len(listed) > 12)}",
                )
        self._options_checked = True

    def _ask(self, target: HttpTarget, form: Mapping[str, str] | None) -> Mapping[str, JsonValue]:
        """The JSON object of one exchange. Raises the WebError that names the failure."""
        from localcrag.web import http

        call = http.HttpCall(target, self._timeout, MAX_REPLY_BYTES, {"Accept": "application/json"}, form)
        try:
            with http.exchange(call) as head:
                return self._accepted(head, call)
        except (http.Unreachable, http.TimedOut) as error:
            raise self._down(error) from error
        except http.WireError as error:
            raise self._bad(str(error)) from error

    def _accepted(self, head: ResponseHead, call: HttpCall) -> Mapping[str, JsonValue]:
        if head.status == 403:
            raise JsonDisabled(f"the SearXNG at {self._url} does not give out JSON (403)", hint=JSON_HINT)
        if head.status == 429:
            raise RateLimited(f"the SearXNG at {self._url} limits its users (429)", hint=LIMITER_HINT)
        if head.status in (502, 503, 504):
            raise self._down(f"what stands before it answers {head.status}")
        if 300 <= head.status < 400:
            raise self._bad(f"it redirects to {head.location or 'nowhere'}, which was not followed")
        if head.media_type != "application/json":
            raise self._bad(f"status {head.status}, {head.media_type or 'no content type'} instead of JSON")
        try:
            reply: JsonValue = json.loads(head.read())
        except (ValueError, RecursionError) as error:
            raise self._bad("its JSON is damaged") from error
        if not isinstance(reply, Mapping):
            raise self._bad("its JSON is not an object")
        if head.status != 200:
            raise self._bad(f"status {head.status}, {reply.get('error') or 'no reason given'}")
        return reply

    def _down(self, reason: object) -> ServerDown:
        return ServerDown(
            f"the SearXNG at {self._url} cannot be reached: {reason}",
            hint="start it (`localcrag docs web`), or correct its address in the settings",
        )

    def _bad(self, reason: str) -> BadReply:
        return BadReply(f"{self._url} did not answer like a SearXNG: {reason}", hint=CHECK_HINT)


MAX_QUERY_CHARACTERS = 400
"""Search engines use some 32 to 50 words; more of a question would only reveal more."""

_COMMAND_PREFIXES = "!:<"


def search_line(text: str) -> str:
    """The words of ``text`` on one line of at most ``MAX_QUERY_CHARACTERS``, without commands of SearXNG.

    This is exactly the line that is sent, so it is the one to show when asking for consent. The function is
    idempotent. Raises UsageError if the text has no word.
    """
    visible = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)
    words = [stripped for word in visible.split() if (stripped := word.lstrip(_COMMAND_PREFIXES))]
    if not words:
        raise UsageError("there is no word to search the web for", hint="ask with at least one word")
    return _shortened(words)


def _shortened(words: list[str]) -> str:
    """The first words that fit the limit, on one line; a first word that is too long is cut."""
    line = words[0][:MAX_QUERY_CHARACTERS]
    for word in words[1:]:
        if len(line) + 1 + len(word) > MAX_QUERY_CHARACTERS:
            break
        line += f" {word}"
    return line
