"""A question to the loop, as a message: apart from the others, as its options need most of our types."""

from __future__ import annotations

from typing import ClassVar

from localcrag.options import AskOptions
from localcrag.serve.protocol import WorkRequest


class AskRequest(WorkRequest, frozen=True):
    """Answered by the loop's events. ``options`` has no consent: a person at a terminal cannot travel."""

    patience: ClassVar[float] = 60.0
    question: str
    options: AskOptions
