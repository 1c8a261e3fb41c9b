"""A model that evaluates everything in full and then says what it was told to: for llama-cpp-python.

Weights are random, so what a model decides or writes is worth nothing, and where it stops is chance.
It is asked as always; of what it picks, only the name of the token is replaced. Tokens are counted
where llama.cpp is handed them, so what the library finds in its own cache is not counted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from llama_cpp import Llama


class Rehearsal:
    """What goes through every model of this process, from :func:`rehearsing` on."""

    def __init__(self) -> None:
        self.evaluated = 0
        self.generated = 0
        self._script: deque[int] | None = None
        self._begins = False

    @contextmanager
    def says(self, llama: Llama, text: str | None) -> Iterator[None]:
        """Within, the model writes this text and ends; with None it writes its own."""
        if text is not None:
            self._script = deque(llama.tokenize(text.encode(), add_bos=False, special=False))
        try:
            yield
        finally:
            self._script = None

    def begin(self) -> None:
        self._begins = True

    def read(self, count: int) -> None:
        """The first batch of a generation is its prompt; the others bring back what was written."""
        if self._begins:
            self.evaluated += count
        self._begins = False

    def picked(self, llama: Llama, token: int) -> int:
        if self._script is not None:
            token = self._script.popleft() if self._script else llama.token_eos()
        self.generated += token != llama.token_eos()
        return token


def rehearsing() -> Rehearsal:
    """Watch all models of this process."""
    rehearsal = Rehearsal()
    generate, evaluate, sample = Llama.generate, Llama.eval, Llama.sample

    def generating(self: Llama, *arguments: Any, **named: Any) -> Any:
        rehearsal.begin()
        return (yield from generate(self, *arguments, **named))

    def evaluating(self: Llama, tokens: Any) -> None:
        rehearsal.read(len(tokens))
        evaluate(self, tokens)

    def sampling(self: Llama, *arguments: Any, **named: Any) -> int:
        return rehearsal.picked(self, sample(self, *arguments, **named))

    Llama.generate, Llama.eval, Llama.sample = generating, evaluating, sampling  # type: ignore[method-assign]
    return rehearsal
