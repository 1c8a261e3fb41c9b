"""Passages, vectors and queries of any number, shaped like real ones.

Vectors come from a tree of subjects with eight branches at each of six levels: a passage's is the sum of
a Gaussian of its own and those of the nodes above it, all with the falling spectrum of all-MiniLM-L6-v2,
on the unit sphere. The tree is the same for every size, so a larger corpus is a denser one, as it is with
real text. The constants were fitted to 4,598 passages and 800 questions of BoolQ, embedded by that model:

==================================================  ================  ================
percentiles 5, 50, 95                               real              made
==================================================  ================  ================
cosine of a passage and its 1st neighbour           0.37  0.52  0.88  0.30  0.49  0.69
cosine of a passage and its 10th                    0.27  0.35  0.52  0.24  0.31  0.47
cosine of a question and its 1st passage            0.46  0.67  0.80  0.48  0.68  0.83
cosine of a question and its 10th                   0.24  0.34  0.47  0.24  0.32  0.49
local intrinsic dimension at a question             13    24    39    13    28    45
recall@10 reading 1/16, 1/8, 1/4 of 64 partitions   0.81  0.91  0.96  0.75  0.84  0.92
==================================================  ================  ================

Text is drawn by Zipf's law with Mandelbrot's shift from the whole words of the embedding model's
vocabulary, which is in the order of their frequency, and a part of it from the words of its topic, a
node of the tree. A query is some words of one passage and some of none, with a vector of the same leaf.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from localcrag.types import Document, IndexedDocument, Meta, Page, Passage

Floats = npt.NDArray[np.float32]
Numbers = npt.NDArray[np.int64]
Item = tuple[Document, IndexedDocument, list[Passage], Floats]

DIMENSION = 384
BRANCHES = 8
WEIGHTS = (0.05, 0.08, 0.14, 0.16, 0.12, 0.08, 0.37)
"""What each level of the tree, and last the passage itself, has of a vector's variance, on average."""
EVENNESS = 12.0
"""How alike the passages are in these weights (the sum of a Dirichlet distribution's parameters)."""
COMMON = 0.11
"""The length of what all vectors share."""
ALIKE = 0.7
"""How much of a passage's own part a query for it has at most (as a cosine)."""
TOPIC = 4
"""The level of the tree at which passages have words in common."""
WORDS = (150, 200)
TOPICAL, TOPIC_WORDS, MIDDLING = 0.15, 60, (200, 20_000)
"""The share of a text's words that its topic gives, how many words a topic has, of which ranks."""
EXPONENT, SHIFT, DISTINCT = 1.15, 2.7, 200_000
BLOCK = 8192
"""Passages that share a random stream."""
REGIONS = 24
"""Blocks at most that queries are made from, so that they can be made without all of the corpus."""


@dataclass(frozen=True, slots=True)
class Query:
    text: str
    vector: Floats


@dataclass(frozen=True)
class Corpus:
    """``size`` passages; the same size and seed are always the same corpus, whichever part is made first."""

    size: int
    vocabulary: tuple[str, ...]
    seed: int = 0

    def items(self) -> Iterator[list[Item]]:
        """The documents in the form a store takes them, about ``BLOCK`` passages at a time."""
        first = np.concatenate([np.flatnonzero(np.diff(self._document, prepend=-1)), [self.size]])
        edges = np.unique(np.searchsorted(first, [*range(0, self.size, BLOCK), self.size]))
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            bounds = first[low : high + 1].tolist()
            start = bounds[0]
            vectors = self._gathered(self._block, start, bounds[-1])
            texts = [self._text(ids) for ids in self._gathered_words(start, bounds[-1])]
            yield [
                _item(int(self._document[a]), texts[a - start : b - start], vectors[a - start : b - start])
                for a, b in pairwise(bounds)
            ]

    def queries(self, count: int) -> list[Query]:
        """Made from passages all over the corpus."""
        rng = self._stream(3)
        blocks = -(-self.size // BLOCK)
        chosen = rng.choice(blocks, min(blocks, REGIONS), replace=False)
        made: list[Query] = []
        for part, block in zip(np.array_split(np.arange(count), len(chosen)), chosen.tolist(), strict=True):
            start, stop = block * BLOCK, min(self.size, (block + 1) * BLOCK)
            rows = rng.integers(0, stop - start, len(part))
            alike = rng.uniform(0, ALIKE, (len(part), 1)).astype(np.float32)
            rest: Floats = np.sqrt(1 - alike**2)
            own: Floats = alike * self._own(block)[rows] + rest * self._gauss(rng, len(part))
            vectors = self._summed(rng, self._leaf[start + rows], own)
            words = self._word_block(block)
            made += [Query(self._question(rng, words[row]), v) for row, v in zip(rows, vectors, strict=True)]
        return [made[index] for index in rng.permutation(count)]

    def _stream(self, *key: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *key])

    # ------------------------------------------------------------------------------ vectors

    @cached_property
    def _shape(self) -> Floats:
        """What makes a Gaussian of the model's covariance out of a standard one."""
        component = np.arange(1, DIMENSION + 1)
        spectrum = component**-0.42 * np.exp(-((component / 199) ** 2))
        rotation = np.linalg.qr(self._stream(0).standard_normal((DIMENSION, DIMENSION)))[0]
        shape: Floats = (np.sqrt(spectrum / spectrum.sum())[:, None] * rotation).astype(np.float32)
        return shape

    def _gauss(self, rng: np.random.Generator, count: int) -> Floats:
        return rng.standard_normal((count, DIMENSION), dtype=np.float32) @ self._shape

    @cached_property
    def _levels(self) -> list[Floats]:
        """The nodes' own vectors at each level but the last, whose nodes are made when they are met."""
        return [self._gauss(self._stream(1, n), BRANCHES**n) for n in range(1, len(WEIGHTS) - 1)]

    @cached_property
    def _leaf(self) -> Numbers:
        """Where each passage hangs, in order; some branches have several times as many as others."""
        rng, leaf = self._stream(2), np.zeros(self.size, np.int64)
        for _ in range(len(WEIGHTS) - 1):
            bounds = np.cumsum(rng.lognormal(0, 1, BRANCHES))
            leaf = leaf * BRANCHES + np.searchsorted(bounds / bounds[-1], rng.random(self.size))
        return np.sort(leaf)

    @cached_property
    def _document(self) -> Numbers:
        """The document of each passage: some five that hang near each other."""
        return np.cumsum(self._stream(4).random(self.size) < 0.2)

    def _own(self, block: int) -> Floats:
        return self._gauss(self._stream(5, block), min(BLOCK, self.size - block * BLOCK))

    @cached_property
    def _block(self) -> Callable[[int], Floats]:
        def make(block: int) -> Floats:
            leaves = self._leaf[block * BLOCK : (block + 1) * BLOCK]
            return self._summed(self._stream(6, block), leaves, self._own(block))

        return lru_cache(maxsize=2)(make)

    def _summed(self, rng: np.random.Generator, leaves: Numbers, own: Floats) -> Floats:
        shares = np.sqrt(rng.dirichlet(np.array(WEIGHTS) * EVENNESS, len(leaves))).astype(np.float32)
        met, back = np.unique(leaves, return_inverse=True)
        last = np.stack(
            [self._stream(7, leaf).standard_normal(DIMENSION, np.float32) for leaf in met.tolist()]
        )
        summed = shares[:, [-1]] * own + shares[:, [-2]] * (last @ self._shape)[back]
        for level, nodes in enumerate(self._levels):
            summed += shares[:, [level]] * nodes[leaves // BRANCHES ** (len(WEIGHTS) - 2 - level)]
        return _unit(
            np.sqrt(1 - COMMON**2) * summed + COMMON * _unit(self._stream(8).standard_normal(DIMENSION))
        )

    def _gathered(self, block: Callable[[int], Floats], start: int, stop: int) -> Floats:
        parts = [block(n) for n in range(start // BLOCK, -(-stop // BLOCK))]
        skipped = start // BLOCK * BLOCK
        return np.concatenate(parts)[start - skipped : stop - skipped]

    # ------------------------------------------------------------------------------ text

    @cached_property
    def _cumulated(self) -> npt.NDArray[np.float64]:
        bounds = np.cumsum((np.arange(1, len(self.vocabulary) + 1) + SHIFT) ** -EXPONENT)
        cumulated: npt.NDArray[np.float64] = bounds / bounds[-1]
        return cumulated

    @cached_property
    def _word_block(self) -> Callable[[int], list[list[int]]]:
        """The words of each passage of a block, by their ranks."""

        def make(block: int) -> list[list[int]]:
            rng = self._stream(9, block)
            leaves = self._leaf[block * BLOCK : (block + 1) * BLOCK]
            lengths = rng.integers(*WORDS, len(leaves), endpoint=True)
            words = self._draw(rng, int(lengths.sum()))
            topical = rng.random(len(words)) < TOPICAL
            topics = np.repeat(leaves // BRANCHES ** (len(WEIGHTS) - 1 - TOPIC), lengths)[topical]
            words[topical] = _topic_words(topics, np.minimum(rng.geometric(0.06, len(topics)), TOPIC_WORDS))
            return [part.tolist() for part in np.split(words, np.cumsum(lengths)[:-1])]

        return lru_cache(maxsize=2)(make)

    def _draw(self, rng: np.random.Generator, count: int) -> Numbers:
        return np.searchsorted(self._cumulated, rng.random(count))

    def _gathered_words(self, start: int, stop: int) -> list[list[int]]:
        parts = [row for n in range(start // BLOCK, -(-stop // BLOCK)) for row in self._word_block(n)]
        skipped = start // BLOCK * BLOCK
        return parts[start - skipped : stop - skipped]

    def _text(self, ids: list[int]) -> str:
        return " ".join(map(self.vocabulary.__getitem__, ids))

    def _question(self, rng: np.random.Generator, said: list[int]) -> str:
        """4 to 10 words: three drawn from the whole vocabulary, the others from what the passage said."""
        telling = np.unique([word for word in said if word >= MIDDLING[0] // 2])
        taken = rng.choice(telling, min(len(telling), int(rng.integers(4, 11)) - 3), replace=False)
        return self._text(rng.permutation(np.concatenate([taken, self._draw(rng, 3)])).tolist())


def vocabulary(path: Path) -> tuple[str, ...]:
    """The whole words of a BERT vocabulary, in its order, which is about that of their frequency.

    Rarer ones, which make up much of the dictionary of a large corpus, are two of them joined.
    """
    pieces = path.read_text("utf-8").split("\n")
    words = [word for word in pieces if word.isascii() and word.isalpha() and (word[1:] or word in "ai")]
    joined = (words[n % len(words)] + words[n * 7919 % len(words)] for n in range(DISTINCT - len(words)))
    return (*words, *joined)


def _topic_words(topics: Numbers, places: Numbers) -> Numbers:
    """The word at a place of a topic's list: one of middling frequency, as a hash of both chooses."""
    mixed = (topics * (TOPIC_WORDS + 1) + places).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    chosen: Numbers = MIDDLING[0] + (mixed >> np.uint64(33)).astype(np.int64) % (MIDDLING[1] - MIDDLING[0])
    return chosen


def _unit(vectors: npt.NDArray[np.floating]) -> Floats:
    unit: Floats = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return unit


def _item(number: int, texts: list[str], vectors: Floats) -> Item:
    """One document with two meta fields to filter by."""
    source = f"/made/{number % 997:03}/{number}.txt"
    whole = "\n\n".join(texts)
    digest = hashlib.sha256(f"{number}\n{whole}".encode()).hexdigest()
    meta: Meta = {"year": 1900 + number % 125, "shelf": f"shelf {number % 1000}"}
    document = Document(source, digest, f"Document {number}", "text/plain", (Page(None, whole),), meta)
    passages, at = [], 0
    for ordinal, text in enumerate(texts):
        stop = at + len(text)
        id = f"{digest[:16]}-{ordinal}"
        passages.append(Passage(id, digest, source, document.title, "", None, at, stop, text, ordinal, meta))
        at = stop + 2
    return (
        document,
        IndexedDocument(source, digest, len(whole), 0, len(texts), document.title, meta),
        passages,
        vectors,
    )
