"""A second opinion: does the chat model hold that the evidence answers the question?

The evaluator finds what bears on a question, and cannot tell well what answers it from what only seems to:
for the unanswerable questions of SQuAD 2.0 its AUC is 0.64, that of a chat model of 1.5 billion weights 0.89.
So a model whose yes or no is fit, as `localcrag models check` found, is asked as well, in one of two ways.

If the evaluator is not sure, the model reads the best passages whole (:func:`read_passages`), before anything
is corrected: a small evaluator that judges sentences one by one overlooks what is said in other words, as
manuals do. A passage is read once, for the opinion and for the answer, since both prompts begin alike.

If the evaluator is sure, the model is asked about the strips that were kept (:func:`reconsidered`). Its word
can only make such an answer less sure, since a model of that size says yes too easily.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag import prompts
from localcrag.crag.judges.yes_no_choices import yes_or_no
from localcrag.crag.prompt_layout import IndependentLayout
from localcrag.crag.refinement.knowledge_strips import whole as whole_passage
from localcrag.crag.refinement.recomposition import with_surroundings
from localcrag.crag.state import Finding, PassageOpinion, QuestionState, timed
from localcrag.events import Degraded, PassagesRead, Steps
from localcrag.types import Choice, Grade, Mode, Strip, Verdict

DENIED, BELIEVED = 0.5, 0.8
"""The P(yes) below which the model denies that the evidence answers, and that from which on it believes it.
Of 24 questions with three or four strips of evidence, Qwen2.5-Coder 1.5B Instruct gave 13 of the 14 that are
answered 0.79 and more, and 8 of the 10 that only seem to be less than 0.8."""
READ_PASSAGES, PASSAGES_BELIEVED = 5, 0.7
"""How many passages the model reads whole, and the P(yes) from which on it believes that they answer."""


def read_passages(state: QuestionState) -> Steps[bool]:
    """Let the model read the best passages whole, and say whether it believes that they answer.

    Its opinion is kept as ``state.opinion``. It reads nothing a second time, and nothing at all if it is not
    to give an opinion, or does not write the answer: a quotation is chosen by the evaluator.
    """
    options = state.options
    if not options.second_opinion or options.mode is not Mode.WRITE or options.output is not None:
        return False
    read = _best_passages(state.grades)
    if read and (state.opinion is None or state.opinion.read != read):
        said = yield from timed(state.adapters, "verify", _opinion(state, read))
        state.opinion = None if said is None else PassageOpinion(read, said)
        if said is not None:
            yield PassagesRead(len(read), said)
    return state.opinion is not None and state.opinion.probability >= PASSAGES_BELIEVED


def reconsidered(whole: QuestionState, findings: Sequence[Finding]) -> Steps[list[Finding]]:
    """The findings after the model's opinion on their evidence; as they are if it is not to be asked.

    If it has read passages for any part of the question, that is its opinion on the part.

    Returns:
        The findings: believed if the model believes that the evidence answers, and else none of them sure;
        without strips if it denies it and none was sure before.
    """
    if any(finding.state.opinion for finding in findings):
        judged = []
        for finding in findings:
            judged.append((yield from _after_reading(finding)))
        return judged
    kept = with_surroundings(strip for finding in findings for strip in finding.strips)
    if not kept or not whole.options.second_opinion:
        return list(findings)
    said = yield from timed(whole.adapters, "verify", _opinion(whole, kept))
    if said is None:
        return list(findings)
    return (yield from _weighed(findings, said, BELIEVED))


def _after_reading(finding: Finding) -> Steps[Finding]:
    """A finding after what the model held of the passages that it read for it.

    If it believes that they answer, they are the evidence of what is written.
    """
    opinion = finding.state.opinion
    if opinion is None:
        return finding
    [judged] = yield from _weighed([finding], opinion.probability, PASSAGES_BELIEVED)
    return replace(judged, read=opinion.read) if judged.believed else judged


def _weighed(findings: Sequence[Finding], said: float, believed: float) -> Steps[list[Finding]]:
    """The findings after the model's P(yes) for their evidence, which it believes from ``believed`` on."""
    if said >= believed:
        return [replace(finding, believed=True) for finding in findings]
    sure = any(finding.sure for finding in findings)
    if said < DENIED:
        yield Degraded("evidence", f"the chat model holds that it does not answer (P = {said:.2f})")
        if not sure:
            return [replace(finding, strips=()) for finding in findings]
    elif sure:
        yield Degraded("evidence", f"the chat model is not sure that it answers (P = {said:.2f})")
    return [replace(finding, sure=False) for finding in findings]


def _best_passages(grades: Sequence[Grade]) -> tuple[Strip, ...]:
    """The most probable passages, each once and whole, best first; those whose grade failed are left out."""
    best: dict[str, Strip] = {}
    for grade in sorted(grades, key=lambda grade: -(grade.confidence or 0.0)):
        if grade.verdict is not Verdict.ERROR:
            best.setdefault(grade.hit.passage.id, whole_passage(grade.hit.passage, grade.confidence or 0.0))
    return tuple(best.values())[:READ_PASSAGES]


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
