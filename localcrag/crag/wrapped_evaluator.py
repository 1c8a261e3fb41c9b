"""What evaluators that wrap another one have in common: all but the scores are the other one's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.languages import beyond_english
from localcrag.protocols import Evaluator
from localcrag.types import Thresholds, Tokens


def judged_alone(evaluator: Evaluator, query: str, texts: Sequence[str]) -> list[bool]:
    """Whether each text is for the evaluator alone, since query or text is in another language than English.

    What is fitted to be combined with an evaluator was fitted to English; one that knows English only is
    never alone.
    """
    return beyond_english(query, texts) if evaluator.multilingual and texts else [False] * len(texts)


@dataclass(frozen=True, slots=True)
class WrappedEvaluator:
    """The base of an evaluator that changes the scores of the given one, and nothing else."""

    evaluator: Evaluator

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
