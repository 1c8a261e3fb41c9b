"""Two evaluators in one: one for English, and one for pairs with a text in another language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from localcrag.languages import beyond_english
from localcrag.types import Tokens

if TYPE_CHECKING:
    from localcrag.calibration.calibration_file import Calibration
    from localcrag.calibration.scale import Scale
    from localcrag.llm.evaluator import GgufEvaluator
    from localcrag.llm.gguf import GgufInfo
    from localcrag.llm.multilingual_evaluator import MultilingualEvaluator
    from localcrag.types import Thresholds

    FileEvaluator = GgufEvaluator | MultilingualEvaluator


class EvaluatorByLanguage:
    """An :class:`~localcrag.protocols.Evaluator` that asks the one of two that knows the languages of a pair.

    A pair is for the multilingual one if its query or its text is in another language than English. A text
    too short to tell goes with most of those it is judged with. The probabilities of both are calibrated on
    the same questions, and so are the thresholds of the English one, which hold for both.

    Args:
        english: the evaluator for English, after which both are named.
        multilingual: that for other languages, which is loaded when the first such pair comes.
    """

    multilingual = True

    def __init__(self, english: FileEvaluator, multilingual: FileEvaluator) -> None:
        self.english, self.others = english, multilingual

    @property
    def name(self) -> str:
        """The name of the evaluator for English. Raises ModelNotFound, ModelFileError."""
        return self.english.name

    @property
    def info(self) -> GgufInfo:
        """The header of the file of the evaluator for English. Raises ModelNotFound, ModelFileError."""
        return self.english.info

    @property
    def scale(self) -> Scale:
        """The scale in use of the evaluator for English."""
        return self.english.scale

    @property
    def own_scale(self) -> Scale:
        """The scale in the file of the evaluator for English."""
        return self.english.own_scale

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of the evaluator for English."""
        return self.english.thresholds

    @property
    def tokens(self) -> Tokens:
        """The tokens that both have read."""
        return self.english.tokens + self.others.tokens

    @property
    def calibration(self) -> Calibration | None:
        """The calibration in use."""
        return self.english.calibration

    @calibration.setter
    def calibration(self, fitted: Calibration | None) -> None:
        """Use a calibration that was fitted to the probabilities of both, which it maps alike."""
        self.english.calibration = self.others.calibration = fitted
        if fitted:
            own, other = self.english.own_scale, self.others.own_scale
            slope = own.temperature / fitted.scale.temperature
            scale = other.then(slope, fitted.scale.bias - slope * own.bias)
            self.others.calibration = replace(fitted, scale=scale)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The probability that each text answers the query, in [0, 1].

        Raises ModelNotFound, ModelNotInstalled, ModelFileError, ModelError.
        """
        foreign = beyond_english(query, texts)
        if not any(foreign):
            return self.english.score(query, texts)
        if all(foreign):
            return self.others.score(query, texts)
        known = iter(
            self.english.score(query, [t for t, other in zip(texts, foreign, strict=True) if not other])
        )
        found = iter(self.others.score(query, [t for t, other in zip(texts, foreign, strict=True) if other]))
        return [next(found if other else known) for other in foreign]

    def remember(self, pairs: int) -> None:
        """Keep the numbers of the last ``pairs`` pairs of each, from now on and until it is closed."""
        self.english.remember(pairs)
        self.others.remember(pairs)

    def load(self) -> None:
        """Load the evaluator for English now. Raises ModelNotFound, ModelFileError, ModelError."""
        self.english.load()

    def close(self) -> None:
        """Free the memory of both; the next use loads them again."""
        self.english.close()
        self.others.close()
