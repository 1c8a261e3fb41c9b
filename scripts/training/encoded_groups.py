"""Training groups as tokens, and their batches."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from localcrag.calibration.scale import sigmoid

from .groups import Group

if TYPE_CHECKING:
    from .pair_tokenizer import PairTokenizer
    from .pairs import GroupSampler

TEACHER_SHARE = 0.5
"""The weight of a teacher's probabilities beside that of the labels."""


@dataclass(frozen=True)
class Encoded:
    """A group as token ids of its pairs, with their labels and the probabilities that are aimed at."""

    ids: list[list[int]]
    labels: tuple[float, ...]
    targets: tuple[float, ...]

    @property
    def width(self) -> int:
        """Tokens of the longest pair."""
        return max(map(len, self.ids))


Teacher = Callable[[str, Sequence[str]], Sequence[float]]
"""The raw numbers that another evaluator gives a question and texts."""
Vary = Callable[[str], str]
"""Puts a question in other words."""


def encoded_groups(
    sampler: GroupSampler, tokenizer: PairTokenizer, teacher: Teacher | None = None, vary: Vary = str
) -> Iterator[Encoded]:
    """Groups for ever, as tokens.

    With a teacher the targets are halfway between the labels and its probabilities, so that a text that
    answers though it was taken for a negative counts less (Hinton et al. 2015, arXiv 1503.02531). The teacher
    is asked before the question is varied.
    """
    while True:
        yield _encode(sampler.draw(), tokenizer, teacher, vary)


def group_batches(
    groups: Iterator[Encoded], rng: random.Random, most_tokens: int, pool: int
) -> Iterator[list[Encoded]]:
    """Batches of whole groups, of about equal length within a batch, in random order.

    `pool` groups at a time are sorted by length. A batch has at most so many tokens, padding counted in,
    unless it is a single group.
    """
    while pooled := sorted(islice(groups, pool), key=lambda group: group.width):
        batches: list[list[Encoded]] = [[]]
        for group in pooled:
            members = sum(len(g.ids) for g in batches[-1]) + len(group.ids)
            if batches[-1] and members * group.width > most_tokens:
                batches.append([])
            batches[-1].append(group)
        rng.shuffle(batches)
        yield from batches


def _encode(group: Group, tokenizer: PairTokenizer, teacher: Teacher | None, vary: Vary) -> Encoded:
    question = vary(group.question)
    ids = tokenizer.pairs([(question, text) for text in group.texts])
    if teacher is None:
        return Encoded(ids, group.labels, group.labels)
    taught = (sigmoid(number) for number in teacher(group.question, group.texts))
    targets = [
        (1 - TEACHER_SHARE) * label + TEACHER_SHARE * p for label, p in zip(group.labels, taught, strict=True)
    ]
    return Encoded(ids, group.labels, tuple(targets))
