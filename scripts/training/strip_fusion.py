"""The fusion of evaluator and chat model about strips: fitted, and measured beside the evaluator alone.

The candidates are the strips that a search of whole documents finds; the chat model is asked about those that
the product asks it about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from localcrag.calibration.fit import fit
from localcrag.calibration.scale import StripFusion, log_odds
from localcrag.crag.judges.fused_strips import strips_to_ask
from localcrag.crag.judges.passage_scores import strip_scores
from localcrag.crag.judges.yes_no_choices import ask_each
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.evaluation.statistics import Floats
from localcrag.protocols import Evaluator, LanguageModel

from .calibration import auc, calibration_error
from .document_search import strip_candidates
from .groups import Embed
from .labelled_documents import DocumentQuestion
from .result_row import Row


@dataclass(frozen=True)
class JudgedStrips:
    """The strips of one question, those first that the model is asked about.

    P of both judges, and whether each strip answers: ``evaluator`` and ``answers`` have the shape (n,),
    ``model`` that of the strips it is asked about.
    """

    evaluator: Floats
    model: Floats
    answers: Floats


def judged_strips(
    asked: Sequence[DocumentQuestion], embed: Embed, evaluator: Evaluator, model: LanguageModel, most: int
) -> Iterator[JudgedStrips]:
    """What both judges say of the strips that are found for at most so many questions.

    Raises LocalCragError if the language model cannot judge a strip.
    """
    for question, found, answers in strip_candidates(asked, embed, most):
        scores = strip_scores(evaluator, question, found)
        asked_about = strips_to_ask(dict(enumerate(scores)))
        texts = [judged_text(found[at]) for at in asked_about]
        told = []
        for choice in ask_each(model, question, texts):
            if isinstance(choice, Exception):
                raise choice
            told.append(choice.probabilities[0])
        order = [*asked_about, *sorted(set(range(len(found))) - set(asked_about))]
        yield JudgedStrips(np.array([scores[at] for at in order]), np.array(told), answers[order])


def strip_fusion_of(judged: Sequence[JudgedStrips]) -> StripFusion:
    """The fusion, fitted in two steps: which strip is the best, and how probably the best one helps.

    The weights relative to each other come from all strips that the model was asked about. The best of the
    strips of a question helps more often than any strip with the same inputs, so the scale is that of these.
    """
    asked = [each for each in judged if len(each.model)]
    inputs = [_inputs(np.stack([each.evaluator[: len(each.model)], each.model], axis=1)) for each in asked]
    answers = [each.answers[: len(each.model)] for each in asked]
    all_inputs, all_answers = np.concatenate(inputs), np.concatenate(answers)
    together = fit(all_inputs, all_answers)
    z = [rows @ together.weights for rows in inputs]
    best = np.array([each.max() for each in z])
    helps = np.array([labels[each.argmax()] for labels, each in zip(answers, z, strict=True)])
    scale = fit(best[:, None], helps)
    evaluator, model = map(float, together.weights * scale.weights[0])
    return StripFusion(evaluator, model, scale.bias, float(np.median(all_inputs[all_answers == 0, 1])))


def strip_fusion_rows(judged: Mapping[str, Sequence[JudgedStrips]], fusion: StripFusion | None) -> list[Row]:
    """For each group of questions, the evaluator alone, and the fusion if there is one.

    The figures: `first`, the share of the questions with an answer among the strips for which the most
    probable one answers; `sure`, the AUC of the greatest probability for whether its strip answers;
    `ece`, the calibration error of that probability.
    """
    rows = []
    for name, each in judged.items():
        alone = [(strips.evaluator, strips.answers) for strips in each]
        rows.append(Row("documents", name, "strips, evaluator", _figures(alone)))
        if fusion:
            fused = [(_fused(fusion, strips), strips.answers) for strips in each]
            rows.append(Row("documents", name, "strips, evaluator + language model", _figures(fused)))
    return rows


def _inputs(p: Floats) -> Floats:
    """The inputs of the regression for probabilities of the same shape."""
    return np.array([log_odds(value) for value in p.ravel().tolist()]).reshape(p.shape)


def _fused(fusion: StripFusion, strips: JudgedStrips) -> Floats:
    """P of each strip, shape (n,)."""
    pairs = zip_longest(strips.evaluator.tolist(), strips.model.tolist())
    return np.array([fusion(*pair) for pair in pairs])


def _figures(judged: Sequence[tuple[Floats, Floats]]) -> dict[str, float]:
    best = np.array([p.max() for p, _ in judged])
    helps = np.array([answers[p.argmax()] for p, answers in judged])
    is_answered = np.array([answers.any() for _, answers in judged])
    return {
        "first": float(helps[is_answered].mean()),
        "sure": auc(helps, best),
        "ece": calibration_error(best, helps),
        "questions": float(len(judged)),
    }
