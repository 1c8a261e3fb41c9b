"""``localcrag kb check``, and the progress of a check."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.name_completion import KbName
from localcrag.cli.parameters import json_option
from localcrag.cli.safe_output import one_line
from localcrag.types import JsonValue


@click.command("check")
@click.argument("name", type=KbName(), required=False)
@json_option
@pass_state
def check(state: CommandState, name: str | None, as_json: bool) -> int:
    """Read all of a knowledge base, and say what is damaged and what mends it."""
    base = state.open(name)
    with check_progress(quiet=as_json) as tell:
        problems = list(base.check(tell))
    if as_json:
        found: list[JsonValue] = [
            {
                "what": problem.what,
                "mending": problem.mending,
                "source": problem.source,
                "serious": problem.serious,
                "hint": problem.hint,
            }
            for problem in problems
        ]
        print_json({"kb": base.name, "whole": not problems, "problems": found})
        return 1 if problems else 0
    for problem in problems:
        click.echo(one_line(f"{problem.what}: {problem.hint}"))
    if problems:
        number = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        click.echo(one_line(f"{base.name} is damaged: {number}"), err=True)
        return 1
    click.echo(one_line(f"{base.name} is whole: files, tables, texts and search indexes were read"))
    return 0


@contextmanager
def check_progress(*, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on a terminal, with the step of a check; yields what is to be told."""
    if quiet or not sys.stderr.isatty():
        yield lambda step, done, total: None
        return
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    from localcrag.cli.event_rendering import stderr_console

    columns = (SpinnerColumn(), TextColumn("checking {task.description}"), BarColumn())
    with Progress(*columns, console=stderr_console(), transient=True) as bar:
        task = bar.add_task("files", total=None)
        yield lambda step, done, total: bar.update(task, description=step, completed=done, total=total)
