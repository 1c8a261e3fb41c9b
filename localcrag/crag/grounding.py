"""Grounding: does the evidence support each sentence of the answer, and do the sources agree?

Both questions are constrained yes-or-no choices of the language model. Each claim is checked against the
strips it cites: the attribution check of ALCE (Gao et al. 2023, arXiv 2305.14627), with a chat model in
place of the entailment model. Sources are compared by pairs of their best strips.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from localcrag.crag import prompts
from localcrag.crag.graders import YES_NO_OPTIONS, yes_or_no
from localcrag.crag.refinement import LIST_MARKER
from localcrag.crag.state import QuestionState
from localcrag.errors import ModelError
from localcrag.events import Contradicted, Degraded, Grounded, Steps
from localcrag.types import Claim, Contradiction, Evidence, Prompt, Verdict

MAX_COMPARED_PAIRS = 3
"""The most pairs of sources that are compared; each costs one prompt."""
_KEY = re.compile(r"\s*\[(\d+)\]")


def ground(
    state: QuestionState, sentences: Sequence[str], evidence: Sequence[Evidence]
) -> Steps[list[Claim]]:
    """Check whether the evidence supports each sentence; yields Grounded with the claims.

    A sentence is checked against the strips it cites, or against all the evidence if it cites none.

    Args:
        state: the question and its adapters.
        sentences: the sentences of the answer, with their citations.
        evidence: the evidence that the answer may cite.

    Returns:
        A claim for each sentence that says something; its verdict is ``error`` if the check failed.
    """
    texts = {item.key: item.text for item in evidence}
    split = [(without_keys(sentence), _cited_keys(sentence)) for sentence in sentences]
    asked = [(text, keys) for text, keys in split if _says_something(text, keys)]
    support = [[texts[key] for key in keys] or list(texts.values()) for _, keys in asked]
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


def without_keys(sentence: str) -> str:
    """A written sentence without its citations."""
    return _KEY.sub("", sentence).strip()


def _cited_keys(sentence: str) -> tuple[int, ...]:
    """The keys that a sentence cites, each once, in order."""
    return tuple(dict.fromkeys(int(key) for key in _KEY.findall(sentence)))
