"""``localcrag config`` and ``localcrag completion``."""

from __future__ import annotations

import os
import sys
from dataclasses import fields

import click
from click.shell_completion import get_completion_class

from localcrag.cli.command_state import CommandState, complain, pass_state
from localcrag.cli.confirmation import DECLINED_EXIT_CODE, is_confirmed
from localcrag.cli.name_completion import SettingName
from localcrag.cli.safe_output import one_line, plain
from localcrag.errors import SettingsError
from localcrag.settings import SECTIONS, describe


@click.group(invoke_without_command=True)
@click.pass_context
def config(context: click.Context) -> None:
    """Show the settings in force, and where they are kept; change them.

    Without a command, it prints them as a configuration file has them.
    """
    if context.invoked_subcommand is None:
        _show(context.ensure_object(CommandState))


@config.command("set")
@click.argument("name", type=SettingName(), metavar="SETTING")
@click.argument("value")
@pass_state
def set_(state: CommandState, name: str, value: str) -> None:
    """Set SETTING to VALUE in the configuration file; its comments and its order stay.

    A list has commas: `localcrag config set loop.corrections rewrite,neighbours`. Put `--` before a value
    that begins with a dash.
    """
    from localcrag.cli.config_editing import file_text, toml_text, with_setting, write_checked
    from localcrag.settings import setting_value

    path = state.config_file
    found = setting_value(name, value)
    write_checked(path, with_setting(file_text(path), name, found, path))
    click.echo(one_line(f"{name} = {toml_text(found)} in {path}"), err=True)
    _warn_of_variable(name)


@config.command()
@click.argument("name", type=SettingName(), metavar="SETTING")
@pass_state
def unset(state: CommandState, name: str) -> None:
    """Take SETTING out of the configuration file, so that its default holds."""
    from localcrag.cli.config_editing import file_text, without_setting, write_checked

    path = state.config_file
    write_checked(path, without_setting(file_text(path), name, path))
    click.echo(one_line(f"{name} is not in {path} any more."), err=True)
    _warn_of_variable(name)


@config.command()
@pass_state
def edit(state: CommandState) -> int:
    """Open the configuration file in your editor ($VISUAL, $EDITOR), and check it before it is kept."""
    from localcrag.cli.config_editing import NEW_FILE_TEXT, file_text, write_checked

    path = state.config_file
    text = before = file_text(path) or NEW_FILE_TEXT
    while True:
        edited = click.edit(text, extension=".toml")
        if edited is None or edited == before:
            click.echo("Nothing was changed.", err=True)
            return 0
        try:
            write_checked(path, edited)
        except SettingsError as error:
            if not (sys.stdin.isatty() and sys.stderr.isatty()):
                raise
            complain(error)
            if not is_confirmed("Edit it again? Otherwise the change is lost.", default=True):
                return DECLINED_EXIT_CODE
            text = edited
        else:
            click.echo(one_line(f"Kept in {path}."), err=True)
            return 0


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the completion script for SHELL: eval "$(localcrag completion bash)"."""
    cls = get_completion_class(shell)
    assert cls is not None
    click.echo(cls(context.find_root().command, {}, "localcrag", "_LOCALCRAG_COMPLETE").source())


def _show(state: CommandState) -> None:
    """Print every setting as it is in force; one that is unset is a comment."""
    settings, path = state.settings, state.config_file
    click.echo(one_line(f"# file: {path}") + ("" if path.is_file() else " (does not exist)"))
    click.echo(one_line(f"# home: {settings.home}"))
    click.echo(_toml({"kb": settings.kb, "offline": settings.offline}))
    for section, cls in SECTIONS.items():
        click.echo(f"\n[{section}]")
        for item in fields(cls):
            value = getattr(getattr(settings, section), item.name)
            click.echo(f"# {item.name}" if value is None else _toml({item.name: value}))


def _warn_of_variable(name: str) -> None:
    """Say so if an environment variable takes the place of what the file says."""
    variable = next((variable for known, variable, *_ in describe() if known == name), "")
    if os.environ.get(variable):
        click.echo(f"{variable} is set, and takes the place of what the file says.", err=True)


def _toml(values: dict[str, object]) -> str:
    import tomli_w

    return plain(tomli_w.dumps(values)).rstrip()
