"""``localcrag serve``: the warm process."""

from __future__ import annotations

import os
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import json_option
from localcrag.errors import UsageError, WarmError
from localcrag.types import WarmPolicy

if TYPE_CHECKING:
    from localcrag.serve.http_api.door_server import DoorPlan
    from localcrag.serve.protocol import Request, ServerStatus, StartConditions
    from localcrag.serve.server import Server

NOT_RUNNING_EXIT_CODE = 1
ENDING_SECONDS = 10.0
"""Seconds to wait for the end of a server that was told to stop."""


@click.command()
@click.option("--stop", is_flag=True, help="End the one that runs, after the question it answers.")
@click.option("--status", is_flag=True, help="Say whether one runs; the exit code is 1 where none does.")
@click.option(
    "--http",
    is_flag=False,
    flag_value="",
    metavar="[PORT|HOST:PORT]",
    help="Open a page and an API on this machine too; by default at 127.0.0.1:7429.",
)
@click.option(
    "--allow-remote", is_flag=True, help="With --http: let other machines connect, without encryption."
)
@click.option("--read-only", is_flag=True, help="With --http: refuse uploads of documents.")
@click.option("--background", is_flag=True, hidden=True)
@json_option
@pass_state
def serve(
    state: CommandState,
    stop: bool,
    status: bool,
    http: str | None,
    allow_remote: bool,
    read_only: bool,
    background: bool,
    as_json: bool,
) -> int:
    """Keep models and indexes loaded, so that ask, search and chat need not load them.

    It runs until Ctrl-C, --stop, or the idle time in the settings (serve.idle), and listens on a
    Unix socket that only you can reach. Commands find it by themselves; they give the same answers
    without it. With serve.warm = auto the first question starts one in the background.

    With --http it prints the address of a page, with a token that only you have, and does not end when
    it is idle. `localcrag docs http` tells of its API.
    """
    if stop and status:
        raise UsageError("--stop and --status are two questions", hint="give one of them")
    if stop:
        return _stop(state)
    if status:
        return _print_status(state, as_json)
    if http is None and (allow_remote or read_only):
        raise UsageError("--allow-remote and --read-only are about the HTTP door", hint="add --http")
    from localcrag.serve.http_api.door_server import Address, DoorPlan

    plan = None if http is None else DoorPlan(Address.of(http), allow_remote, read_only)
    _serve(state, background, plan)
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


def _serve(state: CommandState, background: bool, plan: DoorPlan | None) -> None:
    """Serve until the end, with the HTTP door of ``plan``, if any; then restart if that was asked for.

    Raises WarmError, UsageError, OfflineError.
    """
    from localcrag.serve.client import start_conditions
    from localcrag.serve.endpoint import claimed, endpoint_of
    from localcrag.serve.server import Server, log
    from localcrag.serve.worker import Worker

    settings, endpoint = state.settings, endpoint_of(state.settings.home)
    with claimed(endpoint) as listener:
        if listener is None:
            if background:
                return
            hint = "localcrag serve --status tells more, and --stop ends it"
            raise WarmError("a warm process runs already", hint=hint)
        worker = Worker(settings)
        start = start_conditions(settings, state.home)
        limit = 0.0 if plan else settings.serve.idle * 60
        server = Server(endpoint, listener, start, worker, limit, steady=plan is not None)
        log(f"serves {settings.home}" + ("" if background else "; Ctrl-C ends it"))
        with ExitStack() as opened:
            opened.callback(log, "ended")
            opened.callback(server.close)
            if plan:
                plan = _open_door(opened, plan, server)
            again = server.run(first=None if background else worker.warm)
    if again is not None:
        _restart(again, background, plan)


def _open_door(opened: ExitStack, plan: DoorPlan, server: Server) -> DoorPlan:
    """Open the HTTP door until ``opened`` ends, and print its address; returns the plan with its port.

    The address goes to stdout, and not to the log, because of the token in it. Raises WarmError, UsageError,
    OfflineError.
    """
    from localcrag.serve.http_api.door_server import open_door
    from localcrag.serve.server import log

    door = opened.enter_context(open_door(plan, server.worker.settings, server.start, server.endpoint))
    if not plan.address.local:
        log("other machines can connect; everything goes over the network unencrypted, the token too")
    click.echo(door.url)
    sys.stdout.flush()
    return door.plan


def _restart(start: StartConditions, background: bool, plan: DoorPlan | None) -> None:
    """Replace this process by a new server under the conditions of the command that asked for it."""
    from localcrag.serve.client import command_of
    from localcrag.settings import PREFIX

    kept = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    command = command_of(start) if background else command_of(start)[:-1]
    command += plan.arguments if plan else []
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
