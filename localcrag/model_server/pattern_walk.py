"""Does a reply hold its pattern? Decided byte by byte while it comes, in linear time.

A server may say that it decodes under a constraint, and not do so. The pattern is compiled as an automaton
over bytes by Outlines' core, and a text that leaves it is refused at the byte that leaves it.
"""

from __future__ import annotations

from functools import lru_cache

from localcrag.errors import ConstraintError
from localcrag.output_schema.byte_pattern import BytePattern, automaton
from localcrag.types import FinishReason

_USE_ANOTHER = "restart the server; if it comes back, use another server or another model"


class PatternWalk:
    """Collects the text of a reply, and releases as much of it as matches as a whole.

    A space that the reply begins with is dropped, since many vocabularies spell the first word with one.

    Args:
        pattern: the regular expression that the whole text must match; None for any text.

    Attributes:
        released: all of the text that was released.
    """

    def __init__(self, pattern: str | None) -> None:
        self._automaton = _compiled(pattern) if pattern is not None else None
        self._state = self._automaton.initial if self._automaton else 0
        self._begun = False
        self._waiting = ""
        self._whole = 0
        self.released = ""

    def add(self, text: str) -> str:
        """Add a piece of the reply; returns what may be shown now, which may be "".

        Raises ConstraintError if the text has left the pattern.
        """
        if not self._begun and text:
            self._begun, text = True, text.removeprefix(" ")
        for character in text:
            self._step(character)
            self._waiting += character
            if self._automaton is None or self._state in self._automaton.final:
                self._whole = len(self._waiting)
        ready, self._waiting, self._whole = self._waiting[: self._whole], self._waiting[self._whole :], 0
        self.released += ready
        return ready

    def finish(self, tokens: int, finish: FinishReason) -> None:
        """Raise ConstraintError unless the text matches, or was cut off behind a part that does.

        ``tokens`` and ``finish`` say how much was written, and why it ended.
        """
        if self._automaton is None:
            return
        if self._waiting and finish is FinishReason.STOP:
            raise ConstraintError(
                "the model server ended a text in the middle of its constraint", hint=_USE_ANOTHER
            )
        if not self.released and self._automaton.initial not in self._automaton.final:
            raise ConstraintError(
                f"The text does not hold its constraint after {tokens} tokens (end: {finish}).",
                hint="Allow more tokens, or use another model.",
            )

    def _step(self, character: str) -> None:
        """Move on by one character. Raises ConstraintError."""
        if self._automaton is None:
            return
        for byte in character.encode():
            state = self._automaton.transitions.get(self._state, {}).get(byte)
            if state is None:
                raise ConstraintError(
                    "the model server wrote what its constraint does not allow", hint=_USE_ANOTHER
                )
            self._state = state


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> BytePattern:
    """The automaton of a pattern. Raises ConstraintError."""
    return automaton(pattern)
