"""A streamed reply of a model server, checked as its pieces come."""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.llm.decoding import is_looping
from localcrag.model_server.chat_replies import TokenUsage, chat_piece
from localcrag.model_server.pattern_walk import PatternWalk
from localcrag.types import FinishReason


@dataclass
class StreamedText:
    """A streamed reply while it comes: its walk, the most tokens, and what is known of its end."""

    walk: PatternWalk
    room: int
    tokens: int = 0
    finish: FinishReason | None = None
    usage: TokenUsage | None = None

    def __post_init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._written: list[int] = []

    @property
    def cut_off(self) -> bool:
        """Whether the text is ended here, and not by the server."""
        return self.finish is FinishReason.REPEAT or (self.finish is None and self.tokens > self.room)

    def add(self, event: bytes) -> str:
        """Add an event of the stream; returns the text that may be shown. Raises ConstraintError."""
        piece = chat_piece(event)
        self.usage = piece.usage or self.usage
        ready = ""
        if piece.text:
            self.tokens += 1
            self._written.append(self._numbers.setdefault(piece.text, len(self._numbers)))
            ready = self.walk.add(piece.text)
        self.finish = piece.finish or self.finish
        if self.finish is None and is_looping(self._written):
            self.finish = FinishReason.REPEAT
        return ready
