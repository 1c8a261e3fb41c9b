"""The defaults that follow from what is known of a chat model: one pure function.

A model that was never checked is not trusted blindly: the evaluator judges first, and the model's yes or no
counts only where the evaluator is unsure. What the user chose by an option or a setting is never changed by
these defaults.
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
    a question of several parts without the model, and ``contradictions`` asks it whether sources disagree.
    """

    grader: GraderKind
    mode: Mode
    corrections: tuple[CorrectionKind, ...]
    grounding: Grounding
    extractive: bool
    divide_by_rule: bool
    contradictions: bool

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
        }


def model_defaults(result: FitnessResult | None, *, evaluator: bool) -> ModelDefaults:
    """The defaults for a chat model.

    - The grader is the cascade, or the evaluator alone if the model's yes or no is unfit. The model judges
      alone only if there is no evaluator.
    - Answers are quoted if the model's own are unfit, or if hidden instructions sway it.
    - Written sentences that the evidence does not bear out are removed if the answers are partly fit, and
      else marked. If nobody can be trusted with that, they are not looked for.
    - Other phrasings need search lines that are fit: with partly fit ones they cost half as much again and
      brought nothing (`scripts/bench corrections`). HyDE needs answers that can be relied on.
    - A question of several parts is divided by rule if the model's JSON is unfit.

    A part that was not measured counts as neither fit nor unfit.

    Args:
        result: what a check measured; None if the model was never checked.
        evaluator: whether there is an evaluator beside the model.
    """
    yes_no = yes_no_fitness(result)
    answers = answer_fitness(result)
    lines = search_line_fitness(result)
    follow_ups = follow_up_fitness(result)
    instructions = instruction_fitness(result)
    if not evaluator:
        grader = GraderKind.YESNO
    else:
        grader = GraderKind.EVALUATOR if yes_no is Fitness.UNFIT else GraderKind.CASCADE
    extractive = Fitness.UNFIT in (lines, follow_ups)
    return ModelDefaults(
        grader=grader,
        mode=Mode.QUOTE if Fitness.UNFIT in (answers, instructions) else Mode.WRITE,
        corrections=_corrections(
            phrasings=not extractive and lines is not Fitness.PARTLY, hyde=answers is not Fitness.UNFIT
        ),
        grounding=_grounding(yes_no, answers, evaluator),
        extractive=extractive,
        divide_by_rule=json_fitness(result) is Fitness.UNFIT,
        contradictions=yes_no is not Fitness.UNFIT,
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
