"""Training groups for the evaluator: one question, its positive text, and hard negatives.

Half of the groups judge sentences and half judge windows of passages, because a judge of one kind does
not carry over to the other. Negatives come from the same passage, the same article, the BM25 neighbours
of the question and its neighbours in the base model's embedding space.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from .data import Example
from .retrieval import Bm25, top
from .wording import keywords, mistype

SENTENCE_SHARES = {"squad_v2": 0.3, "squad_v1_nqg": 0.24, "selqa": 0.18, "qed_nq": 0.14, "qamr": 0.14}
PASSAGE_SHARES = {
    "squad_v2": 0.24,
    "headings": 0.24,
    "squad_v1_nqg": 0.08,
    "boolq": 0.16,
    "selqa": 0.08,
    "qed_nq": 0.1,
    "medquad": 0.06,
    "fairytaleqa": 0.02,
    "ropes": 0.01,
    "strategyqa": 0.01,
    "cdc_covid_faq": 0.01,
}
SEMANTIC_SETS = frozenset({"squad_v2", "headings", "boolq", "qed_nq", "selqa", "user"})
SENTENCE_GROUP_SHARE = 0.6
MAX_QUESTIONS_A_SET = 5000
NEIGHBOURS_A_QUESTION = 16

Vectors = npt.NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]
Pool = list[tuple[str, tuple[str, ...]]]
"""Texts that negatives come from, each with its sentences."""


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


class GroupSampler:
    """Draws groups for ever; `embed` maps texts to unit vectors (n, d) for the semantic neighbours."""

    def __init__(self, examples: Sequence[Example], rng: random.Random, embed: Embed | None = None) -> None:
        self._rng = rng
        by_set: dict[str, list[Example]] = defaultdict(list)
        for example in examples:
            by_set[example.dataset].append(example)
        self._sentences: dict[str, _Questions] = {}
        self._passages: dict[str, _Questions] = {}
        for name, members in sorted(by_set.items()):
            chosen = rng.sample(members, min(MAX_QUESTIONS_A_SET, len(members)))
            judged = [e for e in chosen if e.evidence or not e.relevant]
            if name not in PASSAGE_SHARES or name in SENTENCE_SHARES:
                self._add(self._sentences, name, judged, members, embed, _sentence_pool)
            if name not in SENTENCE_SHARES or name in PASSAGE_SHARES:
                self._add(self._passages, name, chosen, members, embed, _passage_pool)

    def _add(
        self,
        task: dict[str, _Questions],
        name: str,
        chosen: Sequence[Example],
        members: Sequence[Example],
        embed: Embed | None,
        pool_of: Callable[[Sequence[Example]], Pool],
    ) -> None:
        pool = pool_of(members)
        if chosen and len(pool) > 1:
            embed = embed if name in SEMANTIC_SETS else None
            near = Neighbours([e.question for e in chosen], [text for text, _ in pool], embed)
            task[name] = _Questions(chosen, pool, near)

    def reseed(self, rng: random.Random) -> None:
        """Start over in another order."""
        self._rng = rng
        for task in [*self._sentences.values(), *self._passages.values()]:
            task.restart()

    def draw(self) -> Group:
        """One group of either kind."""
        sentences = bool(self._sentences) and self._rng.random() < SENTENCE_GROUP_SHARE
        tasks, shares = (
            (self._sentences, SENTENCE_SHARES)
            if sentences or not self._passages
            else (self._passages, PASSAGE_SHARES)
        )
        names = list(tasks)
        name = self._rng.choices(names, [shares.get(n, 0.2) for n in names])[0]
        group = (
            self._sentence_group(tasks[name])
            if tasks is self._sentences
            else self._passage_group(tasks[name])
        )
        return self.draw() if group is None else group

    def _sentence_group(self, task: _Questions) -> Group | None:
        at, example = task.next(self._rng)
        evidence = {example.sentences[i] for i in example.evidence}
        others = [s for s in example.sentences if s not in evidence]
        self._rng.shuffle(others)
        near = [task.pool[i][0] for i in task.near.of(at, self._rng)]
        near = [text for text in near if text not in evidence]
        positives = [self._rng.choice(sorted(evidence))] if evidence else []
        count = 4 if evidence else 3
        negatives = others[: 2 if near else count]
        negatives += [text for text in near if text not in negatives][: count - len(negatives)]
        return self._group(example.question, positives, negatives)

    def _passage_group(self, task: _Questions) -> Group | None:
        at, example = task.next(self._rng)
        limit = self._rng.randint(150, 1000)
        evidence = [example.sentences[i] for i in example.evidence]
        own = example.passage
        positives: list[str] = []
        negatives: list[str] = []
        if example.relevant:
            window = _window(example.sentences, example.evidence, limit, self._rng)
            if window is None:
                return None
            positives.append(window)
            negatives += self._rest_of_passage(example, limit)
        else:
            negatives += _windows(example.sentences, limit, self._rng)
        for i in task.near.of(at, self._rng):
            text, sentences = task.pool[i]
            if text == own or any(e in text for e in evidence):
                continue
            negatives += _windows(sentences, limit, self._rng)
            if len(negatives) >= (3 if positives else 2):
                break
        return self._group(example.question, positives, negatives)

    def _rest_of_passage(self, example: Example, limit: int) -> list[str]:
        """A window of the same passage without its evidence, half of the time if there is one."""
        if not example.evidence or self._rng.random() < 0.5:
            return []
        before = example.sentences[: example.evidence[0]]
        after = example.sentences[example.evidence[-1] + 1 :]
        rest = max(before, after, key=lambda part: sum(map(len, part)))
        window = _window(rest, (), limit, self._rng) if rest else None
        return [window] if window and len(window) > 100 else []

    def _group(self, question: str, positives: list[str], negatives: list[str]) -> Group | None:
        texts = [*positives, *negatives]
        if len(texts) < 2:
            return None
        labels = [1.0] * len(positives) + [0.0] * len(negatives)
        return Group(self._vary(question), tuple(texts), tuple(labels))

    def _vary(self, question: str) -> str:
        """Sometimes the question as keywords, sometimes mistyped."""
        roll = self._rng.random()
        if roll < 0.08:
            return keywords(question)
        return mistype(question, self._rng) if roll < 0.15 else question


@dataclass
class _Questions:
    """The questions of one set, visited in shuffled rounds, with the pool their negatives come from."""

    examples: Sequence[Example]
    pool: Pool
    near: Neighbours
    _order: list[int] = field(default_factory=list)

    def restart(self) -> None:
        """Begin a new round."""
        self._order = []

    def next(self, rng: random.Random) -> tuple[int, Example]:
        """The next question of the round, with its index."""
        if not self._order:
            self._order = list(range(len(self.examples)))
            rng.shuffle(self._order)
        at = self._order.pop()
        return at, self.examples[at]


def _sentence_pool(members: Sequence[Example]) -> Pool:
    distinct = dict.fromkeys(s for e in members for s in e.sentences if len(s) > 15)
    return [(text, (text,)) for text in distinct]


def _passage_pool(members: Sequence[Example]) -> Pool:
    return list({e.passage: e.sentences for e in members}.items())


def _window(sentences: Sequence[str], evidence: Sequence[int], limit: int, rng: random.Random) -> str | None:
    """Neighbouring sentences of some `limit` characters that include one of `evidence`.

    Without evidence the window starts at the head or at random; a passage whose answer could be anywhere
    is used from its head.
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
    return text if len(text) <= 1600 else None


def _windows(sentences: Sequence[str], limit: int, rng: random.Random) -> list[str]:
    """A window without evidence, unless it is too long."""
    window = _window(sentences, (), limit, rng)
    return [window] if window else []
