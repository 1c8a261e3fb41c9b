"""A training group, and where its hard negatives come from."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .retrieval import Bm25, top

NEIGHBOURS_A_QUESTION = 16
MAX_TEXT_CHARACTERS = 1600
"""A text of a group is no longer than this: some 384 tokens."""

Vectors = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(frozen=True)
class Group:
    """A question and candidate texts with labels 0 or 1; all texts are about equally long."""

    question: str
    texts: tuple[str, ...]
    labels: tuple[float, ...]


class Neighbours:
    """The texts of a pool that lie nearest to each question, by BM25 and, if `embed` is given, by cosine."""

    def __init__(self, questions: Sequence[str], pool: Sequence[str], embed: Embed | None) -> None:
        self.pool = pool
        self._lexical = Bm25(pool).top(questions, NEIGHBOURS_A_QUESTION)
        self._semantic = None
        if embed is not None:
            asked, known = embed(questions), embed(pool)
            parts = [
                top(asked[i : i + 512] @ known.T, NEIGHBOURS_A_QUESTION) for i in range(0, len(asked), 512)
            ]
            self._semantic = np.concatenate(parts)

    def of(self, question: int, rng: random.Random) -> list[int]:
        """Pool indices near a question in random order, the two kinds interleaved."""
        lists = [list(self._lexical[question])]
        if self._semantic is not None:
            lists.append(list(self._semantic[question]))
        for each in lists:
            rng.shuffle(each)
        rng.shuffle(lists)
        return [int(i) for pair in zip(*lists, strict=True) for i in pair]


def window(sentences: Sequence[str], evidence: Sequence[int], limit: int, rng: random.Random) -> str | None:
    """Neighbouring sentences of some `limit` characters that include one of `evidence`.

    Without evidence the window starts at the head or at random; a passage whose answer could be anywhere
    is used from its head. None if the window is longer than a text of a group may be.
    """
    low = rng.choice(list(evidence)) if evidence else rng.choice([0, 0, rng.randrange(len(sentences))])
    high, size = low + 1, len(sentences[low])
    while size < limit and (low > 0 or high < len(sentences)):
        if high < len(sentences) and (low == 0 or rng.random() < 0.5):
            size += len(sentences[high])
            high += 1
        else:
            low -= 1
            size += len(sentences[low])
    text = " ".join(sentences[low:high])
    return text if len(text) <= MAX_TEXT_CHARACTERS else None
