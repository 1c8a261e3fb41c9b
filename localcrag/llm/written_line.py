"""One line under a pattern that is used once, and the probability that the model gives it.

A pattern that is compiled for a whole vocabulary (:mod:`.constraints`) takes a second or more, which pays if
it is used again. Here only the tokens that the model finds likeliest are checked, the likeliest first, by
whether the text with them can still become one that matches. That is what the partial matches of the library
``regex`` tell, which Python's own ``re`` does not have.
"""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import regex

from localcrag.errors import ConstraintError
from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
from localcrag.llm.llama_backend import Row
from localcrag.llm.llama_model import Model
from localcrag.llm.speculative import PromptLookup
from localcrag.types import WrittenLine

_TRIED_FIRST = 32
"""How many of the likeliest tokens are put in order before all others."""
_LAST_ASCII = 127
MAX_LINES = 3
"""The most lines that are written to find the likeliest one."""
_NO_NUMBERS = "The model gave logits that are no numbers."
_CLEAR, _LEAST = 0.8, 0.02
"""The probability of a token from which on none beside it is looked at, and the least of one beside it."""
_NEGLIGIBLE = 0.02
"""The share of the probability of the likeliest line below which another one is given up."""


@dataclass(frozen=True, slots=True)
class _Begun:
    """A line that is begun: its tokens, what they spell, and the logarithm of their probability.

    ``is_whole`` says that it is at its end.
    """

    tokens: tuple[int, ...] = ()
    raw: bytes = b""
    likelihood: float = 0.0
    is_whole: bool = False


class LineWriter:
    """Writes the likeliest text that matches a pattern, as far as a few tries find it.

    The first takes the likeliest token that can lead to a match each time. Where a token beside it makes a
    beginning that is likelier than the whole line, that may lead to a likelier line: such beginnings are
    completed in the same way, the likeliest first. None is completed that is less likely than ``least``, or
    adds hardly anything to the likeliest one: a line that the pattern forces on a model runs on and on.

    The probability is the product of those of its tokens among all of the vocabulary: what the model would
    write of its own accord has a high one, what the pattern forced it to a low one.

    Args:
        cache: the KV cache that the prompt is read into.
        model: the model that writes.
        prompt: the tokens that the line continues.
        pattern: the regular expression that the line matches.
        max_tokens: the most tokens of a line.
        least: the probability below which no line is of use.
    """

    def __init__(
        self,
        cache: KVCache,
        model: Model,
        prompt: TokenizedPrompt,
        pattern: str,
        max_tokens: int,
        least: float = 0.0,
    ) -> None:
        self._cache, self._model, self._prompt = cache, model, prompt
        self._line, self._max_tokens = _Line(pattern), max_tokens
        self._floor = math.log(least) if least else -math.inf
        self._unwritable = frozenset(model.unwritable) - frozenset(model.endings)
        self._beside: list[_Begun] = [_Begun()]
        self.generated = 0
        """The number of tokens written so far, those of lines that were given up included."""

    def written(self) -> WrittenLine:
        """The likeliest line, with the others that were tried.

        Raises ConstraintError if none matches after the most tokens, no token can go on, or all of them are
        less likely than they need to be.
        """
        written, failures = list[_Begun](), list[ConstraintError]()
        for _ in range(MAX_LINES):
            best = max((each.likelihood for each in written), default=self._floor)
            begun = max(self._beside, key=lambda each: each.likelihood, default=None)
            if begun is None or begun.likelihood <= best:
                break
            self._beside.remove(begun)
            try:
                written.append(self._completed(begun, max(self._floor, best + math.log(_NEGLIGIBLE))))
            except ConstraintError as error:
                failures.append(error)
        if not written:
            raise failures[0]
        likeliest, *others = sorted(written, key=lambda each: -each.likelihood)
        told = tuple((each.raw.decode(), math.exp(each.likelihood)) for each in others)
        return WrittenLine(likeliest.raw.decode(), math.exp(likeliest.likelihood), self.generated, told)

    def _completed(self, begun: _Begun, least: float) -> _Begun:
        """A line to its end, each token the likeliest that can lead to a match.

        Raises ConstraintError, also if the logarithm of its probability falls below ``least``.
        """
        if begun.is_whole:
            return begun
        prompt = replace(self._prompt, ids=(*self._prompt.ids, *begun.tokens))
        lookup = PromptLookup(self._cache, prompt, guesses=not self._model.forgets_only_whole, alone=True)
        row, ids = lookup.first_logits, list(prompt.ids)
        try:
            for generated in range(len(begun.tokens), self._max_tokens + 1):
                token, begun = self._next(row, begun)
                if begun.likelihood < least:
                    raise ConstraintError("No line that matches the pattern is likely enough.")
                if token in self._model.endings:
                    return begun
                self.generated += 1
                ids.append(token)
                room = min(self._max_tokens - generated, self._cache.size - len(ids))
                row = lookup.next_logits(ids, room)
        finally:
            lookup.discard_draft()
        raise ConstraintError(f"The line is not at its end after {self._max_tokens} tokens.")

    def _next(self, row: Row, begun: _Begun) -> tuple[int, _Begun]:
        """The likeliest token that may follow, and the line with it; an end if it matches.

        The second likeliest is kept beside it, if it is not much less so.
        """
        total = _log_total(row)
        allowed = self._allowed(row, total, begun)
        token = next(allowed, None)
        if token is None:
            raise ConstraintError("The pattern allows no token of this vocabulary here.")
        line = self._with(begun, token, float(row[token]) - total)
        if line.likelihood - begun.likelihood < math.log(_CLEAR):
            other = next(allowed, None)
            if other is not None:
                self._beside.append(self._with(begun, other, float(row[other]) - total))
        return token, line

    def _with(self, begun: _Begun, token: int, log_probability: float) -> _Begun:
        if not math.isfinite(log_probability):
            raise ConstraintError(_NO_NUMBERS)
        likelihood = begun.likelihood + log_probability
        if token in self._model.endings:
            return replace(begun, likelihood=likelihood, is_whole=True)
        return _Begun((*begun.tokens, token), begun.raw + self._model.piece(token), likelihood)

    def _allowed(self, row: Row, total: float, begun: _Begun) -> Iterator[int]:
        """The tokens that may follow, the likeliest first; after the first only those with a chance."""
        model, found = self._model, False
        for token in self._likeliest(row, begun.raw):
            if found and float(row[token]) - total < math.log(_LEAST):
                return
            if token in model.endings:
                may_follow = self._line.is_whole(begun.raw)
            else:
                piece = b"" if token in self._unwritable else model.piece(token)
                may_follow = bool(piece) and self._line.may_become(begun.raw + piece)
            if may_follow:
                found = True
                yield token

    def _likeliest(self, row: Row, raw: bytes) -> Iterator[int]:
        """The tokens, the likeliest first; behind the first ones only those that begin as the line may go on.

        Where a pattern forces on a model what it would not write, those are few of a vocabulary of 256,000.
        """
        first = np.argpartition(row, -_TRIED_FIRST)[-_TRIED_FIRST:]
        yield from map(int, first[np.argsort(-row[first])])
        goes_on = [byte > _LAST_ASCII or self._line.may_become(raw + bytes([byte])) for byte in range(256)]
        begins = np.array([*goes_on, False])  # the last one is that of tokens which are no text, -1
        others = np.union1d(np.flatnonzero(begins[self._model.first_bytes]), self._model.endings).astype(int)
        others = np.setdiff1d(others, first)
        yield from map(int, others[np.argsort(-row[others])])


class _Line:
    """The pattern of a line, and whether some bytes can still become one that matches."""

    def __init__(self, pattern: str) -> None:
        self._pattern = regex.compile(pattern)
        self._characters = {c.encode(): c for c in pattern if not c.isascii()}

    def is_whole(self, raw: bytes) -> bool:
        """Whether the bytes are a line that matches."""
        text, rest = _decoded(raw)
        return not rest and self._pattern.fullmatch(text) is not None

    def may_become(self, raw: bytes) -> bool:
        """Whether more bytes may make a line that matches of them.

        A character that is begun must be one of those of the pattern.
        """
        text, rest = _decoded(raw)
        begun = [c for spelled, c in self._characters.items() if spelled.startswith(rest)] if rest else [""]
        return any(self._pattern.fullmatch(text + each, partial=True) for each in begun)


def _decoded(raw: bytes) -> tuple[str, bytes]:
    """The whole characters of some bytes, and the bytes of one that is begun."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return decoder.decode(raw), decoder.getstate()[0]


def _log_total(row: Row) -> float:
    """The logarithm of the sum over all tokens. Raises ConstraintError if the logits are no numbers."""
    highest = float(row.max())
    total = highest + math.log(float(np.exp((row - highest).astype(np.float64)).sum()))
    if not math.isfinite(total):
        raise ConstraintError(_NO_NUMBERS)
    return total
