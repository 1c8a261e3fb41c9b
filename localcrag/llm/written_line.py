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

import numpy as np
import regex

from localcrag.errors import ConstraintError
from localcrag.llm.kv_cache import KVCache, TokenizedPrompt
from localcrag.llm.llama_backend import Model, Row
from localcrag.llm.speculative import PromptLookup
from localcrag.types import WrittenLine

_TRIED_FIRST = 32
"""How many of the likeliest tokens are put in order before all others."""


def write_line(
    cache: KVCache, model: Model, prompt: TokenizedPrompt, pattern: str, max_tokens: int
) -> WrittenLine:
    """Write the text that matches a pattern, each token the likeliest that can lead to a match.

    The probability is the product of those of its tokens among all of the vocabulary: what the model would
    write of its own accord has a high one, what the pattern forced it to a low one.

    Raises ConstraintError if it does not match after ``max_tokens``, or no token can go on.
    """
    line = _Line(pattern)
    unwritable = frozenset(model.unwritable) - frozenset(model.endings)
    lookup = PromptLookup(cache, prompt, guesses=not model.forgets_only_whole, alone=True)
    row, ids, raw, likelihood = lookup.first_logits, list(prompt.ids), b"", 0.0
    try:
        for generated in range(max_tokens + 1):
            token = _next(row, model, line, raw, unwritable)
            likelihood += _log_probability(row, token)
            if token in model.endings:
                return WrittenLine(raw.decode(), math.exp(likelihood), generated)
            raw += model.piece(token)
            ids.append(token)
            row = lookup.next_logits(ids, min(max_tokens - generated, cache.size - len(ids)))
    finally:
        lookup.discard_draft()
    raise ConstraintError(f"The line is not at its end after {max_tokens} tokens.")


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


def _next(row: Row, model: Model, line: _Line, raw: bytes, unwritable: frozenset[int]) -> int:
    """The likeliest token that may follow; one that ends the text if it matches."""
    for token in _likeliest(row):
        if token in model.endings:
            if line.is_whole(raw):
                return token
        elif token not in unwritable and (piece := model.piece(token)) and line.may_become(raw + piece):
            return token
    raise ConstraintError("The pattern allows no token of this vocabulary here.")


def _likeliest(row: Row) -> Iterator[int]:
    """The tokens, the likeliest first."""
    first = np.argpartition(row, -_TRIED_FIRST)[-_TRIED_FIRST:]
    yield from map(int, first[np.argsort(-row[first])])
    known = set(map(int, first))
    yield from (token for token in map(int, np.argsort(-row)) if token not in known)


def _decoded(raw: bytes) -> tuple[str, bytes]:
    """The whole characters of some bytes, and the bytes of one that is begun."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    return decoder.decode(raw), decoder.getstate()[0]


def _log_probability(row: Row, token: int) -> float:
    """The logarithm of a token's probability. Raises ConstraintError if the logits are no numbers."""
    highest = float(row.max())
    found = float(row[token]) - highest - math.log(float(np.exp((row - highest).astype(np.float64)).sum()))
    if not math.isfinite(found):
        raise ConstraintError("The model gave logits that are no numbers.")
    return found
