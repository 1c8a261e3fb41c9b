"""Web access of the parts of one question: each query is allowed, sent and read only once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from localcrag.crag.state import Adapters, PipelineOptions
from localcrag.errors import OfflineError, UsageError, WebError
from localcrag.events import Event, PageRead, Steps, WebAsked, filtered
from localcrag.protocols import Consent, PageFetcher, WebSearch
from localcrag.types import WebPage, WebResult

T = TypeVar("T")


@dataclass(slots=True)
class SharedWebAccess:
    """Web access shared by the parts of one question: the same query is sent only once.

    In a chat, the web query of every part is made from the user's whole question. The consent, the results
    and the pages of the first part are used for the others, which rank the pages against their own
    question. Each question needs a new instance.
    """

    _asked: set[str] = field(default_factory=set)
    _repeated: bool = False

    def wrap(self, adapters: Adapters, options: PipelineOptions) -> tuple[Adapters, PipelineOptions]:
        """The adapters and options, with a web search, a fetcher and a consent that remember results."""
        web = adapters.web and _RememberingSearch(adapters.web)
        fetcher = adapters.fetcher and _RememberingFetcher(adapters.fetcher)
        consent = options.consent and _RememberingConsent(options.consent)
        return replace(adapters, web=web, fetcher=fetcher), replace(options, consent=consent)

    def without_repeats(self, steps: Steps[T]) -> Steps[T]:
        """The steps without the WebAsked and PageRead events of a query that was made before."""
        return filtered(steps, self._is_new)

    def _is_new(self, event: Event) -> bool:
        """Whether an event is of no query that was made before; the query of a WebAsked is remembered."""
        if isinstance(event, WebAsked):
            self._repeated = event.query in self._asked
            self._asked.add(event.query)
        return not (self._repeated and isinstance(event, (WebAsked, PageRead)))


@dataclass(slots=True)
class _RememberingConsent:
    """A :class:`~localcrag.protocols.Consent` that asks the user only once for each query."""

    consent: Consent
    given: dict[str, str | None] = field(default_factory=dict)

    def __call__(self, query: str) -> str | None:
        if query not in self.given:
            self.given[query] = self.consent(query)
        return self.given[query]


@dataclass(slots=True)
class _RememberingSearch:
    """A :class:`~localcrag.protocols.WebSearch` that sends each query once; its result or error is kept."""

    web: WebSearch
    found: dict[str, list[WebResult] | WebError | OfflineError | UsageError] = field(default_factory=dict)

    def line(self, query: str) -> str:
        """The line that the given web search would send."""
        return self.web.line(query)

    def search(self, query: str, *, limit: int = 5) -> list[WebResult]:
        """The results of the first search for this query; raises its error again if it failed."""
        if query not in self.found:
            try:
                self.found[query] = self.web.search(query, limit=limit)
            except (WebError, OfflineError, UsageError) as error:
                self.found[query] = error
        found = self.found[query]
        if isinstance(found, list):
            return found
        raise found


@dataclass(slots=True)
class _RememberingFetcher:
    """A :class:`~localcrag.protocols.PageFetcher` that fetches the pages of the same results only once."""

    fetcher: PageFetcher
    read: dict[tuple[WebResult, ...], list[WebPage]] = field(default_factory=dict)

    def fetch(self, results: Iterable[WebResult]) -> Iterator[WebPage]:
        """One page per result, in order."""
        wanted = tuple(results)
        if wanted in self.read:
            yield from self.read[wanted]
            return
        pages = self.read[wanted] = []
        for page in self.fetcher.fetch(wanted):
            pages.append(page)
            yield page
