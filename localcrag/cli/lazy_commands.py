"""The commands by name, each imported when it is run, so that it does not load what others need."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

COMMAND_MODULES = {
    "ask": ("ask", "Answer QUESTION from your documents; `-` reads it from stdin."),
    "bundle": ("bundle", "Carry localcrag, models and knowledge bases into a room without a network."),
    "calibrate": ("evaluate", "Fit the grades and the thresholds to your own questions."),
    "chat": (
        "chat",
        "Ask one question after the other; a follow-up is understood with what you asked before.",
    ),
    "completion": (
        "config",
        'Print the completion script for SHELL: eval "$(localcrag completion bash)".',
    ),
    "config": ("config", "Show the settings in force, and where they are kept; change them."),
    "doctor": ("doctor", "Look at everything that localcrag needs, and say what is wrong and what to do."),
    "docs": ("docs", "List the pages of the manual, or show one of them."),
    "eval": ("evaluate", "Measure localcrag on your own questions."),
    "extract": ("extract", "Print one record per document, in the form of a JSON Schema."),
    "ingest": ("ingest", "Read files, folders, globs or URLs into a knowledge base; only what changed."),
    "kb": ("kb", "List, show, check, move, export, refine, compact and remove knowledge bases."),
    "mcp": ("mcp", "Serve an editor or an agent over the Model Context Protocol, on stdin and stdout."),
    "models": ("models", "List, check, verify, add, fetch and remove models."),
    "search": ("search", "Find the passages that bear on QUERY: retrieval alone, no answer."),
    "serve": (
        "serve",
        "Keep models and indexes loaded, so that ask, search and chat need not load them.",
    ),
    "threads": ("threads", "List, show, export and delete the conversations that `chat --thread` keeps."),
    "web": ("web", "Check your SearXNG, and see everything that left this machine."),
}
"""The module of each command, and the first sentence of its help (a test compares the two)."""


class Commands(MutableMapping[str, click.Command]):
    """The commands of a group; looking one up imports its module."""

    def __init__(self) -> None:
        self._added: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._added:
            module, _ = COMMAND_MODULES[name]
            found = vars(import_module(f"localcrag.cli.{module}")).values()
            self._added[name] = next(
                item for item in found if isinstance(item, click.Command) and item.name == name
            )
        return self._added[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._added[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError("a command is not taken away")

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*COMMAND_MODULES, *self._added}))

    def __len__(self) -> int:
        return len({*COMMAND_MODULES, *self._added})


class LazyGroup(click.Group):
    """A group of the commands in COMMAND_MODULES, which lists them in its help without importing any."""

    def __init__(self, **settings: object) -> None:
        super().__init__(**{**settings, "commands": Commands()})  # type: ignore[arg-type]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands for the help."""
        shown = {name: click.Command(name, help=help) for name, (_, help) in COMMAND_MODULES.items()}
        click.Group(commands=shown).format_commands(ctx, formatter)
