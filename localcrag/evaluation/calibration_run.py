"""Calibrating the grader in use on a user's own questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date

import numpy as np

from localcrag.calibration.band import JudgedPair
from localcrag.calibration.calibration_file import Calibration
from localcrag.calibration.scale import FINE_FLOOR, Scale, log_odds
from localcrag.crag.judges.graders import RUBRIC_THRESHOLDS
from localcrag.errors import EvaluationError, UsageError
from localcrag.evaluation.cross_validation import Fitted, FittedBand, Material, Tried, fitted, fitted_band
from localcrag.evaluation.grader_comparison import ACCURACY_MARGIN
from localcrag.evaluation.labels import Labelled
from localcrag.evaluation.observations import Judgement, judge
from localcrag.evaluation.results import interval_json
from localcrag.evaluation.run import Progress
from localcrag.knowledge_base import AskOptions, KnowledgeBase
from localcrag.pipeline_builder import UNCALIBRATED_THRESHOLDS, band_of
from localcrag.types import GraderKind, JsonValue, Thresholds, Verdict, WebPolicy

JUDGES_OF_GRADER: Mapping[GraderKind, Sequence[GraderKind]] = {
    GraderKind.YESNO: (GraderKind.YESNO,),
    GraderKind.RUBRIC: (GraderKind.RUBRIC,),
    GraderKind.EVALUATOR: (GraderKind.EVALUATOR,),
    GraderKind.CASCADE: (GraderKind.EVALUATOR, GraderKind.YESNO),
    GraderKind.FUSED: (GraderKind.EVALUATOR, GraderKind.YESNO),
}
"""The judges whose single judgements are needed to calibrate each grader."""


@dataclass(frozen=True, slots=True)
class CalibrationOutcome:
    """A calibration that is not stored yet, with its quality."""

    calibration: Calibration
    fitted: Fitted | FittedBand

    def to_dict(self) -> dict[str, JsonValue]:
        """The JSON object of ``calibrate --json`` for one calibration."""
        table = asdict(self.calibration)
        common = {**table.pop("scale"), **table.pop("thresholds"), **table, "better": self.fitted.better}
        if isinstance(self.fitted, FittedBand):
            alone: dict[str, JsonValue] = {
                "margin": self.fitted.margin,
                "evaluator": round(self.fitted.evaluator, 6),
                "model": round(self.fitted.model, 6),
            }
            return {
                **common,
                **alone,
                "before": _tried_json(self.fitted.before),
                "after": _tried_json(self.fitted.after),
            }
        return {
            **common,
            "before": _plain(asdict(self.fitted.before)),
            "after": _plain(asdict(self.fitted.after)),
        }


def calibrate(
    kb: KnowledgeBase,
    questions: Sequence[Labelled],
    *,
    filter: str | None,
    progress: Progress,
    margin: float = ACCURACY_MARGIN,
) -> list[CalibrationOutcome]:
    """Fit calibrations of the grader in use to these questions; nothing is stored.

    ``margin`` is the accuracy, as a share, that a cascade may lose against asking the language model about
    every passage. Each question is searched and graded, and no answer is made.

    Returns the calibration of the grader, after that of the evaluator if the grader is a cascade or a
    fusion. Raises UsageError if the grader needs an evaluator and there is none, EvaluationError if there is
    too little to fit to, and the errors of ``KnowledgeBase.stream``.
    """
    kind = kb.grader
    if kind is GraderKind.CASCADE or kind is GraderKind.FUSED:
        _require_evaluator(kb, kind)
    labelled = [question for question in questions if question.gold is not None]
    judges = JUDGES_OF_GRADER[kind]
    total = len(labelled) * len(judges)
    seen: dict[GraderKind, list[Sequence[Judgement]]] = {}
    for number, each in enumerate(judges):
        seen[each] = _judged(kb, labelled, each, filter, _Offset(progress, number * len(labelled), total))
    if kind is GraderKind.FUSED:
        alone = _single(kb, GraderKind.EVALUATOR, seen[GraderKind.EVALUATOR])
        return [alone, _fusion(kb, alone.calibration, seen)]
    if kind is GraderKind.CASCADE:
        alone = _single(kb, GraderKind.EVALUATOR, seen[GraderKind.EVALUATOR])
        return [alone, _band(kb, seen, margin)]
    return [_single(kb, judges[0], seen[judges[0]])]


@dataclass(frozen=True, slots=True)
class _Offset:
    """The progress of one of several rounds, reported as progress through all of them."""

    progress: Progress
    before: int
    total: int

    def __call__(self, done: int, _count: int) -> None:
        self.progress(self.before + done, self.total)


def _judged(
    kb: KnowledgeBase, questions: Sequence[Labelled], kind: GraderKind, filter: str | None, progress: Progress
) -> list[Sequence[Judgement]]:
    """The first grades of each question by one judge."""
    options = AskOptions(filter=filter, grader=kind, web=WebPolicy.NEVER)
    found: list[Sequence[Judgement]] = []
    with _evaluator_alone(kb):
        for number, asked in enumerate(questions):
            progress(number, len(questions))
            found.append(judge(kb.stream(asked.question.text, options), asked))
    progress(len(questions), len(questions))
    return found


@contextmanager
def _evaluator_alone(kb: KnowledgeBase) -> Iterator[None]:
    """The evaluator judges as it will once it is calibrated: on its own scale, without a second one."""
    evaluator = kb.models.evaluator
    if evaluator is None or evaluator.calibration:
        yield
        return
    prints = tuple(kb.models.fingerprints(GraderKind.EVALUATOR))
    evaluator.calibration = Calibration(
        GraderKind.EVALUATOR, prints, evaluator.scale, evaluator.thresholds, questions=0, passages=0, made=""
    )
    try:
        yield
    finally:
        evaluator.calibration = None


def _single(kb: KnowledgeBase, kind: GraderKind, seen: Sequence[Sequence[Judgement]]) -> CalibrationOutcome:
    """Fit the scale and the thresholds of one judge."""
    rows = [
        (j.confidence, j.right, n) for n, each in enumerate(seen) for j in each if j.confidence is not None
    ]
    _require(rows)
    p, right, question = (np.array(column) for column in zip(*rows, strict=True))
    odds = np.array([[log_odds(value, FINE_FLOOR)] for value in p])
    scale, thresholds = _in_use(kb, kind)
    found = fitted(Material(odds, right.astype(float), question, p, thresholds))
    fitted_scale = scale.then(float(found.fit.weights[0]), found.fit.bias)
    return _outcome(kb, kind, fitted_scale, found)


def _fusion(
    kb: KnowledgeBase, evaluator: Calibration, seen: Mapping[GraderKind, Sequence[Sequence[Judgement]]]
) -> CalibrationOutcome:
    """Fit the fusion of the evaluator on its new scale, the language model as it is, and the similarity."""
    used = _in_use(kb, GraderKind.EVALUATOR)[0]
    asked = _in_use(kb, GraderKind.YESNO)[0]
    rows: list[tuple[float, float, float, float, bool, int]] = []
    known = kb.models.fusion
    for number, (judged, said) in enumerate(
        zip(seen[GraderKind.EVALUATOR], seen[GraderKind.YESNO], strict=True)
    ):
        words = {j.passage: j.confidence for j in said}
        for each in judged:
            word = words.get(each.passage)
            if each.confidence is None or word is None:
                continue
            similarity = each.similarity or 0.0
            p = known[0](each.confidence, _raw(word, asked), similarity) if known else each.confidence
            on_scale = evaluator.scale.of(_number(each.confidence, used))
            rows.append((log_odds(on_scale), log_odds(_raw(word, asked)), similarity, p, each.right, number))
    _require(rows)
    columns = [np.array(column, float) for column in zip(*rows, strict=True)]
    question = columns[5].astype(np.intp)
    inputs = np.stack(columns[:3], axis=1)
    thresholds = known[1] if known else _in_use(kb, GraderKind.EVALUATOR)[1]
    found = fitted(Material(inputs, columns[4], question, columns[3], thresholds))
    weights = (*map(float, found.fit.weights), found.fit.bias)
    return _outcome(kb, GraderKind.FUSED, evaluator.scale, found, weights)


def _band(
    kb: KnowledgeBase, seen: Mapping[GraderKind, Sequence[Sequence[Judgement]]], margin: float
) -> CalibrationOutcome:
    """Fit the band of the cascade, on the scale that the evaluator has now."""
    rows: list[tuple[float, bool, bool, int]] = []
    pairs = zip(seen[GraderKind.EVALUATOR], seen[GraderKind.YESNO], strict=True)
    for number, (judged, said) in enumerate(pairs):
        words = {j.passage: j.verdict for j in said}
        for each in judged:
            if each.confidence is not None and each.passage in words:
                wanted = Verdict.YES if each.right else Verdict.NO
                rows.append((each.confidence, words[each.passage] is wanted, each.right, number))
    _require(rows)
    p, asked, right, question = (np.array(column) for column in zip(*rows, strict=True))
    scale, bounds = _in_use(kb, GraderKind.EVALUATOR)
    found = fitted_band(JudgedPair(p, asked, right, question), kb.models.band or band_of(bounds), margin)
    return _outcome(kb, GraderKind.CASCADE, scale, found)


def _number(p: float, scale: Scale) -> float:
    """The judge's own number behind a probability."""
    return (log_odds(p, FINE_FLOOR) - scale.bias) * scale.temperature


def _raw(p: float, scale: Scale) -> float:
    """The probability before a scale was put on it."""
    return Scale().of(_number(p, scale))


def _in_use(kb: KnowledgeBase, kind: GraderKind) -> tuple[Scale, Thresholds]:
    """The scale and thresholds that a judge's confidences have now."""
    if kind is GraderKind.EVALUATOR:
        evaluator = kb.models.evaluator
        assert evaluator is not None
        return evaluator.scale, evaluator.thresholds
    if known := kb.models.calibration(kind):
        return known.scale, known.thresholds
    return Scale(), RUBRIC_THRESHOLDS if kind is GraderKind.RUBRIC else UNCALIBRATED_THRESHOLDS


def _outcome(
    kb: KnowledgeBase,
    kind: GraderKind,
    scale: Scale,
    found: Fitted | FittedBand,
    weights: tuple[float, ...] = (),
) -> CalibrationOutcome:
    calibration = Calibration(
        judge=kind,
        models=tuple(kb.models.fingerprints(kind)),
        scale=scale,
        thresholds=found.band if isinstance(found, FittedBand) else found.fit.thresholds,
        questions=found.questions,
        passages=found.passages,
        made=date.today().isoformat(),
        weights=weights,
    )
    return CalibrationOutcome(calibration, found)


def _require_evaluator(kb: KnowledgeBase, kind: GraderKind) -> None:
    if kb.models.evaluator is None:
        raise UsageError(f"grader {kind} needs an evaluator", hint="name one with --evaluator")


def _require(rows: Sequence[object]) -> None:
    if not rows:
        raise EvaluationError(
            "no passage was graded for a labelled question",
            hint="label questions with a source or a passage, or answerable false",
        )


def _plain(figures: Mapping[str, float]) -> dict[str, JsonValue]:
    return {name: None if value != value else round(value, 6) for name, value in figures.items()}


def _tried_json(tried: Tried) -> dict[str, JsonValue]:
    return {
        "accuracy": interval_json(tried.accuracy),
        "asked": interval_json(tried.asked),
        "difference": interval_json(tried.difference),
    }
