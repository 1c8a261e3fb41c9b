"""A language model that is not installed, for the questions that are answered without one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeVar

from localcrag.errors import ModelNotInstalled
from localcrag.types import Choice, FinishReason, Prompt, Tokens

T = TypeVar("T")


@dataclass(frozen=True)
class MissingModel:
    """A :class:`~localcrag.protocols.LanguageModel` that raises ``error`` for whatever it is asked.

    The loop treats it as a model that fails: what can be done without it is done.
    """

    error: ModelNotInstalled
    name: str = "no language model"
    context: int = 0
    trained: bool = False
    tokens: Tokens = field(default=Tokens())
    last_finish: FinishReason = FinishReason.STOP

    def count(self, prompt: Prompt) -> int:
        """Raises ModelNotInstalled."""
        self._fail()

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """Raises ModelNotInstalled."""
        self._fail()

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """Raises ModelNotInstalled."""
        self._fail()

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """Raises ModelNotInstalled."""
        self._fail()

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """Raises ModelNotInstalled."""
        self._fail()

    def close(self) -> None:
        """Nothing is open."""

    def _fail(self) -> NoReturn:
        raise ModelNotInstalled(str(self.error), hint=self.error.hint)
