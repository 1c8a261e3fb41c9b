"""What a reader makes of a document's bytes, and the cleaning that all stored text goes through."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from localcrag._platform import storable
from localcrag.errors import UnreadableError
from localcrag.types import Page

MEBIBYTE = 1024 * 1024

_LINE_ENDS = re.compile(r"\r\n?")
_UNSTORABLE = re.compile("[\x00\ufeff]")


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of reading: ``data`` in bytes of one source, ``text`` in characters of what it says.

    ``text`` exists because some formats say much in few bytes (a table's header is repeated in each row).
    """

    data: int = 64 * MEBIBYTE
    text: int = 256 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """The text of a document; ``title`` is "" where the document does not say one."""

    title: str
    media_type: str
    pages: tuple[Page, ...]


def whole(title: str, media_type: str, text: str) -> ExtractedText:
    """A document of a format without pages."""
    return ExtractedText(title, media_type, (Page(None, text),))


def clean(text: str) -> str:
    """Text as it is stored: line ends are ``\\n``, no NUL, no byte order mark, no lone surrogate."""
    text = _LINE_ENDS.sub("\n", text)
    return storable(_UNSTORABLE.sub("", text))


def one_line(text: str, limit: int = 200) -> str:
    """White space runs become one space; at most ``limit`` characters."""
    return " ".join(text.split())[:limit]


def joined(parts: Iterable[str], limits: Limits, separator: str = "\n\n") -> str:
    """Joins the parts that are not blank, and stops where they say more than the limit.

    Raises UnreadableError.
    """
    kept, total = [], 0
    for part in parts:
        if not part.strip():
            continue
        total += len(part) + len(separator)
        if total > limits.text:
            limit = limits.text // MEBIBYTE
            raise UnreadableError(f"its text expands to more than {limit} million characters")
        kept.append(part)
    return separator.join(kept)
