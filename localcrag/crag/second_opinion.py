"""A second opinion: does the chat model hold that the evidence answers the question?

The evaluator finds what bears on a question, and cannot tell well what answers it from what only seems to:
for the unanswerable questions of SQuAD 2.0 its AUC is 0.64, that of a chat model of 1.5 billion weights 0.89.
So a model whose yes or no is fit, as `localcrag models check` found, is asked once, about the strips that
were kept. Its prompt begins as that of the answer does, so that it costs some 20 tokens beside an answer, and
far less than asking about every passage.

Its word can only make an answer less sure: a model of that size says yes too easily. What it doubts is
"unsure"; what it denies and the evaluator was not sure of either is not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag import prompts
from localcrag.crag.prompt_layout import IndependentLayout
from localcrag.crag.refinement.recomposition import with_surroundings
from localcrag.crag.state import Finding, QuestionState, timed
from localcrag.crag.yes_no_choices import yes_or_no
from localcrag.events import Degraded, Steps
from localcrag.types import Choice, Strip

DENIED, BELIEVED = 0.5, 0.8
"""The P(yes) below which the model denies that the evidence answers, and that from which on it believes it.
Of 24 questions with three or four strips of evidence, Qwen2.5-Coder 1.5B Instruct gave 13 of the 14 that are
answered 0.79 and more, and 8 of the 10 that only seem to be less than 0.8."""


def reconsidered(whole: QuestionState, findings: Sequence[Finding]) -> Steps[list[Finding]]:
    """The findings after the model's opinion on their evidence; as they are if it is not to be asked.

    Returns:
        The findings, none of them sure if the model does not believe that the evidence answers, and without
        strips if it denies it and none was sure before.
    """
    kept = with_surroundings(strip for finding in findings for strip in finding.strips)
    if not kept or not whole.options.second_opinion:
        return list(findings)
    said = yield from timed(whole.adapters, "verify", _opinion(whole, kept))
    if said is None or said >= BELIEVED:
        return list(findings)
    sure = any(finding.sure for finding in findings)
    if said < DENIED:
        yield Degraded("evidence", f"the chat model holds that it does not answer (P = {said:.2f})")
        if not sure:
            return [replace(finding, strips=()) for finding in findings]
    elif sure:
        yield Degraded("evidence", f"the chat model is not sure that it answers (P = {said:.2f})")
    return [replace(finding, sure=False) for finding in findings]


def _opinion(whole: QuestionState, kept: Sequence[Strip]) -> Steps[float | None]:
    """P(yes) of the model, about the strips as the evidence of one prompt; None if it fails.

    A failure is reported, and the answer stands without the opinion.
    """
    evidence = IndependentLayout().evidence(kept)
    [choice] = yes_or_no(whole.adapters.model, [prompts.answerable(whole.question, evidence)])
    if isinstance(choice, Choice):
        return choice.probabilities[0]
    yield Degraded("evidence", f"the chat model has no opinion on it: {choice}")
    return None
