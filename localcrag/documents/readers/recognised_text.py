"""Text that was recognised in a picture, with the places of its words."""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.types import BlockKind, WordBox


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """A recognised line of text and its ``box`` (left, top, right, bottom) in pixels.

    ``words`` are the boxes of its words; their characters are counted in ``text``.
    """

    text: str
    box: tuple[float, float, float, float]
    words: tuple[WordBox, ...] = ()

    @property
    def middle(self) -> float:
        """The height of its middle, from the top."""
        return (self.box[1] + self.box[3]) / 2

    @property
    def height(self) -> float:
        """The height of its box."""
        return self.box[3] - self.box[1]


@dataclass(frozen=True, slots=True)
class RecognisedText:
    """A text of one or several lines, with the boxes of its words; ``kind`` is that of its block."""

    text: str
    boxes: tuple[WordBox, ...] = ()
    kind: BlockKind = BlockKind.PARAGRAPH
