"""Plain text as blocks: the text stays as it is, and its paragraphs, items and headings get their places.

Blank lines end a paragraph. A line that begins with a bullet or a number is an item, with the indented lines
after it. A heading is a line that is underlined, or that stands alone and is numbered or in capitals, or the
numbered question of a list of questions and answers. A line that only parts others is furniture.
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
_ASKED = re.compile(r"Q(?:uestion)?[ \t]?\d{0,3}[.:)][ \t]")
"""How a question of a list of questions and answers begins, if it has no number alone."""
_INDENT_CHARACTERS = 2
_MAX_HEADING_CHARACTERS = 80
_MIN_CAPITALS = 3
_MAX_QUESTION_LINES = 3


def prose_blocks(text: str) -> tuple[Block, ...]:
    """The blocks of a plain text, in order."""
    return tuple(block for match in _PARAGRAPH.finditer(text) for block in _within(text, *match.span()))


def _within(text: str, start: int, end: int) -> Iterator[Block]:
    """The blocks of one run of lines without a blank one."""
    lines = [match.span() for match in _LINE.finditer(text, start, end)]
    if _UNDERLINE.fullmatch(text, *lines[0]):
        yield _block(text, BlockKind.FURNITURE, *lines.pop(0))
    if heading := _heading(text, lines):
        yield heading
        below = heading.end + 1 if not _is_underlined(text, lines) else lines[1][1]
        lines = [line for line in lines if line[0] >= below]
    kind, level, first, last = BlockKind.PARAGRAPH, 0, -1, -1
    for line_start, line_end in lines:
        marker = _MARKER.match(text, line_start, line_end)
        goes_on = kind is not BlockKind.ITEM or text[line_start] in " \t"
        is_rule = _UNDERLINE.fullmatch(text, line_start, line_end)
        if first >= 0 and (marker or is_rule or not goes_on):
            yield _block(text, kind, first, last, level)
            first = -1
        if is_rule:
            yield _block(text, BlockKind.FURNITURE, line_start, line_end)
            continue
        if marker:
            kind, level, first = BlockKind.ITEM, len(marker[1]) // _INDENT_CHARACTERS, marker.end()
        elif first < 0:
            kind, level, first = BlockKind.PARAGRAPH, 0, line_start
        last = line_end
    if first >= 0:
        yield _block(text, kind, first, last, level)


def _block(text: str, kind: BlockKind, start: int, end: int, level: int = 0) -> Block:
    """A block without the white space around it."""
    body = text[start:end].strip()
    start = text.index(body, start)
    return Block(kind, start, start + len(body), level)


def _heading(text: str, lines: list[tuple[int, int]]) -> Block | None:
    """The heading at the beginning of a run of lines."""
    if not lines:
        return None
    start, end = lines[0]
    title = text[start:end].strip()
    if len(title) > _MAX_HEADING_CHARACTERS or not any(map(str.isalpha, title)):
        return None
    if _is_underlined(text, lines):
        level = 1 if text[slice(*lines[1])].strip()[0] == "=" else 2
        return _block(text, BlockKind.HEADING, start, end, level)
    numbered = _NUMBERED.match(title)
    level = 1 + numbered[1].count(".") if numbered else 1
    if numbered or _ASKED.match(title):
        asked = _question_end(text, lines)
        if asked is not None:
            return _block(text, BlockKind.HEADING, start, asked, level)
    if len(lines) > 1 or title[-1] in ".,;:!?" or not (numbered or _is_in_capitals(title)):
        return None
    return _block(text, BlockKind.HEADING, start, end, level)


def _question_end(text: str, lines: list[tuple[int, int]]) -> int | None:
    """Where the question ends that the first lines are; None if they are none, or an item follows."""
    for count, (_, end) in enumerate(lines[:_MAX_QUESTION_LINES], 1):
        if count < len(lines) and _MARKER.match(text, *lines[count]):
            return None
        if text[lines[0][0] : end].rstrip().endswith("?"):
            return end
    return None


def _is_in_capitals(title: str) -> bool:
    return title.isupper() and len(title) > _MIN_CAPITALS


def _is_underlined(text: str, lines: list[tuple[int, int]]) -> bool:
    """Whether the first of the lines is a title with a line below it that is about as long."""
    if len(lines) < 2 or not _UNDERLINE.fullmatch(text, *lines[1]):
        return False
    title, under = (text[slice(*line)].strip() for line in lines[:2])
    return 2 * len(under) >= len(title) and not title.endswith(".")
