"""``localcrag web``: the check of the web search, and the record of everything that was sent."""

from __future__ import annotations

from datetime import datetime
from functools import partial

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import json_option
from localcrag.cli.safe_output import one_line
from localcrag.cli.table_layout import print_wrapped


@click.group()
def web() -> None:
    """Check your SearXNG, and see everything that left this machine."""


@web.command()
@click.option("--url", metavar="URL", help="Another address than the one in the settings.")
@json_option
@pass_state
def check(state: CommandState, url: str | None, as_json: bool) -> int:
    """Ask your SearXNG a harmless question, and say what is wrong and what to do."""
    from localcrag.web.diagnose import diagnose

    settings = state.settings
    record = partial(state.ledger.record, question="web check")
    found = diagnose(url or settings.web.url, record=record, timeout=settings.web.timeout)
    if as_json:
        print_json(
            {
                "state": found.state,
                "detail": found.detail,
                "hint": found.hint,
                "version": found.version,
                "engines": list(found.engines),
            }
        )
        return 0 if found.fine else 1
    click.echo(one_line(f"{found.state}: {found.detail}"))
    if found.version:
        click.echo(one_line(f"SearXNG {found.version}; engines: {', '.join(found.engines) or 'none'}"))
    if found.hint:
        click.echo(f"Hint: {one_line(found.hint)}", err=True)
    return 0 if found.fine else 1


@web.command()
@click.option("--limit", type=click.IntRange(1), help="Only the last ones.")
@click.option(
    "--since", type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M"]), help="Only what left after this."
)
@json_option
@pass_state
def log(state: CommandState, limit: int | None, since: datetime | None, as_json: bool) -> None:
    """Every query, address, and request to a model server or cluster: when, and for which question."""
    ledger = state.ledger
    entries = ledger.entries(limit=limit, since=since.astimezone() if since else None)
    if damaged := ledger.unreadable_lines():
        lines = "1 line" if damaged == 1 else f"{damaged} lines"
        text = f"{lines} of {ledger.path} cannot be read, so something that left may be missing here"
        click.echo(click.style(one_line(text), fg="yellow"), err=True)
    if as_json:
        print_json(
            [
                {"when": e.when.isoformat(), "kind": e.kind, "target": e.target, "question": e.question}
                for e in entries
            ]
        )
        return
    for entry in entries:
        when = entry.when.astimezone().strftime("%Y-%m-%d %H:%M:%S")
        question = f"  for “{entry.question}”" if entry.question else ""
        print_wrapped(f"{when}  {entry.kind:5}  {entry.target}{question}")
    if not entries and not damaged:
        click.echo("Nothing has left this machine.", err=True)
