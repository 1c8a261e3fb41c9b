"""A language model with a meter: how fast it reads prompts and writes text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter

from localcrag.evaluation.wrapped_model import WrappedModel
from localcrag.types import Choice, Prompt


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
class MeteredModel(WrappedModel):
    """The given language model, whose speed is measured while it is used.

    Reading is measured in constrained choices, which write nothing; writing in streams, from the end of
    their first piece on. ``now`` is the clock, in seconds.
    """

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

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """One constrained choice per prompt, in order. Raises ContextOverflow, ConstraintError."""
        before, started = self.tokens, self.now()
        chosen = self.model.choose(prompts, options)
        self._reading.seconds += self.now() - started
        self._reading.tokens += (self.tokens - before).evaluated
        return chosen

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
