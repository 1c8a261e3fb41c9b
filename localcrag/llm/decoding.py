"""Text from a model, token by token: under a constraint, in whole characters, and with an end.

A piece of text leaves only when it is made of whole characters and, under a constraint, when the
text so far matches the pattern; so a text that is cut off still holds its constraint.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Generator, Iterator, Sequence

import numpy as np

from localcrag.errors import ConstraintError
from localcrag.llm.constraints import Constraint, Mask
from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
from localcrag.llm.llama_backend import Model, Row
from localcrag.llm.speculative import PromptLookup
from localcrag.types import FinishReason

_LONGEST_CYCLE = 64  # tokens
_SHORTEST_LOOP = 24  # tokens, and three rounds at least


class Sampler:
    """Picks a token of those allowed: the likeliest, or at random by ``temperature``."""

    def __init__(self, temperature: float, seed: int) -> None:
        self._temperature = temperature
        self._random = np.random.default_rng(seed)

    def pick(self, row: Row, allowed: Mask) -> int:
        """Raises ConstraintError where the model's logits are no numbers."""
        logits = np.where(allowed, row, -np.inf)
        best = int(np.argmax(logits))
        if not math.isfinite(logits[best]):
            raise ConstraintError("The model gave logits that are no numbers.")
        if self._temperature <= 0:
            return best
        weights = np.exp((logits - logits[best]).astype(np.float64) / self._temperature)
        return int(self._random.choice(len(weights), p=weights / weights.sum()))


class Decoder:
    """One text in the making. ``finish`` says afterwards how it ended, ``generated`` its tokens."""

    def __init__(
        self, cache: KVCache, model: Model, constraint: Constraint | None, writable: Mask, sampler: Sampler
    ) -> None:
        self._cache, self._model, self._sampler = cache, model, sampler
        self._constraint, self._writable = constraint, writable
        self.finish: FinishReason = FinishReason.STOP
        self.generated = 0

    def decode(self, prompt: TokenizedPrompt, *, max_tokens: int, one_line: bool = False) -> Generator[str]:
        """The text piece by piece; with ``one_line`` a line break the model wants ends it.

        Before a text of more than a line, all is forgotten that other prompts left in the cache.

        Raises ConstraintError where the whole does not match after all, or nothing matches.
        """
        text = _Text()
        for piece, whole in self._pieces(prompt, max_tokens, one_line):
            if released := text.add(piece, whole=whole):
                yield released
        if self._constraint and (rest := text.rest(self._constraint)):
            yield rest
        if self._constraint and not (text.released and self._constraint.holds(text.released)):
            raise ConstraintError(
                f"The text does not hold its constraint after {self.generated} tokens (end: {self.finish}).",
                hint="Allow more tokens, or use another model.",
            )

    def _pieces(
        self, prompt: TokenizedPrompt, max_tokens: int, one_line: bool
    ) -> Iterator[tuple[bytes, bool]]:
        walk = self._constraint.begin() if self._constraint else None
        ids, start = list(prompt.ids), len(prompt.ids)
        guesses = not self._model.forgets_only_whole
        ahead = PromptLookup(self._cache, prompt, guesses=guesses, alone=not one_line)
        row = ahead.first
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
                row = ahead.behind(ids, min(max_tokens - self.generated, self._cache.size - len(ids)))
        finally:
            ahead.take_back()

    def _breaks_line(self, row: Row) -> bool:
        """Would the model, left alone, end the line here?"""
        token = int(np.argmax(np.where(self._writable, row, -np.inf)))
        return token in self._model.endings or self._model.piece(token).lstrip(b" \t")[:1] in (b"\n", b"\r")

    def _ended(self, ids: Sequence[int], start: int, max_tokens: int) -> FinishReason | None:
        if self.generated >= max_tokens:
            return FinishReason.LENGTH
        if len(ids) >= self._cache.size:
            return FinishReason.CONTEXT
        return FinishReason.REPEAT if loops(ids[start:]) else None


class _Text:
    """Bytes on their way to become text."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
        self._waiting = ""
        self._begun = False
        self.released = ""

    def add(self, piece: bytes, *, whole: bool) -> str:
        """What may leave now; the space that begins a reply is dropped."""
        self._waiting += self._decoder.decode(piece)
        if not self._begun and self._waiting:
            self._begun = True
            self._waiting = self._waiting.removeprefix(" ")
        if not whole or self._decoder.getstate()[0]:
            return ""
        return self._release(len(self._waiting))

    def rest(self, constraint: Constraint) -> str:
        """At the end: as much of what still waits as makes the whole match."""
        return self._release(constraint.matching(self.released + self._waiting) - len(self.released))

    def _release(self, length: int) -> str:
        if length <= 0:
            return ""
        ready, self._waiting = self._waiting[:length], self._waiting[length:]
        self.released += ready
        return ready


def loops(tokens: Sequence[int]) -> bool:
    """Do the last tokens go round in a cycle, at least three times and 24 tokens long?"""
    for period in range(1, _LONGEST_CYCLE + 1):
        length = period * max(3, math.ceil(_SHORTEST_LOOP / period))
        if length > len(tokens):
            continue
        tail = list(tokens[-length:])
        if tail[period:] == tail[:-period]:
            return True
    return False
