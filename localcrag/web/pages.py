"""Fetching the pages that a search found, as text.

The addresses come from strangers, so everything is bounded: a few pages at once, only HTML and plain text
(a PDF would need the document readers, which this layer may not import), 2 MiB and 10 seconds in total
for each page, and three redirects, each of them checked. An address that is not public is refused. No
cookies and no referrer are sent. If a page cannot be fetched, its search snippet takes its place and
``WebPage.degraded`` says why.

robots.txt is not asked for: it is meant for crawlers (RFC 9309), and this module reads single pages for
a question, once, as the reader mode of a browser does. Asking would also tell every host more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

from localcrag._platform import storable
from localcrag.egress import refuse_outside
from localcrag.errors import FetchRefused, OfflineError
from localcrag.types import WebPage, WebResult
from localcrag.web import page_text
from localcrag.web.ssrf import IPAddress, is_public, is_web_port, literal

if TYPE_CHECKING:
    from localcrag.web.http import Admit, HttpTarget, ResponseHead

RecordEgress = Callable[[str, str], None]
"""Records (kind, target) before the request leaves the machine; its error stops the request."""

_MARKUP_TYPES = frozenset({"text/html", "application/xhtml+xml"})
_READABLE_TYPES = _MARKUP_TYPES | {"text/plain"}
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Bounds of a fetch with its redirects: ``size`` in bytes of the decompressed body, ``seconds`` in all.

    ``extraction`` is the processor time in seconds for finding the text in the page, which a page made for
    that purpose can prolong; ``redirects`` is their largest number.
    """

    size: int = 2 * 1024 * 1024
    seconds: float = 10.0
    extraction: float = 5.0
    redirects: int = 3


USER_URL_LIMITS = FetchLimits(size=64 * 1024 * 1024, seconds=120.0, redirects=5)
"""The limits for an address that the user named: documents are larger than pages."""


class HttpPageFetcher:
    """Fetches pages over HTTP(S); implements :class:`~localcrag.protocols.PageFetcher`.

    ``record`` is told of each URL before it is asked for; its error ends the fetch. ``allowed_private``
    are hosts (``host`` or ``host:port``, as in the URL) whose pages may have a private address, such as
    the corpus of the user's own SearXNG. ``parallel`` is the number of pages fetched at once.
    """

    def __init__(
        self,
        *,
        record: RecordEgress,
        allowed_private: Iterable[str] = (),
        limits: FetchLimits | None = None,
        parallel: int = 4,
    ) -> None:
        self._record = record
        self._allowed = frozenset(host.strip().lower() for host in allowed_private)
        self._limits = limits or FetchLimits()
        self._parallel = parallel

    def fetch(self, results: Iterable[WebResult]) -> Iterator[WebPage]:
        """One page per result, in order; the snippet and the reason if the page could not be fetched.

        Raises whatever ``record`` raises, and nothing else.
        """
        from localcrag.background import in_background

        todo = deque(results)
        if todo:
            page_text.warm()
        running: deque[tuple[WebResult, Future[WebPage], float]] = deque()
        while todo or running:
            while todo and len(running) < self._parallel:
                result = todo.popleft()
                ends = monotonic() + self._limits.seconds + self._limits.extraction
                running.append((result, in_background(partial(self._page, result)), ends))
            yield _awaited(*running.popleft())

    def _page(self, result: WebResult) -> WebPage:
        try:
            body = _follow(result.url, self._limits, self._visit, accept=_READABLE_TYPES)
            title, text = _extracted(body, self._limits.extraction)
        except (FetchRefused, OfflineError) as error:
            return _snippet(result, str(error))
        return WebPage(body.url, result.title or title, text)

    def _visit(self, target: HttpTarget) -> Admit:
        """Record a request, which may be a redirect, and return the check of its addresses.

        Raises FetchRefused, OfflineError, and whatever ``record`` raises.
        """
        named = {target.host, f"{target.host}:{target.port}", f"[{target.host}]:{target.port}"}
        if named & self._allowed:
            admit: Admit = _any_address
        elif not is_web_port(target.port):
            raise FetchRefused(f"port {target.port} is not one of the web's")
        else:
            admit = _public_only
        refuse_outside(target.host)
        address = literal(target.host)
        if address is not None:
            admit(target.host, target.port, address)  # refused here, it is not even looked at
        self._record("page", target.url)
        return admit


def fetch_url(
    url: str,
    *,
    record: RecordEgress,
    limits: FetchLimits = USER_URL_LIMITS,
    accept: frozenset[str] = frozenset(),
) -> tuple[bytes, str]:
    """The bytes at an address that the user named, and their media type ("" if the server names none).

    The encoding follows the media type if the server names it: ``text/plain; charset=koi8-r``. An empty
    ``accept`` takes every media type. Private addresses are allowed, because the user named this one; a
    redirect from a public address to a private one is refused.

    Raises FetchRefused, OfflineError, and whatever ``record`` raises.
    """
    admit_next: list[Admit] = [_any_address]

    def visit(target: HttpTarget) -> Admit:
        refuse_outside(target.host)
        record("url", target.url)
        chosen = admit_next[-1]

        def admit(host: str, port: int, address: IPAddress) -> None:
            chosen(host, port, address)
            if is_public(address):
                admit_next.append(_public_only)

        return admit

    try:
        body = _follow(url, limits, visit, accept=accept)
    except FetchRefused as error:
        raise FetchRefused(
            f"{url} could not be fetched: {error}", hint="download it another way, and ingest the file"
        ) from error
    named = body.media_type and body.charset
    return body.content, f"{body.media_type}; charset={body.charset}" if named else body.media_type


# ---------------------------------------------------------------------------------- one fetch


@dataclass(frozen=True, slots=True)
class _Body:
    url: str
    content: bytes
    media_type: str
    charset: str


def _follow(
    url: str, limits: FetchLimits, visit: Callable[[HttpTarget], Admit], *, accept: frozenset[str]
) -> _Body:
    """The body at ``url``, after at most ``limits.redirects`` redirects. Raises FetchRefused."""
    from localcrag.web import http

    ends = monotonic() + limits.seconds
    try:
        target = http.HttpTarget.parse(url)
        for _ in range(limits.redirects + 1):
            headers = {"Accept": ", ".join(sorted(accept)) or "*/*"}
            call = http.HttpCall(target, ends - monotonic(), limits.size, headers)
            with http.exchange(call, admit=visit(target)) as head:
                if head.status not in _REDIRECT_STATUSES:
                    _check(head, accept)
                    return _Body(target.url, head.read(), head.media_type, head.charset)
                if not head.location:
                    raise FetchRefused("the server redirects to nowhere")
                target = target.join(head.location)
    except (ValueError, http.WireError) as error:
        raise FetchRefused(str(error)) from error
    raise FetchRefused(f"more than {limits.redirects} redirects")


def _check(head: ResponseHead, accept: frozenset[str]) -> None:
    if head.status != 200:
        raise FetchRefused(f"the server answered with status {head.status}")
    if accept and head.media_type not in accept:
        raise FetchRefused(f"it is {head.media_type or 'of no named type'}, not a page of text")


def _any_address(host: str, port: int, address: IPAddress) -> None:
    pass


def _public_only(host: str, port: int, address: IPAddress) -> None:
    if not is_public(address):
        raise FetchRefused(f"{host} has the address {address}, which is not a public one")


# ---------------------------------------------------------------------------------- its text


def _awaited(result: WebResult, pending: Future[WebPage], ends: float) -> WebPage:
    try:
        return pending.result(timeout=max(0.0, ends - monotonic()))
    except TimeoutError:
        return _snippet(result, "finding its text took too long")


def _snippet(result: WebResult, reason: str) -> WebPage:
    return WebPage(result.url, result.title, result.snippet, degraded=reason)


def _extracted(body: _Body, seconds: float) -> tuple[str, str]:
    """The title and the main text of a page. Raises FetchRefused if it holds no text."""
    if body.media_type in _MARKUP_TYPES:
        page = page_text.FetchedPage(body.url, body.content, body.charset)
        title, text = page_text.main_text(page, seconds)
    else:
        title, text = "", page_text.decoded(body.content, body.charset)
    if not text.strip():
        raise FetchRefused("no text was found on the page")
    return storable(title), storable(text)
