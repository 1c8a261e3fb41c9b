"""Diagnosing a SearXNG, with advice: ``localcrag web check``, and a part of ``localcrag doctor``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from localcrag.errors import (
    BadReply,
    EnginesFailed,
    JsonDisabled,
    LocalCragError,
    OfflineError,
    RateLimited,
    ServerDown,
    WebNotConfigured,
)
from localcrag.web.searxng import CHECK_HINT, RecordEgress, SearxngOptions, SearxngSearch, ServerInfo

T = TypeVar("T")

PROBE_QUERY = "encyclopedia"
"""The query of the check, which reveals nothing about the user."""


class ServerState(StrEnum):
    """The state of a SearXNG."""

    NOT_CONFIGURED = "not_configured"
    OFFLINE = "offline"
    DOWN = "down"
    NOT_SEARXNG = "not_searxng"
    JSON_DISABLED = "json_disabled"
    RATE_LIMITED = "rate_limited"
    ENGINES_FAILING = "engines_failing"
    FINE = "fine"


_STATE_OF_ERROR: tuple[tuple[type[LocalCragError], ServerState], ...] = (
    (WebNotConfigured, ServerState.NOT_CONFIGURED),
    (OfflineError, ServerState.OFFLINE),
    (ServerDown, ServerState.DOWN),
    (JsonDisabled, ServerState.JSON_DISABLED),
    (RateLimited, ServerState.RATE_LIMITED),
    (EnginesFailed, ServerState.ENGINES_FAILING),
    (BadReply, ServerState.NOT_SEARXNG),
)


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The state of a SearXNG with advice.

    ``detail`` is one line on the finding, ``hint`` the next step or "". ``version`` and ``engines`` (those
    that are enabled) are as the server reports them, and empty if it does not.
    """

    state: ServerState
    detail: str
    hint: str = ""
    version: str = ""
    engines: tuple[str, ...] = ()

    @property
    def fine(self) -> bool:
        """Whether the server answers searches."""
        return self.state is ServerState.FINE


def diagnose(
    url: str, *, record: RecordEgress, timeout: float = 15.0, options: SearxngOptions | None = None
) -> Diagnosis:
    """Ask the SearXNG at ``url`` for ``/healthz`` and ``/config``, then search for a harmless fixed word.

    Only the search decides, because a proxy in front may hide the other two. ``record`` is told of the
    search before it is sent, ``timeout`` bounds each request in seconds, and ``options`` are those of the
    search. Raises LedgerError if the search cannot be recorded; every other failure is a state.
    """
    server = SearxngSearch(url, record=record, timeout=timeout, options=options)
    healthy, problem = _attempt(server.healthy)
    if problem is not None:
        return problem
    info, no_info = _attempt(server.info)
    if not healthy and no_info is not None and no_info.state is ServerState.NOT_SEARXNG:
        return no_info
    results, problem = _attempt(lambda: server.search(PROBE_QUERY))
    if problem is not None:
        return _with(problem, info)
    if results:
        return _with(
            Diagnosis(ServerState.FINE, f"it answers in JSON: {len(results)} results for “{PROBE_QUERY}”"),
            info,
        )
    if info is not None and not info.engines:
        detail = "it answers in JSON, but no search engine is switched on"
        return _with(
            Diagnosis(ServerState.ENGINES_FAILING, detail, "enable engines in its settings.yml"), info
        )
    detail = f"it answers in JSON, and found nothing for “{PROBE_QUERY}”"
    return _with(Diagnosis(ServerState.FINE, detail, "if that is a surprise, look at its engines"), info)


def _attempt(step: Callable[[], T]) -> tuple[T | None, Diagnosis | None]:
    """The result of a step, or the diagnosis of its failure; the other one is None."""
    try:
        return step(), None
    except tuple(kind for kind, _ in _STATE_OF_ERROR) as error:
        state = next(state for kind, state in _STATE_OF_ERROR if isinstance(error, kind))
        hint = getattr(error, "hint", "")
        return None, Diagnosis(state, str(error), "" if hint == CHECK_HINT else hint)


def _with(diagnosis: Diagnosis, info: ServerInfo | None) -> Diagnosis:
    if info is None:
        return diagnosis
    return Diagnosis(diagnosis.state, diagnosis.detail, diagnosis.hint, info.version, info.engines)
