"""The ``localcrag`` command, which turns errors into messages and exit codes."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import sys
from pathlib import Path
from typing import NoReturn

import click

from localcrag import __version__
from localcrag.cli.command_state import CommandState, complain
from localcrag.cli.lazy_commands import LazyGroup
from localcrag.cli.safe_output import plain, replace_unencodable
from localcrag.egress import obey_environment
from localcrag.errors import LocalCragError

INTERRUPTED_EXIT_CODE = 130
_OBJECTS_PER_COLLECTION = 50_000
"""The objects made from one garbage collection to the next, in place of Python's 700: a command makes most of
its objects when it imports and loads, and they stay."""


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="localcrag")
@click.option("--home", type=click.Path(path_type=Path), help="Keep everything in this folder.")
@click.option("--offline", is_flag=True, help="Refuse every connection that leaves this machine.")
@click.pass_context
def cli(context: click.Context, home: Path | None, offline: bool) -> None:
    """Ask your own documents, and get answers made only of evidence that was checked.

    Nothing leaves this machine unasked. What you can ask for: a web search through a SearXNG of your own,
    an address to ingest, a model to pull.

    \b
    localcrag ingest ~/papers
    localcrag ask "what is the dose?"
    """
    context.obj = CommandState(home=home, offline=offline)


def main(arguments: list[str] | None = None) -> int:
    """Run a command line, by default that of the process; returns its exit code.

    0 answered or done; 1 error; 2 usage; 3 no answer in the evidence; 130 interrupted.
    """
    obey_environment()
    replace_unencodable()
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    try:
        result = cli.main(arguments, standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except LocalCragError as error:
        complain(error)
        return error.exit_code
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        click.echo(plain(shown.getvalue()), err=True, nl=False)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Interrupted; what was finished before is kept.", err=True)
        if arguments is None:
            _leave(INTERRUPTED_EXIT_CODE)
        return INTERRUPTED_EXIT_CODE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    finally:
        if arguments is None:
            gc.freeze()  # the process ends, and Python need not look for garbage again


def _leave(code: int) -> NoReturn:
    """End the process now.

    Otherwise Python waits for threads that nobody needs any more, which still import a library or read files.
    Nothing is left to be done: whatever had to be closed was closed on the way here, and what writes to the
    disk also bears to be killed.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)
