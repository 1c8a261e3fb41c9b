"""Comparing texts: the normalisation and the scores of SQuAD, and the overlap of passages.

Exact match and token F1 are those of SQuAD 1.1 (Rajpurkar et al., 2016, section 6): case,
punctuation, articles and white space do not count. Every character of a language that is written without
spaces is a word, as in the evaluation of MLQA (Lewis et al., 2020, arXiv 1910.07475).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher

from localcrag.languages import UNSPACED

Words = tuple[str, ...]


class _WithoutMarks(dict[int, int | None]):
    """Deletes punctuation and symbols of any language, where ``str.translate`` is given it."""

    def __missing__(self, code: int) -> int | None:
        self[code] = None if unicodedata.category(chr(code))[0] in "PS" else code
        return self[code]


MAX_WHOLE_WORDS = 8
"""The longest text, in words, that another must hold as a whole to overlap with it."""
MIN_RUN_WORDS = 20
"""Number of words in a row that are enough for longer texts to overlap; half of the shorter one is, too."""

_ARTICLE_PATTERN = re.compile(r"\b(a|an|the)\b")
_CITATION_PATTERN = re.compile(r"\[\d+\]")
_WITHOUT_MARKS = _WithoutMarks()


def normalised(text: str) -> Words:
    """The words of a text in lower case, without punctuation, symbols, articles and marks of citations."""
    bare = _CITATION_PATTERN.sub(" ", text.casefold()).translate(_WITHOUT_MARKS)
    spaced = UNSPACED.sub(lambda run: f" {' '.join(run[0])} ", bare)
    return tuple(_ARTICLE_PATTERN.sub(" ", spaced).split())


def exact(prediction: str, answers: Sequence[str]) -> float:
    """The exact match: 1 if the prediction is one of the answers, else 0; 0 for an empty prediction."""
    said = normalised(prediction)
    return float(bool(prediction.strip()) and said in {normalised(answer) for answer in answers})


def f1(prediction: str, answers: Sequence[str]) -> float:
    """The best token F1 with one of the answers, in [0, 1]; 0 for an empty prediction."""
    if not prediction.strip():
        return 0.0
    return max((_f1(normalised(prediction), normalised(answer)) for answer in answers), default=0.0)


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether the text contains one of the answers, word for word."""
    words = normalised(text)
    return any(within(normalised(answer), words) for answer in answers)


def within(part: Words, whole: Words) -> bool:
    """Whether the words of ``part`` stand in ``whole`` one after another; False for an empty part."""
    size = len(part)
    return size > 0 and any(whole[i : i + size] == part for i in range(len(whole) - size + 1))


def overlap(first: Words, second: Words) -> bool:
    """Whether two stretches of text share enough to be of the same place in a document.

    A text of at most ``MAX_WHOLE_WORDS`` words must stand in the other as a whole. Otherwise half of the
    shorter one, or ``MIN_RUN_WORDS`` words, must be common to both without a gap.
    """
    shorter = min(len(first), len(second))
    if shorter <= MAX_WHOLE_WORDS:
        return within(first, second) or within(second, first)
    match = SequenceMatcher(None, first, second, autojunk=False).find_longest_match()
    return match.size >= min(MIN_RUN_WORDS, (shorter + 1) // 2)


def _f1(prediction: Words, answer: Words) -> float:
    """The harmonic mean of the precision and the recall of the predicted words."""
    if not prediction or not answer:
        return float(prediction == answer)
    common = (Counter(prediction) & Counter(answer)).total()
    return 2 * common / (len(prediction) + len(answer))
