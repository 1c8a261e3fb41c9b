"""The measures: from observations to named figures, each only if the labels allow it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np

from localcrag.evaluation import text_overlap
from localcrag.evaluation.observations import Observation, Ranks
from localcrag.evaluation.statistics import (
    Auc,
    CalibrationError,
    Interval,
    Pairs,
    Quantile,
    Ratio,
    Statistic,
    differences,
    intervals,
)
from localcrag.types import Status, Verdict

Count = Callable[[Observation], tuple[float, float]]
"""Numerator and denominator that one question adds to a ratio."""
PERCENTILE_LEVELS = {"p50": 0.5, "p95": 0.95}
"""The percentiles of every cost, by their names."""


class Group(StrEnum):
    """The subject of a figure, in the order of the loop."""

    RETRIEVAL = "retrieval"
    GRADES = "grades"
    CORRECTION = "correction"
    ANSWERS = "answers"
    ABSTENTION = "abstention"
    CITATIONS = "citations"
    TOKENS = "tokens per question"
    SECONDS = "seconds per question"


@dataclass(frozen=True, slots=True)
class Cutoffs:
    """The values of k for recall@k at each stage, none above the number of hits that the stage keeps."""

    search: Sequence[int]
    reranked: Sequence[int]

    @classmethod
    def within(cls, wanted: Iterable[int], *, search: int, reranked: int) -> Cutoffs:
        """The wanted values of k, lowered to the number of hits that a stage keeps if they exceed it.

        ``search`` and ``reranked`` are the numbers of hits that the two stages keep.
        """
        ks = set(wanted)
        return cls(*(sorted({min(k, kept) for k in ks}) for kept in (search, reranked)))


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure over a set of observations; ``n`` is the number of items behind it (its denominator)."""

    group: Group
    name: str
    statistic: Statistic
    n: int


@dataclass(frozen=True, slots=True)
class Figure:
    """The value of a measure, with its 95 % interval."""

    group: Group
    name: str
    interval: Interval
    n: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A measure under two configurations, with the difference (second minus first) on the same questions."""

    first: Figure
    second: Figure
    difference: Interval


def figures(observations: Sequence[Observation], cutoffs: Cutoffs) -> list[Figure]:
    """The values and intervals of all measures that the labels allow."""
    taken = list(measures(observations, cutoffs))
    found = intervals([measure.statistic for measure in taken], len(observations))
    return [Figure(m.group, m.name, i, m.n) for m, i in zip(taken, found, strict=True)]


def compared(first: Sequence[Observation], second: Sequence[Observation], cutoffs: Cutoffs) -> list[Compared]:
    """The measures that both sides have, compared.

    Both sequences hold the observations of the same questions, in the same order.
    """
    left, right = ({(m.group, m.name): m for m in measures(each, cutoffs)} for each in (first, second))
    common = [key for key in left if key in right]
    sides = [figures(each, cutoffs) for each in (first, second)]
    taken = [{(f.group, f.name): f for f in side} for side in sides]
    gaps = differences([(left[key].statistic, right[key].statistic) for key in common], len(first))
    return [Compared(taken[0][key], taken[1][key], gap) for key, gap in zip(common, gaps, strict=True)]


def measures(observations: Sequence[Observation], cutoffs: Cutoffs) -> Iterator[Measure]:
    """The measures over these observations that the labels allow, in the order of the loop."""
    if not observations:
        return
    taken = _Taken(observations)
    yield from _retrieval(taken, cutoffs)
    yield from _grades(taken)
    yield from _correction(taken)
    yield from _answers(taken)
    yield from _abstention(taken)
    yield from _citations(taken)
    yield from _costs(taken)


@dataclass(frozen=True, slots=True)
class _Taken:
    """The observations over which measures are taken."""

    observations: Sequence[Observation]

    def ratio(self, group: Group, name: str, count: Count) -> Iterator[Measure]:
        """The measure with these counts, or nothing if the sum of the denominators is 0."""
        counts = np.array([count(each) for each in self.observations], dtype=np.float64)
        if below := int(counts[:, 1].sum()):
            yield Measure(group, name, Ratio(counts[:, 0], counts[:, 1]), below)


def pairs_of(observations: Sequence[Observation]) -> Pairs:
    """The graded passages that have both a P and a label."""
    rows = [
        (judged.confidence, judged.right, number)
        for number, each in enumerate(observations)
        for judged in each.judgements or ()
        if judged.confidence is not None
    ]
    p, right, question = zip(*rows, strict=True) if rows else ((), (), ())
    return Pairs(np.array(p, float), np.array(right, float), np.array(question, np.intp))


# ---------------------------------------------------------------------------------- retrieval


def recall(ranks: Ranks, k: int) -> float:
    """The share of the gold items among the first ``k``."""
    return sum(rank is not None and rank <= k for rank in ranks) / len(ranks)


def reciprocal(ranks: Ranks) -> float:
    """The reciprocal rank: 1 / the rank of the first right hit, or 0 if there is none."""
    return max((1 / rank for rank in ranks if rank is not None), default=0.0)


def _retrieval(taken: _Taken, cutoffs: Cutoffs) -> Iterator[Measure]:
    stages: Sequence[tuple[str, Callable[[Observation], Ranks], Sequence[int]]] = (
        ("search", lambda o: o.searched, cutoffs.search),
        ("reranked", lambda o: o.reranked, cutoffs.reranked),
    )
    for stage, ranks, ks in stages:
        for k in ks:
            score = partial(recall, k=k)
            yield from taken.ratio(Group.RETRIEVAL, f"recall@{k}, {stage}", _ranked(ranks, score))
        yield from taken.ratio(Group.RETRIEVAL, f"MRR, {stage}", _ranked(ranks, reciprocal))


def _ranked(ranks: Callable[[Observation], Ranks], score: Callable[[Ranks], float]) -> Count:
    """The mean of a score of the ranks, over the questions that have gold items."""
    return lambda o: (score(ranks(o)), 1) if ranks(o) else (0, 0)


# ---------------------------------------------------------------------------------- grades


def _grades(taken: _Taken) -> Iterator[Measure]:
    def count(o: Observation, verdict: Verdict | None, right: bool | None) -> int:
        return sum(
            (verdict is None or j.verdict is verdict) and (right is None or j.right is right)
            for j in o.judgements or ()
        )

    yes, group = Verdict.YES, Group.GRADES
    yield from taken.ratio(group, "precision", lambda o: (count(o, yes, True), count(o, yes, None)))
    yield from taken.ratio(group, "recall", lambda o: (count(o, yes, True), _valid(o)))
    pairs = pairs_of(taken.observations)
    if 0 < pairs.right.sum() < len(pairs):
        yield Measure(group, "AUC", Auc(pairs), len(pairs))
    if len(pairs):
        yield Measure(group, "calibration error", CalibrationError(pairs), len(pairs))
    yield from taken.ratio(group, "failed", lambda o: (count(o, Verdict.ERROR, None), count(o, None, None)))


def _valid(o: Observation) -> int:
    """The number of right passages whose grading did not fail."""
    return sum(j.right and j.verdict is not Verdict.ERROR for j in o.judgements or ())


# ---------------------------------------------------------------------------------- correction


@dataclass(frozen=True, slots=True)
class Confusion:
    """The numbers of questions for which a correction was needed or not, and was made or not.

    A correction is needed if no right hit is among the passages graded first.
    """

    needed_made: int = 0
    needed_not_made: int = 0
    unneeded_made: int = 0
    unneeded_not_made: int = 0


def confusion(observations: Sequence[Observation]) -> Confusion:
    """The counts over the questions whose gold is known and that reached a decision."""
    seen = [(o.missing, o.corrected) for o in observations if o.missing is not None and o.action]
    return Confusion(*(seen.count(cell) for cell in _CONFUSION_CELLS))


_CONFUSION_CELLS = ((True, True), (True, False), (False, True), (False, False))


def _correction(taken: _Taken) -> Iterator[Measure]:
    def share(made: bool, among: Callable[[Observation], bool]) -> Count:
        def count(o: Observation) -> tuple[float, float]:
            known = o.missing is not None and o.action is not None and among(o)
            return (float(o.corrected is made), 1) if known else (0, 0)

        return count

    group = Group.CORRECTION
    yield from taken.ratio(group, "made", lambda o: (float(o.corrected), 1) if o.action else (0, 0))
    yield from taken.ratio(group, "made, where needed", share(True, lambda o: bool(o.missing)))
    yield from taken.ratio(group, "made, where not needed", share(True, lambda o: not o.missing))
    yield from taken.ratio(
        group, "brought the gold", lambda o: (0, 0) if o.brought is None else (float(o.brought), 1)
    )


# ---------------------------------------------------------------------------------- answers


def _answers(taken: _Taken) -> Iterator[Measure]:
    def scored(score: Callable[[str, Sequence[str]], float]) -> Count:
        def count(o: Observation) -> tuple[float, float]:
            wanted = o.question.answers
            return (float(score(o.spoken, wanted)), 1) if wanted else (0, 0)

        return count

    group = Group.ANSWERS
    yield from taken.ratio(group, "exact match", scored(text_overlap.exact))
    yield from taken.ratio(group, "token F1", scored(text_overlap.f1))
    yield from taken.ratio(group, "holds the answer", scored(text_overlap.holds))


def statuses(observations: Sequence[Observation]) -> dict[str, dict[Status, int]]:
    """The number of answers of each status, by whether the question is answerable."""
    kinds = {"answerable": True, "not answerable": False, "unlabelled": None}
    counted = {
        kind: {
            status: sum(o.question.answerable is value and o.answer.status is status for o in observations)
            for status in Status
        }
        for kind, value in kinds.items()
    }
    return {kind: row for kind, row in counted.items() if any(row.values())}


def _abstention(taken: _Taken) -> Iterator[Measure]:
    def share(over: Callable[[Observation], bool], of: Callable[[Observation], bool]) -> Count:
        return lambda o: (float(of(o)), 1) if o.question.answerable is not None and over(o) else (0, 0)

    def silent(o: Observation) -> bool:
        return o.answer.status is Status.NOT_FOUND

    def doubtful(o: Observation) -> bool:
        return o.answer.status in (Status.NOT_FOUND, Status.UNSURE)

    def hopeless(o: Observation) -> bool:
        return o.question.answerable is False

    group = Group.ABSTENTION
    if any(map(hopeless, taken.observations)):
        yield from taken.ratio(group, "precision", share(silent, hopeless))
        yield from taken.ratio(group, "recall", share(hopeless, silent))
        yield from taken.ratio(group, "recall, unsure included", share(hopeless, doubtful))
    yield from taken.ratio(group, "answerable, yet not found", share(lambda o: not hopeless(o), silent))


def _citations(taken: _Taken) -> Iterator[Measure]:
    def right(o: Observation) -> tuple[float, float]:
        return (0, 0) if o.cited is None else (sum(o.cited), len(o.cited))

    def holding(o: Observation) -> tuple[float, float]:
        return (sum(o.holding), len(o.holding)) if o.question.answers else (0, 0)

    yield from taken.ratio(Group.CITATIONS, "precision (the source is gold)", right)
    yield from taken.ratio(Group.CITATIONS, "the quote holds the answer", holding)


# ---------------------------------------------------------------------------------- costs


def _costs(taken: _Taken) -> Iterator[Measure]:
    usages = [o.answer.usage for o in taken.observations]
    yield from _spread(Group.TOKENS, "evaluated", [float(u.tokens.evaluated) for u in usages])
    yield from _spread(Group.TOKENS, "generated", [float(u.tokens.generated) for u in usages])
    stages = dict.fromkeys(stage for usage in usages for stage in usage.seconds)
    for stage in sorted(stages, key=lambda name: name == "total"):
        yield from _spread(Group.SECONDS, stage, [usage.seconds.get(stage, 0.0) for usage in usages])


def _spread(group: Group, name: str, values: Sequence[float]) -> Iterator[Measure]:
    """The mean, the median and the 95th percentile of one value per question."""
    column = np.array(values)
    yield Measure(group, f"{name}, mean", Ratio(column, np.ones(len(values))), len(values))
    for level, share in PERCENTILE_LEVELS.items():
        yield Measure(group, f"{name}, {level}", Quantile(column, share), len(values))
