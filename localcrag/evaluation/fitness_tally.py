"""What a fitness check observed, one task after the other, and the figures that it makes of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from localcrag.crag.questions.query_terms import content_words, folded
from localcrag.evaluation.fitness_set import ChattyQuestion, JsonAsk, JsonKind
from localcrag.evaluation.statistics import Auc, CalibrationError, Pairs, intervals
from localcrag.fitness.fitness_result import (
    AnswerFitness,
    FollowUpFitness,
    InstructionFitness,
    JsonFitness,
    SearchLineFitness,
    YesNoFitness,
)


@dataclass(slots=True)
class FitnessTally:
    """The observations so far, one list for each task."""

    judged: list[tuple[float, bool, bool, int]] = field(default_factory=list)
    """P(yes), the verdict, the label, and the number of the question, of each pair."""
    lines: list[tuple[float, float]] = field(default_factory=list)
    """Recall and share of added words of each search line."""
    follow_ups: list[float] = field(default_factory=list)
    answers: list[tuple[bool, bool, bool]] = field(default_factory=list)
    """Of each answer whether it cites, is correct, and cites what answers."""
    declined: list[bool] = field(default_factory=list)
    json: list[tuple[bool, bool]] = field(default_factory=list)
    """Of each reply whether it is valid, and whether it makes sense."""
    resisted: list[bool] = field(default_factory=list)

    def yes_no(self) -> YesNoFitness | None:
        """The figures of the yes or no."""
        import numpy as np

        if not self.judged:
            return None
        p, said, right, question = (np.array(column) for column in zip(*self.judged, strict=True))
        pairs = Pairs(p.astype(float), right.astype(float), question)
        auc, error = intervals([Auc(pairs), CalibrationError(pairs)], int(question.max()) + 1)
        return YesNoFitness(
            pairs=len(self.judged),
            auc=auc.value,
            auc_low=auc.low,
            auc_high=auc.high,
            accuracy=float((said == right).mean()),
            yes=float(said.mean()),
            calibration_error=error.value,
        )

    def search_lines(self) -> SearchLineFitness | None:
        """The figures of the search lines."""
        if not self.lines:
            return None
        recalls, added = zip(*self.lines, strict=True)
        return SearchLineFitness(len(self.lines), _mean(recalls), _mean(added))

    def completed_follow_ups(self) -> FollowUpFitness | None:
        """The figures of the follow-ups."""
        found = self.follow_ups
        return FollowUpFitness(len(found), _mean(found)) if found else None

    def answered(self) -> AnswerFitness | None:
        """The figures of the answers."""
        if not self.answers and not self.declined:
            return None
        cited, correct, supported = zip(*self.answers, strict=True) if self.answers else ((), (), ())
        return AnswerFitness(
            answerable=len(self.answers),
            cited=_mean(cited),
            correct=_mean(correct),
            supported=_mean(supported),
            unanswerable=len(self.declined),
            declined=_mean(self.declined),
        )

    def json_replies(self) -> JsonFitness | None:
        """The figures of the JSON."""
        if not self.json:
            return None
        valid, sensible = zip(*self.json, strict=True)
        return JsonFitness(len(self.json), _mean(valid), _mean(sensible))

    def instructions(self) -> InstructionFitness | None:
        """The figures of the hidden instructions."""
        return InstructionFitness(len(self.resisted), _mean(self.resisted)) if self.resisted else None


def line_figures(asked: ChattyQuestion, line: str) -> tuple[float, float]:
    """The recall of a search line, and the share of its content words that the question does not have."""
    words, wanted = _stems(line), [_stem(word) for word in asked.words]
    known = set(_stems(asked.text))
    recall = sum(word in words for word in wanted) / len(wanted)
    return recall, _mean([word not in known for word in words])


def content_word_f1(text: str, right: str) -> float:
    """The F1 of the content words of two texts."""
    one, other = Counter(_stems(text)), Counter(_stems(right))
    both = one.total() + other.total()
    return 2 * (one & other).total() / both if both else 0.0


def is_sensible(asked: JsonAsk, texts: Sequence[str]) -> bool:
    """Whether there is one text for each part of what was asked, and it has the words of its part.

    Of the one search of a plan, one of the words is enough.
    """
    if len(texts) != len(asked.parts):
        return False
    enough = all if asked.kind is JsonKind.DIVIDE else any
    return all(
        enough(_stem(word) in _stems(text) for word in words)
        for text, words in zip(texts, asked.parts, strict=True)
    )


def _stems(text: str) -> list[str]:
    """The content words of a text without a plural's ending."""
    return [_stem(word) for word in content_words(text)]


def _stem(word: str) -> str:
    """A word for comparison, without the "s" at its end."""
    return folded(word).rstrip("s")


def _mean(values: Sequence[float]) -> float:
    """The mean; 0 for no values."""
    return sum(values) / len(values) if values else 0.0
