"""``localcrag serve``: the warm process."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import json_option
from localcrag.errors import UsageError, WarmError
from localcrag.types import WarmPolicy

if TYPE_CHECKING:
    from localcrag.serve.protocol import Request, ServerStatus, StartConditions

NOT_RUNNING_EXIT_CODE = 1
ENDING_SECONDS = 10.0
"""Seconds to wait for the end of a server that was told to stop."""


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
        return _print_status(state, as_json)
    again = _serve(state, background)
    if again is not None:
        _restart(again, background)
    return 0


def server_status(state: CommandState) -> ServerStatus | None:
    """The state of the server of this home; None if none runs. Raises WarmError if it does not answer."""
    from localcrag.serve.protocol import StatusRequest

    return _ask_server(state, StatusRequest())


def status_line(status: ServerStatus) -> str:
    """The state of a server in words."""
    idle = "busy" if status.busy else f"idle for {_duration(status.idle)}"
    ends = f", ends after {_duration(status.limit)}" if status.limit else ""
    return f"process {status.pid}, {status.answered} requests, {idle}{ends}"


def _print_status(state: CommandState, as_json: bool) -> int:
    found = server_status(state)
    if as_json:
        import msgspec

        values = {} if found is None else msgspec.to_builtins(found)
        print_json({"running": found is not None, **values})
    else:
        click.echo(f"It runs: {status_line(found)}." if found else "No warm process runs.")
    return 0 if found else NOT_RUNNING_EXIT_CODE


def _stop(state: CommandState) -> int:
    from localcrag.serve.protocol import StopRequest

    found = _ask_server(state, StopRequest())
    if found is None:
        click.echo("No warm process runs.", err=True)
        return 0
    from localcrag.serve.endpoint import endpoint_of

    lock = endpoint_of(state.settings.home).lock
    deadline = time.monotonic() + ENDING_SECONDS
    while _runs(found.pid, lock):
        if time.monotonic() > deadline:
            click.echo(f"Process {found.pid} ends after the question it answers.", err=True)
            return 0
        time.sleep(0.02)
    click.echo("It ended.", err=True)
    return 0


def _ask_server(state: CommandState, request: Request) -> ServerStatus | None:
    """The reply to a request; None if no server runs. Raises WarmError if it does not answer."""
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
    """Serve until the end; returns the conditions to restart under, or None. Raises WarmError."""
    from localcrag.serve.client import start_conditions
    from localcrag.serve.endpoint import claimed, endpoint_of
    from localcrag.serve.server import Server, log
    from localcrag.serve.worker import Worker

    settings, endpoint = state.settings, endpoint_of(state.settings.home)
    with claimed(endpoint) as listener:
        if listener is None:
            if background:
                return None
            raise WarmError("a warm process runs already", hint="localcrag serve --status tells more")
        worker = Worker(settings)
        start = start_conditions(settings, state.home)
        server = Server(endpoint, listener, start, worker, limit=settings.serve.idle * 60)
        log(f"serves {settings.home}" + ("" if background else "; Ctrl-C ends it"))
        try:
            return server.run(first=None if background else worker.warm)
        finally:
            server.close()
            log("ended")


def _restart(start: StartConditions, background: bool) -> None:
    """Replace this process by a new server under the conditions of the command that asked for it."""
    from localcrag.serve.client import command_of
    from localcrag.settings import PREFIX

    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    command = command_of(start) if background else command_of(start)[:-1]
    os.execve(start.interpreter, command, {**kept, **start.environment})


def _runs(process: int, lock: Path) -> bool:
    """Whether the server runs that has this process number and holds ``lock``.

    Windows is asked for the lock, because ``os.kill`` would send Ctrl-C there. Elsewhere a process runs until
    it has ended and its parent has waited for it.
    """
    if os.name == "nt":
        from filelock import FileLock, Timeout

        try:
            with FileLock(lock, blocking=False):
                return False
        except Timeout:
            return True
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
