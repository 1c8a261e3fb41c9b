"""The places a document can be read from, and the reading of their bytes: bounded, and of one moment."""

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
"""Fetches a URL: its bytes and its content type. Raises LocalCragError."""

_BLOCK = MEBIBYTE


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file; ``source`` is its absolute path, ``size`` in bytes."""

    source: str
    path: str
    size: int
    mtime_ns: int

    @property
    def name(self) -> str:
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
    """A text that the caller has; ``source`` is ``text:NAME``, ``title`` "" for one that is its name."""

    source: str
    text: str
    title: str
    size: int
    mtime_ns: int = 0

    @classmethod
    def of(cls, text: str, name: str, title: str = "") -> TextSource:
        """Raises UsageError for what is no text, no name, or no title."""
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
        return self.source.removeprefix("text:")


@dataclass(frozen=True, slots=True)
class UrlFile:
    """A document on the web; ``source`` is its URL."""

    source: str
    size: int = 0
    mtime_ns: int = 0

    @property
    def name(self) -> str:
        """The last part of the path, or the host where there is none."""
        parts = urlsplit(self.source)
        return PurePosixPath(unquote(parts.path)).name or (parts.hostname or "page")


def too_large(size: int, limit: int) -> UnreadableError:
    return UnreadableError(
        f"too large ({_megabytes(size)}; limit {limit // MEBIBYTE} MiB, raise with --max-size)",
        hint="Raise the limit with --max-size, or split the file.",
    )


def read_file(file: LocalFile, limit: int) -> bytes:
    """The bytes of a file as they stood at one moment; at most ``limit``.

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
        raise UnreadableError("it changed while it was read", hint="Run the same command again.")
    return data


def read_stdin(limit: int, stream: BinaryIO | None = None) -> bytes:
    """All of standard input. Raises UnreadableError."""
    try:
        return _bounded(stream or sys.stdin.buffer, limit)
    except OSError as error:
        raise UnreadableError(_os_reason(error)) from error


def read_url(url: str, limit: int, fetch: FetchUrl | None) -> tuple[bytes, str]:
    """The bytes at a URL and their content type. Raises UnreadableError."""
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
    while block := stream.read(_BLOCK):
        data += block
        if len(data) > limit:
            raise too_large(len(data), limit)
    return bytes(data)


def _megabytes(size: int) -> str:
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
