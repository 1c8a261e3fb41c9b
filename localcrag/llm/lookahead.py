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

from localcrag.llm.cells import Cells
from localcrag.llm.reading import Reading
from localcrag.llm.runtime import Row

GUESSES = {3: 5, 2: 3}
"""Tokens guessed where so many in a row stood together before; the longest row that did counts."""
GROWTH = 4
"""How many times as long the next guess is where a whole guess came."""
LONGEST = 15
"""Tokens guessed at most: with the one just written a batch of 16.

Measured, on two cores and models of 0.6 and 1.7 billion weights: a batch of 4 tokens costs 1.4
times one of a single token, one of 16 tokens 2.4 times. So a short guess pays where every third
comes, and a long one only behind a guess that did. `./scripts/bench decode` measures it.
"""


class Lookahead:
    """The logits behind a growing text, some of them known before they are asked for."""

    def __init__(self, cells: Cells, prompt: Reading, *, guesses: bool) -> None:
        self._cells, self._prompt, self._guesses = cells, prompt, guesses
        self._behind: dict[tuple[int, ...], int] = {}
        self._indexed = 0
        self._sure = 0
        self._ahead: list[tuple[int, Row]] = []
        self.first = cells.read(prompt)
        """The logits behind the text as it was given."""
        self._epoch = cells.epoch

    def behind(self, text: Sequence[int], room: int) -> Row:
        """The logits behind a text that has grown by one token; ``room`` more tokens may follow it."""
        if self._ahead and self._ahead[0][0] == text[-1]:
            return self._ahead.pop(0)[1]
        if self._cells.epoch != self._epoch:
            self._ahead = []
            row = self._cells.read(replace(self._prompt, ids=tuple(text)))
            self._epoch = self._cells.epoch
            return row
        if self._ahead:
            self._sure = 0
        self.take_back()
        guess = self._guess(text)[:room] if self._guesses else []
        self._sure = GROWTH * len(guess)
        rows = self._cells.extend([text[-1], *guess])
        self._ahead = list(zip(guess, rows[1:], strict=True))
        return rows[0]

    def take_back(self) -> None:
        """Forget what was read ahead and did not come."""
        if self._ahead and self._cells.epoch == self._epoch:
            self._cells.take_back(len(self._ahead))
        self._ahead = []

    def _guess(self, text: Sequence[int]) -> Sequence[int]:
        """What followed the last tokens where they stood before; nothing where they never did."""
        for end in range(self._indexed, len(text)):
            for size in GUESSES:
                if end >= size:
                    self._behind[tuple(text[end - size : end])] = end
        self._indexed = len(text)
        for size, length in GUESSES.items():
            if start := self._behind.get(tuple(text[-size:])):
                return text[start : start + min(LONGEST, max(length, self._sure))]
        return []
