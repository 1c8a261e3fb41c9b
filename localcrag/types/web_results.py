"""What comes back from the web."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WebResult:
    """One result of a web search: plain text, markup removed."""

    url: str
    title: str
    snippet: str
    engine: str = ""


@dataclass(frozen=True, slots=True)
class WebPage:
    """The readable text of a fetched page; ``text`` is the search snippet where fetching failed, and
    ``degraded`` then says why."""

    url: str
    title: str
    text: str
    degraded: str = ""
