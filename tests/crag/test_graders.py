"""Graders: strict verdicts, calibrated confidences, and errors that stay errors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from localcrag.calibration.scale import Fusion
from localcrag.crag.judges.graders import (
    CascadeGrader,
    EvaluatorGrader,
    FusedGrader,
    Grader,
    YesNoGrader,
)
from localcrag.errors import ConstraintError
from localcrag.types import Choice, Hit, Thresholds, Verdict
from tests.crag.values import passage
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel
from tests.fakes.store import HashEmbedder

BOUNDS = Thresholds(upper=0.7, lower=0.3)
HITS = [
    Hit(passage("good text"), 1.0, 0.8),
    Hit(passage("bad text"), 0.5, 0.1),
    Hit(passage("odd text"), 0.2),
]


def choose(prompt: str, _options: Sequence[str]) -> Sequence[float] | Exception:
    if "odd text" in prompt:
        return ConstraintError("broken")
    return [0.8, 0.2] if "good text" in prompt else [0.1, 0.9]


def verdicts(grader: Grader) -> list[Verdict]:
    return [grade.verdict for grade in grader.grade("q?", HITS)]


def test_yes_no_takes_the_models_word_and_its_probability() -> None:
    grades = YesNoGrader(ScriptedModel(choose=choose), BOUNDS).grade("q?", HITS)
    assert [g.verdict for g in grades] == [Verdict.YES, Verdict.NO, Verdict.ERROR]
    assert [g.confidence for g in grades] == [pytest.approx(0.8), pytest.approx(0.1), None]
    assert grades[2].reason == "broken"
    assert [g.hit for g in grades] == HITS


def test_a_choice_that_is_neither_yes_nor_no_is_an_error() -> None:
    class Free(ScriptedModel):
        def choose(self, prompts: object, options: object) -> list[Choice | Exception]:
            return [Choice("Yes.", (0.9, 0.1))] * len(HITS)

    assert verdicts(YesNoGrader(Free(), BOUNDS)) == [Verdict.ERROR] * 3


def test_the_evaluator_says_yes_from_one_half_on() -> None:
    scores = {"good text": 0.5, "bad text": 0.49, "odd text": 0.0}
    grader = EvaluatorGrader(ScriptedEvaluator(lambda _, text: scores[text]), BOUNDS)
    assert verdicts(grader) == [Verdict.YES, Verdict.NO, Verdict.NO]


def test_fusion_is_a_logistic_regression_of_both_judges_and_the_similarity() -> None:
    fusion = Fusion(evaluator=1.0, model=0.5, similarity=2.0, bias=-1.0)
    z = math.log(0.6 / 0.4) + 0.5 * math.log(0.8 / 0.2) + 2.0 * 0.8 - 1.0
    assert fusion(0.6, 0.8, 0.8) == pytest.approx(1 / (1 + math.exp(-z)))
    assert 0.0 <= fusion(0.0, 0.0, -1.0) < fusion(1.0, 1.0, 1.0) <= 1.0


def test_fused_grades_use_both_and_fail_where_one_fails() -> None:
    evaluator = ScriptedEvaluator(lambda _, text: 0.9 if "good" in text else 0.2)
    grader = FusedGrader(
        ScriptedModel(choose=choose), evaluator, HashEmbedder(), Fusion(1.0, 1.0, 0.0, 0.0), BOUNDS
    )
    grades = grader.grade("q?", HITS)
    assert [g.verdict for g in grades] == [Verdict.YES, Verdict.NO, Verdict.ERROR]
    assert grades[0].confidence == pytest.approx(0.9 * 0.8 / (0.9 * 0.8 + 0.1 * 0.2))


def test_a_multilingual_evaluator_judges_what_is_not_english_alone() -> None:
    texts = ("good text of what is paid for the boat", "Die Gebühr für ein Boot beträgt 75 Euro im Jahr.")
    hits = [Hit(passage(text), 0.5, 0.9) for text in texts]
    model = ScriptedModel(choose=choose)
    evaluator = ScriptedEvaluator(lambda _, text: 0.7 if "Euro" in text else 0.04)
    fusion = Fusion(1.0, 1.0, 1.0, 0.0)
    fused = FusedGrader(model, evaluator, HashEmbedder(), fusion, BOUNDS).grade("What is the fee?", hits)
    assert all(grade.confidence != pytest.approx(0.7) for grade in fused)
    evaluator.multilingual = True
    asked = len(model.asked)
    alone = FusedGrader(model, evaluator, HashEmbedder(), fusion, BOUNDS).grade("What is the fee?", hits)
    assert alone[0] == fused[0]
    assert alone[1].confidence == pytest.approx(0.7) and alone[1].verdict is Verdict.YES
    assert len(model.asked) == asked + 1


def test_a_model_whose_word_weighs_nothing_is_not_asked() -> None:
    model, evaluator = ScriptedModel(choose=choose), ScriptedEvaluator(lambda *_: 0.9)
    grader = FusedGrader(model, evaluator, HashEmbedder(), Fusion(1.0, 0.0, 0.0, 0.0), BOUNDS)
    assert [g.confidence for g in grader.grade("q?", HITS)] == [pytest.approx(0.9)] * 3
    assert model.asked == []


def test_a_fused_grade_is_the_same_whichever_search_found_the_passage() -> None:
    embedder, evaluator = HashEmbedder(), ScriptedEvaluator(lambda *_: 0.5)
    grader = FusedGrader(ScriptedModel(), evaluator, embedder, Fusion(1.0, 0.0, 4.0, -1.0), BOUNDS)
    passages = [hit.passage for hit in HITS]
    vectors = embedder.encode(["which?", *(passage.text for passage in passages)])
    cosines = (vectors[1:] @ vectors[0]).tolist()
    first = [Hit(passage, 1.0, cosine) for passage, cosine in zip(passages, cosines, strict=True)]
    later = [first[0], *(Hit(passage, 0.5) for passage in passages[1:])]
    expected = [grade.confidence for grade in grader.grade("which?", first)]
    assert [grade.confidence for grade in grader.grade("which?", later)] == pytest.approx(expected)


def test_no_hits_ask_nobody() -> None:
    model = ScriptedModel(choose=choose)
    assert YesNoGrader(model, BOUNDS).grade("q?", []) == []
    assert model.asked == []


def test_a_cascade_asks_the_model_only_where_the_evaluator_is_unsure() -> None:
    scores = {"good text": 0.5, "bad text": 0.9, "odd text": 0.1}
    model = ScriptedModel(choose=choose)
    grader = CascadeGrader(
        YesNoGrader(model, BOUNDS), ScriptedEvaluator(lambda _, text: scores[text]), BOUNDS, BOUNDS
    )
    grades = grader.grade("q?", HITS)
    assert [g.confidence for g in grades] == [pytest.approx(0.8), 0.9, 0.1]
    assert [g.verdict for g in grades] == [Verdict.YES, Verdict.YES, Verdict.NO]
    assert [g.hit for g in grades] == HITS
    assert len(model.asked) == 1 and "good text" in model.asked[0][1]


def test_a_cascade_that_is_sure_of_all_costs_the_model_nothing() -> None:
    model = ScriptedModel(choose=choose)
    grader = CascadeGrader(YesNoGrader(model, BOUNDS), ScriptedEvaluator(lambda *_: 0.95), BOUNDS, BOUNDS)
    assert verdicts(grader) == [Verdict.YES] * 3
    assert model.tokens.evaluated == 0
