"""``localcrag serve``: the warm process."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import json_option
from localcrag.errors import UsageError, WarmError
from localcrag.types import WarmPolicy

if TYPE_CHECKING:
    from localcrag.serve.protocol import Request, ServerStatus, StartConditions

NOT_RUNNING = 1
ENDING_SECONDS = 10.0
"""Seconds to wait for a server that was told to end."""


@click.command()
@click.option("--stop", is_flag=True, help="End the one that runs, after the question it answers.")
@click.option("--status", is_flag=True, help="Say whether one runs; the exit code is 1 where none does.")
@click.option("--background", is_flag=True, hidden=True)
@json_option
@pass_state
def serve(state: CommandState, stop: bool, status: bool, background: bool, as_json: bool) -> int:
    """Keep models and indexes loaded, so that ask, search and chat need not load them.

    It runs until Ctrl-C, --stop, or the idle time in the settings (serve.idle), and listens on a
    Unix socket that only you can reach. Commands find it by themselves; they give the same answers
    without it. With serve.warm = auto the first question starts one in the background.
    """
    if stop and status:
        raise UsageError("--stop and --status are two questions", hint="give one of them")
    if stop:
        return _stop(state)
    if status:
        return _status(state, as_json)
    again = _serve(state, background)
    if again is not None:
        _begin_again(again, background)
    return 0


def report(state: CommandState) -> ServerStatus | None:
    """How the server of this home is; None where none runs. Raises WarmError where it does not say."""
    from localcrag.serve.protocol import StatusRequest

    return _asked(state, StatusRequest())


def told(report: ServerStatus) -> str:
    """A report in words."""
    idle = "busy" if report.busy else f"idle for {_span(report.idle)}"
    ends = f", ends after {_span(report.limit)}" if report.limit else ""
    return f"process {report.pid}, {report.answered} requests, {idle}{ends}"


def _status(state: CommandState, as_json: bool) -> int:
    found = report(state)
    if as_json:
        import msgspec

        values = {} if found is None else msgspec.to_builtins(found)
        print_json({"running": found is not None, **values})
    else:
        click.echo(f"It runs: {told(found)}." if found else "No warm process runs.")
    return 0 if found else NOT_RUNNING


def _stop(state: CommandState) -> int:
    from localcrag.serve.protocol import StopRequest

    found = _asked(state, StopRequest())
    if found is None:
        click.echo("No warm process runs.", err=True)
        return 0
    deadline = time.monotonic() + ENDING_SECONDS
    while _runs(found.pid):
        if time.monotonic() > deadline:
            click.echo(f"Process {found.pid} ends after the question it answers.", err=True)
            return 0
        time.sleep(0.02)
    click.echo("It ended.", err=True)
    return 0


def _asked(state: CommandState, request: Request) -> ServerStatus | None:
    from localcrag.serve.client import NotRunning, Unavailable, WarmClient

    try:
        for reply in WarmClient.of(state.settings, state.home, WarmPolicy.NEVER).converse(request):
            return reply if hasattr(reply, "pid") else None
    except NotRunning:
        return None
    except Unavailable as why:
        raise WarmError(f"the warm process does not answer: {why}", hint="end it, if it hangs") from why
    return None


def _serve(state: CommandState, background: bool) -> StartConditions | None:
    """Serve to the end; returns what to begin again with."""
    from localcrag.serve.client import start_conditions
    from localcrag.serve.endpoint import claimed, endpoint_of
    from localcrag.serve.server import Server, note
    from localcrag.serve.worker import Worker

    settings, place = state.settings, endpoint_of(state.settings.home)
    with claimed(place) as listener:
        if listener is None:
            if background:
                return None
            raise WarmError("a warm process runs already", hint="localcrag serve --status tells more")
        worker = Worker(settings)
        start = start_conditions(settings, state.home)
        server = Server(place, listener, start, worker, limit=settings.serve.idle * 60)
        note(f"serves {settings.home}" + ("" if background else "; Ctrl-C ends it"))
        try:
            return server.run(first=None if background else worker.warm)
        finally:
            server.close()
            note("ended")


def _begin_again(start: StartConditions, background: bool) -> None:
    """Become a fresh process with what the command that found us outdated was started with."""
    from localcrag.serve.client import command_of
    from localcrag.settings import PREFIX

    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    command = command_of(start) if background else command_of(start)[:-1]
    os.execve(start.interpreter, command, {**kept, **start.environment})


def _runs(process: int) -> bool:
    """Whether there is a process of this number; one that ended and was not waited for does not run."""
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
