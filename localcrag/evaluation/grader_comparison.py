"""What graders are worth beside each other, on the same passages.

One of them is the reference, ``yesno`` where it takes part: the others are held against it. A
grader counts as as good where its accuracy is, at the lower end of the 95 % interval, no more than
a margin below the reference's: a test of non-inferiority, on bootstrap draws of the questions,
because passages of one question are not independent. McNemar's exact test (1947) is printed
beside it, over single passages.
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

MARGIN = 0.02
"""By how much of accuracy a grader may be below the reference, and still count as as good."""
VERDICTS = (Verdict.YES, Verdict.NO, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class GraderDifference:
    """A grader held against the reference, on the same passages.

    ``gained`` are the passages that it judges rightly and the reference wrongly, ``lost`` the
    reverse; ``chance`` is how probable so uneven a split were if both were equally good (McNemar).
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
        """Not worse by more than the margin."""
        return self.difference.low > -self.margin

    @property
    def better(self) -> bool:
        return self.difference.low > 0

    @property
    def worse(self) -> bool:
        return self.difference.high < -self.margin


@dataclass(frozen=True, slots=True)
class GraderResult:
    """One grader: its figures by name, and how it stands to the reference; None for the reference itself."""

    kind: GraderKind
    figures: Mapping[str, Interval]
    against: GraderDifference | None


@dataclass(frozen=True, slots=True)
class GraderComparison:
    """All graders over the same ``passages``, of which ``right`` help to answer their questions."""

    kb: str
    reference: GraderKind
    graders: Sequence[GraderResult]
    questions: int
    passages: int
    right: int
    failed: Sequence[Broken]
    partial: bool

    def to_dict(self) -> dict[str, JsonValue]:
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


def compare_graders(kb: str, panel: Panel, *, margin: float = MARGIN) -> GraderComparison:
    """The figures of every grader, with 95 % intervals, and how each stands to the reference."""
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
    """The marks of one grader as columns: by passage, and (``costs``) by question."""

    said: Whole
    right: Floats
    question: Whole
    confidence: Sequence[float | None]
    marks: Sequence[Judgements]

    @classmethod
    def of(cls, marks: Sequence[Judgements]) -> _Sheet:
        rows = [(n, judged) for n, each in enumerate(marks) for judged in each.judgements]
        return cls(
            said=np.array([VERDICTS.index(judged.verdict) for _, judged in rows], np.intp),
            right=np.array([judged.right for _, judged in rows], float),
            question=np.array([n for n, _ in rows], np.intp),
            confidence=[judged.confidence for _, judged in rows],
            marks=marks,
        )

    @property
    def correct(self) -> Floats:
        """1 where the verdict is the label's; a grade that failed is not."""
        wanted = np.where(self.right > 0, VERDICTS.index(Verdict.YES), VERDICTS.index(Verdict.NO))
        correct: Floats = (self.said == wanted).astype(np.float64)
        return correct

    def ratio(self, above: Floats, below: Floats | None = None) -> Ratio:
        """Σ above / Σ below over passages, or the mean where ``below`` is None."""
        return Ratio(self._summed(above), self._summed(np.ones(len(above)) if below is None else below))

    def cost(self, values: Sequence[float]) -> Ratio:
        """The mean over questions."""
        return Ratio(np.array(values, float), np.ones(len(values)))

    def pairs(self) -> Pairs:
        rows = [
            (p, right, question)
            for p, right, question in zip(self.confidence, self.right, self.question, strict=True)
            if p is not None
        ]
        p, right, question = zip(*rows, strict=True) if rows else ((), (), ())
        return Pairs(np.array(p, float), np.array(right, float), np.array(question, np.intp))

    def _summed(self, values: Floats) -> Floats:
        summed: Floats = np.bincount(self.question, values, len(self.marks)).astype(np.float64)
        return summed


def _figures(sheet: _Sheet) -> dict[str, Interval]:
    taken = dict(_statistics(sheet))
    return dict(zip(taken, intervals(list(taken.values()), len(sheet.marks)), strict=True))


def _statistics(sheet: _Sheet) -> Iterator[tuple[str, Statistic]]:
    yes = (sheet.said == VERDICTS.index(Verdict.YES)).astype(float)
    valid = (sheet.said != VERDICTS.index(Verdict.ERROR)).astype(float)
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
    table = np.zeros((len(other.marks), len(VERDICTS), len(VERDICTS)))
    np.add.at(table, (other.question, reference.said, other.said), 1)
    agreement, kappa = intervals([other.ratio(same), Kappa(table)], len(other.marks))
    pair = (reference.ratio(reference.correct), other.ratio(other.correct))
    [difference] = differences([pair], len(other.marks))
    gained = int((other.correct > reference.correct).sum())
    lost = int((other.correct < reference.correct).sum())
    return GraderDifference(agreement, kappa, difference, gained, lost, mcnemar(gained, lost), margin)


def mcnemar(gained: int, lost: int) -> float:
    """How probable a split at least so uneven is where both sides are as likely; 1 where nothing differs."""
    from scipy.stats import binomtest  # type: ignore[attr-defined]

    return float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0


def verdict(kind: GraderKind, reference: GraderKind, against: GraderDifference) -> str:
    """One plain sentence on how a grader stands to the reference."""
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
