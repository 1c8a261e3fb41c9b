"""The web for the parts of one question: the same line is asked for, sent and fetched for once.

In a chat every part asks the web with the user's own line. What the first of them was told, sent
and given holds for the others, which judge the pages against their own words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from localcrag.crag.parts import Options, Parts
from localcrag.errors import OfflineError, UsageError, WebError
from localcrag.events import PageRead, Steps, WebAsked
from localcrag.protocols import Consent, PageFetcher, WebSearch
from localcrag.types import WebPage, WebResult

T = TypeVar("T")


@dataclass(slots=True)
class Once:
    """What the parts of one question share; a new one for each question."""

    _asked: set[str] = field(default_factory=set)
    _repeated: bool = False

    def within(self, parts: Parts, options: Options) -> tuple[Parts, Options]:
        """The same, with a web and a consent that remember."""
        web = parts.web and _Search(parts.web)
        fetcher = parts.fetcher and _Fetcher(parts.fetcher)
        consent = options.consent and _Remembered(options.consent)
        return replace(parts, web=web, fetcher=fetcher), replace(options, consent=consent)

    def told(self, steps: Steps[T]) -> Steps[T]:
        """The steps without those that did not happen again: a line asked before is not sent nor read for."""
        while True:
            try:
                event = next(steps)
            except StopIteration as stop:
                result: T = stop.value
                return result
            if isinstance(event, WebAsked):
                self._repeated = event.query in self._asked
                self._asked.add(event.query)
            if not (self._repeated and isinstance(event, (WebAsked, PageRead))):
                yield event


@dataclass(slots=True)
class _Remembered:
    """A :class:`~localcrag.protocols.Consent` that is asked for a line once."""

    consent: Consent
    given: dict[str, str | None] = field(default_factory=dict)

    def __call__(self, query: str) -> str | None:
        if query not in self.given:
            self.given[query] = self.consent(query)
        return self.given[query]


@dataclass(slots=True)
class _Search:
    """A :class:`~localcrag.protocols.WebSearch` that sends a line once, and fails for it as it did."""

    web: WebSearch
    found: dict[str, list[WebResult] | WebError | OfflineError | UsageError] = field(default_factory=dict)

    def line(self, query: str) -> str:
        return self.web.line(query)

    def search(self, query: str, *, limit: int = 5) -> list[WebResult]:
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
class _Fetcher:
    """A :class:`~localcrag.protocols.PageFetcher` that fetches the same results once."""

    fetcher: PageFetcher
    read: dict[tuple[WebResult, ...], list[WebPage]] = field(default_factory=dict)

    def fetch(self, results: Iterable[WebResult]) -> Iterator[WebPage]:
        wanted = tuple(results)
        if wanted in self.read:
            yield from self.read[wanted]
            return
        pages = self.read[wanted] = []
        for page in self.fetcher.fetch(wanted):
            pages.append(page)
            yield page
