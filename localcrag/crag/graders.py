"""Who judges a passage: the language model (yes or no, or the rubric), the evaluator, or both.

A grader gives each hit a verdict and P(the passage helps); a grade that could not be had is
``error`` with its reason, and never counts as yes or no.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from localcrag.calibration.scale import Fusion, Scale
from localcrag.crag import prompts
from localcrag.crag.prompt_layout import JointPassages
from localcrag.errors import ConstraintError, ContextOverflow, LocalCragError
from localcrag.protocols import Embedder, Evaluator, LanguageModel
from localcrag.types import (
    Choice,
    Grade,
    GraderKind,
    Hit,
    Passage,
    Prompt,
    RubricLabel,
    Thresholds,
    Tokens,
    Verdict,
)

YES_NO = ("yes", "no")


class Grader(Protocol):
    """Judges hits; ``thresholds`` are the bounds of the CRAG action on its confidences."""

    @property
    def kind(self) -> GraderKind: ...
    @property
    def thresholds(self) -> Thresholds: ...

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        """One grade per hit, in order.

        With a ``joint``, the language model's yes or no is asked with all passages before it.
        """
        ...


@dataclass(frozen=True, slots=True)
class YesNoGrader:
    """The language model's constrained yes or no, its probability as the confidence."""

    model: LanguageModel
    thresholds: Thresholds
    kind: GraderKind = GraderKind.YESNO

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        passages = [hit.passage for hit in hits]
        if joint is None:
            choices = ask(self.model, question, [passage.text for passage in passages])
        else:
            choices = ask_jointly(self.model, question, joint, passages)
        return [self._grade(hit, choice) for hit, choice in zip(hits, choices, strict=True)]

    def _grade(self, hit: Hit, choice: Choice | Exception) -> Grade:
        if isinstance(choice, Exception):
            return Grade(hit, Verdict.ERROR, None, str(choice))
        return Grade(hit, Verdict(choice.text), choice.probabilities[0])


SCORES: Mapping[RubricLabel, float] = {
    RubricLabel.AWFUL: 0.0,
    RubricLabel.POOR: 0.3,
    RubricLabel.GOOD: 0.7,
    RubricLabel.PERFECT: 1.0,
}
"""What a label of the rubric is worth; from Good on a passage is kept."""
RUBRIC_BOUNDS = Thresholds(upper=SCORES[RubricLabel.GOOD], lower=0.5)
"""Good is enough; Poor is the same subject and no help, and counts as nothing."""
RUBRIC_TOKENS = 120
"""Room for one sentence and a label."""


@dataclass(frozen=True, slots=True)
class RubricAssessment:
    """What the rubric asks for: first the reason, so that the label follows from it."""

    justification: str
    label: RubricLabel


@dataclass(frozen=True, slots=True)
class RubricGrader:
    """The language model's label on a scale of four, justified in one sentence first.

    Costs some 30 written tokens a passage where yes/no costs one.
    """

    model: LanguageModel
    thresholds: Thresholds = RUBRIC_BOUNDS
    kind: GraderKind = GraderKind.RUBRIC

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        return [self._grade(question, hit) for hit in hits]

    def _grade(self, question: str, hit: Hit) -> Grade:
        try:
            given = self.model.object(
                prompts.rubric(question, hit.passage.text), RubricAssessment, max_tokens=RUBRIC_TOKENS
            )
        except (ConstraintError, ContextOverflow) as error:
            return Grade(hit, Verdict.ERROR, None, str(error))
        score = SCORES[given.label]
        verdict = Verdict.YES if score >= SCORES[RubricLabel.GOOD] else Verdict.NO
        return Grade(hit, verdict, score, f"{given.label}: {' '.join(given.justification.split())}")


@dataclass(frozen=True, slots=True)
class EvaluatorGrader:
    """The evaluator's probability alone; yes from one half on."""

    evaluator: Evaluator
    thresholds: Thresholds
    kind: GraderKind = GraderKind.EVALUATOR

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        scores = self.evaluator.score(question, [hit.passage.text for hit in hits])
        return [_judged(hit, p) for hit, p in zip(hits, scores, strict=True)]


@dataclass(frozen=True, slots=True)
class CascadeGrader:
    """The evaluator first, and the language model's yes or no only where the evaluator is unsure.

    ``asked`` is the grader of the unsure ones; ``band`` are the evaluator's bounds: at or above the
    upper one it is sure of yes, below the lower one of no. What it is sure of costs the language model
    nothing.
    """

    asked: Grader
    evaluator: Evaluator
    band: Thresholds
    thresholds: Thresholds
    kind: GraderKind = GraderKind.CASCADE

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        scores = self.evaluator.score(question, [hit.passage.text for hit in hits])
        judged = [_judged(hit, p) for hit, p in zip(hits, scores, strict=True)]
        if joint is not None:
            joint.add(hit.passage for hit, p in zip(hits, scores, strict=True) if p >= self.band.lower)
        sure = [not self.band.lower <= p < self.band.upper for p in scores]
        unsure = [hit for hit, known in zip(hits, sure, strict=True) if not known]
        asked = iter(self.asked.grade(question, unsure, joint) if unsure else ())
        return [grade if known else next(asked) for grade, known in zip(judged, sure, strict=True)]


@dataclass(frozen=True, slots=True)
class FusedGrader:
    """A small language model's yes or no, fused with the evaluator and the similarity.

    The similarity is that of the question and the passage; where a hit does not have it, it is made.
    Where one of the two judges fails on a passage, the grade is an error: half a fusion is not
    on the scale that the thresholds were fitted on. A language model whose word was fitted to
    weigh nothing is not asked.
    """

    model: LanguageModel
    evaluator: Evaluator
    embedder: Embedder
    fusion: Fusion
    thresholds: Thresholds
    kind: GraderKind = GraderKind.FUSED

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        texts = [hit.passage.text for hit in hits]
        scores = self.evaluator.score(question, texts)
        choices = ask(self.model, question, texts) if self.fusion.model else [_UNASKED] * len(texts)
        cosines = self._similarities(question, hits)
        return [self._grade(*row) for row in zip(hits, scores, choices, cosines, strict=True)]

    def _similarities(self, question: str, hits: Sequence[Hit]) -> list[float]:
        """The cosine of the question and each passage."""
        unknown = [hit.passage.text for hit in hits if hit.similarity is None]
        if not unknown or not self.fusion.similarity:
            return [hit.similarity or 0.0 for hit in hits]
        vectors = self.embedder.encode([question, *unknown])
        made = iter((vectors[1:] @ vectors[0]).tolist())
        return [next(made) if hit.similarity is None else hit.similarity for hit in hits]

    def _grade(self, hit: Hit, score: float, choice: Choice | Exception, cosine: float) -> Grade:
        if isinstance(choice, Exception):
            return Grade(hit, Verdict.ERROR, None, str(choice))
        p = self.fusion(score, choice.probabilities[0], cosine)
        return _judged(hit, p)


_UNASKED = Choice(YES_NO[0], (0.5, 0.5))


def ask(model: LanguageModel, question: str, texts: Sequence[str]) -> list[Choice | Exception]:
    """The model's constrained yes/no for each text; the question is read once for all of them."""
    if not texts:
        return []
    choices = yes_or_no(model, [prompts.grade(question, text) for text in texts])
    return [_checked(choice) for choice in choices]


def ask_jointly(
    model: LanguageModel, question: str, joint: JointPassages, passages: Sequence[Passage]
) -> list[Choice | Exception]:
    """The same for passages on a table, which is read once, for these questions and for the answer.

    Where the table is too full for the context, what earlier searches brought is taken off it; where
    that does not help, the passages are asked about one by one, and the table stays empty.
    """
    if not passages:
        return []
    for laid in (joint.passages, []):
        joint.passages = laid
        places = joint.add(passages)
        asked = [prompts.grade_joint(question, joint.texts, place) for place in places]
        try:
            return [_checked(choice) for choice in model.choose(asked, YES_NO)]
        except ContextOverflow:
            continue
    joint.clear()
    return ask(model, question, [passage.text for passage in passages])


def yes_or_no(model: LanguageModel, asked: Sequence[Prompt]) -> list[Choice | Exception]:
    """A constrained yes or no for each prompt; one that cannot fit the context is an error by itself."""
    try:
        return model.choose(asked, YES_NO)
    except ContextOverflow as error:
        if len(asked) == 1:
            return [error]
    return [choice for prompt in asked for choice in yes_or_no(model, [prompt])]


def _checked(choice: Choice | Exception) -> Choice | Exception:
    if isinstance(choice, Choice) and choice.text not in YES_NO:
        return LocalCragError(f"the grade is {choice.text!r}, neither yes nor no")
    return choice


def _judged(hit: Hit, p: float) -> Grade:
    return Grade(hit, Verdict.YES if p >= 0.5 else Verdict.NO, p)


@dataclass(frozen=True, slots=True)
class CalibratedGrader:
    """Any grader, its confidence put on a fitted scale; yes from one half on.

    A model that says yes to everything, a little less surely where it should say no, still tells
    relevant passages from others: the scale finds where.
    """

    grader: Grader
    scale: Scale
    thresholds: Thresholds

    @property
    def kind(self) -> GraderKind:
        return self.grader.kind

    def grade(self, question: str, hits: Sequence[Hit], joint: JointPassages | None = None) -> list[Grade]:
        return [self._scaled(grade) for grade in self.grader.grade(question, hits, joint)]

    def _scaled(self, grade: Grade) -> Grade:
        if grade.confidence is None:
            return grade
        p = self.scale(grade.confidence)
        return replace(grade, verdict=Verdict.YES if p >= 0.5 else Verdict.NO, confidence=p)


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
