"""``localcrag`` with more patience for its warm process: few tests are about how busy a machine is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from localcrag.serve import client
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.protocol import InfoRequest, SearchRequest

LIMITS: tuple[tuple[Any, str], ...] = (
    (client, "FIRST_SIGN_SECONDS"),
    (client, "SILENCE_SECONDS"),
    (client, "STARTING_SECONDS"),
    (AskRequest, "max_queue_seconds"),
    (SearchRequest, "max_queue_seconds"),
    (InfoRequest, "max_queue_seconds"),
)
SHIPPED = [getattr(owner, name) for owner, name in LIMITS]


def patient(change: Callable[[Any, str, float], object] = setattr, seconds: float = 240.0) -> None:
    """Wait so long before the work is done without the warm process."""
    for owner, name in LIMITS:
        change(owner, name, seconds)


def as_shipped(change: Callable[[Any, str, float], object]) -> None:
    """Wait no longer than a user does."""
    for (owner, name), seconds in zip(LIMITS, SHIPPED, strict=True):
        change(owner, name, seconds)


if __name__ == "__main__":
    from localcrag.cli.main import main

    patient()
    sys.exit(main())
