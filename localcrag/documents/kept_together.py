"""Line ends at which no passage ends if it need not, since what stands around them belongs together."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.chat_exchanges import line_ends_in_exchanges
from localcrag.explained_settings import line_ends_in_pieces
from localcrag.long_strings import long_strings
from localcrag.types import Block, BlockKind

_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def kept_line_ends(text: str, origin: int, blocks: Sequence[Block]) -> Iterator[int]:
    """The places of such line ends in a part of a page.

    They stand between a comment and the setting that it explains, within a question of a chat and its reply,
    and in the docstrings of code.

    Args:
        text: the part of the page.
        origin: where it begins.
        blocks: the blocks within it.
    """
    for block in blocks:
        start, end = block.start - origin, block.end - origin
        if block.kind is BlockKind.CODE:
            yield from line_ends_in_pieces(text, start, end, top=-origin)
        elif block.kind is BlockKind.PARAGRAPH:
            yield from (start + at for at in line_ends_in_exchanges(text[start:end]))
    if blocks and all(block.kind is BlockKind.CODE for block in blocks):
        yield from _blank_lines_in_strings(text)


def _blank_lines_in_strings(text: str) -> Iterator[int]:
    """The line ends that make the blank lines in the docstrings of some code."""
    for first, last in long_strings(text):
        for gap in _BLANK_LINES.finditer(text, first, last):
            yield from (at for at in range(gap.start(), gap.end() - 1) if text[at] == "\n")
