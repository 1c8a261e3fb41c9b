"""Speculative decoding by prompt lookup: draft tokens are copied from earlier text.

An answer repeats its evidence. If the last few tokens stand earlier in the prompt or the text, the
tokens that followed them there are a good guess at the next ones. These draft tokens are read in one
batch together with the token just written, and those that the model then picks itself need no further
reading (prompt lookup decoding: Saxena 2023, https://github.com/apoorvumang/prompt-lookup-decoding;
speculative decoding: Leviathan et al. 2023, arXiv 2211.17192). The text is the one that would have been
written anyway; only its cost changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
from localcrag.llm.llama_backend import Row

NGRAM_TOKENS = 6
"""The number of last tokens that must stand earlier, in this order, before a draft is made."""
FIRST_GUESS_TOKENS, NEXT_GUESS_TOKENS = 3, 7
"""The most draft tokens: of a first draft, and of one that follows a draft that was accepted whole.

On a CPU a batch is not free: for a model of 0.6 billion weights a batch of 4 tokens takes 3.0 times as
long as a single token, one of 8 takes 5.0 times, one of 16 takes 8.7 times (processor time of one core).
So a draft must be nearly certain; with the written token it makes 4 or 8, sizes that suit the kernels.
With n-grams of 3 tokens in place of 6, answers in a writer's own words became slower.
`./scripts/bench decode` measures it.
"""


class PromptLookup:
    """The logits after a growing text, some of them computed before they are asked for.

    Args:
        cache: the KV cache that the prompt is read into and the text extends.
        prompt: the tokens that the text continues.
        guesses: whether to draft at all; a model that cannot forget the end of a sequence must not.
        alone: whether the cache forgets its forks.
    """

    def __init__(
        self, cache: KVCache, prompt: TokenizedPrompt, *, guesses: bool, alone: bool = False
    ) -> None:
        self._cache, self._prompt, self._guesses = cache, prompt, guesses
        self._ngram_ends: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self._length = FIRST_GUESS_TOKENS
        self._drafted: list[tuple[int, Row]] = []
        self.first_logits = cache.read(prompt, alone=alone)
        """The logits after the prompt, shape (vocabulary,)."""
        self._epoch = cache.epoch

    def next_logits(self, text: Sequence[int], room: int) -> Row:
        """Read a text that has grown by one token, and return the logits after it, shape (vocabulary,).

        ``room`` is the number of tokens that may follow, and so the most that are drafted. If the cache
        has held another prompt since the last call, the whole text is read again.
        """
        if self._drafted and self._drafted[0][0] == text[-1]:
            return self._drafted.pop(0)[1]
        if self._cache.epoch != self._epoch:
            self._drafted = []
            row = self._cache.read(replace(self._prompt, ids=tuple(text)))
            self._epoch = self._cache.epoch
            return row
        if self._drafted:
            self._length = FIRST_GUESS_TOKENS
        self.discard_draft()
        draft = self._draft_tokens(text)[:room] if self._guesses else []
        self._length = NEXT_GUESS_TOKENS if draft else FIRST_GUESS_TOKENS
        rows = self._cache.extend([text[-1], *draft])
        self._drafted = list(zip(draft, rows[1:], strict=True))
        return rows[0]

    def discard_draft(self) -> None:
        """Forget the draft tokens that were read and not accepted."""
        if self._drafted and self._cache.epoch == self._epoch:
            self._cache.take_back(len(self._drafted))
        self._drafted = []

    def _draft_tokens(self, text: Sequence[int]) -> Sequence[int]:
        """The tokens that followed the last ones where these stood before; none if they never did."""
        for end in range(max(NGRAM_TOKENS, self._indexed), len(text)):
            self._ngram_ends[tuple(text[end - NGRAM_TOKENS : end])] = end
        self._indexed = len(text)
        start = self._ngram_ends.get(tuple(text[-NGRAM_TOKENS:]))
        return text[start : start + self._length] if start is not None else []
