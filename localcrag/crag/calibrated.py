"""A grader on the scale of its user's own questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from localcrag.calibration.scale import Scale
from localcrag.crag.grade import Grader
from localcrag.crag.layout import Table
from localcrag.types import Grade, GraderKind, Hit, Thresholds, Verdict


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

    def grade(self, question: str, hits: Sequence[Hit], table: Table | None = None) -> list[Grade]:
        return [self._scaled(grade) for grade in self.grader.grade(question, hits, table)]

    def _scaled(self, grade: Grade) -> Grade:
        if grade.confidence is None:
            return grade
        p = self.scale(grade.confidence)
        return replace(grade, verdict=Verdict.YES if p >= 0.5 else Verdict.NO, confidence=p)
