"""Reading ahead what a text may be about to repeat.

An answer repeats its evidence. Where the last few tokens stand in the prompt too, what follows them
there is a good guess at what comes next: the guess is read in one batch together with the token
just written, and as much of it as the model then picks itself needs no reading any more (prompt
lookup decoding: Saxena 2023; speculative decoding: Leviathan et al. 2023, arXiv 2211.17192). The
text is the one that would have been written anyway; only what it costs changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
from localcrag.llm.llama_backend import Row

NGRAM_TOKENS = 6
"""Tokens that must have stood side by side before, for what followed them to be a guess."""
GUESS, NEXT = 3, 7
"""Tokens guessed at most: at first, and behind a guess that came whole.

On a CPU a batch is no gift: of a model of 0.6 billion weights one of 4 tokens takes 3.0 times as long
as a single token, one of 8 takes 5.0 times, one of 16 takes 8.7 times (processor time of one core). So
a guess must be nearly sure; 4 and 8 are sizes that the kernels like. With a row of 3 tokens in place of
6, answers in a writer's own words became dearer. `./scripts/bench decode` measures it.
"""


class PromptLookup:
    """The logits behind a growing text, some of them known before they are asked for."""

    def __init__(
        self, cache: KVCache, prompt: TokenizedPrompt, *, guesses: bool, alone: bool = False
    ) -> None:
        self._cache, self._prompt, self._guesses = cache, prompt, guesses
        self._behind: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self._length = GUESS
        self._ahead: list[tuple[int, Row]] = []
        self.first = cache.read(prompt, alone=alone)
        """The logits behind the text as it was given."""
        self._epoch = cache.epoch

    def behind(self, text: Sequence[int], room: int) -> Row:
        """The logits behind a text that has grown by one token; ``room`` more tokens may follow it."""
        if self._ahead and self._ahead[0][0] == text[-1]:
            return self._ahead.pop(0)[1]
        if self._cache.epoch != self._epoch:
            self._ahead = []
            row = self._cache.read(replace(self._prompt, ids=tuple(text)))
            self._epoch = self._cache.epoch
            return row
        if self._ahead:
            self._length = GUESS
        self.take_back()
        guess = self._guess(text)[:room] if self._guesses else []
        self._length = NEXT if guess else GUESS
        rows = self._cache.extend([text[-1], *guess])
        self._ahead = list(zip(guess, rows[1:], strict=True))
        return rows[0]

    def take_back(self) -> None:
        """Forget what was read ahead and did not come."""
        if self._ahead and self._cache.epoch == self._epoch:
            self._cache.take_back(len(self._ahead))
        self._ahead = []

    def _guess(self, text: Sequence[int]) -> Sequence[int]:
        """What followed the last tokens where they stood before; nothing where they never did."""
        for end in range(max(NGRAM_TOKENS, self._indexed), len(text)):
            self._behind[tuple(text[end - NGRAM_TOKENS : end])] = end
        self._indexed = len(text)
        start = self._behind.get(tuple(text[-NGRAM_TOKENS:]))
        return text[start : start + self._length] if start is not None else []
