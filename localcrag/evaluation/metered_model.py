"""A language model with a meter: how fast it reads prompts and writes text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from localcrag.protocols import LanguageModel
from localcrag.types import Choice, FinishReason, Prompt, Tokens

T = TypeVar("T")


@dataclass(slots=True)
class _Meter:
    """Tokens, and the seconds they took."""

    tokens: int = 0
    seconds: float = 0.0

    @property
    def per_second(self) -> float | None:
        """Tokens per second; None if nothing was measured."""
        return self.tokens / self.seconds if self.tokens and self.seconds > 0 else None


@dataclass(slots=True)
class MeteredModel:
    """The given :class:`~localcrag.protocols.LanguageModel`, whose speed is measured while it is used.

    Reading is measured in constrained choices, which write nothing; writing in streams, from the end of
    their first piece on. ``now`` is the clock, in seconds.
    """

    model: LanguageModel
    now: Callable[[], float] = perf_counter
    _reading: _Meter = field(default_factory=_Meter)
    _writing: _Meter = field(default_factory=_Meter)

    @property
    def read_per_second(self) -> float | None:
        """Tokens of prompts read per second; None if nothing was measured."""
        return self._reading.per_second

    @property
    def written_per_second(self) -> float | None:
        """Tokens written per second; None if nothing was measured."""
        return self._writing.per_second

    @property
    def name(self) -> str:
        """The name of the given model."""
        return self.model.name

    @property
    def context(self) -> int:
        """The size of the given model's context window in tokens."""
        return self.model.context

    @property
    def tokens(self) -> Tokens:
        """The tokens that the given model has read and written."""
        return self.model.tokens

    @property
    def last_finish(self) -> FinishReason:
        """The reason why the last stream ended."""
        return self.model.last_finish

    def count(self, prompt: Prompt) -> int:
        """The number of tokens of the prompt, with the chat template."""
        return self.model.count(prompt)

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """One constrained choice per prompt, in order. Raises ContextOverflow, ConstraintError."""
        before, started = self.tokens, self.now()
        chosen = self.model.choose(prompts, options)
        self._reading.seconds += self.now() - started
        self._reading.tokens += (self.tokens - before).evaluated
        return chosen

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """One non-empty line of text. Raises ConstraintError, ContextOverflow."""
        return self.model.line(prompt, max_tokens=max_tokens)

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """An instance of the dataclass ``schema``. Raises ConstraintError, ContextOverflow."""
        return self.model.object(prompt, schema, max_tokens=max_tokens)

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """The reply to a prompt, in pieces. Raises ConstraintError, ContextOverflow."""
        pieces = self.model.stream(prompt, pattern=pattern, max_tokens=max_tokens)
        for first in pieces:
            yield first
            break
        before, started = self.tokens, self.now()
        yield from pieces
        self._writing.seconds += self.now() - started
        self._writing.tokens += (self.tokens - before).generated

    def close(self) -> None:
        """Close the given model."""
        self.model.close()
