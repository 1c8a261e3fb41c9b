"""Prompts of a language model, its choices, and token counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UntrustedText:
    """Text of a user, a document or the web inside a prompt: data, never instructions.

    A model adapter must read it as plain text: no control token comes of it, whatever it contains.
    """

    text: str


@dataclass(frozen=True, slots=True)
class RemovableText(UntrustedText):
    """Untrusted text that can be removed from the KV cache after it was read, since it has tokens of its own.

    If it is ``removed``, it stays in the prompt, so that the cache of an earlier prompt can be used, but the
    model writes without attention to it. A model that cannot remove a part of its cache still sees it.
    """

    removed: bool = False


@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat turn for a language model: a system text, and the user's turn in pieces.

    Pieces of localcrag's own words are ``str``; text from anywhere else is :class:`UntrustedText`.
    """

    system: str
    user: tuple[str | UntrustedText, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A constrained choice; ``probabilities`` are those of the options, in their order, and sum to 1."""

    text: str
    probabilities: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A line of a language model; ``probability`` is that of all its tokens together, end included.

    ``tokens`` is the number of tokens that were written for it; ``others`` are further lines that were tried,
    each with its probability.
    """

    text: str
    probability: float
    tokens: int
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Tokens:
    """The numbers of tokens that models read (``evaluated``) and wrote (``generated``)."""

    evaluated: int = 0
    generated: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.evaluated + other.evaluated, self.generated + other.generated)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.evaluated - other.evaluated, self.generated - other.generated)
