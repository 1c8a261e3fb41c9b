"""Graders beside each other: figures and tests against hand-made values and other implementations."""

from __future__ import annotations

import numpy as np
import pytest

from localcrag.evaluation.grader_comparison import GraderDifference, compare_graders, mcnemar, verdict
from localcrag.evaluation.grader_panel import Judgements, Panel
from localcrag.evaluation.observations import Judgement
from localcrag.evaluation.question_set import Broken
from localcrag.evaluation.statistics import Interval, Kappa
from localcrag.types import GraderKind, Tokens, Verdict

YESNO, CASCADE = GraderKind.YESNO, GraderKind.CASCADE


def marks(said: str, right: str, *, asked: int = 0, tokens: int = 0) -> Judgements:
    """One question: ``said`` and ``right`` hold a y or n for each passage, e for a grade that failed."""
    verdicts = {"y": Verdict.YES, "n": Verdict.NO, "e": Verdict.ERROR}
    p = {"y": 0.9, "n": 0.2, "e": None}
    judged = tuple(
        Judgement(str(n), verdicts[s], p[s], None, r == "y")
        for n, (s, r) in enumerate(zip(said, right, strict=True))
    )
    return Judgements(judged, asked, Tokens(tokens, 1), Tokens(7), 0.5)


def panel(*rows: tuple[str, str, str]) -> Panel:
    """Questions as (labels, what yes/no said, what the cascade said)."""
    return Panel(
        {
            YESNO: {
                n: marks(said, right, asked=len(said), tokens=99) for n, (right, said, _) in enumerate(rows)
            },
            CASCADE: {n: marks(said, right, asked=1, tokens=9) for n, (right, _, said) in enumerate(rows)},
        }
    )


def test_figures_by_hand() -> None:
    found = compare_graders("kb", panel(("ynnn", "yynn", "ynne"), ("nnyn", "nnnn", "nnyn")))
    assert (found.questions, found.passages, found.right, found.reference) == (2, 8, 2, YESNO)
    first, second = (standing.figures for standing in found.graders)
    assert first["accuracy"].value == 6 / 8 and second["accuracy"].value == 7 / 8
    assert first["precision"].value == 1 / 2 and second["precision"].value == 1
    assert first["recall"].value == 1 / 2 and second["recall"].value == 1
    assert second["failed"].value == 1 / 8
    assert first["language model asked"].value == 1 and second["language model asked"].value == 1 / 4
    assert first["tokens, language model"].value == 100 and second["tokens, language model"].value == 10
    assert second["tokens, evaluator"].value == 7 and second["seconds"].value == 0.5
    against = found.graders[1].against
    assert found.graders[0].against is None and against is not None
    assert against.agreement.value == 5 / 8
    assert (against.gained, against.lost) == (2, 1)
    assert against.difference.value == pytest.approx(1 / 8)


def test_a_question_that_not_all_finished_counts_for_none() -> None:
    made = panel(("yn", "yn", "yn"), ("yn", "yn", "yn"))
    cut = Panel(
        {YESNO: dict(made.marks[YESNO]), CASCADE: {1: made.marks[CASCADE][1]}}, [Broken(1, "it broke")]
    )
    found = compare_graders("kb", cut)
    assert (found.questions, found.passages) == (1, 2)
    assert found.to_dict()["failed"] == [{"line": 1, "reason": "it broke"}]


def test_kappa_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

    random = np.random.default_rng(0)
    first = random.integers(0, 3, 300)
    second = np.where(random.random(300) < 0.6, first, random.integers(0, 3, 300))
    question = np.repeat(np.arange(60), 5)
    table = np.zeros((60, 3, 3))
    np.add.at(table, (question, first, second), 1)
    weights = random.integers(0, 3, 60).astype(float)
    wanted = cohen_kappa_score(first, second, sample_weight=weights[question])
    assert float(Kappa(table)(weights[None, :])[0]) == pytest.approx(wanted)


def test_mcnemar_is_exact() -> None:
    assert mcnemar(0, 0) == 1
    assert mcnemar(0, 6) == pytest.approx(2 / 2**6)
    assert mcnemar(5, 5) == pytest.approx(1)


def interval(value: float, half: float) -> Interval:
    return Interval(value, value - half, value + half)


@pytest.mark.parametrize(
    ("difference", "half", "words"),
    [
        (0.05, 0.03, "cascade is better than yesno"),
        (0.0, 0.015, "cascade is as good as yesno, to within 2 points"),
        (-0.06, 0.03, "cascade is worse than yesno by more than 2 points"),
        (-0.01, 0.03, "Whether cascade is as good as yesno to within 2 points is not settled"),
    ],
)
def test_one_plain_sentence(difference: float, half: float, words: str) -> None:
    against = GraderDifference(
        interval(0.9, 0.1), interval(0.8, 0.1), interval(difference, half), 3, 2, 1.0, 0.02
    )
    said = verdict(CASCADE, YESNO, against)
    assert said.startswith(words) and f"{difference * 100:+.1f} points of accuracy" in said


def test_a_cascade_that_agrees_everywhere_is_as_good_and_nothing_to_choose() -> None:
    found = compare_graders("kb", panel(*[("ynnn", "yynn", "yynn")] * 8))
    against = found.graders[1].against
    assert against is not None and against.as_good and not against.better
    assert against.agreement.value == against.kappa.value == 1.0 and against.chance == 1
