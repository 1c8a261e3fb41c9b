"""The plain text of a mail as blocks: paragraphs, quoted paragraphs, lists, and the signature."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby

from localcrag.documents.block_text import BlockText
from localcrag.documents.fixed_width_tables import add_tables
from localcrag.documents.line_wraps import prose_wraps
from localcrag.labelled_lines import LABEL
from localcrag.types import BlockKind, Page

_QUOTE_MARKS = re.compile(r"(?:> ?)*>")
_SIGNATURE_LINE = re.compile(r"--[ \t]*")
_EARLIER_MAIL = re.compile(r"\s*(?:-{3,} ?\w[^\n]{0,60}?-{3,}|_{20,})\s*")
"""The line above an earlier mail that is not marked as quoted: "-----Original Message-----", a long rule."""
MAX_ATTRIBUTION_LINES = 3
"""The most lines of what stands above a quoted mail: "On Mon, 12 May 2025, Ada <ada@example.org> wrote:"."""
_SENDER = re.compile(r"(?:From|Von|De|Da|Van|Från|Fra|Od): ")
_SUBJECT = re.compile(r"(?:Subject|Betreff|Objet|Oggetto|Asunto|Assunto|Onderwerp|Ämne|Emne|Temat):")
"""The first and a later line of the header of an earlier mail, in several languages."""
_HTML_HEADER = re.compile(rf"{_SENDER.pattern}[^\n]{{1,400}}? {_SUBJECT.pattern} [^\n]{{1,200}}")
"""The header of an earlier mail in HTML, whose lines run on in one paragraph."""
_DIGIT = re.compile(r"\d")
_SIGNED_BY_PROGRAM = re.compile(
    r"^-----BEGIN PGP SIGNED MESSAGE-----\n(?:[A-Z][\w-]+: [^\n]*\n)*\n?"
    r"|^-----BEGIN PGP SIGNATURE-----\n[^>]{0,8000}?^-----END PGP SIGNATURE-----$",
    re.MULTILINE,
)
"""What a program writes around a text that it signs (RFC 9580, section 7), but not within a quoted mail."""
LEVEL = 2
"""The level of the heading of an earlier mail; a message of a folder, and an attachment, have the first."""
_NO_DEPTH = 1_000_000
"""The depth of quotation of nothing."""
_ITEM = re.compile(r"[ \t]*([-*•]|\d{1,3}[.)])[ \t]+(?=\S)")


def add_mail_text(made: BlockText, text: str, *, flowed: bool = False, delete_space: bool = False) -> None:
    """Append the blocks of a plain text.

    Lines that were broken to a width are joined, and tables that are laid out with spaces are rows. A quoted
    text ("> …") is a paragraph of its own, without its marks, and what follows a line "-- " is the signature,
    which is furniture, up to an earlier mail that stands below it. What stands above an earlier mail, if none
    but earlier ones follow, is its heading. What a program writes around a text that it
    signs is left out.

    Args:
        made: where the blocks go.
        text: the text, with ``\\n`` as line end.
        flowed: whether a space at the end of a line says that the line goes on (RFC 3676).
        delete_space: whether this space is no part of the text.
    """
    lines = list(_unquoted(_SIGNED_BY_PROGRAM.sub("", text)))
    lowest = _lowest_depths(lines)
    end = 0
    while end < len(lines):
        first = end
        start, end = _signature(lines, first)
        body = _unflowed(lines[first:start], delete_space) if flowed else lines[first:start]
        _add_body(made, body, lowest[end])
        made.add(BlockKind.FURNITURE, "\n".join(line.rstrip() for _, line in lines[start + 1 : end]))


def _lowest_depths(lines: Sequence[tuple[int, str]], after: int = _NO_DEPTH) -> list[int]:
    """The lowest depth of quotation from each line on, and ``after`` the last."""
    depths = (depth if line.strip() else _NO_DEPTH for depth, line in reversed(lines))
    return [*accumulate(depths, min, initial=after)][::-1]


def _add_body(made: BlockText, body: Sequence[tuple[int, str]], after: int) -> None:
    """Append the blocks of what stands above a signature; ``after`` is the lowest depth of what follows it.

    What stands above an earlier mail that goes on to the end, "Ada wrote:", is the heading of that mail.
    """
    lowest = _lowest_depths(body, after)
    at = 0
    for (depth, is_text), chunk in groupby(body, key=lambda line: (line[0], bool(line[1].strip()))):
        lines = [line.rstrip() for _, line in chunk]
        at += len(lines)
        if not is_text:
            continue
        header = _header_of_earlier(lines)
        above = header.start if header else len(lines)
        if header is None and lines[-1].endswith(":") and depth < lowest[at] < _NO_DEPTH:
            dated = (line for line in range(max(0, len(lines) - MAX_ATTRIBUTION_LINES), len(lines)))
            above = next((line for line in dated if _DIGIT.search(lines[line])), len(lines) - 1)
            header = slice(above, len(lines))
        add_tables(made, lines[:above], lambda plain: _add_lines(made, plain))
        if header is not None:
            title = "\n".join(line.strip("- ") for line in lines[header])
            made.add(BlockKind.HEADING, title, level=LEVEL + depth)
            add_tables(made, lines[header.stop :], lambda plain: _add_lines(made, plain))


def with_earlier_headings(page: Page) -> Page:
    """A page made of HTML; each paragraph that is the header of an earlier mail is that mail's heading."""
    blocks = tuple(
        replace(block, kind=BlockKind.HEADING, level=LEVEL)
        if block.kind is BlockKind.PARAGRAPH and _HTML_HEADER.fullmatch(page.text, block.start, block.end)
        else block
        for block in page.blocks
    )
    return replace(page, blocks=blocks)


def _header_of_earlier(lines: Sequence[str]) -> slice | None:
    """The lines among others that are the header of an earlier mail: "From: Ada", "Subject: Room"."""
    at = 0
    while at < len(lines):
        marked = _EARLIER_MAIL.fullmatch(lines[at]) is not None
        first = at + marked
        title = lines[at].strip("_- ") if marked else ""
        if first == len(lines):
            return slice(at, first) if title else None
        stop = next((line for line in range(first, len(lines)) if not LABEL.match(lines[line])), len(lines))
        if _SENDER.match(lines[first]) and any(map(_SUBJECT.match, lines[first:stop])):
            return slice(at if title else first, stop)
        at = max(first + 1, stop)
    return None


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
