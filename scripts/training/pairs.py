"""Training groups for the evaluator: one question, its positive text, and hard negatives.

Some of the groups judge sentences and some judge windows of passages, because a judge of one kind does
not carry over to the other. Negatives come from the same passage, the same article, the BM25 neighbours
of the question and its neighbours in the base model's embedding space; from exchanging one thing that
question and passage share (`near_misses`); and, with their whole passages, from questions that were written
to be unanswerable. Texts of other kinds than question sets hold come from `text_kinds`, and questions about
whole documents from `labelled_documents`.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from .data import USER, Example
from .groups import MAX_TEXT_CHARACTERS, Embed, Group, Neighbours, window
from .how_to_groups import HowToGroups
from .instructions import INSTRUCTIONS_SET
from .labelled_documents import DocumentGroups
from .near_misses import NearMisses
from .text_kinds import TextKinds, dressed
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
    INSTRUCTIONS_SET: 0.1,
}
SEMANTIC_SETS = frozenset({"squad_v2", "headings", "boolq", "user"})
SENTENCE_GROUP_SHARE = 0.6
MAX_QUESTIONS_A_SET = 5000
NEAR_MISS_ATTEMPTS = 8
"""Examples tried for one near miss before an ordinary group is drawn; one in two has nothing to exchange."""
Pool = list[tuple[str, tuple[str, ...]]]
"""Texts that negatives come from, each with its sentences."""


@dataclass(frozen=True)
class Mixture:
    """The shares of groups that are no ordinary ones; each is 0 where there is nothing to make them of."""

    near_misses: float = 0.3
    unanswerable: float = 0.2
    text_kinds: float = 0.2
    dressed: float = 0.06
    """The share of all other groups whose texts are dressed as mail or lists."""
    documents: float = 0.6
    """The share of all groups that ask about whole documents; the shares above are of the rest."""
    manuals: float = 0.15
    """The share of all groups that ask what headings of manuals imply; the shares above are of the rest."""


FIRST_MIXTURE = Mixture(near_misses=0.12, unanswerable=0.08, text_kinds=0.1, documents=0.35)
"""That for the multilingual encoder, which has seen few questions beside texts: more groups of texts that are
easily told apart."""

CHAT_MIXTURE = Mixture(near_misses=0.25, unanswerable=0.3, text_kinds=0.15, documents=0.4)
"""That for the chat model, which is asked where the evaluator doubts: more that only looks like an answer."""


class GroupSampler:
    """Draws groups for ever.

    Args:
        examples: the training examples.
        rng: the source of every choice.
        embed: maps texts to unit vectors (n, d), for the semantic neighbours.
        text_kinds: draws groups of texts of other kinds.
        mixture: the shares of near misses, of questions written to be unanswerable, and of other kinds. A
            user's own pairs are taken as they are: no near misses are made of them.
        documents: draws groups of questions about whole documents.
    """

    def __init__(
        self,
        examples: Sequence[Example],
        rng: random.Random,
        embed: Embed | None = None,
        text_kinds: TextKinds | None = None,
        mixture: Mixture = Mixture(),
        documents: DocumentGroups | None = None,
    ) -> None:
        self._rng = rng
        self._mixture = mixture
        self._text_kinds = text_kinds
        self._documents = documents
        self._manuals: HowToGroups | None = None
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
        self._near_misses = NearMisses([e for e in examples if e.dataset != USER], rng)
        self._unanswerable = _Unanswerable(examples)

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

    def reseed(
        self, rng: random.Random, mixture: Mixture = Mixture(), manuals: HowToGroups | None = None
    ) -> None:
        """Start over in another order, with these shares, and with questions about these manuals."""
        self._rng, self._mixture, self._manuals = rng, mixture, manuals
        self._near_misses.reseed(rng)
        for task in [*self._sentences.values(), *self._passages.values()]:
            task.restart()

    def draw(self) -> Group:
        """One group of any kind."""
        if self._manuals and self._rng.random() < self._mixture.manuals:
            return self._manuals.draw(self._rng)
        if self._documents and self._rng.random() < self._mixture.documents:
            return self._documents.draw(self._rng)
        group = self._drawn()
        return dressed(group, self._rng) if self._rng.random() < self._mixture.dressed else group

    def _drawn(self) -> Group:
        roll = self._rng.random()
        if (roll := roll - self._mixture.near_misses) < 0:
            group = self._near_miss()
        elif (roll := roll - self._mixture.unanswerable) < 0 and self._unanswerable:
            group = self._unanswerable.draw(self._rng)
        elif 0 <= roll < self._mixture.text_kinds and self._text_kinds:
            group = self._text_kinds.draw(self._rng)
        else:
            group = self._ordinary()
        return self._ordinary() if group is None else group

    def _ordinary(self) -> Group:
        """A question of a set with its answer and negatives found near it."""
        while True:
            sentences, task = self._task()
            group = self._sentence_group(task) if sentences else self._passage_group(task)
            if group is not None:
                return group

    def _task(self) -> tuple[bool, _Questions]:
        """Whether sentences are judged, and the questions of one set."""
        sentences = bool(self._sentences) and self._rng.random() < SENTENCE_GROUP_SHARE
        sentences = sentences or not self._passages
        tasks, shares = (self._sentences, SENTENCE_SHARES) if sentences else (self._passages, PASSAGE_SHARES)
        names = list(tasks)
        name = self._rng.choices(names, [shares.get(n, 0.2) for n in names])[0]
        return sentences, tasks[name]

    def _near_miss(self) -> Group | None:
        """A near miss of an example drawn as for an ordinary group, or None if several have none."""
        for _ in range(NEAR_MISS_ATTEMPTS):
            sentences, task = self._task()
            _, example = task.next(self._rng)
            make = self._near_misses.of_sentence if sentences else self._near_misses.of
            group = make(example) if example.dataset != USER else None
            if group is not None:
                return group
        return None

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
            text = window(example.sentences, example.evidence, limit, self._rng)
            if text is None:
                return None
            positives.append(text)
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
        text = window(rest, (), limit, self._rng) if rest else None
        return [text] if text and len(text) > 100 else []

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


class _Unanswerable:
    """Questions written to look answerable by a passage that does not answer them, with those it answers.

    Each is drawn with the whole passage: the unanswerable ones as often as answerable ones of the same
    passages, so that neither the passage nor its likeness to the question tells the label.
    """

    def __init__(self, examples: Sequence[Example]) -> None:
        passages: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
        for e in examples:
            if e.dataset != USER and len(e.passage) <= MAX_TEXT_CHARACTERS:
                passages.setdefault((e.document, e.passage), ([], []))[e.relevant].append(e.question)
        self._pairs = [
            (document, passage, tuple(unanswered), tuple(answered))
            for (document, passage), (unanswered, answered) in passages.items()
            if unanswered and answered
        ]
        self._others: dict[str, list[str]] = defaultdict(list)
        for document, passage, _, _ in self._pairs:
            self._others[document].append(passage)

    def __bool__(self) -> bool:
        return bool(self._pairs)

    def draw(self, rng: random.Random) -> Group:
        """A question of either kind with its passage, and half of the time another of the document."""
        document, passage, unanswered, answered = rng.choice(self._pairs)
        answers = rng.random() < 0.5
        texts, labels = [passage], [float(answers)]
        other = rng.choice(self._others[document])
        if other != passage and rng.random() < 0.5:
            texts, labels = [*texts, other], [*labels, 0.0]
        return Group(rng.choice(answered if answers else unanswered), tuple(texts), tuple(labels))


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


def _windows(sentences: Sequence[str], limit: int, rng: random.Random) -> list[str]:
    """A window without evidence, unless it is too long."""
    text = window(sentences, (), limit, rng)
    return [text] if text else []
