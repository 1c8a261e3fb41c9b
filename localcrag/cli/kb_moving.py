"""``localcrag kb relocate``, ``rename``, ``copy`` and ``import``: knowledge bases that move."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.event_rendering import count
from localcrag.cli.name_completion import KbName
from localcrag.cli.parameters import json_option
from localcrag.cli.safe_output import one_line
from localcrag.errors import UsageError


@click.command()
@click.argument("name", type=KbName())
@click.argument("folders", nargs=-1, required=True, metavar="[OLD] NEW")
@json_option
@pass_state
def relocate(state: CommandState, name: str, folders: tuple[str, ...], as_json: bool) -> int:
    """Say that the documents of a folder are in another folder now.

    Nothing is read again: what was moved is found where it is. OLD may be left out if all documents are from
    one folder; `kb show` lists the folders.
    """
    if len(folders) > 2:
        raise UsageError("these are more than two folders", hint="give the old folder and the new one")
    *old, new = folders
    done = state.open(name).relocate(old[0] if old else None, new)
    if as_json:
        print_json(
            {
                "kb": name,
                "old": done.old,
                "new": done.new,
                "documents": done.documents,
                "missing": done.missing,
            }
        )
        return 0
    click.echo(one_line(f"{count(done.documents, 'document')} of {done.old}: now in {done.new}"), err=True)
    if done.missing:
        missing = (
            f"{done.missing} of them are not there; `localcrag ingest {shlex.quote(done.new)} --kb {name}` "
            "looks again"
        )
        click.echo(click.style(one_line(missing), fg="yellow"), err=True)
    return 0


@click.command()
@click.argument("name", type=KbName())
@click.argument("new")
@pass_state
def rename(state: CommandState, name: str, new: str) -> None:
    """Give a knowledge base another name."""
    from localcrag.store.kb_names import NAMES_SEPARATOR

    base = state.open(name)
    base.rename(new)
    click.echo(one_line(f"{name} is called {new} now."), err=True)
    chosen = state.settings.kb.split(NAMES_SEPARATOR)
    if name in chosen:
        wanted = ",".join(new if other == name else other for other in chosen)
        advice = f"The settings name {name} as the default: localcrag config set kb {wanted}"
        click.echo(click.style(one_line(advice), fg="yellow"), err=True)


@click.command()
@click.argument("name", type=KbName())
@click.argument("new")
@pass_state
def copy(state: CommandState, name: str, new: str) -> None:
    """Make another knowledge base with the same content; this one may be asked meanwhile."""
    state.open(name).copy(new)
    click.echo(one_line(f"{new} is a copy of {name} now."), err=True)


@click.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="Its name here; by default the one that it had.")
@pass_state
def import_(state: CommandState, file: Path, name: str | None) -> None:
    """Make a knowledge base of an archive of `kb export --archive`: whole, or not at all."""
    from localcrag import knowledge_base

    base = knowledge_base.import_archive(file, name, settings=state.settings)
    info = base.info()
    held = f"{base.name}: {count(info.documents, 'document')}, {count(info.passages, 'passage')}"
    click.echo(one_line(held), err=True)
    for place in info.places:
        if not Path(place.folder).is_dir():
            former = shlex.quote(place.folder)
            advice = f"{place.folder} is not here: localcrag kb relocate {base.name} {former} FOLDER"
            click.echo(click.style(one_line(advice), fg="yellow"), err=True)
