"""The results of a web search, and the pages fetched for them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebResult:
    """One result of a web search, as plain text without markup; ``engine`` is the search engine."""

    url: str
    title: str
    snippet: str
    engine: str = ""


@dataclass(frozen=True, slots=True)
class WebPage:
    """The readable text of a fetched page.

    If fetching failed, ``text`` is the snippet of the search result, and ``degraded`` says why.
    """

    url: str
    title: str
    text: str
    degraded: str = ""
