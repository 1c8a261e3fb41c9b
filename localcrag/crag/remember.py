"""An evaluator that reads no pair twice: what reranking judged, grading need not judge again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from localcrag.protocols import Evaluator
from localcrag.types import Thresholds, Tokens


@dataclass(frozen=True, slots=True)
class RememberingEvaluator:
    """The given evaluator, with the scores of one question's pairs kept."""

    evaluator: Evaluator
    _known: dict[tuple[str, str], float] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.evaluator.name

    @property
    def thresholds(self) -> Thresholds:
        return self.evaluator.thresholds

    @property
    def tokens(self) -> Tokens:
        return self.evaluator.tokens

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        fresh = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        for text, p in zip(fresh, self.evaluator.score(query, fresh), strict=True):
            self._known[query, text] = p
        return [self._known[query, text] for text in texts]

    def close(self) -> None:
        self.evaluator.close()
