"""Comparing texts: the normalisation and the scores of SQuAD, and where passages overlap.

Exact match and token F1 are those of SQuAD 1.1 (Rajpurkar et al., 2016, section 6): case,
punctuation, articles and white space do not count.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

Words = tuple[str, ...]

WHOLE = 8
"""A text of up to so many words must be held whole; of a longer one, half or 20 words in a row do."""
RUN = 20

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_MARKS = re.compile(r"\[\d+\]")
_PUNCTUATION = str.maketrans("", "", string.punctuation + "“”‘’–—…«»")


def normalised(text: str) -> Words:
    """The words that count: lower case, without punctuation, articles and the marks of citations."""
    bare = _MARKS.sub(" ", text.casefold()).translate(_PUNCTUATION)
    return tuple(_ARTICLES.sub(" ", bare).split())


def exact(prediction: str, answers: Sequence[str]) -> float:
    """1 where the prediction is one of the answers, else 0; an empty one is none of them."""
    said = normalised(prediction)
    return float(bool(prediction.strip()) and said in {normalised(answer) for answer in answers})


def f1(prediction: str, answers: Sequence[str]) -> float:
    """The best token F1 with one of the answers, in [0, 1]; an empty prediction has none."""
    if not prediction.strip():
        return 0.0
    return max((_f1(normalised(prediction), normalised(answer)) for answer in answers), default=0.0)


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether the text has one of the answers in it, word for word."""
    words = normalised(text)
    return any(within(normalised(answer), words) for answer in answers)


def within(part: Words, whole: Words) -> bool:
    """Whether ``part`` stands in ``whole`` in one run; an empty part stands nowhere."""
    size = len(part)
    return size > 0 and any(whole[i : i + size] == part for i in range(len(whole) - size + 1))


def overlap(first: Words, second: Words) -> bool:
    """Whether two stretches of text share enough to be of the same place.

    A short one must stand in the other whole; otherwise half of the shorter one, or 20 words,
    must be common in one run.
    """
    shorter = min(len(first), len(second))
    if shorter <= WHOLE:
        return within(first, second) or within(second, first)
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return match.size >= min(RUN, (shorter + 1) // 2)


def _f1(prediction: Words, answer: Words) -> float:
    if not prediction or not answer:
        return float(prediction == answer)
    common = (Counter(prediction) & Counter(answer)).total()
    return 2 * common / (len(prediction) + len(answer))
