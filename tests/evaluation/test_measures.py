"""What is measured: exact values on a few scripted questions, and only what the labels allow."""

from __future__ import annotations

import math

import pytest

from localcrag.evaluation.measures import (
    Cutoffs,
    Figure,
    compared,
    confusion,
    figures,
    recall,
    reciprocal,
    statuses,
)
from localcrag.evaluation.observations import Observation
from localcrag.evaluation.results import ConfigurationComparison, comparison_of, result_of
from localcrag.evaluation.run import Run
from localcrag.types import Action, Status
from tests.evaluation.values import answer, citation, judged, observation

GOOD = observation(
    line=1,
    answers=["35 mg"],
    searched=(2,),
    reranked=(1,),
    judgements=judged((0.9, True), (0.8, False), (None, True)),
    missing=False,
    cited=(True, False),
    said=answer(
        text="It is 35 mg [1].", citations=[citation("35 mg"), citation("water")], tokens=100, seconds=1.0
    ),
)
LOST = observation(
    line=2,
    answers=["Porto"],
    action=Action.INCORRECT,
    searched=(None,),
    reranked=(None,),
    judgements=judged((0.3, False), (0.4, True)),
    missing=True,
    brought=True,
    cited=(),
    said=answer(Status.NOT_FOUND, "Your documents do not answer this.", tokens=300, seconds=3.0),
)
HOPELESS = observation(
    line=3,
    answerable=False,
    action=Action.INCORRECT,
    judgements=judged((0.1, False)),
    missing=True,
    said=answer(Status.NOT_FOUND, tokens=200, seconds=2.0),
)
FOOLED = observation(
    line=4,
    answerable=False,
    judgements=judged((0.7, False)),
    missing=True,
    said=answer(Status.UNSURE, "Something.", tokens=400, seconds=4.0),
)
ALL = [GOOD, LOST, HOPELESS, FOOLED]


def both(*cutoffs: int) -> Cutoffs:
    return Cutoffs(cutoffs, cutoffs)


def taken(observations: list[Observation], *cutoffs: int) -> dict[tuple[str, str], Figure]:
    return {(str(f.group), f.name): f for f in figures(observations, both(*cutoffs or (1, 4)))}


@pytest.mark.parametrize(
    ("ranks", "k", "share"), [((1, 3), 1, 0.5), ((1, 3), 3, 1.0), ((None, 2), 9, 0.5), ((None,), 9, 0.0)]
)
def test_recall_is_the_share_of_the_gold(ranks: tuple[int | None, ...], k: int, share: float) -> None:
    assert recall(ranks, k) == share


def test_reciprocal_rank_is_of_the_first_right_hit() -> None:
    assert reciprocal((None, 4, 2)) == 0.5
    assert reciprocal((None,)) == 0.0


@pytest.mark.parametrize(
    ("group", "name", "value", "n"),
    [
        ("retrieval", "recall@1, search", 0.0, 2),
        ("retrieval", "recall@4, search", 1 / 2, 2),
        ("retrieval", "MRR, search", 1 / 4, 2),
        ("retrieval", "recall@1, reranked", 1 / 2, 2),
        ("grades", "precision", 1 / 3, 3),
        ("grades", "recall", 1 / 2, 2),
        ("grades", "AUC", (4 + 2) / 8, 6),
        ("grades", "failed", 1 / 7, 7),
        ("correction", "made", 2 / 4, 4),
        ("correction", "made, where needed", 2 / 3, 3),
        ("correction", "made, where not needed", 0.0, 1),
        ("correction", "brought the gold", 1.0, 1),
        ("answers", "exact match", 0.0, 2),
        ("answers", "token F1", (2 * 2 / (4 + 2)) / 2, 2),
        ("answers", "holds the answer", 1 / 2, 2),
        ("abstention", "precision", 1 / 2, 2),
        ("abstention", "recall", 1 / 2, 2),
        ("abstention", "recall, unsure included", 1.0, 2),
        ("abstention", "answerable, yet not found", 1 / 2, 2),
        ("citations", "precision (the source is gold)", 1 / 2, 2),
        ("citations", "the quote holds the answer", 1 / 2, 2),
        ("tokens per question", "evaluated, mean", 250.0, 4),
        ("tokens per question", "evaluated, p50", 200.0, 4),
        ("tokens per question", "evaluated, p95", 400.0, 4),
        ("seconds per question", "retrieve, mean", 1.25, 4),
        ("seconds per question", "total, p50", 2.0, 4),
    ],
)
def test_each_measure(group: str, name: str, value: float, n: int) -> None:
    figure = taken(ALL)[group, name]
    assert figure.interval.value == pytest.approx(value)
    assert figure.n == n
    assert math.isnan(figure.interval.low) or figure.interval.low <= value <= figure.interval.high


def test_the_measures_come_in_the_order_of_the_loop() -> None:
    groups = list(dict.fromkeys(str(f.group) for f in figures(ALL, both(1, 4))))
    assert groups == [
        "retrieval", "grades", "correction", "answers", "abstention", "citations", "tokens per question",
        "seconds per question",
    ]  # fmt: skip


def test_what_has_no_labels_is_not_measured() -> None:
    bare = observation(answerable=None, said=answer(text="x"))
    assert {group for group, _ in taken([bare])} == {
        "correction", "tokens per question", "seconds per question",
    }  # fmt: skip
    assert ("correction", "made, where needed") not in taken([bare])


def test_without_unanswerable_questions_abstention_is_only_a_loss() -> None:
    names = {name for group, name in taken([GOOD, LOST]) if group == "abstention"}
    assert names == {"answerable, yet not found"}


def test_unanswerable_questions_alone() -> None:
    found = taken([HOPELESS, FOOLED])
    assert found["grades", "precision"].interval.value == 0.0
    assert ("grades", "recall") not in found and ("grades", "AUC") not in found
    assert found["abstention", "precision"].interval.value == 1.0


def test_confusion_and_statuses() -> None:
    counted = confusion(ALL)
    assert (counted.needed_made, counted.needed_not_made) == (2, 1)
    assert (counted.unneeded_made, counted.unneeded_not_made) == (0, 1)
    assert statuses(ALL) == {
        "answerable": {"answered": 1, "unsure": 0, "not_found": 1, "truncated": 0},
        "not answerable": {"answered": 0, "unsure": 1, "not_found": 1, "truncated": 0},
    }


def test_a_comparison_is_of_the_questions_that_both_finished() -> None:
    worse = [observation(line=n, searched=(None,), said=answer(tokens=500)) for n in range(1, 21)]
    better = [observation(line=n, searched=(1,), said=answer(tokens=500)) for n in range(2, 31)]
    first = result_of("a", "kb", Run(worse), both(1))
    second = result_of("b", "kb", Run(list(reversed(better))), both(1))
    found: ConfigurationComparison = comparison_of(first, second, both(1))
    assert found.questions == 19
    rows = {row.first.name: row.difference for row in found.measures}
    assert rows["recall@1, search"].value == 1.0 and rows["recall@1, search"].excludes_zero
    assert rows["evaluated, mean"].value == 0.0 and not rows["evaluated, mean"].excludes_zero
    json = found.to_dict()
    assert json["paired"] == 19
    [row] = [r for r in json["differences"] if r["name"] == "recall@1, search"]  # type: ignore[union-attr,index,call-overload]
    assert row == {
        "group": "retrieval", "name": "recall@1, search", "a": 0.0, "b": 1.0,
        "difference": 1.0, "low": 1.0, "high": 1.0, "differs": True,
    }  # fmt: skip


def test_recall_is_not_measured_beyond_the_hits_that_a_stage_keeps() -> None:
    wanted = Cutoffs.within({1, 4, 20}, search=24, reranked=6)
    assert wanted == Cutoffs(search=[1, 4, 20], reranked=[1, 4, 6])
    names = {figure.name for figure in figures(ALL, wanted)}
    assert {"recall@20, search", "recall@6, reranked"} <= names and "recall@20, reranked" not in names


def test_a_measure_that_only_one_has_is_not_compared() -> None:
    rows = compared([GOOD], [observation(line=1)], both(1))
    assert "recall@1, search" not in {row.first.name for row in rows}
    assert "made" in {row.first.name for row in rows}


def test_json_has_no_nan() -> None:
    import json

    found = result_of("a", "kb", Run(ALL), both(1)).to_dict()
    text = json.dumps(found, allow_nan=False)
    assert '"line": 3' in text and '"needed_made": 2' in text
