"""Comparing graders on the same passages.

One grader is the reference (``yesno`` if it takes part), and the others are compared with it. A grader
counts as equally good if its accuracy, at the lower end of the 95 % interval of the difference, is no more
than a margin below that of the reference. This is a test of non-inferiority on bootstrap draws of the
questions, because passages of one question are not independent. McNemar's exact test (1947) over single
passages is printed with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from localcrag.evaluation.grader_panel import Judgements, Panel
from localcrag.evaluation.question_set import Broken
from localcrag.evaluation.results import interval_json
from localcrag.evaluation.statistics import (
    Auc,
    CalibrationError,
    Floats,
    Interval,
    Kappa,
    Pairs,
    Ratio,
    Statistic,
    Whole,
    differences,
    intervals,
)
from localcrag.types import GraderKind, JsonValue, Verdict

ACCURACY_MARGIN = 0.02
"""The share of accuracy by which a grader may be below the reference and still count as equally good."""
VERDICT_ORDER = (Verdict.YES, Verdict.NO, Verdict.ERROR)
"""The verdicts in the order of their numbers in arrays."""


@dataclass(frozen=True, slots=True)
class GraderDifference:
    """A grader compared with the reference, on the same passages.

    ``gained`` is the number of passages that it judges rightly and the reference wrongly, ``lost`` that of
    the reverse; ``chance`` is the p-value of McNemar's test, the probability of so uneven a split if both
    were equally good. ``difference`` and ``margin`` are differences of accuracy.
    """

    agreement: Interval
    kappa: Interval
    difference: Interval
    gained: int
    lost: int
    chance: float
    margin: float

    @property
    def as_good(self) -> bool:
        """Whether the grader is surely not worse than the reference by more than the margin."""
        return self.difference.low > -self.margin

    @property
    def better(self) -> bool:
        """Whether the grader is surely better than the reference."""
        return self.difference.low > 0

    @property
    def worse(self) -> bool:
        """Whether the grader is surely worse than the reference by more than the margin."""
        return self.difference.high < -self.margin


@dataclass(frozen=True, slots=True)
class GraderResult:
    """The figures of one grader by name, and its difference from the reference.

    ``against`` is None for the reference itself.
    """

    kind: GraderKind
    figures: Mapping[str, Interval]
    against: GraderDifference | None


@dataclass(frozen=True, slots=True)
class GraderComparison:
    """The results of all graders on the same passages.

    ``right`` is the number of the ``passages`` that help to answer their questions.
    """

    kb: str
    reference: GraderKind
    graders: Sequence[GraderResult]
    questions: int
    passages: int
    right: int
    failed: Sequence[Broken]
    partial: bool

    def to_dict(self) -> dict[str, JsonValue]:
        """The JSON object of ``eval --graders --json``."""
        return {
            "kb": self.kb,
            "questions": self.questions,
            "passages": self.passages,
            "right": self.right,
            "partial": self.partial,
            "failed": [broken.to_dict() for broken in self.failed],
            "reference": self.reference,
            "graders": [_standing_json(standing) for standing in self.graders],
        }


def compare_graders(kb: str, panel: Panel, *, margin: float = ACCURACY_MARGIN) -> GraderComparison:
    """The figures of every grader with 95 % intervals, and the difference of each from the reference."""
    kinds = list(panel.marks)
    reference = GraderKind.YESNO if GraderKind.YESNO in kinds else kinds[0]
    sheets = {kind: _Sheet.of([marks[n] for n in panel.questions]) for kind, marks in panel.marks.items()}
    known = sheets[reference]
    return GraderComparison(
        kb=kb,
        reference=reference,
        graders=[
            GraderResult(kind, _figures(sheet), None if kind is reference else _against(known, sheet, margin))
            for kind, sheet in sheets.items()
        ],
        questions=len(panel.questions),
        passages=len(known.right),
        right=int(known.right.sum()),
        failed=panel.failed,
        partial=panel.partial,
    )


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The judgements of one grader as columns.

    All have a row for each passage, but for ``marks``, which has one for each question.
    """

    said: Whole
    right: Floats
    question: Whole
    confidence: Sequence[float | None]
    marks: Sequence[Judgements]

    @classmethod
    def of(cls, marks: Sequence[Judgements]) -> _Sheet:
        """The columns of the judgements on each question."""
        rows = [(n, judged) for n, each in enumerate(marks) for judged in each.judgements]
        return cls(
            said=np.array([VERDICT_ORDER.index(judged.verdict) for _, judged in rows], np.intp),
            right=np.array([judged.right for _, judged in rows], float),
            question=np.array([n for n, _ in rows], np.intp),
            confidence=[judged.confidence for _, judged in rows],
            marks=marks,
        )

    @property
    def correct(self) -> Floats:
        """1 if the verdict is that of the label, else 0, of shape (passages,); 0 for a grade that failed."""
        wanted = np.where(self.right > 0, VERDICT_ORDER.index(Verdict.YES), VERDICT_ORDER.index(Verdict.NO))
        correct: Floats = (self.said == wanted).astype(np.float64)
        return correct

    def ratio(self, above: Floats, below: Floats | None = None) -> Ratio:
        """Σ above / Σ below over passages; the mean of ``above`` if ``below`` is None."""
        return Ratio(self._summed(above), self._summed(np.ones(len(above)) if below is None else below))

    def cost(self, values: Sequence[float]) -> Ratio:
        """The mean of one value per question."""
        return Ratio(np.array(values, float), np.ones(len(values)))

    def pairs(self) -> Pairs:
        """The passages that have a confidence."""
        rows = [
            (p, right, question)
            for p, right, question in zip(self.confidence, self.right, self.question, strict=True)
            if p is not None
        ]
        p, right, question = zip(*rows, strict=True) if rows else ((), (), ())
        return Pairs(np.array(p, float), np.array(right, float), np.array(question, np.intp))

    def _summed(self, values: Floats) -> Floats:
        """The sums by question, of shape (questions,), of values of shape (passages,)."""
        summed: Floats = np.bincount(self.question, values, len(self.marks)).astype(np.float64)
        return summed


def _figures(sheet: _Sheet) -> dict[str, Interval]:
    taken = dict(_statistics(sheet))
    return dict(zip(taken, intervals(list(taken.values()), len(sheet.marks)), strict=True))


def _statistics(sheet: _Sheet) -> Iterator[tuple[str, Statistic]]:
    yes = (sheet.said == VERDICT_ORDER.index(Verdict.YES)).astype(float)
    valid = (sheet.said != VERDICT_ORDER.index(Verdict.ERROR)).astype(float)
    yield "accuracy", sheet.ratio(sheet.correct)
    yield "precision", sheet.ratio(yes * sheet.right, yes)
    yield "recall", sheet.ratio(yes * sheet.right, valid * sheet.right)
    pairs = sheet.pairs()
    if len(pairs):
        yield "AUC", Auc(pairs)
        yield "calibration error", CalibrationError(pairs)
    yield "failed", sheet.ratio(1 - valid)
    passages = np.array([len(each.judgements) for each in sheet.marks], float)
    yield "language model asked", Ratio(np.array([each.asked for each in sheet.marks], float), passages)
    totals = [each.model.evaluated + each.model.generated for each in sheet.marks]
    yield "tokens, language model", sheet.cost(totals)
    yield "tokens, evaluator", sheet.cost([each.evaluator.evaluated for each in sheet.marks])
    yield "seconds", sheet.cost([each.seconds for each in sheet.marks])


def _against(reference: _Sheet, other: _Sheet, margin: float) -> GraderDifference:
    same = (reference.said == other.said).astype(float)
    table = np.zeros((len(other.marks), len(VERDICT_ORDER), len(VERDICT_ORDER)))
    np.add.at(table, (other.question, reference.said, other.said), 1)
    agreement, kappa = intervals([other.ratio(same), Kappa(table)], len(other.marks))
    pair = (reference.ratio(reference.correct), other.ratio(other.correct))
    [difference] = differences([pair], len(other.marks))
    gained = int((other.correct > reference.correct).sum())
    lost = int((other.correct < reference.correct).sum())
    return GraderDifference(agreement, kappa, difference, gained, lost, mcnemar(gained, lost), margin)


def mcnemar(gained: int, lost: int) -> float:
    """The p-value of McNemar's exact test (1947).

    It is the probability of a split at least as uneven if both sides are equally likely; 1 if nothing
    differs.
    """
    from scipy.stats import binomtest  # type: ignore[attr-defined]

    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def verdict(kind: GraderKind, reference: GraderKind, against: GraderDifference) -> str:
    """One plain sentence that compares a grader with the reference."""
    gap, margin = against.difference, f"{against.margin * 100:g} points"
    bounds = f"{gap.value * 100:+.1f} points of accuracy, {gap.low * 100:+.1f} … {gap.high * 100:+.1f}"
    if against.better:
        return f"{kind} is better than {reference} ({bounds})."
    if against.as_good:
        return f"{kind} is as good as {reference}, to within {margin} ({bounds})."
    if against.worse:
        return f"{kind} is worse than {reference} by more than {margin} ({bounds})."
    return f"Whether {kind} is as good as {reference} to within {margin} is not settled ({bounds})."


def _standing_json(standing: GraderResult) -> dict[str, JsonValue]:
    return {
        "grader": standing.kind,
        "figures": {name: interval_json(interval) for name, interval in standing.figures.items()},
        "against": _against_json(standing.against) if standing.against else None,
    }


def _against_json(against: GraderDifference) -> dict[str, JsonValue]:
    return {
        "agreement": interval_json(against.agreement),
        "kappa": interval_json(against.kappa),
        "accuracy_difference": interval_json(against.difference),
        "gained": against.gained,
        "lost": against.lost,
        "mcnemar_p": against.chance,
        "margin": against.margin,
        "as_good": against.as_good,
    }
