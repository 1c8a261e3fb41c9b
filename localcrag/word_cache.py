"""The WordPiece tokens of texts, looked up word by word, which is many times faster than computing them.

A WordPiece tokenizer with BERT's rules (Devlin et al., arXiv 1810.04805) divides a text at its blanks first,
so that a run of characters between blanks has the same tokens in every text. As most words are frequent ones,
their tokens are computed once and looked up afterwards: each word has a number, and arrays hold the tokens by
these numbers. The tests check that the tokens are those of the tokenizer itself.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    Integers = npt.NDArray[np.int32]
    Places = npt.NDArray[np.int64]

MAX_CACHED_WORDS = 1 << 17
"""The words from which on all are forgotten before the next text. They take some 30 MB."""
_WORD = re.compile(r"[^ \t\n\r]+")
"""A run of characters between blanks; other white space does not always divide words in the tokenizer."""


def supports(tokenizer: Tokenizer) -> bool:
    """Whether the tokens of a word are the same in every text: WordPiece with BERT's rules."""
    settings = json.loads(tokenizer.to_str())
    kinds = [(settings.get(part) or {}).get("type") for part in ("model", "normalizer", "pre_tokenizer")]
    added = [token["content"] for token in settings["added_tokens"]]
    return (
        kinds == ["WordPiece", "BertNormalizer", "BertPreTokenizer"]
        and settings["normalizer"]["clean_text"] is True
        and all(_WORD.fullmatch(content) for content in added)
        and not any(token["single_word"] for token in settings["added_tokens"])
    )


class WordCache:
    """The tokens of texts, each word's computed once, from the word alone; for one thread at a time.

    Args:
        tokenizer: a tokenizer that :func:`supports` accepts, without truncation and padding.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._numbers = _WordNumbers()
        self._tokens = _WordTokens()

    def ids(self, texts: Sequence[str]) -> tuple[Integers, Places]:
        """The ids of the tokens of all texts, one after the other, and the place at which each text ends."""
        import numpy as np

        words = [_words(text) for text in texts]
        numbers = self._looked_up(list(chain.from_iterable(words)))
        ends = np.cumsum([0, *map(len, words)])[1:]
        tokens = np.concatenate([[0], np.cumsum(self._tokens.counts(numbers))])
        return self._tokens.ids(numbers), tokens[ends]

    def ends(self, text: str) -> list[int]:
        """The positions in a text at which its tokens end, in ascending order."""
        import numpy as np

        words = _words(text)
        numbers = self._looked_up(words)
        lengths = np.fromiter(map(len, words), np.int64, len(words)) + 1
        starts = np.repeat(np.cumsum(lengths) - lengths, self._tokens.counts(numbers))
        found: list[int] = (starts + self._tokens.ends(numbers)).tolist()
        return found

    def _looked_up(self, words: Sequence[str]) -> Places:
        """The number of each word; words that are new get one, and their tokens are computed."""
        import numpy as np

        if len(self._numbers) > MAX_CACHED_WORDS:
            self._numbers, self._tokens = _WordNumbers(), _WordTokens()
        found = np.fromiter(map(self._numbers.__getitem__, words), np.int64, len(words))
        if self._numbers.new:
            self._tokens.add(self._tokenizer, self._numbers.new)
            self._numbers.new = []
        return found


class _WordNumbers(dict[str, int]):
    """Words by consecutive numbers from 0; ``new`` are those that were looked up for the first time."""

    def __init__(self) -> None:
        super().__init__()
        self.new: list[str] = []

    def __missing__(self, word: str) -> int:
        number = self[word] = len(self)
        self.new.append(word)
        return number


class _WordTokens:
    """The tokens of words, by the numbers of the words."""

    def __init__(self) -> None:
        self._counts, self._starts = array("q"), array("q")
        self._ids, self._ends = array("i"), array("i")

    def add(self, tokenizer: Tokenizer, words: Sequence[str]) -> None:
        """Add words, which get the next numbers; one long text takes a fraction of many short ones."""
        import numpy as np

        encoding = tokenizer.encode(" ".join(words), add_special_tokens=False)
        stops = np.fromiter((end for _, end in encoding.offsets), np.int64, len(encoding.ids))
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        lasts = np.cumsum(lengths + 1) - 1
        owners = np.searchsorted(lasts, stops)  # the first word that ends where the token ends, or later
        counts = np.bincount(owners, minlength=len(words))
        starts = np.cumsum(counts) - counts + len(self._ids)
        self._counts.frombytes(counts.astype(np.int64).tobytes())
        self._starts.frombytes(starts.astype(np.int64).tobytes())
        self._ids.extend(encoding.ids)
        self._ends.frombytes((stops - (lasts - lengths)[owners]).astype(np.int32).tobytes())

    def counts(self, numbers: Places) -> Places:
        """The number of tokens of each word."""
        import numpy as np

        found: Places = np.asarray(self._counts)[numbers]
        return found

    def ids(self, numbers: Places) -> Integers:
        """The ids of the tokens of all words, one word after the other."""
        import numpy as np

        found: Integers = np.asarray(self._ids)[self._places(numbers)]
        return found

    def ends(self, numbers: Places) -> Integers:
        """The positions in their words at which the tokens of all words end."""
        import numpy as np

        found: Integers = np.asarray(self._ends)[self._places(numbers)]
        return found

    def _places(self, numbers: Places) -> Places:
        """The places of the tokens of words in the arrays, one word after the other."""
        import numpy as np

        counts = self.counts(numbers)
        before = np.cumsum(counts) - counts
        shifts: Places = np.repeat(np.asarray(self._starts)[numbers] - before, counts)
        return np.arange(len(shifts)) + shifts


def _words(text: str) -> list[str]:
    """The words of a text, with an empty one between two blanks, so that their lengths tell the positions."""
    return text.replace("\n", " ").replace("\t", " ").replace("\r", " ").split(" ")
