"""From what a check measured to words and to defaults."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.fitness.fitness_result import FitnessResult, JsonFitness, YesNoFitness
from localcrag.fitness.fitness_verdicts import Fitness, fitness_of_model, verdicts, yes_no_fitness
from localcrag.fitness.model_defaults import ModelDefaults, model_defaults
from localcrag.types import CorrectionKind, GraderKind, Grounding, Mode
from tests.fitness.values import (
    FIT,
    PARTLY_ANSWERS,
    PARTLY_LINES,
    PARTLY_YES_NO,
    UNFIT_ANSWERS,
    UNFIT_FOLLOW_UPS,
    UNFIT_INSTRUCTIONS,
    UNFIT_JSON,
    UNFIT_LINES,
    UNFIT_YES_NO,
    fitness_result,
)

ALL = (CorrectionKind.REWRITE, CorrectionKind.PHRASINGS, CorrectionKind.HYDE, CorrectionKind.NEIGHBOURS)
TRUSTED = ModelDefaults(GraderKind.EVALUATOR, Mode.WRITE, ALL, Grounding.MARK, False, False, True, True)
UNCHECKED: FitnessResult | None = None


def without(*kinds: CorrectionKind) -> tuple[CorrectionKind, ...]:
    return tuple(kind for kind in ALL if kind not in kinds)


@pytest.mark.parametrize(
    ("result", "wanted"),
    [
        (FIT, TRUSTED),
        (UNCHECKED, replace(TRUSTED, second_opinion=False)),
        (
            fitness_result(yes_no=UNFIT_YES_NO),
            replace(TRUSTED, contradictions=False, second_opinion=False),
        ),
        (fitness_result(yes_no=PARTLY_YES_NO), replace(TRUSTED, second_opinion=False)),
        (fitness_result(answers=PARTLY_ANSWERS), replace(TRUSTED, grounding=Grounding.REMOVE)),
        (
            fitness_result(answers=UNFIT_ANSWERS),
            replace(TRUSTED, mode=Mode.QUOTE, corrections=without(CorrectionKind.HYDE)),
        ),
        (fitness_result(instructions=UNFIT_INSTRUCTIONS), replace(TRUSTED, mode=Mode.QUOTE)),
        (
            fitness_result(search_lines=UNFIT_LINES),
            replace(TRUSTED, extractive=True, corrections=without(CorrectionKind.PHRASINGS)),
        ),
        (
            fitness_result(search_lines=PARTLY_LINES),
            replace(TRUSTED, corrections=without(CorrectionKind.PHRASINGS)),
        ),
        (
            fitness_result(follow_ups=UNFIT_FOLLOW_UPS),
            replace(TRUSTED, extractive=True, corrections=without(CorrectionKind.PHRASINGS)),
        ),
        (fitness_result(json=UNFIT_JSON), replace(TRUSTED, divide_by_rule=True)),
        (
            fitness_result(yes_no=None, answers=None, follow_ups=None),
            replace(TRUSTED, second_opinion=False),
        ),
    ],
    ids=[
        "fit", "unchecked", "yes or no unfit", "yes or no partly fit", "answers partly fit", "answers unfit",
        "swayed", "lines unfit", "lines partly fit", "follow-ups unfit", "JSON unfit", "not measured",
    ],
)  # fmt: skip
def test_the_defaults_follow_from_the_figures(result: FitnessResult | None, wanted: ModelDefaults) -> None:
    assert model_defaults(result, evaluator=True) == wanted


@pytest.mark.parametrize("result", [FIT, UNCHECKED, fitness_result(yes_no=UNFIT_YES_NO)])
def test_the_model_judges_alone_only_if_there_is_no_evaluator(result: FitnessResult | None) -> None:
    assert model_defaults(result, evaluator=True).grader is not GraderKind.YESNO
    assert model_defaults(result, evaluator=False).grader is GraderKind.YESNO


def test_a_model_that_judges_alone_gives_no_second_opinion() -> None:
    assert model_defaults(FIT, evaluator=True).second_opinion
    assert not model_defaults(FIT, evaluator=False).second_opinion


def test_a_model_whose_word_is_fused_with_the_evaluator_s_is_asked_nothing_else_of_the_evidence() -> None:
    found = model_defaults(FIT, evaluator=True, fused=True)
    assert not found.second_opinion and not found.contradictions
    assert found.corrections == without(CorrectionKind.PHRASINGS)


def test_json_that_never_makes_sense_divides_no_question() -> None:
    senseless = fitness_result(json=JsonFitness(3, 1.0, 0.0))
    assert model_defaults(senseless, evaluator=True).divide_by_rule


def test_a_small_model_quotes_until_it_is_checked() -> None:
    assert model_defaults(UNCHECKED, evaluator=True, small=True).mode is Mode.QUOTE
    assert model_defaults(UNCHECKED, evaluator=False, small=True).mode is Mode.WRITE
    assert model_defaults(FIT, evaluator=True, small=True).mode is Mode.WRITE


def test_a_word_that_is_worth_nothing_marks_no_sentence() -> None:
    assert model_defaults(fitness_result(yes_no=UNFIT_YES_NO), evaluator=False).grounding is Grounding.OFF


@pytest.mark.parametrize(
    ("result", "wanted"),
    [
        (FIT, Fitness.FIT),
        (UNCHECKED, Fitness.UNKNOWN),
        (fitness_result(yes_no=UNFIT_YES_NO), Fitness.PARTLY),
        (fitness_result(yes_no=UNFIT_YES_NO, answers=UNFIT_ANSWERS), Fitness.UNFIT),
        (fitness_result(yes_no=UNFIT_YES_NO, answers=None), Fitness.UNFIT),
        (fitness_result(yes_no=None, answers=None), Fitness.UNKNOWN),
    ],
)
def test_the_verdict_on_a_model_is_that_on_its_yes_or_no_and_its_answers(
    result: FitnessResult | None, wanted: Fitness
) -> None:
    assert fitness_of_model(result) is wanted


def test_a_model_that_orders_well_but_says_yes_to_everything_is_not_trusted() -> None:
    always_yes = YesNoFitness(40, 0.95, 0.9, 1.0, 0.5, 1.0, 0.3)
    assert yes_no_fitness(fitness_result(yes_no=always_yes)) is Fitness.UNFIT


def test_a_few_pairs_are_too_few_for_a_verdict() -> None:
    few = YesNoFitness(8, 1.0, 1.0, 1.0, 1.0, 0.5, 0.0)
    [first, *_] = verdicts(fitness_result(yes_no=few))
    assert first.fitness is Fitness.UNKNOWN and "measured on too little: AUC 1.00" in first.sentence


def test_every_task_has_its_figures_in_words() -> None:
    said = {each.task: each for each in verdicts(FIT)}
    assert {each.fitness for each in said.values()} == {Fitness.FIT}
    assert said["yes/no"].sentence.startswith("can be trusted: AUC 0.95 (0.90–1.00), 90% right")
    assert "declines 100% of 3" in said["answers"].sentence
    unmeasured = fitness_result(
        yes_no=None, search_lines=None, follow_ups=None, answers=None, json=None, instructions=None
    )
    assert {each.sentence for each in verdicts(unmeasured)} == {"was not measured"}
