"""The WordPiece tokens of texts, looked up word by word, which is several times faster than computing them.

A WordPiece tokenizer with BERT's rules (Devlin et al., arXiv 1810.04805) divides a text at its blanks first,
so that a run of characters between blanks has the same tokens in every text. As most words are frequent ones,
their tokens are computed once and looked up afterwards. The tests check that the tokens are those of the
tokenizer itself.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenizers import Tokenizer

MAX_CACHED_WORDS = 1 << 17
"""The words that are kept; beyond, all are forgotten. They take some 30 MB."""
WORD = re.compile(r"[^ \t\n\r]+")
"""A run of characters between blanks; other white space does not always divide words in the tokenizer."""

Tokens = tuple[int, ...]
"""The ids of a word's tokens, or the positions in the word at which they end."""


def supports(tokenizer: Tokenizer) -> bool:
    """Whether the tokens of a word are the same in every text: WordPiece with BERT's rules."""
    settings = json.loads(tokenizer.to_str())
    kinds = [(settings.get(part) or {}).get("type") for part in ("model", "normalizer", "pre_tokenizer")]
    added = [token["content"] for token in settings["added_tokens"]]
    return (
        kinds == ["WordPiece", "BertNormalizer", "BertPreTokenizer"]
        and settings["normalizer"]["clean_text"] is True
        and all(WORD.fullmatch(content) for content in added)
        and not any(token["single_word"] for token in settings["added_tokens"])
    )


class WordCache:
    """The tokens of words, each computed from the word alone; for one thread at a time.

    Args:
        tokenizer: a tokenizer that :func:`supports` accepts, without truncation and padding.
        ends: the positions at which the tokens end are wanted, and not their ids.
    """

    def __init__(self, tokenizer: Tokenizer, *, ends: bool = False) -> None:
        self._tokenizer, self._ends = tokenizer, ends
        self._held: dict[str, Tokens] = {}

    def tokens(self, words: Sequence[str]) -> list[Tokens]:
        """The tokens of each word, in order; words have no blanks in them."""
        held = self._held
        missing = {word for word in words if word not in held}
        if missing:
            held = self._extended(list(missing))
        return [held[word] for word in words]

    def _extended(self, missing: list[str]) -> dict[str, Tokens]:
        """The words that are kept, and those that were missing, of which the shorter ones are kept now."""
        new = dict(zip(missing, self._computed(missing), strict=True))
        every = {**self._held, **new} if len(self._held) + len(new) > MAX_CACHED_WORDS else self._held
        if every is not self._held:
            self._held = {}
        self._held.update(new)
        return every

    def _computed(self, words: Sequence[str]) -> Iterator[Tokens]:
        """The tokens of words; one long text takes a fraction of the time of many short ones."""
        encoding = self._tokenizer.encode(" ".join(words), add_special_tokens=False)
        ids, ends = encoding.ids, [end for _, end in encoding.offsets]
        first = start = 0
        for word in words:
            last = bisect_right(ends, start + len(word), first)
            if self._ends:
                yield tuple([end - start for end in ends[first:last]])
            else:
                yield tuple(ids[first:last])
            first, start = last, start + len(word) + 1
