"""Decoding: text from a model, token by token, under a constraint if one is given.

A piece of text is released only if it consists of whole characters and, under a constraint, the text so
far matches the pattern. So a text that is cut off still matches.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Generator, Iterator, Sequence
from functools import cached_property

import numpy as np

from localcrag.errors import ConstraintError
from localcrag.llm.constraints import Constraint, Mask
from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
from localcrag.llm.llama_backend import Row
from localcrag.llm.llama_model import Model
from localcrag.llm.speculative import PromptLookup
from localcrag.types import FinishReason

_MAX_CYCLE_TOKENS = 64
_MIN_LOOP_TOKENS, _MIN_LOOP_ROUNDS = 24, 3
"""A text ends as a repetition once it closes with at least so many tokens of a cycle, and so many rounds."""


class Sampler:
    """Picks one of the allowed tokens: the likeliest, or a random one if ``temperature`` is above 0.

    Args:
        temperature: divides the logits before the softmax; 0 for the likeliest token.
        seed: the seed of the random numbers.
    """

    def __init__(self, temperature: float, seed: int) -> None:
        self._temperature, self._seed = temperature, seed

    @cached_property
    def _random(self) -> np.random.Generator:
        """The random numbers, which NumPy imports on first use."""
        return np.random.default_rng(self._seed)

    def pick(self, row: Row, allowed: Mask) -> int:
        """The picked token, by the logits ``row`` and the mask ``allowed``, both of shape (vocabulary,).

        Raises ConstraintError if the logits of the allowed tokens are not finite.
        """
        logits = np.where(allowed, row, -np.inf)
        best = int(np.argmax(logits))
        if not math.isfinite(logits[best]):
            raise ConstraintError("The model gave logits that are no numbers.")
        if self._temperature <= 0:
            return best
        weights = np.exp((logits - logits[best]).astype(np.float64) / self._temperature)
        return int(self._random.choice(len(weights), p=weights / weights.sum()))


class Decoder:
    """Decodes one text.

    Args:
        cache: the KV cache that is read and extended.
        model: the loaded model.
        constraint: the pattern that the text must match, or None.
        writable: the mask of free text, of shape (vocabulary,).
        sampler: picks the tokens.

    Attributes:
        finish: how the text ended, once it has.
        generated: the number of tokens written so far.
    """

    def __init__(
        self, cache: KVCache, model: Model, constraint: Constraint | None, writable: Mask, sampler: Sampler
    ) -> None:
        self._cache, self._model, self._sampler = cache, model, sampler
        self._constraint, self._writable = constraint, writable
        self.finish: FinishReason = FinishReason.STOP
        self.generated = 0

    def decode(self, prompt: TokenizedPrompt, *, max_tokens: int, one_line: bool = False) -> Generator[str]:
        """Yield the text piece by piece.

        Args:
            prompt: the prompt's tokens.
            max_tokens: the most tokens to write.
            one_line: whether to end as soon as the model would break the line and the text matches.
                If not, the cache forgets its forks before the text begins.

        Raises ConstraintError if the text, or so much of it as was released, does not match.
        """
        text = _TextBuffer()
        for piece, whole in self._pieces(prompt, max_tokens, one_line):
            if released := text.add(piece, whole=whole):
                yield released
        if self._constraint and (rest := text.release_rest(self._constraint)):
            yield rest
        if self._constraint and not (text.released and self._constraint.holds(text.released)):
            raise ConstraintError(
                f"The text does not hold its constraint after {self.generated} tokens (end: {self.finish}).",
                hint="Allow more tokens, or use another model.",
            )

    def _pieces(
        self, prompt: TokenizedPrompt, max_tokens: int, one_line: bool
    ) -> Iterator[tuple[bytes, bool]]:
        """Yield the bytes of each token, and whether the text may be released up to its end."""
        walk = self._constraint.begin() if self._constraint else None
        ids, start = list(prompt.ids), len(prompt.ids)
        guesses = not self._model.forgets_only_whole
        lookup = PromptLookup(self._cache, prompt, guesses=guesses, alone=not one_line)
        row = lookup.first_logits
        try:
            while True:
                allowed = walk.allowed() if walk else self._writable
                token = self._sampler.pick(row, allowed)
                if token in self._model.endings or (
                    one_line and walk and walk.finished and self._breaks_line(row)
                ):
                    self.finish = FinishReason.STOP
                    return
                ids.append(token)
                self.generated += 1
                if walk:
                    walk.advance(token)
                yield self._model.piece(token), walk is None or walk.finished
                if ended := self._ended(ids, start, max_tokens):
                    self.finish = ended
                    return
                row = lookup.next_logits(ids, min(max_tokens - self.generated, self._cache.size - len(ids)))
        finally:
            lookup.discard_draft()

    def _breaks_line(self, row: Row) -> bool:
        """Whether the model would end the line or the text here if no constraint held it."""
        token = int(np.argmax(np.where(self._writable, row, -np.inf)))
        return token in self._model.endings or self._model.piece(token).lstrip(b" \t")[:1] in (b"\n", b"\r")

    def _ended(self, ids: Sequence[int], start: int, max_tokens: int) -> FinishReason | None:
        """The reason to stop after these ids, of which the text begins at ``start``; None to go on."""
        if self.generated >= max_tokens:
            return FinishReason.LENGTH
        if len(ids) >= self._cache.size:
            return FinishReason.CONTEXT
        return FinishReason.REPEAT if is_looping(ids[start:]) else None


class _TextBuffer:
    """Collects the bytes of tokens, and releases them as text; ``released`` is all of it so far."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._waiting = ""
        self._begun = False
        self.released = ""

    def add(self, piece: bytes, *, whole: bool) -> str:
        """Add a token's bytes and return the text that is released, which may be "".

        ``whole`` says that the text so far matches. A space at the beginning of the reply is dropped.
        """
        self._waiting += self._decoder.decode(piece)
        if not self._begun and self._waiting:
            self._begun = True
            self._waiting = self._waiting.removeprefix(" ")
        if not whole or self._decoder.getstate()[0]:
            return ""
        return self._release(len(self._waiting))

    def release_rest(self, constraint: Constraint) -> str:
        """Release, at the end, as much of the waiting text as lets the whole text match."""
        return self._release(constraint.matching(self.released + self._waiting) - len(self.released))

    def _release(self, length: int) -> str:
        """Release so many of the waiting characters."""
        if length <= 0:
            return ""
        ready, self._waiting = self._waiting[:length], self._waiting[length:]
        self.released += ready
        return ready


def is_looping(tokens: Sequence[int]) -> bool:
    """Whether the last tokens repeat a cycle, at least three times and for at least 24 tokens."""
    for period in range(1, _MAX_CYCLE_TOKENS + 1):
        length = period * max(_MIN_LOOP_ROUNDS, math.ceil(_MIN_LOOP_TOKENS / period))
        if length > len(tokens):
            continue
        tail = list(tokens[-length:])
        if tail[period:] == tail[:-period]:
            return True
    return False
