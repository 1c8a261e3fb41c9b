"""An evaluator that scores each pair of query and text only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from localcrag.protocols import Evaluator
from localcrag.types import Thresholds, Tokens


@dataclass(frozen=True, slots=True)
class RememberingEvaluator:
    """The given evaluator, which scores each pair of query and text only once.

    It keeps the scores as long as it lives; a pipeline makes one for each question.
    """

    evaluator: Evaluator
    _known: dict[tuple[str, str], float] = field(default_factory=dict, repr=False)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """P(the text answers the query) for each text, in order; only new pairs are evaluated."""
        fresh = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        for text, p in zip(fresh, self.evaluator.score(query, fresh), strict=True):
            self._known[query, text] = p
        return [self._known[query, text] for text in texts]

    @property
    def name(self) -> str:
        """The name of the given evaluator."""
        return self.evaluator.name

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of the given evaluator."""
        return self.evaluator.thresholds

    @property
    def multilingual(self) -> bool:
        """Whether the given evaluator knows other languages than English."""
        return self.evaluator.multilingual

    @property
    def tokens(self) -> Tokens:
        """The tokens that the given evaluator has read since it was loaded."""
        return self.evaluator.tokens

    def close(self) -> None:
        """Close the given evaluator."""
        self.evaluator.close()
