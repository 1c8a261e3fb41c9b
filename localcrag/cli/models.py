"""``localcrag models``: models by name, with their sha256."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import json_option
from localcrag.errors import OfflineError


@click.group()
def models() -> None:
    """List, verify, add, fetch and remove models."""


@models.command("list")
@json_option
@pass_state
def list_(state: CommandState, as_json: bool) -> None:
    """The models that can be used by name."""
    from localcrag.llm.registry import Registry

    entries = Registry(state.settings.home).entries()
    if as_json:
        print_json([asdict(entry) | {"path": str(entry.path)} for entry in entries])
        return
    for entry in entries:
        origin = "embedded" if entry.embedded else str(entry.path)
        click.echo(f"{entry.name}\t{entry.role}\t{entry.bytes / 1e6:.1f} MB\t{origin}\t{entry.description}")


@models.command()
@pass_state
def verify(state: CommandState) -> int:
    """Compare every model file with the sha256 it is listed with."""
    from localcrag.llm import registry

    failed = 0
    for entry in registry.Registry(state.settings.home).entries():
        wrong = registry.verify(entry)
        failed += bool(wrong)
        click.echo(f"{entry.name}: {wrong or 'ok'}")
    return 1 if failed else 0


@models.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--description", default="", help="A word to find it by.")
@pass_state
def add(state: CommandState, name: str, file: Path, description: str) -> None:
    """Give the GGUF FILE a NAME; it stays where it is."""
    from localcrag.llm.gguf import read_metadata, require_evaluator, require_generator
    from localcrag.llm.registry import Registry, Role

    role = Role.EVALUATOR if read_metadata(file).evaluator else Role.LANGUAGE
    (require_evaluator if role is Role.EVALUATOR else require_generator)(file)
    entry = Registry(state.settings.home).add(name, file, role, description)
    click.echo(f"Added {entry.name} ({entry.role}), sha256 {entry.sha256}", err=True)


@models.command()
@click.argument("name")
@pass_state
def remove(state: CommandState, name: str) -> None:
    """Forget a model that was added; its file is not deleted."""
    from localcrag.llm.registry import Registry

    entry = Registry(state.settings.home).remove(name)
    click.echo(f"Forgot {entry.name}; {entry.path} is still there.", err=True)


@models.command()
@click.argument("repository")
@click.argument("file")
@click.option("--name", help="Name to add it under; by default the file's.")
@click.option("--sha256", help="Refuse the file if its digest is another.")
@pass_state
def pull(state: CommandState, repository: str, file: str, name: str | None, sha256: str | None) -> None:
    """Fetch FILE of REPOSITORY from the Hugging Face hub: the only command that may reach a hub.

    It is not in the record of `localcrag web log`.
    """
    if state.settings.offline:
        raise OfflineError(
            "models pull needs the network, and localcrag is offline", hint="leave out --offline"
        )
    from localcrag.llm.hub import pull as fetch

    entry = fetch(state.settings.home, repository, file, name or Path(file).stem, sha256)
    click.echo(f"Added {entry.name} ({entry.bytes / 1e6:.0f} MB), sha256 {entry.sha256}", err=True)
