"""The defaults that follow from what is known of a chat model: one pure function.

A model that was never checked is not trusted blindly: the evaluator judges alone, and what the model writes
is checked as ever. What the user chose by an option or a setting is never changed by these defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.fitness.fitness_result import FitnessResult
from localcrag.fitness.fitness_verdicts import (
    Fitness,
    answer_fitness,
    follow_up_fitness,
    instruction_fitness,
    json_fitness,
    search_line_fitness,
    yes_no_fitness,
)
from localcrag.types import CorrectionKind, GraderKind, Grounding, JsonValue, Mode


@dataclass(frozen=True, slots=True)
class ModelDefaults:
    """How a question is answered with a model if nothing else was chosen.

    ``extractive`` makes search lines and follow-ups of the user's own words alone, ``divide_by_rule`` divides
    a question of several parts without the model, ``contradictions`` asks it whether sources disagree, and
    ``second_opinion`` whether the evidence answers.
    """

    grader: GraderKind
    mode: Mode
    corrections: tuple[CorrectionKind, ...]
    grounding: Grounding
    extractive: bool
    divide_by_rule: bool
    contradictions: bool
    second_opinion: bool

    def to_dict(self) -> dict[str, JsonValue]:
        """The defaults as a JSON object, by the names of the settings and of the pipeline's options."""
        return {
            "grader": self.grader,
            "mode": self.mode,
            "corrections": list(self.corrections),
            "grounding": self.grounding,
            "extractive": self.extractive,
            "divide_by_rule": self.divide_by_rule,
            "contradictions": self.contradictions,
            "second_opinion": self.second_opinion,
        }


def model_defaults(
    result: FitnessResult | None, *, evaluator: bool, small: bool = False, fused: bool = False
) -> ModelDefaults:
    """The defaults for a chat model.

    - The evaluator grades the passages, and a model whose yes or no is fit gives a second opinion on the
      evidence. The model judges passages only if there is no evaluator: to read them all takes a model of a
      billion weights ten seconds and more on two cores, and brought nothing that the opinion does not bring.
    - Answers are quoted if the model's own are unfit, or if hidden instructions sway it; and those of a small
      model until it is checked: an unchecked one of 135 million weights had 0.80 of the questions of
      `scripts/bench reading` right when it wrote, and 0.98 when it quoted.
    - Written sentences that the evidence does not bear out are removed if the answers are partly fit, and
      else marked. If nobody can be trusted with that, they are not looked for.
    - Other phrasings need search lines that are fit: with partly fit ones they cost half as much again and
      brought nothing (`scripts/bench corrections`). HyDE needs answers that can be relied on.
    - A question of several parts is divided by rule if the model's JSON is unfit.
    - A model whose word is fused with the evaluator's has been heard with that. It was trained for that one
      question, and has an opinion neither on evidence as a whole nor on sources that may disagree; nor is it
      asked for phrasings, which brought nothing.

    A part that was not measured counts as neither fit nor unfit.

    Args:
        result: what a check measured; None if the model was never checked.
        evaluator: whether there is an evaluator beside the model.
        small: whether the model is one of less than a billion weights or so.
        fused: whether its yes or no is fused with the evaluator's.
    """
    yes_no = yes_no_fitness(result)
    answers = answer_fitness(result)
    lines = search_line_fitness(result)
    follow_ups = follow_up_fitness(result)
    instructions = instruction_fitness(result)
    extractive = Fitness.UNFIT in (lines, follow_ups)
    unproven = evaluator and small and result is None
    return ModelDefaults(
        grader=GraderKind.EVALUATOR if evaluator else GraderKind.YESNO,
        mode=Mode.QUOTE if unproven or Fitness.UNFIT in (answers, instructions) else Mode.WRITE,
        corrections=_corrections(
            phrasings=not (fused or extractive or lines is Fitness.PARTLY),
            hyde=answers is not Fitness.UNFIT,
        ),
        grounding=_grounding(yes_no, answers, evaluator),
        extractive=extractive,
        divide_by_rule=json_fitness(result) is Fitness.UNFIT,
        contradictions=not fused and yes_no is not Fitness.UNFIT,
        second_opinion=evaluator and not fused and yes_no is Fitness.FIT,
    )


def _corrections(*, phrasings: bool, hyde: bool) -> tuple[CorrectionKind, ...]:
    """The local corrections, in the order in which they are tried."""
    wanted = {
        CorrectionKind.REWRITE: True,
        CorrectionKind.PHRASINGS: phrasings,
        CorrectionKind.HYDE: hyde,
        CorrectionKind.NEIGHBOURS: True,
    }
    return tuple(kind for kind, chosen in wanted.items() if chosen)


def _grounding(yes_no: Fitness, answers: Fitness, evaluator: bool) -> Grounding:
    """What becomes of a written sentence that its evidence does not bear out."""
    if yes_no is Fitness.UNFIT and not evaluator:
        return Grounding.OFF
    return Grounding.REMOVE if answers is Fitness.PARTLY else Grounding.MARK
