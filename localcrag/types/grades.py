"""The hits of a search, their grades, and the decision from the grades."""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.types.enums import Action, Verdict
from localcrag.types.passages import JsonValue, Passage


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found by a search; ``score`` orders the hits of one search, higher is better.

    ``similarity`` is the cosine of query and passage, or None if it is unknown.
    """

    passage: Passage
    score: float
    similarity: float | None = None

    def to_dict(self, rank: int | None = None) -> dict[str, JsonValue]:
        """The object that ``search --json`` lists; ``rank`` counts from 1, and is left out if it is None."""
        p = self.passage
        ranked: dict[str, JsonValue] = {} if rank is None else {"rank": rank}
        return ranked | {
            "score": self.score,
            "source": p.source,
            "title": p.title,
            "page": p.page,
            "start": p.start,
            "end": p.end,
            "text": p.text,
            "meta": dict(p.meta),
            "sheet": p.sheet,
            "rows": p.rows(),
            "kb": p.kb,
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text; ``indent`` is the number of blanks per level, None for one line."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)


@dataclass(frozen=True, slots=True)
class Grade:
    """A grader's judgement of one hit; ``confidence`` is P(the passage helps), in [0, 1].

    If the verdict is ``error``, ``confidence`` is None and ``reason`` says why. The rubric gives its label
    and justification as the reason.
    """

    hit: Hit
    verdict: Verdict
    confidence: float | None
    reason: str = ""

    def to_dict(self) -> dict[str, JsonValue]:
        """The object that the answer's JSON lists under ``grades``."""
        p = self.hit.passage
        return {
            "source": p.source,
            "page": p.page,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "origin": p.origin,
            "reason": self.reason,
        }

    def to_closest(self) -> dict[str, JsonValue]:
        """The object that the answer's JSON lists under ``closest``: where a passage is, and its text."""
        p = self.hit.passage
        return {
            "source": p.source,
            "title": p.title,
            "page": p.page,
            "sheet": p.sheet,
            "rows": p.rows(),
            "start": p.start,
            "end": p.end,
            "text": p.text,
            "origin": p.origin,
            "kb": p.kb,
            "confidence": self.confidence,
        }


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The thresholds on P(relevant): at or above ``upper`` relevance is sure, below ``lower`` irrelevance."""

    upper: float = 0.5
    lower: float = 0.5


@dataclass(frozen=True, slots=True)
class Decision:
    """The action that a policy chose from the grades, and the reason, in words for the user."""

    action: Action
    reason: str
