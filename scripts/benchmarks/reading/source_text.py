"""The sources of the documents: front matter, then a small Markdown, of which files of any format are made.

Beside headings, paragraphs, lists (``-``, ``1.``), tables and fenced code there are ``\\page`` (a new page,
slide or chapter), ``:: term :: meaning`` (a definition), ``Note: …`` (a speaker's note) and ``>>> …`` (a line
of a notebook's output).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

PAGE_BREAK = "\\page"
_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
_STARTS = (
    ("heading", re.compile(r"(#+) (.*)")),
    ("definition", re.compile(r"(::) (.*)")),
    ("number", re.compile(r"(\d+\.) (.*)")),
    ("item", re.compile(r"(-) (.*)")),
    ("row", re.compile(r"(\|)(.*)\|$")),
    ("output", re.compile(r"(>>>) (.*)")),
    ("note", re.compile(r"(Note:) (.*)")),
)


@dataclass(frozen=True)
class Piece:
    """A heading, paragraph, item, number (of a numbered list), definition, note, output, code or table.

    ``level`` is that of a heading, from 1; ``rows`` are those of a table, its head first; a definition has
    its term in ``rows``.
    """

    kind: str
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()

    @property
    def plain(self) -> str:
        """The text without emphasis."""
        return self.text.replace("*", "")


@dataclass(frozen=True)
class Source:
    """A parsed source: the fields of its front matter, and its pieces by page."""

    fields: Mapping[str, str]
    pages: tuple[tuple[Piece, ...], ...] = field(default=())

    @property
    def title(self) -> str:
        """The title of the document."""
        return self.fields.get("title", "")

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """The pieces of all pages."""
        return tuple(piece for page in self.pages for piece in page)


def parsed(text: str) -> Source:
    """The source that a text is."""
    fields: dict[str, str] = {}
    if found := _FRONT_MATTER.match(text):
        text = text[found.end() :]
        fields = dict(re.findall(r"(?m)^([\w-]+): (.*)$", found[1]))
    return Source(fields, tuple(tuple(_pieces(page)) for page in text.split(PAGE_BREAK + "\n")))


def text_of(pieces: Sequence[Piece]) -> str:
    """All words of the pieces, a line each, for looking an answer up."""
    return "\n".join(
        " ".join((*(cell for row in piece.rows for cell in row), piece.plain)) for piece in pieces
    )


def _pieces(page: str) -> Iterator[Piece]:
    """The pieces of a page; rows of tables that follow one another are one piece."""
    for kind, found in groupby(_lines(page), key=lambda piece: piece.kind):
        if kind != "row":
            yield from found
            continue
        rows = [tuple(cell.strip() for cell in piece.text.split("|")) for piece in found]
        yield Piece("table", "", rows=tuple(row for row in rows if not re.fullmatch(r"[-: ]+", "".join(row))))


def _lines(page: str) -> Iterator[Piece]:
    code: list[str] | None = None
    for line in page.splitlines():
        if line.startswith("```"):
            if code is not None:
                yield Piece("code", "\n".join(code))
            code = [] if code is None else None
        elif code is not None:
            code.append(line)
        elif line.strip():
            yield _piece(line)


def _piece(line: str) -> Piece:
    for kind, pattern in _STARTS:
        if not (found := pattern.match(line)):
            continue
        if kind == "definition":
            term, _, meaning = found[2].partition(" :: ")
            return Piece(kind, meaning, rows=((term,),))
        return Piece(kind, found[2], level=len(found[1]) if kind == "heading" else 0)
    return Piece("paragraph", line)
