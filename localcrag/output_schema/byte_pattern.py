"""Patterns of a schema as automata over bytes, by Outlines' core: matching takes linear time.

Python's own ``re`` takes exponential time for some patterns, and a schema may come from a client. What
Outlines cannot make an automaton of (look-around, references back) cannot constrain a model either.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from localcrag.errors import ConstraintError, UsageError

MAX_STATES = 4096
"""The most states of an automaton; a text of 1,000 characters in one class has 1,000."""
MAX_PATTERN_CHARACTERS = 2000
_MAX_REPETITION = 1000
_REPETITION = re.compile(r"\{(\d+)?(?:,(\d+)?)?\}")
_CORE_ERRORS = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
_END = 256
"""The token that ends a text; the others are the bytes."""
_END_OF_TEXT = 3
"""The byte that every pattern is compiled with at its end. Without it, outlines_core leaves out a byte that
follows where the text might end; no text may have it itself."""


@dataclass(frozen=True, slots=True)
class BytePattern:
    """A pattern that a whole text must match.

    ``transitions`` are the next states by state and byte, ``final`` the states in which a text may end.
    """

    pattern: str
    initial: int
    final: frozenset[int]
    transitions: Mapping[int, Mapping[int, int]]

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        state: int | None = self.initial
        for byte in text.encode("utf-8", "surrogatepass"):
            state = self.transitions.get(state, {}).get(byte) if state is not None else None
            if state is None:
                return False
        return state in self.final


@lru_cache(maxsize=256)
def byte_pattern(pattern: str) -> BytePattern:
    """The automaton of a pattern. Raises UsageError if none can be made, or it is too large."""
    bare = pattern.removeprefix("^")
    bare = bare[:-1] if bare.endswith("$") and not bare.endswith("\\$") else bare
    _require_small(pattern, bare)
    try:
        found = automaton(bare)
    except ConstraintError as error:
        raise UsageError(
            f"the pattern {pattern!r} cannot constrain an answer: {error}",
            hint="use plain classes, groups, alternatives and repetitions, without look-around",
        ) from error
    if len(found.transitions) > MAX_STATES:
        raise _too_large(pattern)
    return replace(found, pattern=pattern)


def automaton(pattern: str) -> BytePattern:
    """The automaton of a pattern that may be of any size. Raises ConstraintError if none can be made."""
    import outlines_core.outlines_core as core  # type: ignore[import-not-found]

    vocabulary = core.Vocabulary(_END, {bytes([byte]): [byte] for byte in range(256)})
    try:
        index = core.Index(f"(?:{pattern}){chr(_END_OF_TEXT)}", vocabulary)
    except _CORE_ERRORS as error:
        raise ConstraintError(_first_line(error)) from error
    bytes_only = {
        state: {byte: to for byte, to in row.items() if byte != _END}
        for state, row in index.get_transitions().items()
    }
    final = frozenset(state for state, row in bytes_only.items() if row.pop(_END_OF_TEXT, None) is not None)
    return BytePattern(pattern, index.get_initial_state(), final, bytes_only)


def _require_small(pattern: str, bare: str) -> None:
    """Refuse a pattern whose automaton would take long to make, before it is made."""
    product = 1
    for low, high in _REPETITION.findall(bare):
        product *= max(1, int(high or low or 1))
    if len(bare) > MAX_PATTERN_CHARACTERS or product > _MAX_REPETITION:
        raise _too_large(pattern)


def _too_large(pattern: str) -> UsageError:
    return UsageError(
        f"the pattern {pattern[:60]!r} is too large to constrain an answer",
        hint="use + or * in place of large counts, and say the length by maxLength",
    )


def _first_line(error: Exception) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
