"""What is wrong with a SearXNG, and what to do about it: ``localcrag web check``, and part of ``doctor``."""

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

PROBE = "encyclopedia"
"""The query of the check: it tells nothing about anybody."""


class ServerState(StrEnum):
    """How a SearXNG stands."""

    NOT_CONFIGURED = "not_configured"
    OFFLINE = "offline"
    DOWN = "down"
    NOT_SEARXNG = "not_searxng"
    JSON_DISABLED = "json_disabled"
    RATE_LIMITED = "rate_limited"
    ENGINES_FAILING = "engines_failing"
    FINE = "fine"


_STATES: tuple[tuple[type[LocalCragError], ServerState], ...] = (
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
    """``detail`` is one line on what was seen, ``hint`` what to do now ("" where nothing).

    ``version`` and ``engines`` (those switched on) are what the server says of itself, where it does.
    """

    state: ServerState
    detail: str
    hint: str = ""
    version: str = ""
    engines: tuple[str, ...] = ()

    @property
    def fine(self) -> bool:
        return self.state is ServerState.FINE


def diagnose(
    url: str, *, record: RecordEgress, timeout: float = 15.0, options: SearxngOptions | None = None
) -> Diagnosis:
    """Ask ``/healthz`` and ``/config``, then search for a harmless fixed word, as a question would.

    Only the search decides: a proxy in front may hide the other two. Raises LedgerError where the
    search cannot be recorded; everything else is a state.
    """
    server = SearxngSearch(url, record=record, timeout=timeout, options=options)
    healthy, problem = _attempt(server.healthy)
    if problem is not None:
        return problem
    info, no_info = _attempt(server.info)
    if not healthy and no_info is not None and no_info.state is ServerState.NOT_SEARXNG:
        return no_info
    results, problem = _attempt(lambda: server.search(PROBE))
    if problem is not None:
        return _with(problem, info)
    if results:
        return _with(
            Diagnosis(ServerState.FINE, f"it answers in JSON: {len(results)} results for “{PROBE}”"), info
        )
    if info is not None and not info.engines:
        detail = "it answers in JSON, but no search engine is switched on"
        return _with(
            Diagnosis(ServerState.ENGINES_FAILING, detail, "enable engines in its settings.yml"), info
        )
    detail = f"it answers in JSON, and found nothing for “{PROBE}”"
    return _with(Diagnosis(ServerState.FINE, detail, "if that is a surprise, look at its engines"), info)


def _attempt(step: Callable[[], T]) -> tuple[T | None, Diagnosis | None]:
    """What a step brought, or what its failure means."""
    try:
        return step(), None
    except tuple(kind for kind, _ in _STATES) as error:
        state = next(state for kind, state in _STATES if isinstance(error, kind))
        hint = getattr(error, "hint", "")
        return None, Diagnosis(state, str(error), "" if hint == CHECK_HINT else hint)


def _with(diagnosis: Diagnosis, info: ServerInfo | None) -> Diagnosis:
    if info is None:
        return diagnosis
    return Diagnosis(diagnosis.state, diagnosis.detail, diagnosis.hint, info.version, info.engines)
