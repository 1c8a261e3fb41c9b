"""``localcrag config`` and ``localcrag completion``."""

from __future__ import annotations

from dataclasses import fields

import click
from click.shell_completion import get_completion_class

from localcrag.cli.command_state import CommandState, pass_state
from localcrag.cli.safe_output import one_line, plain
from localcrag.settings import SECTIONS, config_file


@click.command()
@pass_state
def config(state: CommandState) -> None:
    """Show the settings in force, and where they are kept."""
    settings = state.settings
    path = settings.home / "config.toml" if state.home else config_file()
    click.echo(one_line(f"# file: {path}") + ("" if path.is_file() else " (does not exist)"))
    click.echo(one_line(f"# home: {settings.home}"))
    click.echo(_toml({"kb": settings.kb, "offline": settings.offline}))
    for section, cls in SECTIONS.items():
        click.echo(f"\n[{section}]")
        for item in fields(cls):
            value = getattr(getattr(settings, section), item.name)
            click.echo(f"# {item.name}" if value is None else _toml({item.name: value}))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: eval "$(localcrag completion bash)"."""
    cls = get_completion_class(shell)
    assert cls is not None
    click.echo(cls(context.find_root().command, {}, "localcrag", "_LOCALCRAG_COMPLETE").source())


def _toml(values: dict[str, object]) -> str:
    import tomli_w

    return plain(tomli_w.dumps(values)).rstrip()
