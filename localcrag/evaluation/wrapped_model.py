"""A language model that passes everything on to another: the base of those that count or measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from localcrag.protocols import LanguageModel
from localcrag.types import Choice, FinishReason, Prompt, Tokens

T = TypeVar("T")


@dataclass(slots=True)
class WrappedModel:
    """A :class:`~localcrag.protocols.LanguageModel` that does what the given one does."""

    model: LanguageModel

    @property
    def name(self) -> str:
        """The name of the given model."""
        return self.model.name

    @property
    def context(self) -> int:
        """The size of the given model's context window in tokens."""
        return self.model.context

    @property
    def trained(self) -> bool:
        """Whether the given model was trained on the prompts."""
        return self.model.trained

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
        return self.model.choose(prompts, options)

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """One non-empty line of text. Raises ConstraintError, ContextOverflow."""
        return self.model.line(prompt, max_tokens=max_tokens)

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """An instance of the dataclass ``schema``. Raises ConstraintError, ContextOverflow."""
        return self.model.object(prompt, schema, max_tokens=max_tokens)

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """The reply to a prompt, in pieces. Raises ConstraintError, ContextOverflow."""
        return self.model.stream(prompt, pattern=pattern, max_tokens=max_tokens)

    def close(self) -> None:
        """Close the given model."""
        self.model.close()
