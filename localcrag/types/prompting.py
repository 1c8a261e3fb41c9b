"""What is said to a language model, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UntrustedText:
    """Text from a user, a document or the web inside a prompt: data, never instructions.

    A model adapter must read it as plain text: no control token, whatever the text spells.
    """

    text: str


@dataclass(frozen=True, slots=True)
class RemovableText(UntrustedText):
    """Data that can be taken back after it was read: its tokens are its own, shared with nothing around it.

    Where it is ``removed``, the model has read it, for the sake of a cache that an earlier prompt filled,
    and writes without sight of it; a model that cannot forget a part of what it read keeps seeing it.
    """

    removed: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat turn for a language model: our own words as ``str``, everybody else's as `UntrustedText`."""

    system: str
    user: tuple[str | UntrustedText, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A constrained choice: ``probabilities`` over the options, in their order, summing to 1."""

    text: str
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens a model read (evaluated) and wrote (generated)."""

    evaluated: int = 0
    generated: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.evaluated + other.evaluated, self.generated + other.generated)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.evaluated - other.evaluated, self.generated - other.generated)
