"""The sources of documents, and reading their bytes within a limit and as they stood at one moment."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO
from urllib.parse import unquote, urlsplit

from localcrag.documents.extracted import MEBIBYTE
from localcrag.errors import LocalCragError, UnreadableError, UsageError

FetchUrl = Callable[[str], tuple[bytes, str]]
"""Fetches a URL and returns its bytes and its content type. Raises LocalCragError."""

_BLOCK_BYTES = MEBIBYTE
_START_BYTES = 2048


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file; ``source`` is its absolute path, ``size`` its bytes, ``mtime_ns`` its time of change."""

    source: str
    path: str
    size: int
    mtime_ns: int

    @property
    def name(self) -> str:
        """The file name without its folder."""
        return os.path.basename(self.path)  # noqa: PTH119 - a Path per file costs more than the walk


@dataclass(frozen=True, slots=True)
class StdinFile:
    """Standard input, read once."""

    source: str = "stdin:stdin"
    size: int = 0
    mtime_ns: int = 0
    name: str = "stdin"


@dataclass(frozen=True, slots=True)
class TextSource:
    """A text given by the caller; ``source`` is ``text:NAME``.

    ``title`` is "" if the name serves as the title; ``size`` is the bytes of the text in UTF-8.
    """

    source: str
    text: str
    title: str
    size: int
    mtime_ns: int = 0

    @classmethod
    def of(cls, text: str, name: str, title: str = "") -> TextSource:
        """The source of a text. Raises UsageError if the text, the name or the title cannot be used."""
        for what, value in (("text", text), ("name", name), ("title", title)):
            if not isinstance(value, str):
                raise UsageError(f"the {what} is a {type(value).__name__}, and must be a string")
        if not text.strip():
            raise UsageError("the text is empty", hint="give some text to index")
        if not name.strip() or not name.isprintable():
            raise UsageError(
                f"{name!r} cannot be the name of a text", hint="use one line of visible characters"
            )
        return cls(f"text:{name.strip()}", text, title, len(text.encode("utf-8", "replace")))

    @property
    def name(self) -> str:
        """The name that the text was given."""
        return self.source.removeprefix("text:")


@dataclass(frozen=True, slots=True)
class UrlFile:
    """A document on the web; ``source`` is its URL."""

    source: str
    size: int = 0
    mtime_ns: int = 0

    @property
    def name(self) -> str:
        """The last part of the path, or the host if the path is empty."""
        parts = urlsplit(self.source)
        return PurePosixPath(unquote(parts.path)).name or (parts.hostname or "page")


@dataclass(frozen=True, slots=True)
class GivenBytes:
    """A source whose bytes are at hand: what came from standard input or from the web.

    ``name`` may tell the format, and ``content_type`` is what a server said, or "".
    """

    source: str
    name: str
    data: bytes
    content_type: str = ""
    mtime_ns: int = 0

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.data)


def start_of(file: LocalFile) -> bytes:
    """The first bytes of a file, by which a format is known; none if it cannot be read."""
    try:
        with open(file.path, "rb") as stream:  # noqa: PTH123
            return stream.read(_START_BYTES)
    except OSError:
        return b""


def too_large(size: int, limit: int) -> UnreadableError:
    """The error for a source of ``size`` bytes where ``limit`` bytes are allowed."""
    return UnreadableError(
        f"too large ({_size_in_words(size)}; limit {limit // MEBIBYTE} MiB, raise with --max-size)",
        hint="Raise the limit with --max-size, or split the file.",
    )


def changed_error() -> UnreadableError:
    """The error for a source that is another one than it was a moment ago."""
    return UnreadableError("it changed while it was read", hint="Run the same command again.")


def read_file(file: LocalFile, limit: int) -> bytes:
    """The bytes of a file as they stood at one moment; at most ``limit`` bytes.

    Raises UnreadableError: too large, vanished, changed while it was read, no permission.
    """
    try:
        with open(file.path, "rb") as stream:  # noqa: PTH123
            before = os.fstat(stream.fileno())
            if before.st_size > limit:
                raise too_large(before.st_size, limit)
            data = _bounded(stream, limit)
            after = os.fstat(stream.fileno())
    except OSError as error:
        raise UnreadableError(_os_reason(error)) from error
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)
    if not same or len(data) != after.st_size:
        raise changed_error()
    return data


def read_stdin(limit: int, stream: BinaryIO | None = None) -> bytes:
    """All of standard input, or of ``stream``; at most ``limit`` bytes.

    Raises UnreadableError: too large, or an error of the system.
    """
    try:
        return _bounded(stream or sys.stdin.buffer, limit)
    except OSError as error:
        raise UnreadableError(_os_reason(error)) from error


def read_url(url: str, limit: int, fetch: FetchUrl | None) -> tuple[bytes, str]:
    """The bytes at a URL and their content type, brought by ``fetch``.

    Raises UnreadableError: no ``fetch``, more than ``limit`` bytes, or the error of ``fetch``.
    """
    if fetch is None:
        raise UnreadableError("URLs cannot be read here", hint="Save the page as a file and ingest that.")
    try:
        data, content_type = fetch(url)
    except LocalCragError as error:
        raise UnreadableError(str(error), hint=error.hint) from error
    if len(data) > limit:
        raise too_large(len(data), limit)
    return data, content_type


def _bounded(stream: BinaryIO, limit: int) -> bytes:
    data = bytearray()
    while block := stream.read(_BLOCK_BYTES):
        data += block
        if len(data) > limit:
            raise too_large(len(data), limit)
    return bytes(data)


def _size_in_words(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size:,} bytes"


def _os_reason(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT | errno.ESTALE:
            return "it vanished before it was read"
        case errno.EACCES | errno.EPERM:
            return "no permission to read it"
        case errno.EISDIR:
            return "it is a folder now"
        case _:
            return f"it cannot be read: {error.strerror or error}"
