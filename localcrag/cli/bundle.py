"""``localcrag bundle``: one archive that carries everything into a room without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state
from localcrag.cli.name_completion import KbName, ModelName
from localcrag.cli.safe_output import one_line

if TYPE_CHECKING:
    from localcrag.bundle.bundle_manifest import BundleManifest


@click.group()
def bundle() -> None:
    """Carry localcrag, models and knowledge bases into a room without a network."""


@bundle.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--with-models",
    "models",
    type=ModelName(),
    multiple=True,
    metavar="NAME",
    help="A further model; those in use go along anyway. Can be given several times.",
)
@click.option(
    "--kb", "kbs", type=KbName(), multiple=True, metavar="NAME", help="A knowledge base; several times."
)
@click.option(
    "--extra",
    "extras",
    multiple=True,
    metavar="NAME",
    help="An extra such as `http`; several times. By default all that are installed here.",
)
@click.option(
    "--platform", "tag", metavar="TAG", help="Another platform, such as manylinux_2_28_aarch64; uses pip."
)
@click.option("--python", metavar="VERSION", help="Another version of Python, such as 3.12; uses pip.")
@click.option(
    "--wheels",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Further wheels, which are taken first.",
)
@click.option(
    "--sign", "key", type=click.Path(path_type=Path), metavar="KEY", help="Sign it with this SSH key."
)
@pass_state
def create(
    state: CommandState,
    file: Path,
    models: tuple[str, ...],
    kbs: tuple[str, ...],
    extras: tuple[str, ...],
    tag: str | None,
    python: str | None,
    wheels: Path | None,
    key: Path | None,
) -> None:
    """Make a bundle: wheels, models, knowledge bases, the manual, and an installer.

    For this platform it is made of what is installed, without a network. For another one pip downloads
    wheels from your package index.
    """
    from localcrag.bundle.bundle_creation import BundleRequest, archive_digest, create_bundle

    request = BundleRequest(models, kbs, extras or None, tag, python, wheels, key)
    made = create_bundle(
        file, state.settings, request, say=lambda step: click.echo(one_line(f"{step} …"), err=True)
    )
    click.echo(one_line(f"Made {file}: {_summary(made)}"), err=True)
    click.echo(f"{archive_digest(file)}  {one_line(file.name)}")


@bundle.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--signed-by",
    "public",
    type=click.Path(path_type=Path),
    metavar="PUBLIC",
    help="Require a signature by a key in this file of public SSH keys.",
)
@pass_state
def verify(state: CommandState, file: Path, public: Path | None) -> None:
    """Compare every byte of a bundle with its manifest; ends with 1 if anything differs."""
    from localcrag.bundle.bundle_archive import verify_archive
    from localcrag.bundle.bundle_signature import require_signature

    found = verify_archive(file)
    if public:
        require_signature(found.manifest.encoded(), found.signature, public)
    click.echo(one_line(f"{file.name} is whole: {_summary(found.manifest)}"))
    if public:
        click.echo(one_line(f"It is signed by {public}."))
    elif found.signature:
        click.echo("It is signed; --signed-by PUBLIC checks by whom.")


@bundle.command()
@click.argument("folder", type=click.Path(path_type=Path))
@pass_state
def load(state: CommandState, folder: Path) -> None:
    """Put the models and knowledge bases of an unpacked bundle in place; its installer runs this.

    What is there already under the same name stays.
    """
    from localcrag.bundle.bundle_loading import load_bundle
    from localcrag.cli.config_editing import (
        file_text,
        has_setting,
        toml_text,
        with_setting,
        write_checked,
    )

    loaded = load_bundle(folder, state.settings.home)
    for line in loaded.steps:
        click.echo(one_line(line), err=True)
    path = state.config_file
    for name, value in loaded.settings.items():
        if not has_setting(file_text(path), name, path):
            write_checked(path, with_setting(file_text(path), name, value, path))
            click.echo(one_line(f"{name} = {toml_text(value)} in {path}"), err=True)


def _summary(made: BundleManifest) -> str:
    """The content of a bundle in a line."""
    from localcrag.cli.event_rendering import count

    size = sum(file.bytes for file in made.files) / 1e6
    parts = [
        f"localcrag {made.localcrag} for {made.target.tag} and Python {made.target.python}",
        count(len(made.packages), "package"),
        f"models {', '.join(model.name for model in made.models)}",
        f"knowledge bases {', '.join(base.name for base in made.knowledge_bases)}"
        if made.knowledge_bases
        else "no knowledge base",
        f"{size:,.0f} MB",
    ]
    return "; ".join(parts)
