"""Scripted stand-ins for the web: a search and a page fetcher that answer from what they were given."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from localcrag.errors import WebError
from localcrag.types import WebPage, WebResult
from localcrag.web.searxng import search_line


class FakeSearch:
    """A :class:`~localcrag.protocols.WebSearch`: the first key of ``found`` that is in the query decides.

    Its value is the results, or the WebError to raise; nothing matching is nothing found.
    ``queries`` are the lines that would have been sent.
    """

    def __init__(
        self,
        found: Mapping[str, Sequence[WebResult] | WebError] | None = None,
        *,
        record: Callable[[str, str], None] | None = None,
    ) -> None:
        self.queries: list[str] = []
        self._found = dict(found or {})
        self._record = record

    def line(self, query: str) -> str:
        return search_line(query)

    def search(self, query: str, *, limit: int = 5) -> list[WebResult]:
        line = search_line(query)
        if self._record is not None:
            self._record("query", line)
        self.queries.append(line)
        for key, answer in self._found.items():
            if key.lower() in line.lower():
                if isinstance(answer, WebError):
                    raise answer
                return list(answer[:limit])
        return []


class FakeFetcher:
    """A :class:`~localcrag.protocols.PageFetcher`: ``pages`` maps URLs to text; others give the snippet."""

    def __init__(
        self,
        pages: Mapping[str, str] | None = None,
        *,
        record: Callable[[str, str], None] | None = None,
    ) -> None:
        self.fetched: list[str] = []
        self._pages = dict(pages or {})
        self._record = record

    def fetch(self, results: Iterable[WebResult]) -> Iterator[WebPage]:
        for result in results:
            if self._record is not None:
                self._record("page", result.url)
            self.fetched.append(result.url)
            text = self._pages.get(result.url)
            if text is None:
                reason = "the server answered with status 404"
                yield WebPage(result.url, result.title, result.snippet, degraded=reason)
            else:
                yield WebPage(result.url, result.title, text)
