"""Grounding: does the evidence support each sentence of the answer, and do the sources agree?

Each claim is held against the strips it cites: the attribution check of ALCE (Gao et al. 2023, arXiv
2305.14627). The judge is the evaluator, with the claim in place of the query; only without one is the
language model asked for its constrained yes or no, since it would judge its own words. Sources are compared
by pairs of their best strips, by the language model.

The evaluator was trained on questions, but discriminates between claims too. Sentences that people wrote
over an encyclopaedia passage (389) against two sentences of another passage (389), and of the same passage
that do not say so (260): area under the ROC curve 0.978 and 0.943 with the claim as the query, 0.667 and
0.592 with question and claim together. The share of common words, which is checked before a sentence is
shown (:mod:`.citation_check`), has 0.985 and 0.977. Neither sees that one name or number was exchanged
for another of the same passage (269; 0.57 and 0.56); the check of names and numbers sees 58 % of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from localcrag.crag import prompts
from localcrag.crag.answering.answer_form import cited_keys, without_keys
from localcrag.crag.answering.bracketed_numbers import without_bracketed_numbers
from localcrag.crag.answering.citation_check import crosses_languages
from localcrag.crag.judges.yes_no_choices import YES_NO_OPTIONS, yes_or_no
from localcrag.crag.refinement.strip_spans import LIST_MARKER
from localcrag.crag.state import QuestionState, timed
from localcrag.errors import ModelError
from localcrag.events import Contradicted, Degraded, Grounded, Steps
from localcrag.protocols import Evaluator
from localcrag.types import Claim, Contradiction, Evidence, Grounding, Prompt, Verdict

MIN_CLAIM_SCORE = 0.02
"""The evaluator's probability below which a sentence is not shown at all. Of the sentences that people wrote
and whose words the evidence shares, 1 % are below it, and of those without support half; at the lower
threshold (0.09), from which on a sentence counts as supported, it would be 6 %."""
MAX_COMPARED_PAIRS = 3
"""The most pairs of sources that are compared; each costs one prompt."""


def ground(
    state: QuestionState, sentences: Sequence[str], evidence: Sequence[Evidence]
) -> Steps[list[Claim]]:
    """Check whether the evidence supports each sentence; yields Grounded with the claims.

    A sentence is checked against the strips it cites, or against all the evidence if it cites none. The
    evaluator holds it to be supported from its lower threshold on.

    Args:
        state: the question and its adapters.
        sentences: the sentences of the answer, with their citations.
        evidence: the evidence that the answer may cite.

    Returns:
        A claim for each sentence that says something; its verdict is ``error`` if the check failed.
    """
    texts = {item.key: without_bracketed_numbers(item.text) for item in evidence}
    split = [(without_keys(sentence), cited_keys(sentence)) for sentence in sentences]
    asked = [(text, keys) for text, keys in split if _says_something(text, keys)]
    support = [[texts[key] for key in keys] or list(texts.values()) for _, keys in asked]
    if state.adapters.evaluator is not None:
        pairs = [(text, "\n".join(against)) for (text, _), against in zip(asked, support, strict=True)]
        judged = yield from _evaluated(state.adapters.evaluator, pairs)
    else:
        judged = yield from _yes_or_no(
            state,
            "grounding",
            [prompts.grounded(text, against) for (text, _), against in zip(asked, support, strict=True)],
        )
    claims = [
        Claim(text, keys, verdict, confidence)
        for (text, keys), (verdict, confidence) in zip(asked, judged, strict=True)
    ]
    if claims:
        yield Grounded(tuple(claims))
    return claims


def is_unsupported(state: QuestionState, sentence: str, evidence: Sequence[Evidence]) -> bool:
    """Whether the evaluator is sure that what a sentence cites does not say so; False without an evaluator.

    It is not asked about a sentence in another language than its evidence, nor if grounding is off. If it
    fails, nothing is known; :func:`ground` then says that it failed.
    """
    evaluator = state.adapters.evaluator
    if evaluator is None or state.options.grounding is Grounding.OFF:
        return False
    keys, text = cited_keys(sentence), without_keys(sentence)
    support = without_bracketed_numbers("\n".join(item.text for item in evidence if item.key in keys))
    if crosses_languages(text, support, state.question):
        return False
    try:
        return evaluator.score(text, [support])[0] < MIN_CLAIM_SCORE
    except ModelError:
        return False


def compare(state: QuestionState, evidence: Sequence[Evidence]) -> Steps[list[Contradiction]]:
    """Compare the best strips of different sources; yields Contradicted if any disagree.

    Each source is represented by its best strip, and at most ``MAX_COMPARED_PAIRS`` pairs are compared.
    Returns the pairs that were judged to disagree.
    """
    best: dict[str, Evidence] = {}
    for item in sorted(evidence, key=lambda item: -item.strip.score):
        best.setdefault(item.strip.passage.source, item)
    pairs = list(combinations(best.values(), 2))[:MAX_COMPARED_PAIRS]
    judged = yield from _yes_or_no(
        state,
        "contradictions",
        [prompts.contradict(state.question, first.text, second.text) for first, second in pairs],
    )
    found = [
        Contradiction(min(first.key, second.key), max(first.key, second.key), confidence)
        for (first, second), (verdict, confidence) in zip(pairs, judged, strict=True)
        if verdict is Verdict.YES and confidence is not None
    ]
    if found:
        yield Contradicted(tuple(found))
    return found


def check_agreement(state: QuestionState, evidence: Sequence[Evidence]) -> Steps[bool]:
    """Check whether the sources of the evidence agree; True also if that is not asked for."""
    if not state.options.contradictions:
        return True
    found = yield from timed(state.adapters, "verify", compare(state, evidence))
    sources = {item.key: item.strip.passage.source for item in evidence}
    for pair in found:
        first, second = (f"[{key}] ({sources[key]})" for key in (pair.first, pair.second))
        yield Degraded("evidence", f"the sources of {first} and {second} disagree")
    return not found


def _evaluated(
    evaluator: Evaluator, pairs: Sequence[tuple[str, str]]
) -> Steps[list[tuple[Verdict, float | None]]]:
    """The evaluator's verdict and probability for each pair of a claim and its evidence, in order.

    If the evaluator fails, every verdict is ``error``, and a Degraded event says so.
    """
    try:
        scores = [evaluator.score(claim, [evidence])[0] for claim, evidence in pairs]
    except ModelError as error:
        yield Degraded("grounding", str(error))
        return [(Verdict.ERROR, None)] * len(pairs)
    floor = evaluator.thresholds.lower
    return [(Verdict.YES if p >= floor else Verdict.NO, p) for p in scores]


def _yes_or_no(
    state: QuestionState, part: str, asked: Sequence[Prompt]
) -> Steps[list[tuple[Verdict, float | None]]]:
    """The verdict and P(yes) for every prompt, in order.

    A prompt that fails has the verdict ``error`` and the probability None; the failures of ``part`` are
    reported in one Degraded event.
    """
    if not asked:
        return []
    try:
        choices = yes_or_no(state.adapters.model, asked)
    except ModelError as error:
        yield Degraded(part, str(error))
        return [(Verdict.ERROR, None)] * len(asked)
    if failed := [choice for choice in choices if isinstance(choice, Exception)]:
        yield Degraded(part, f"{len(failed)} of {len(asked)} could not be checked: {failed[0]}")
    return [
        (Verdict.ERROR, None)
        if isinstance(choice, Exception)
        else _judged(choice.text, choice.probabilities[0])
        for choice in choices
    ]


def _judged(text: str, p_yes: float) -> tuple[Verdict, float]:
    """The verdict of a choice, with its P(yes)."""
    return (Verdict.YES if text == YES_NO_OPTIONS[0] else Verdict.NO), p_yes


def _says_something(text: str, keys: Sequence[int]) -> bool:
    """Whether a sentence is a claim, and not only punctuation or the marker of a list item."""
    return any(map(str.isalnum, text)) and (bool(keys) or not LIST_MARKER.fullmatch(text))
