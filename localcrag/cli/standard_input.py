"""What is piped into a command: a question, or the context of one."""

from __future__ import annotations

import io
import os
import stat
import sys

import click

from localcrag.errors import UnreadableError, UsageError

PATIENCE_SECONDS = 5.0
"""Seconds to wait for the first byte of a pipe: a program that starts this one may leave it open for ever."""


def all_of_stdin() -> str:
    """All of standard input; bytes that are not text become replacement characters."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin.read() if sys.stdin else ""


def piped_text(*, quiet: bool = False) -> str:
    """The text that is piped in; "" at a terminal, or if there is none.

    Nothing is waited for long: if nothing comes, that is said, unless it is to be ``quiet``. Raises
    UsageError for bytes that are no text.
    """
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return ""
    if not isinstance(sys.stdin, io.TextIOWrapper):
        return sys.stdin.read()
    number = sys.stdin.fileno()
    if not _is_pipe_or_file(number):
        return ""
    if not _begins(number):
        if not quiet:
            click.echo(
                f"Nothing came on standard input for {PATIENCE_SECONDS:.0f} s, so it is no context.", err=True
            )
        return ""
    return _decoded(sys.stdin.buffer.read())


def _is_pipe_or_file(number: int) -> bool:
    """Whether a descriptor may hold a text; a device, such as /dev/null, holds none."""
    mode = os.fstat(number).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode) or stat.S_ISSOCK(mode)


def _begins(number: int) -> bool:
    """Whether there is something to read, or the end, within some seconds. Windows cannot tell: it waits."""
    if os.name == "nt":
        return True
    from select import select

    return bool(select([number], [], [], PATIENCE_SECONDS)[0])


def _decoded(data: bytes) -> str:
    from localcrag.documents.encoding import decode

    try:
        return decode(data)
    except UnreadableError as error:
        raise UsageError(
            f"standard input is no context: {error}", hint="give text, or read the file: localcrag ingest -"
        ) from error
