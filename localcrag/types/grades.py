"""What a search found, and what was thought of it."""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.types.enums import Action, Verdict
from localcrag.types.passages import JsonValue, Passage


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found by a search; ``score`` orders the hits of one search, higher is better.

    ``similarity`` is the cosine of query and passage where it is known.
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
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text; ``indent`` is the number of blanks per level, None for one line."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)


@dataclass(frozen=True, slots=True)
class Grade:
    """A grader's judgement of one hit: ``confidence`` is P(the passage helps), in [0, 1].

    ``confidence`` is None, and ``reason`` says why, where the verdict is ``error``; the rubric gives
    its justification as the reason.
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


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The bounds of the CRAG action on P(relevant): at or above ``upper`` correct, below ``lower`` not."""

    upper: float = 0.5
    lower: float = 0.5


@dataclass(frozen=True, slots=True)
class Decision:
    """The action chosen from the grades, and why, in words a user reads."""

    action: Action
    reason: str
