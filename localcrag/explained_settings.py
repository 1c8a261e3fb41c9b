"""The pieces of code and settings that blank lines part, each with the comment that belongs to it."""

from __future__ import annotations

import re
from collections.abc import Iterator

SECTION_LINE = re.compile(r"[ \t]*(?:\[+[^\[\]\n]+\]+|[\w.-]+:)[ \t]*(?:[#;].*)?")
"""The line above a section of settings: "[server]", "network:"."""
REMARK = re.compile(r"[ \t]*(?:#+|;+|//+)(?:[ \t].*|)")
"""A line of a comment; what is commented out has no space behind its sign."""
_WORD = re.compile(r"[^\W\d_]+")
_MIN_REMARK_WORDS = 4
_MAX_EXPLAINED_LINES = 8
"""The most lines of what a comment above a blank line is about."""
BLANK_LINES = re.compile(r"\n[ \t]*\n\s*")


def pieces_of_code(text: str, start: int, end: int, *, top: int = 0) -> Iterator[tuple[int, int]]:
    """The spans of the pieces of some code that blank lines part, but a comment from what it explains.

    A comment at the place ``top``, where its file begins, is about the file.
    """
    held: tuple[int, int] | None = None
    for first, last in _parted(text, start, end):
        piece = text[first:last]
        if held is not None and _is_explained(piece):
            yield held[0], last
            held = None
            continue
        if held is not None:
            yield held
        held = (first, last) if first != top and _is_remark(piece) else None
        if held is None:
            yield first, last
    if held is not None:
        yield held


def _is_remark(piece: str) -> bool:
    """Whether a piece of code is nothing but a comment in words."""
    is_comment = all(map(REMARK.fullmatch, piece.split("\n")))
    return is_comment and len(_WORD.findall(piece)) >= _MIN_REMARK_WORDS


def _is_explained(piece: str) -> bool:
    """Whether a piece of code may be what the comment above it is about: a few lines without a comment."""
    lines = piece.split("\n")
    has_remark = any(map(REMARK.fullmatch, lines)) or SECTION_LINE.fullmatch(lines[0]) is not None
    return not has_remark and len(lines) <= _MAX_EXPLAINED_LINES


def _parted(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of the pieces of a part of a text that blank lines part."""
    for gap in BLANK_LINES.finditer(text, start, end):
        yield start, gap.start()
        start = gap.end()
    yield start, end


def line_ends_in_pieces(text: str, start: int, end: int, *, top: int = 0) -> Iterator[int]:
    """The line ends in a part of a text between a comment and what it explains, and within the comment."""
    for first, last in pieces_of_code(text, start, end, top=top):
        for gap in BLANK_LINES.finditer(text, first, last):
            yield from (at for at in range(gap.start(), gap.end()) if text[at] == "\n")
        yield from _line_ends_of_remarks(text, first, last)


def _line_ends_of_remarks(text: str, start: int, end: int) -> Iterator[int]:
    """The line ends of comments in words that go on to what they explain; none before a line without any."""
    held, at = list[int](), start
    for line in text[start:end].split("\n"):
        is_remark = REMARK.fullmatch(line) is not None
        if not is_remark and line.strip():
            yield from held
        at += len(line) + 1
        if is_remark and _WORD.search(line):
            held.append(at - 1)
        else:
            held.clear()
