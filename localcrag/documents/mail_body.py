"""The plain text of a mail as blocks: paragraphs, quoted paragraphs, lists, and the signature."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from localcrag.documents.block_text import BlockText
from localcrag.documents.line_wraps import prose_wraps
from localcrag.types import BlockKind

_QUOTE_MARKS = re.compile(r"(?:> ?)*>")
_SIGNATURE_LINE = re.compile(r"--[ \t]*")
_ITEM = re.compile(r"[ \t]*([-*•]|\d{1,3}[.)])[ \t]+(?=\S)")


def add_mail_text(made: BlockText, text: str, *, flowed: bool = False, delete_space: bool = False) -> None:
    """Append the blocks of a plain text.

    Lines that were broken to a width are joined. A quoted text ("> …") is a paragraph of its own, without
    its marks, and what follows a line "-- " is the signature, which is furniture.

    Args:
        made: where the blocks go.
        text: the text, with ``\\n`` as line end.
        flowed: whether a space at the end of a line says that the line goes on (RFC 3676).
        delete_space: whether this space is no part of the text.
    """
    lines = list(_unquoted(text))
    signature = next((i for i, (depth, line) in enumerate(lines) if not depth and _is_signature(line)), None)
    body, end = lines[:signature], [] if signature is None else lines[signature + 1 :]
    if flowed:
        body = _unflowed(body, delete_space)
    for _, chunk in groupby(body, key=lambda line: (line[0], bool(line[1].strip()))):
        _add_lines(made, [line.rstrip() for _, line in chunk])
    made.add(BlockKind.FURNITURE, "\n".join(line.rstrip() for _, line in end))


def _is_signature(line: str) -> bool:
    return _SIGNATURE_LINE.fullmatch(line) is not None


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
