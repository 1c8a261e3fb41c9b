"""Graders, which judge passages: by the language model (yes or no, or a rubric), the evaluator, or both.

A grader gives each hit a verdict and P(the passage helps). A grade that failed is ``error`` with its
reason, and never counts as yes or no.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from localcrag.calibration.scale import Fusion, Scale
from localcrag.crag import prompts
from localcrag.crag.judges.passage_scores import judged_alone, passage_scores
from localcrag.crag.judges.yes_no_choices import YES_NO_OPTIONS, ask_each, ask_jointly
from localcrag.crag.prompt_layout import JointPassages
from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.protocols import Embedder, Evaluator, LanguageModel
from localcrag.types import (
    Choice,
    Grade,
    GraderKind,
    Hit,
    RubricLabel,
    Thresholds,
    Verdict,
)


class Grader(Protocol):
    """A judge of hits (CRAG, arXiv 2401.15884, section 4.2)."""

    @property
    def kind(self) -> GraderKind:
        """The name of the grader in options, settings and calibrations."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """The bounds of the CRAG action on the confidences of this grader."""
        ...

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """One grade per hit, in order.

        Args:
            question: the question that the passages should help to answer.
            hits: the passages to judge.
            joint: the passages of the question's joint prompt; if given, a grader that asks the language
                model for yes or no may add passages to it, and ask with all of them in one prompt.
        """
        ...


@dataclass(frozen=True, slots=True)
class YesNoGrader:
    """Grades by the language model's constrained yes or no, with P(yes) as the confidence."""

    model: LanguageModel
    thresholds: Thresholds
    kind: GraderKind = GraderKind.YESNO

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """One grade per hit, in order; a choice that fails is an ``error``."""
        passages = [hit.passage for hit in hits]
        if joint is None:
            choices = ask_each(self.model, question, [passage.text for passage in passages])
        else:
            choices = ask_jointly(self.model, question, joint, passages)
        return [self._grade(hit, choice) for hit, choice in zip(hits, choices, strict=True)]

    def _grade(self, hit: Hit, choice: Choice | Exception) -> Grade:
        """The grade of a hit from the model's choice, or an error from its failure."""
        if isinstance(choice, Exception):
            return Grade(hit, Verdict.ERROR, None, str(choice))
        return Grade(hit, Verdict(choice.text), choice.probabilities[0])


RUBRIC_SCORES: Mapping[RubricLabel, float] = {
    RubricLabel.AWFUL: 0.0,
    RubricLabel.POOR: 0.3,
    RubricLabel.GOOD: 0.7,
    RubricLabel.PERFECT: 1.0,
}
"""The confidence for each label of the rubric; from Good on the verdict is yes."""
RUBRIC_THRESHOLDS = Thresholds(upper=RUBRIC_SCORES[RubricLabel.GOOD], lower=0.5)
"""The thresholds of the rubric: Good is relevant; Poor, the same subject but no help, is not."""
RUBRIC_TOKENS = 120
"""The most tokens of an assessment: one sentence and a label."""


@dataclass(frozen=True, slots=True)
class RubricAssessment:
    """The model's assessment of a passage: the reason comes first, so that the label follows from it."""

    justification: str
    label: RubricLabel


@dataclass(frozen=True, slots=True)
class RubricGrader:
    """Grades by the language model's label on a scale of four, after a justification in one sentence.

    It costs about 30 generated tokens per passage; yes or no costs one.
    """

    model: LanguageModel
    thresholds: Thresholds = RUBRIC_THRESHOLDS
    kind: GraderKind = GraderKind.RUBRIC

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """One grade per hit, in order, with the label and the justification as the reason.

        Each passage has a prompt of its own; ``joint`` is ignored.
        """
        return [self._grade(question, hit) for hit in hits]

    def _grade(self, question: str, hit: Hit) -> Grade:
        """The grade of one hit; an error if the model's reply fails."""
        try:
            given = self.model.object(
                prompts.rubric(question, hit.passage.text), RubricAssessment, max_tokens=RUBRIC_TOKENS
            )
        except (ConstraintError, ContextOverflow) as error:
            return Grade(hit, Verdict.ERROR, None, str(error))
        score = RUBRIC_SCORES[given.label]
        verdict = Verdict.YES if score >= RUBRIC_SCORES[RubricLabel.GOOD] else Verdict.NO
        return Grade(hit, verdict, score, f"{given.label}: {' '.join(given.justification.split())}")


@dataclass(frozen=True, slots=True)
class EvaluatorGrader:
    """Grades by the evaluator's probability alone; the verdict is yes from one half on."""

    evaluator: Evaluator
    thresholds: Thresholds
    kind: GraderKind = GraderKind.EVALUATOR

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """One grade per hit, in order; ``joint`` is ignored."""
        scores = passage_scores(self.evaluator, question, [hit.passage for hit in hits])
        return [_judged(hit, p) for hit, p in zip(hits, scores, strict=True)]


@dataclass(frozen=True, slots=True)
class CascadeGrader:
    """Grades by the evaluator, and by the language model's yes or no if the evaluator is unsure.

    ``asked`` grades the passages that the evaluator is unsure of. ``band`` are the bounds on the
    evaluator's probability: at or above the upper one it is sure of yes, below the lower one of no. A
    passage that it is sure of costs the language model nothing.
    """

    asked: Grader
    evaluator: Evaluator
    band: Thresholds
    thresholds: Thresholds
    kind: GraderKind = GraderKind.CASCADE

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """One grade per hit, in order: the evaluator's outside the band, the other grader's within it.

        All passages that are not surely irrelevant are added to ``joint``, so that the answer can be
        written from the same prompt.
        """
        scores = passage_scores(self.evaluator, question, [hit.passage for hit in hits])
        judged = [_judged(hit, p) for hit, p in zip(hits, scores, strict=True)]
        if joint is not None:
            joint.add(hit.passage for hit, p in zip(hits, scores, strict=True) if p >= self.band.lower)
        sure = [not self.band.lower <= p < self.band.upper for p in scores]
        unsure = [hit for hit, known in zip(hits, sure, strict=True) if not known]
        asked = iter(self.asked.grade(question, unsure, joint) if unsure else ())
        return [grade if known else next(asked) for grade, known in zip(judged, sure, strict=True)]


@dataclass(frozen=True, slots=True)
class FusedGrader:
    """Grades by a small language model's yes or no, fused with the evaluator and the similarity.

    The similarity is the cosine of question and passage; it is computed for a hit that does not have it.
    If the language model fails on a passage, the grade is an error: half a fusion is not on the scale that
    the thresholds were fitted on. A language model with the weight 0 is not asked, and with a ``band`` only
    about the passages whose P of the evaluator lies in it; one that is not asked counts as undecided.

    The fusion was fitted to English. If question or passage are in another language, a multilingual evaluator
    judges alone: there a small language model guesses, and the cosines of a multilingual embedding model are
    high for right and wrong passages alike.
    """

    model: LanguageModel
    evaluator: Evaluator
    embedder: Embedder
    fusion: Fusion
    thresholds: Thresholds
    band: Thresholds | None = None
    kind: GraderKind = GraderKind.FUSED

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """One grade per hit, in order; each passage has a prompt of its own, and ``joint`` is ignored."""
        scores = passage_scores(self.evaluator, question, [hit.passage for hit in hits])
        alone = judged_alone(self.evaluator, question, [hit.passage.text for hit in hits])
        together = [at for at, judges in enumerate(alone) if not judges]
        fused = iter(self._fused(question, [hits[at] for at in together], [scores[at] for at in together]))
        return [
            _judged(hit, score) if judges else next(fused)
            for hit, score, judges in zip(hits, scores, alone, strict=True)
        ]

    def _fused(self, question: str, hits: Sequence[Hit], scores: Sequence[float]) -> list[Grade]:
        """One grade per hit, in order, from the evaluator's scores, the language model and the cosines."""
        choices = self._choices(question, [hit.passage.text for hit in hits], scores)
        cosines = self._similarities(question, hits)
        return [self._grade(*row) for row in zip(hits, scores, choices, cosines, strict=True)]

    def _choices(
        self, question: str, texts: Sequence[str], scores: Sequence[float]
    ) -> list[Choice | Exception]:
        """The language model's choice for each text; an even one for those it is not asked about."""
        band = self.band or Thresholds(upper=math.inf, lower=0.0)
        wanted = [bool(self.fusion.model) and band.lower <= p < band.upper for p in scores]
        asked = iter(
            ask_each(self.model, question, [t for t, chosen in zip(texts, wanted, strict=True) if chosen])
        )
        return [next(asked) if chosen else _EVEN_CHOICE for chosen in wanted]

    def _similarities(self, question: str, hits: Sequence[Hit]) -> list[float]:
        """The cosine of the question and each passage; 0 for unknown ones, if the cosine has no weight."""
        unknown = [hit.passage.searchable for hit in hits if hit.similarity is None]
        if not unknown or not self.fusion.similarity:
            return [hit.similarity or 0.0 for hit in hits]
        asked = self.embedder.encode_questions([question])[0]
        made = iter((self.embedder.encode(unknown) @ asked).tolist())
        return [next(made) if hit.similarity is None else hit.similarity for hit in hits]

    def _grade(self, hit: Hit, score: float, choice: Choice | Exception, cosine: float) -> Grade:
        """The grade of a hit from the fusion of its three inputs; an error if the choice failed."""
        if isinstance(choice, Exception):
            return Grade(hit, Verdict.ERROR, None, str(choice))
        p = self.fusion(score, choice.probabilities[0], cosine)
        return _judged(hit, p)


_EVEN_CHOICE = Choice(YES_NO_OPTIONS[0], (0.5, 0.5))
"""A choice of log-odds 0, in place of the choice of a language model that is not asked."""


def _judged(hit: Hit, p: float) -> Grade:
    """The grade of a hit from P(relevant): yes from one half on."""
    return Grade(hit, Verdict.YES if p >= 0.5 else Verdict.NO, p)


@dataclass(frozen=True, slots=True)
class CalibratedGrader:
    """Any grader with its confidences mapped by a fitted Platt scale; the verdict is yes from one half on.

    A model that says yes to everything, but with a lower probability for irrelevant passages, still
    separates relevant passages from others; the scale says at which probability.
    """

    grader: Grader
    scale: Scale
    thresholds: Thresholds

    @property
    def kind(self) -> GraderKind:
        """The kind of the grader that is calibrated."""
        return self.grader.kind

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """The grades of the given grader, in order, with confidences on the fitted scale."""
        return [self._scaled(grade) for grade in self.grader.grade(question, hits, joint)]

    def _scaled(self, grade: Grade) -> Grade:
        """A grade with its confidence on the fitted scale; one without a confidence stays as it is."""
        if grade.confidence is None:
            return grade
        p = self.scale(grade.confidence)
        return replace(grade, verdict=Verdict.YES if p >= 0.5 else Verdict.NO, confidence=p)
