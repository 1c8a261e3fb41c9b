"""The filter for all that is printed: what a document, a name or an address must not send to a terminal.

Control characters (C0, DEL, C1, and so every escape sequence) and line separators become blanks. What has no
width of its own and can hide or reorder text is left out: bidirectional controls, tags, zero-width and
deprecated format characters. Joiners (U+200C, U+200D) stay behind a character that is not ASCII, since
Persian, the scripts of India and emoji need them. JSON keeps all of them, as escapes.

Every command prints text that is not its own through :func:`plain`, :func:`one_line` or :func:`json_text`.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from localcrag.types import JsonValue

_BLANKED_CLASS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
_HIDDEN_CLASS = (
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
_SURROGATES_CLASS = "\ud800-\udfff"
_BLANKED = re.compile(f"[{_BLANKED_CLASS}]")
_HIDDEN = re.compile(f"[{_HIDDEN_CLASS}]+|(?<![^\x00-\x7f])[\u200c\u200d]+")
_SURROGATES = re.compile(f"[{_SURROGATES_CLASS}]")
_ESCAPED_IN_JSON = re.compile(f"[{_BLANKED_CLASS}{_HIDDEN_CLASS}{_SURROGATES_CLASS}]")


def plain(text: str) -> str:
    """Text that may be printed; its line breaks and tabs stay."""
    return _SURROGATES.sub("\ufffd", _HIDDEN.sub("", _BLANKED.sub(" ", text)))


def one_line(text: str) -> str:
    """Text that may be printed, on one line: line breaks and tabs become blanks as well."""
    return plain(text).replace("\n", " ").replace("\t", " ")


def json_text(value: JsonValue, indent: int | None = None) -> str:
    """A value as JSON that may be printed: what :func:`plain` changes is escaped, so the value is the same.

    Everything but ASCII is escaped if standard output has an encoding that lacks characters.
    """
    import json

    text = json.dumps(value, ensure_ascii=not _has_all_characters(sys.stdout), indent=indent)
    return _ESCAPED_IN_JSON.sub(_escaped, text)


class _AsciiText(io.TextIOWrapper):
    """A stream that writes "?" for what is not ASCII.

    It says that its encoding is UTF-8, because click writes UTF-8 to a stream that says it has ASCII.
    """

    def write(self, text: str, /) -> int:
        """Write a text."""
        return super().write(text.encode("ascii", "replace").decode("ascii"))


def replace_unencodable() -> None:
    """Have standard output and error print "?" for characters that their encoding lacks, and not fail."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper) or _has_all_characters(stream):
            continue
        if codecs.lookup(stream.encoding).name == "ascii" and not isinstance(stream, _AsciiText):
            binary = open(stream.fileno(), "wb", closefd=False)  # noqa: SIM115 - as long as the process
            setattr(sys, name, _AsciiText(binary, "utf-8", line_buffering=True))
        else:
            stream.reconfigure(errors="replace")


def _has_all_characters(stream: TextIO) -> bool:
    """Whether the encoding of a stream is a form of Unicode."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return not isinstance(stream, _AsciiText) and codecs.lookup(encoding).name.startswith("utf")


def _escaped(found: re.Match[str]) -> str:
    """The escapes of JSON for a character: one, or two for a character beyond U+FFFF."""
    units = found[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
