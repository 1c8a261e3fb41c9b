"""The last questions that were answered over the HTTP door, of which reports can be made."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

from localcrag.report import AskedQuestion
from localcrag.serve.http_api.problems import Problem, ProblemError

MAX_QUESTIONS = 20
"""Questions that are remembered; the oldest one is forgotten first."""


@dataclass(frozen=True)
class ReportShelf:
    """Answered questions by an id that cannot be guessed."""

    _asked: OrderedDict[str, AskedQuestion] = field(default_factory=OrderedDict)

    def put(self, asked: AskedQuestion) -> str:
        """Remember a question; returns its id."""
        key = secrets.token_urlsafe(12)
        self._asked[key] = asked
        while len(self._asked) > MAX_QUESTIONS:
            self._asked.popitem(last=False)
        return key

    def find(self, key: str) -> AskedQuestion:
        """The question with this id. Raises ProblemError if it is not, or no longer, remembered."""
        if (asked := self._asked.get(key)) is None:
            raise ProblemError(
                Problem(404, "ReportGone", "this question is no longer remembered", "ask it again")
            )
        return asked
