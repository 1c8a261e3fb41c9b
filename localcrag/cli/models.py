"""``localcrag models``: models by name, with their sha256."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.name_completion import ModelName
from localcrag.cli.parameters import adapter_option, json_option
from localcrag.cli.safe_output import one_line
from localcrag.cli.table_layout import print_rows
from localcrag.errors import ModelError, OfflineError, UsageError

if TYPE_CHECKING:
    from localcrag.llm.model_entry import ModelEntry
    from localcrag.loaded_models import LoadedModels

ROLES = ("language", "evaluator", "adapter")
"""The values of :class:`localcrag.llm.model_entry.Role`, which is imported only when a command runs."""


@click.group()
def models() -> None:
    """List, check, verify, add, fetch and remove models."""


CHECK_SECONDS = 75.0
"""The seconds after which a check begins no further task; with its last task it ends within 90."""
INTERRUPTED_EXIT_CODE = 130


@models.command("list")
@json_option
@pass_state
def list_(state: CommandState, as_json: bool) -> None:
    """The models that can be used by name."""
    from localcrag.llm.registry import Registry

    entries = Registry(state.settings.home).entries()
    words = [_fitness_word(state, entry) for entry in entries]
    if as_json:
        print_json(
            [
                asdict(entry)
                | {"path": str(entry.path), "parts": [str(part) for part in entry.parts], "fitness": word}
                for entry, word in zip(entries, words, strict=True)
            ]
        )
        return
    sizes = [f"{entry.bytes / 1e6:.1f} MB" for entry in entries]
    print_rows(
        [
            (entry.name, _purpose(entry), size, word or "–", _origin(entry), entry.description)
            for entry, size, word in zip(entries, sizes, words, strict=True)
        ]
    )


def _purpose(entry: ModelEntry) -> str:
    """The role of a model, and the base of an adapter."""
    return f"{entry.role} for {entry.base}" if entry.base else str(entry.role)


def _origin(entry: ModelEntry) -> str:
    """The place that a model comes from, in words."""
    if not entry.installed:
        return f"not installed: {entry.installation}"
    if entry.package:
        return f"package {entry.package}"
    return "embedded" if entry.embedded else str(entry.path)


def _fitness_word(state: CommandState, entry: ModelEntry) -> str | None:
    """The verdict of a language model's check, "unchecked" or "unreadable"; None for other files."""
    from localcrag.fitness.fitness_verdicts import fitness_of_model
    from localcrag.llm.model_entry import Role
    from localcrag.llm.registry import Registry

    if entry.role is not Role.LANGUAGE or not entry.path.is_file():
        return None
    if entry.parts and not Registry(state.settings.home).is_ready(entry):
        return "unchecked"
    try:
        result = _models_with(state, entry.name, None).fitness
    except ModelError:
        return "unreadable"
    return "unchecked" if result is None else fitness_of_model(result)


def _models_with(state: CommandState, language: str | None, adapter: str | None) -> LoadedModels:
    """The configured models, with another language model and its adapter if they are named.

    The configured adapter belongs to the configured model, and is not used with another one.
    """
    from localcrag.configured_models import ADAPTER_OF_MODEL
    from localcrag.loaded_models import LoadedModels

    settings = state.settings
    if language not in (None, settings.model.language):
        adapter = adapter or ADAPTER_OF_MODEL
    settings = settings.with_values("model", language=language, adapter=adapter)
    return LoadedModels(settings.model, settings.home)


@models.command()
@click.argument("name", type=ModelName("language"), metavar="[NAME|FILE|URL]", required=False)
@click.option(
    "--seconds",
    type=click.FloatRange(0, min_open=True),
    default=CHECK_SECONDS,
    show_default=True,
    help="Begin no further task after so long.",
)
@adapter_option
@json_option
@pass_state
def check(state: CommandState, name: str | None, seconds: float, adapter: str | None, as_json: bool) -> int:
    """Measure how fit a chat model is for this work, by default the one in use.

    It is asked what localcrag would ask it, about a small set of texts that came with localcrag: yes or
    no, search lines, follow-ups, answers, JSON, and passages with hidden instructions. The result is
    kept for exactly this file and its adapter, and the defaults follow from it.

    Ends with 0 if the model is fit for all or a part of the work, and with 1 if it is unfit.
    """
    from localcrag.cli.evaluate import progress
    from localcrag.cli.fitness_report import show_check
    from localcrag.evaluation.model_check import check_model
    from localcrag.fitness.fitness_verdicts import Fitness, fitness_of_model
    from localcrag.llm.model_file_checks import require_generator

    found = _models_with(state, name, adapter)
    if not found.is_served:
        require_generator(found.language_file)
    try:
        with progress("checking") as report:
            checked = check_model(found, seconds=seconds, progress=report)
    finally:
        found.close()
    kept = None if checked.interrupted else found.fitness_results.put(checked.result)
    if as_json:
        print_json(checked.to_dict())
    else:
        show_check(checked)
    click.echo(f"Kept in {kept}." if kept else "Interrupted: nothing was kept.", err=True)
    if checked.interrupted:
        return INTERRUPTED_EXIT_CODE
    return 1 if fitness_of_model(checked.result) is Fitness.UNFIT else 0


@models.command()
@pass_state
def verify(state: CommandState) -> int:
    """Compare every model file that is installed with the sha256 it is listed with."""
    from localcrag.llm import model_entry
    from localcrag.llm.registry import Registry

    failed = 0
    for entry in Registry(state.settings.home).entries():
        if not entry.installed:
            click.echo(one_line(f"{entry.name}: not installed: {entry.installation}"))
            continue
        wrong = model_entry.verify(entry)
        failed += bool(wrong)
        click.echo(one_line(f"{entry.name}: {wrong or 'ok'}"))
    return 1 if failed else 0


@models.command()
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--role", type=click.Choice(ROLES), help="What it must be; by default what the file says that it is."
)
@click.option("--description", default="", help="A word to find it by.")
@pass_state
def add(state: CommandState, name: str, file: Path, role: str | None, description: str) -> None:
    """Give the GGUF FILE a NAME; it stays where it is."""
    from localcrag.llm.model_entry import Role
    from localcrag.llm.model_file_checks import checked_role
    from localcrag.llm.registry import Registry

    found = checked_role(file)
    if role and role != found:
        raise UsageError(f"{file.name} is no {role} model but of role {found}", hint=f"give --role {found}")
    entry = Registry(state.settings.home).add(name, file, found, description)
    click.echo(one_line(f"Added {entry.name} ({_purpose(entry)}), sha256 {entry.sha256}"), err=True)
    if found is Role.LANGUAGE:
        click.echo(one_line(f"What is it worth here? localcrag models check {entry.name}"), err=True)


@models.command()
@click.argument("name", type=ModelName())
@pass_state
def remove(state: CommandState, name: str) -> None:
    """Forget a model that was added; its file is not deleted."""
    from localcrag.llm.registry import Registry

    entry = Registry(state.settings.home).remove(name)
    click.echo(one_line(f"Forgot {entry.name}; {entry.path} is still there."), err=True)


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
