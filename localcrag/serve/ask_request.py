"""The message of a question to the loop; a module of its own, because its options need many types."""

from __future__ import annotations

from typing import ClassVar

from localcrag.options import AskOptions
from localcrag.serve.protocol import WorkRequest


class AskRequest(WorkRequest, frozen=True):
    """A question, answered by the events of the loop.

    ``options.consent`` must be None: a function that asks a person cannot be sent. With ``asks_consent`` the
    client is asked by ConsentAsked in its place, and answers with ConsentGiven.
    """

    max_queue_seconds: ClassVar[float] = 60.0
    question: str
    options: AskOptions
    asks_consent: bool = False
