"""A passage is as relevant as the best of its sentences that speak of the question."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.calibration.scale import log_odds
from localcrag.crag.judges.passage_scores import (
    FITTED_EVALUATOR,
    JUDGED_STRIPS,
    LACKING_CODE_WEIGHT,
    STRIP_GAIN,
    passage_scores,
    strip_scores,
)
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.settings import ModelSettings
from tests.crag.values import passage
from tests.fakes.llm import ScriptedEvaluator

SNIPE = "The snipe was counted by Nils Akker."
LONG = replace(
    passage(f"The coots were counted on Monday morning. It rained all of that day long. {SNIPE}"),
    heading="Birds",
)


def test_the_best_sentence_counts_if_it_is_better_than_the_whole() -> None:
    evaluator = ScriptedEvaluator(lambda _, text: 0.9 if text == f"Birds\n{SNIPE}" else 0.1)
    alone = passage("A passage of one sentence.")
    assert passage_scores(evaluator, "Who counted the snipe?", [LONG, alone]) == [0.9, 0.1]
    [(question, texts)] = evaluator.asked
    assert question == "Who counted the snipe?" and texts[:2] == (LONG.in_context, alone.text)
    assert len(texts) == 2 + JUDGED_STRIPS, "one sentence is no better than its passage"


def test_the_whole_counts_if_no_sentence_is_better() -> None:
    evaluator = ScriptedEvaluator(lambda _, text: 0.6 if "rained" in text else 0.1)
    assert passage_scores(evaluator, "Who counted the snipe?", [LONG]) == [0.6]
    assert passage_scores(evaluator, "Why so?", [LONG]) == [0.6]
    assert evaluator.asked[-1][1] == (LONG.in_context,), "no sentence shares a word with the question"


def test_all_sentences_of_another_language_are_judged_if_they_share_no_word() -> None:
    german = passage("Am Montag wurden die Enten gezählt. Das tat der Wärter Nils Akker mit einem Fernrohr.")
    evaluator = ScriptedEvaluator(lambda _, text: 0.9 if text.startswith("Das tat") else 0.1)
    assert passage_scores(evaluator, "Who counted the birds?", [german]) == [0.1]
    evaluator.multilingual = True
    assert passage_scores(evaluator, "Who counted the birds?", [german]) == [0.9]
    assert passage_scores(evaluator, "Why so?", [LONG]) == [0.1], "all of it is English"


def test_a_passage_in_another_language_counts_less_beside_one_in_that_of_the_question() -> None:
    french = passage("Les barbecues sont permis sur la terrasse, et les chiens sont admis dans le jardin.")
    english = passage("The barbecue is run by Pat, and the cakes are from the wives of the two brothers.")
    evaluator = ScriptedEvaluator(lambda _, text: 0.4 if "terrasse" in text else 0.1)
    evaluator.multilingual = True
    lowered, kept = passage_scores(evaluator, "Who runs the barbecue?", [french, english])
    assert lowered < kept == 0.1
    assert passage_scores(evaluator, "Qui fait les barbecues dans le jardin ?", [french]) == [0.4]
    assert passage_scores(evaluator, "Who runs the barbecue?", [french]) == [0.4], "nothing else is there"


def test_strips_have_a_scale_of_their_own_by_the_evaluator_it_was_fitted_to() -> None:
    found, german = strips(LONG), strips(passage("Am Montag wurden die Enten am Ufer des Sees gezählt."))
    evaluator = ScriptedEvaluator(lambda *_: 0.3)
    assert strip_scores(evaluator, "Why so?", found) == [0.3] * len(found)
    evaluator.name = FITTED_EVALUATOR
    gains = [log_odds(p) - log_odds(0.3) for p in strip_scores(evaluator, "Why so?", found)]
    assert gains == pytest.approx([STRIP_GAIN] * len(found))
    evaluator.multilingual = True
    assert strip_scores(evaluator, "Wann wurden die Enten am See gezählt?", german) == [0.3]
    assert ModelSettings().evaluator == FITTED_EVALUATOR


def test_what_lacks_the_code_of_the_question_counts_less_if_another_document_has_it() -> None:
    having, lacking = passage("F14: call us.", source="/a"), passage("It may leak.", source="/b")
    evaluator = ScriptedEvaluator(lambda *_: 0.2)
    high, low = passage_scores(evaluator, "What of F14?", [having, lacking])
    assert high == 0.2
    assert log_odds(low) == pytest.approx(log_odds(0.2) + LACKING_CODE_WEIGHT)
    assert passage_scores(evaluator, "What of F15?", [having, lacking]) == [0.2, 0.2]
