"""The text that a reader extracts from a document, its limits, and the cleaning of all stored text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from localcrag._platform import storable
from localcrag.errors import UnreadableError
from localcrag.types import NO_META, Meta, Page

MEBIBYTE = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of reading one source: ``data`` in bytes of its content, ``text`` in characters of its text.

    ``text`` exists because some formats expand (the header of a table is repeated in each row).
    """

    data: int = 64 * MEBIBYTE
    text: int = 256 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """The text of a document; ``title`` is "" if the document names none.

    ``left_out`` is the share of its visible characters that were taken for navigation and left out, and
    ``meta`` are the fields that the document gives.
    """

    title: str
    media_type: str
    pages: tuple[Page, ...]
    left_out: float = 0.0
    meta: Meta = field(default_factory=lambda: NO_META)


def whole(title: str, media_type: str, text: str, meta: Meta = NO_META) -> ExtractedText:
    """The text of a document in a format without pages, as one page without a number."""
    return ExtractedText(title, media_type, (Page(None, text),), meta=meta)


_STRUCK_OVER = re.compile(r"[^\n\b]\x08")
r"""What a printer strikes over: "N\bN\bNA\bA" is NA, "_\bx" is x."""


def clean(text: str) -> str:
    """Text as it is stored: line ends are ``\\n``, without NUL, byte order mark and lone surrogates.

    Letters that are struck over for printers, which makes them bold or underlined, stand once.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _STRUCK_OVER.sub("", text).replace("\b", "") if "\b" in text else text
    return storable(text.replace("\x00", "").replace("\ufeff", ""))


def one_line(text: str, limit: int = 200) -> str:
    """The text with each run of white space as one space, cut to ``limit`` characters."""
    return " ".join(text.split())[:limit]


def joined(parts: Iterable[str], limits: Limits, separator: str = "\n\n") -> str:
    """The parts that are not blank, with ``separator`` between them.

    Raises UnreadableError as soon as they exceed ``limits.text`` characters.
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
