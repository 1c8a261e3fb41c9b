"""Words of questions in other languages, so that a question is compared with a text by what they mean.

A multilingual encoder that is fine-tuned on English pairs alone learns to look for the words of the question.
In code-switched questions (Qin et al. 2020, arXiv 2006.06402) some words are exchanged for those of other
languages. The dictionary comes from the embedding model itself: the pieces of its vocabulary whose vectors
lie nearest to that of an English word, and which English texts do not have. No translated text is used.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from localcrag.embedding.multilingual_embedder import MultilingualEmbedder

from .data import Example
from .groups import Vectors

SWITCHED_QUESTIONS = 0.5
"""The share of groups whose question is switched, if no other is asked for."""
SWITCHED_WORDS = 0.6
"""The share of the words of such a question, of those that have substitutes, that are exchanged."""
MAX_PIECES, MAX_SUBSTITUTES, MIN_SIMILARITY = 55_000, 12, 0.5
MAX_COMMON_LETTERS, MIN_ENGLISH_COUNT = 2, 20
"""A substitute begins with no more letters of the English word, and stands less often in English texts."""
_WORD = re.compile(r"[A-Za-z]{3,}")
_UNSPACED = re.compile(r"[\u3040-\u9fff]")


class CodeSwitching:
    """Exchanges words for others of about the same meaning.

    Args:
        substitutes: the words that an English word in lower case may be exchanged for.
        share: the share of the questions that are switched, in [0, 1].
    """

    def __init__(self, substitutes: Mapping[str, Sequence[str]], share: float = SWITCHED_QUESTIONS) -> None:
        self._substitutes, self._share = substitutes, share

    def __call__(self, question: str, rng: random.Random) -> str:
        """The question, some of whose words may be in other languages."""
        if rng.random() >= self._share:
            return question

        def other(match: re.Match[str]) -> str:
            known = self._substitutes.get(match.group().lower())
            return rng.choice(known) if known and rng.random() < SWITCHED_WORDS else match.group()

        return _WORD.sub(other, question)


def code_switching(
    path: Path,
    examples: Sequence[Example],
    embedder: MultilingualEmbedder,
    share: float = SWITCHED_QUESTIONS,
) -> CodeSwitching:
    """Switching by the dictionary in a file, which is made of the words of examples if it is not there."""
    if not path.exists():
        found = _dictionary(examples, embedder.tokenizer_file(), embedder.encode_questions)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found, ensure_ascii=False), "utf-8")
    return CodeSwitching(json.loads(path.read_text("utf-8")), share)


def _dictionary(
    examples: Sequence[Example], tokenizer: Path, embed: Callable[[Sequence[str]], Vectors]
) -> dict[str, list[str]]:
    """The substitutes of each word of the questions that is a piece of the vocabulary."""
    pieces = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    words = list(dict.fromkeys(_whole_words(piece for piece, _ in pieces)))[:MAX_PIECES]
    english = Counter(word.lower() for example in examples for word in _WORD.findall(example.passage))
    vectors = embed(words)
    vectors = vectors - vectors.mean(0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    place = {word: at for at, word in enumerate(words)}
    foreign = np.array([english[word.lower()] < MIN_ENGLISH_COUNT for word in words])
    asked = {word.lower() for example in examples for word in _WORD.findall(example.question)}
    found = {}
    for word in sorted(asked & place.keys()):
        similar = np.where(foreign, vectors @ vectors[place[word]], 0)
        best = np.argsort(-similar)[: 4 * MAX_SUBSTITUTES]
        near = [words[at] for at in best if similar[at] >= MIN_SIMILARITY]
        near = [other for other in near if _common_letters(word, other.lower()) <= MAX_COMMON_LETTERS]
        if near:
            found[word] = near[:MAX_SUBSTITUTES]
    return found


def _whole_words(pieces: Iterable[str]) -> Iterator[str]:
    """The pieces that begin a word of several letters, or are one of a script without spaces."""
    for piece in pieces:
        word = piece.removeprefix("▁")
        unspaced = _UNSPACED.search(word) is not None
        if word.isalpha() and (len(word) > 1 if unspaced else piece != word and len(word) > 2):
            yield word


def _common_letters(word: str, other: str) -> int:
    """The number of letters that two words begin with alike."""
    pairs = zip(word, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(word), len(other)))
