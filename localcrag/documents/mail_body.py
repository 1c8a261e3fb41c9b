"""The plain text of a mail as blocks: paragraphs, quoted paragraphs, lists, and the signature."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from localcrag.documents.block_text import BlockText
from localcrag.documents.fixed_width_tables import add_tables
from localcrag.documents.line_wraps import prose_wraps
from localcrag.types import BlockKind

_QUOTE_MARKS = re.compile(r"(?:> ?)*>")
_SIGNATURE_LINE = re.compile(r"--[ \t]*")
_EARLIER_MAIL = re.compile(r"\s*(?:-{3,} ?\w[^\n]{0,60}?-{3,}|_{20,})\s*")
"""The line above an earlier mail that is not marked as quoted: "-----Original Message-----", a long rule."""
MAX_ATTRIBUTION_LINES = 3
"""The most lines of what stands above a quoted mail: "On Mon, 12 May 2025, Ada <ada@example.org> wrote:"."""
_ITEM = re.compile(r"[ \t]*([-*•]|\d{1,3}[.)])[ \t]+(?=\S)")


def add_mail_text(made: BlockText, text: str, *, flowed: bool = False, delete_space: bool = False) -> None:
    """Append the blocks of a plain text.

    Lines that were broken to a width are joined, and tables that are laid out with spaces are rows. A quoted
    text ("> …") is a paragraph of its own, without its marks, and what follows a line "-- " is the signature,
    which is furniture, up to an earlier mail that stands below it.

    Args:
        made: where the blocks go.
        text: the text, with ``\\n`` as line end.
        flowed: whether a space at the end of a line says that the line goes on (RFC 3676).
        delete_space: whether this space is no part of the text.
    """
    lines = list(_unquoted(text))
    end = 0
    while end < len(lines):
        first = end
        start, end = _signature(lines, first)
        body = _unflowed(lines[first:start], delete_space) if flowed else lines[first:start]
        for _, chunk in groupby(body, key=lambda line: (line[0], bool(line[1].strip()))):
            add_tables(made, [line.rstrip() for _, line in chunk], lambda plain: _add_lines(made, plain))
        made.add(BlockKind.FURNITURE, "\n".join(line.rstrip() for _, line in lines[start + 1 : end]))


def _signature(lines: list[tuple[int, str]], first: int) -> tuple[int, int]:
    """Where the next signature begins, with its line "-- ", and where it ends; both are the end without one.

    It ends where a mail of another depth of quotation begins, with the words above that.
    """
    signed = (i for i in range(first, len(lines)) if _SIGNATURE_LINE.fullmatch(lines[i][1]))
    start = next(signed, len(lines))
    for at in range(start + 1, len(lines)):
        depth, line = lines[at]
        if depth != lines[start][0] and line.strip():
            return start, _attribution(lines, start + 1, at)
        if _EARLIER_MAIL.fullmatch(line):
            return start, at
    return start, len(lines)


def _attribution(lines: list[tuple[int, str]], start: int, quoted: int) -> int:
    """Where the words above a quoted mail begin, which end with a colon; ``quoted`` if there are none."""
    last = quoted - 1
    while last > start and not lines[last][1].strip():
        last -= 1
    if not lines[last][1].rstrip().endswith(":"):
        return quoted
    first = last
    while first > start and last - first < MAX_ATTRIBUTION_LINES - 1 and lines[first - 1][1].strip():
        first -= 1
    return first


def _unquoted(text: str) -> Iterator[tuple[int, str]]:
    """Each line without its quote marks, and their number."""
    for line in text.split("\n"):
        marks = _QUOTE_MARKS.match(line)
        rest = line[marks.end() :] if marks else line
        yield marks[0].count(">") if marks else 0, rest.removeprefix(" ") if marks else rest


def _unflowed(lines: list[tuple[int, str]], delete_space: bool) -> list[tuple[int, str]]:
    joined: list[tuple[int, list[str]]] = []
    goes_on = False
    for depth, line in lines:
        line = line.removeprefix(" ")
        if goes_on and joined[-1][0] == depth:
            joined[-1][1].append(line)
        else:
            joined.append((depth, [line]))
        goes_on = line.endswith(" ")
        if goes_on and delete_space:
            joined[-1][1][-1] = line[:-1]
    return [(depth, "".join(parts)) for depth, parts in joined]


def _add_lines(made: BlockText, lines: list[str]) -> None:
    text = "\n".join(lines)
    wraps = set(prose_wraps(text))
    whole = "".join(" " if place in wraps else sign for place, sign in enumerate(text)) if wraps else text
    paragraph: list[str] = []
    after_item = False
    for line in whole.split("\n"):
        item = _ITEM.match(line)
        if item is None:
            paragraph.append(line.strip())
            continue
        made.add(BlockKind.PARAGRAPH, "\n".join(paragraph))
        paragraph = []
        if not after_item:
            made.part()
        made.add(BlockKind.ITEM, line[item.end() :], marker=f"{item[1]} ")
        after_item = True
    made.add(BlockKind.PARAGRAPH, "\n".join(paragraph))
