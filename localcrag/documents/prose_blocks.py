"""Plain text as blocks: the text stays as it is, and its paragraphs, items and headings get their places.

Blank lines end a paragraph. A line that begins with a bullet or a number is an item, with the indented lines
after it. A heading is a line that is underlined, or that stands alone and is numbered or in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from localcrag.types import Block, BlockKind

_PARAGRAPH = re.compile(r"^[^\S\n]*+\S[^\n]*(?:\n[^\S\n]*+\S[^\n]*)*", re.MULTILINE)
_LINE = re.compile(r"[^\n]+")
_MARKER = re.compile(r"([ \t]*)(?:[-*•+–]|\(?\d{1,3}[.)]|\(?[a-z][.)])[ \t]+(?=\S)")
_UNDERLINE = re.compile(r"[ \t]*([=~^#*-])\1{2,}[ \t]*")
_NUMBERED = re.compile(r"(?:§ ?)?\d{1,2}((?:\.\d{1,2}){0,4})\.?[ \t]+[A-ZÀ-Þ]")
_INDENT_CHARACTERS = 2
_MAX_HEADING_CHARACTERS = 80


def prose_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a plain text, in order."""
    return tuple(block for match in _PARAGRAPH.finditer(text) for block in _within(text, *match.span()))


def _within(text: str, start: int, end: int) -> Iterator[Block]:
    """The blocks of one run of lines without a blank one."""
    lines = [match.span() for match in _LINE.finditer(text, start, end)]
    if heading := _heading(text, lines):
        yield heading
        lines = lines[2:] if len(lines) > 1 else []
    kind, level, first, last = BlockKind.PARAGRAPH, 0, -1, -1
    for line_start, line_end in lines:
        marker = _MARKER.match(text, line_start, line_end)
        goes_on = kind is not BlockKind.ITEM or text[line_start] in " \t"
        if first >= 0 and (marker or not goes_on):
            yield _block(text, kind, first, last, level)
            first = -1
        if marker:
            kind, level, first = BlockKind.ITEM, len(marker[1]) // _INDENT_CHARACTERS, marker.end()
        elif first < 0:
            kind, level, first = BlockKind.PARAGRAPH, 0, line_start
        last = line_end
    if first >= 0:
        yield _block(text, kind, first, last, level)


def _block(text: str, kind: BlockKind, start: int, end: int, level: int) -> Block:
    """A block without the white space around it."""
    body = text[start:end].strip()
    start = text.index(body, start)
    return Block(kind, start, start + len(body), level)


def _heading(text: str, lines: list[tuple[int, int]]) -> Block | None:
    """The heading at the beginning of a run of lines."""
    start, end = lines[0]
    title = text[start:end].strip()
    if not title or len(title) > _MAX_HEADING_CHARACTERS or not any(map(str.isalpha, title)):
        return None
    if len(lines) > 1:
        under = _UNDERLINE.fullmatch(text, *lines[1])
        fits = under is not None and 2 * len(text[slice(*lines[1])].strip()) >= len(title)
        return (
            _block(text, BlockKind.HEADING, start, end, 1 if under[1] == "=" else 2)
            if under and fits
            else None
        )
    if title[-1] in ".,;:!?":
        return None
    if numbered := _NUMBERED.match(title):
        return _block(text, BlockKind.HEADING, start, end, 1 + numbered[1].count("."))
    return _block(text, BlockKind.HEADING, start, end, 1) if title.isupper() and len(title) > 3 else None
