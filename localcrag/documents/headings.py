"""The headings of a text, and the line ends that only wrap a paragraph.

Both are positions in characters of the unchanged text. In Markdown they come from its block structure
(markdown-it), in reStructuredText from its underlines, in prose from the lengths of its lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading at the characters ``[start, end)``; ``level`` counts from 1, the outermost."""

    start: int
    end: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Outline:
    """A text's headings, and the positions of line ends that only wrap a paragraph."""

    headings: tuple[Heading, ...] = ()
    wraps: tuple[int, ...] = ()


# ---------------------------------------------------------------------------------- Markdown

_LINE_END = re.compile(r"\r\n?|\n")
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)


def markdown_outline(text: str) -> Outline:
    """The outline of a Markdown text: its ATX and setext headings, and the line ends inside paragraphs."""
    starts = _line_starts(text)
    headings, wraps = [], []
    tokens = _markdown().parse(text)
    for before, token in pairwise(tokens):
        if token.type != "inline" or before.map is None:
            continue
        first, last = before.map
        if before.type == "heading_open":
            end = starts[last] - 1 if last < len(starts) else len(text)
            headings.append(Heading(starts[first], end, int(before.tag[1]), _without_markup(token.content)))
        elif before.type == "paragraph_open":
            end = starts[last] - 1 if last < len(starts) else len(text)
            wraps += [starts[first] + wrap for wrap in _wraps(text[starts[first] : end].split("\n"))]
    return Outline(tuple(headings), tuple(wraps))


@dataclass(frozen=True, slots=True)
class MarkdownTable:
    """A table at the characters ``[start, end)`` of a Markdown text, its cells without Markdown.

    ``header`` has the names of the columns, which may all be empty; ``rows`` are those below it.
    """

    start: int
    end: int
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def markdown_tables(text: str) -> list[MarkdownTable]:
    """The tables of a Markdown text, in order."""
    if "|" not in text:
        return []
    starts = _line_starts(text)
    found: list[MarkdownTable] = []
    rows: list[list[str]] = []
    for token in _markdown().parse(text):
        if token.type == "table_open" and token.map is not None:
            rows, (first, last) = [], token.map
        elif token.type == "tr_open":
            rows.append([])
        elif token.type == "inline" and rows:
            rows[-1].append(_without_markup(_BREAK_TAG.sub(" ", token.content)))
        elif token.type == "table_close":
            end = starts[last] if last < len(starts) else len(text)
            header, *body = map(tuple, rows)
            found.append(MarkdownTable(starts[first], end, header, tuple(body)))
            rows = []
    return found


def markdown_headings(text: str) -> tuple[Heading, ...]:
    """The ATX and setext headings of a Markdown text, in order."""
    return markdown_outline(text).headings


@cache
def _markdown() -> MarkdownIt:
    """A parser of blocks only, which does not parse the inside of paragraphs."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark").enable("table").disable("inline")


@cache
def _inline() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def _without_markup(markdown: str) -> str:
    """The words of a heading without their Markdown."""
    if not re.search(r"[*_`\[\]<&\\!]", markdown):
        return " ".join(markdown.split())
    children = _inline().parseInline(markdown)[0].children or []
    words = "".join(
        " " if "break" in child.type else child.content for child in children if child.type != "html_inline"
    )
    return " ".join(words.split())


def _line_starts(text: str) -> list[int]:
    """The position of the start of each line, with the line ends that markdown-it knows."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


# ---------------------------------------------------------------------------------- reStructuredText

_RST_TITLE = re.compile(
    r"^(?:(?P<over>([!-/:-@\[-`{-~])\2{2,})[ ]*\n)?"
    r"(?P<title>[ ]?\S.*)\n(?P<under>([!-/:-@\[-`{-~])\5{2,})[ ]*$",
    re.MULTILINE,
)


def rst_headings(text: str) -> tuple[Heading, ...]:
    """The titles of a reStructuredText, found by their underlines and overlines.

    The first style of underline that occurs is the outermost level (docutils, section structure).
    """
    levels: list[tuple[str, bool]] = []
    found = []
    for match in _RST_TITLE.finditer(text):
        title, over, under = match["title"].rstrip(), match["over"], match["under"]
        alone = match.start() == 0 or text[match.start() - 2 : match.start()].endswith("\n\n") or over
        if not alone or len(under) < len(title.strip()) or (over and over[0] != under[0]):
            continue
        style = (under[0], bool(over))
        if style not in levels:
            levels.append(style)
        found.append(Heading(match.start(), match.end(), levels.index(style) + 1, title.strip()))
    return tuple(found)


def rst_outline(text: str) -> Outline:
    """The outline of a reStructuredText: its headings, and the line ends that only wrap.

    The line ends inside a heading count as wraps, so that a title and its underline stay together.
    """
    headings = rst_headings(text)
    inside = [i for h in headings for i in range(h.start, h.end) if text[i] == "\n"]
    return Outline(headings, tuple(sorted({*inside, *prose_wraps(text)})))


# ---------------------------------------------------------------------------------- prose

_MIN_WRAPPED_CHARACTERS = 40
_MIN_CONTINUED_SHARE = 0.2
_MIN_FILLED_SHARE = 0.75


def prose_wraps(text: str) -> Iterator[int]:
    """The positions of the line ends that only wrap text that was broken to a width, as in PDF pages.

    A block of lines is such text if at least a fifth of its later lines begin in lower case.
    """
    start = 0
    for filled, group in groupby(text.split("\n"), key=bool):
        lines = list(group)
        going_on = sum(1 for line in lines[1:] if line[:1].isalpha() and not line[0].isupper())
        if filled and going_on >= _MIN_CONTINUED_SHARE * (len(lines) - 1):
            yield from (start + wrap for wrap in _wraps(lines))
        start += sum(map(len, lines)) + len(lines)


def _wraps(lines: Sequence[str]) -> Iterator[int]:
    """The line ends of a block that are wraps, as positions from its start.

    A line end is a wrap if the first word of the next line would not have fitted: the widest line is
    taken as the width. Blocks narrower than 40 characters have none.
    """
    width = max(map(len, lines))
    if width < _MIN_WRAPPED_CHARACTERS:
        return
    end = -1
    for line, following in pairwise(lines):
        end += len(line) + 1
        starts_afresh = following[:1].isspace() or following[:1] in "-*•|>"
        word = following.partition(" ")[0]
        if not starts_afresh and len(line) + 1 + len(word) > _MIN_FILLED_SHARE * width:
            yield end
