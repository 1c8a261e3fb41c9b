"""Strips are judged by the evaluator and by how near they are to the question."""

from __future__ import annotations

import numpy as np
import pytest

from localcrag.calibration.scale import Fusion
from localcrag.crag.similarity_evaluator import STRIP_FUSION, SimilarityEvaluator
from localcrag.types import Mode
from tests.crag.world import World, answer
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel
from tests.fakes.store import HashEmbedder

QUESTION = "How much bandwidth may it take?"
NEAR, FAR = "How much bandwidth may it take: two megabits.", "Nothing is said of that."


def judge(p: float = 0.2, **options: bool) -> tuple[SimilarityEvaluator, ScriptedEvaluator]:
    """A judge whose evaluator gives every text the same probability."""
    scripted = ScriptedEvaluator(lambda _, text: p)
    for name, value in options.items():
        setattr(scripted, name, value)
    return SimilarityEvaluator(scripted, HashEmbedder(), STRIP_FUSION), scripted


def test_of_texts_that_the_evaluator_holds_alike_the_nearer_one_is_more_probable() -> None:
    fused, _ = judge()
    near, far, again = fused.score(QUESTION, [NEAR, FAR, NEAR])
    assert 0 < far < near == again < 1


def test_the_evaluators_word_counts_more_the_surer_it_is() -> None:
    [doubted], [held] = (judge(p)[0].score(QUESTION, [FAR]) for p in (0.02, 0.98))
    assert doubted < 0.05 < 0.5 < held


def test_the_fusion_is_a_logistic_regression_over_log_odds_and_cosine() -> None:
    fused, _ = judge(0.2)
    embedder = HashEmbedder()
    cosine = float(np.dot(embedder.encode([NEAR])[0], embedder.encode_questions([QUESTION])[0]))
    z = 0.9 * np.log(0.2 / 0.8) + 4.0 * cosine - 2.3
    assert fused.score(QUESTION, [NEAR]) == [pytest.approx(1 / (1 + np.exp(-z)), abs=1e-5)]


def test_other_languages_are_left_to_a_multilingual_evaluator() -> None:
    german = "Wie viel Bandbreite darf die Übertragung der Daten höchstens in Anspruch nehmen?"
    fused, _ = judge(0.2, multilingual=True)
    assert fused.score(german, [NEAR, FAR]) == [0.2, 0.2]


def test_what_it_is_asked_beside_its_scores_is_the_given_evaluators_answer() -> None:
    fused, scripted = judge()
    assert (fused.name, fused.thresholds, fused.tokens) == (
        scripted.name,
        scripted.thresholds,
        scripted.tokens,
    )
    assert fused.score(QUESTION, []) == []
    fused.close()
    assert scripted.closed


def test_the_strip_that_is_nearer_to_the_question_is_quoted() -> None:
    documents = {"/manual.txt": f"{FAR} {NEAR}"}
    judged = ScriptedEvaluator(lambda _, text: 0.4)
    world = World(documents, ScriptedModel(), judged, by_evaluator=True)
    fused = SimilarityEvaluator(judged, HashEmbedder(), Fusion(1.0, 0.0, 8.0, -4.0))
    plain = answer(world.with_options(mode=Mode.QUOTE, corrections=()).run(QUESTION))
    world.strip_evaluator = fused
    nearer = answer(world.run(QUESTION))
    assert FAR in plain.text and NEAR in plain.text
    assert NEAR in nearer.text and FAR not in nearer.text
