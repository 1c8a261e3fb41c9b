"""Questions to the user before something is deleted for good."""

from __future__ import annotations

import sys

import click

from localcrag.errors import UsageError

DECLINED_EXIT_CODE = 1
"""The exit code of a command whose question was answered with no."""


def is_confirmed(question: str, *, default: bool = False) -> bool:
    """Whether the user says yes to a question, which is asked on stderr; a no is acknowledged there.

    Raises UsageError if standard input ends before an answer, click.Abort for Ctrl-C at a terminal.
    """
    try:
        agreed = click.confirm(question, default=default, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)
        raise UsageError(
            "nobody answered, and nothing was changed", hint="answer y or n, or say --yes beforehand"
        ) from None
    if not agreed:
        click.echo("Nothing was changed.", err=True)
    return agreed
