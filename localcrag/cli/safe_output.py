"""What is printed: text without what must not reach a terminal, and JSON, whatever the encoding.

Every command prints text that is not its own through :func:`plain` or :func:`one_line` of
:mod:`localcrag.printable_text`, or through :func:`json_text`, which keeps all characters, as escapes.
"""

from __future__ import annotations

import codecs
import io
import re
import sys
from typing import TYPE_CHECKING, TextIO

from localcrag.printable_text import BLANKED_CLASS, HIDDEN_CLASS, SURROGATES_CLASS, one_line, plain

if TYPE_CHECKING:
    from localcrag.types import JsonValue

__all__ = ["json_text", "one_line", "plain", "replace_unencodable"]

_ESCAPED_IN_JSON = re.compile(f"[{BLANKED_CLASS}{HIDDEN_CLASS}{SURROGATES_CLASS}]")


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
