"""The state that every command starts from, opening a knowledge base, and common output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localcrag.cli.safe_output import json_text, one_line
from localcrag.egress import go_offline
from localcrag.errors import LocalCragError

if TYPE_CHECKING:
    from localcrag.events import Event
    from localcrag.knowledge_base import KnowledgeBase
    from localcrag.serve.client import AskableKnowledgeBase
    from localcrag.settings import Settings
    from localcrag.types import JsonValue
    from localcrag.web.ledger import Ledger


@dataclass(frozen=True)
class CommandState:
    """The options of the whole command, ``--home`` and ``--offline``, and the settings that follow."""

    home: Path | None
    offline: bool

    @cached_property
    def settings(self) -> Settings:
        """The settings, read once.

        This also goes offline if asked to, before any library that might connect is imported. Raises
        SettingsError.
        """
        from localcrag.settings import load

        settings = load(home=self.home)
        if self.offline or settings.offline:
            settings = replace(settings, offline=True)
            go_offline()
        return settings

    @property
    def config_file(self) -> Path:
        """The configuration file, whether it exists or can be understood, or not."""
        from localcrag import settings

        return self.home.expanduser().absolute() / "config.toml" if self.home else settings.config_file()

    @property
    def ledger(self) -> Ledger:
        """The ledger of everything that left this machine."""
        from localcrag import knowledge_base

        return knowledge_base.open(settings=self.settings).ledger

    def open(self, kb: str | None, **sections: Mapping[str, Any]) -> KnowledgeBase:
        """The knowledge base ``kb``, or the default one.

        ``sections`` are the values of settings that flags override, by section; None leaves a value alone.
        """
        from localcrag import knowledge_base

        settings = self.settings
        for section, values in sections.items():
            settings = settings.with_values(section, **values)
        return knowledge_base.open(kb, settings=settings)

    def open_askable(
        self,
        kb: str | None,
        say: Callable[[str], None],
        open_local: Callable[[], AskableKnowledgeBase] | None = None,
    ) -> AskableKnowledgeBase:
        """The knowledge base to search and to ask, in the warm process if one may answer, else in this one.

        ``say`` is told why a warm process that should have answered did not, and ``open_local`` opens the
        knowledge base in this process; by default it is opened anew.
        """
        from localcrag.serve.client import WarmClient, WarmKnowledgeBase

        settings = self.settings
        client = WarmClient.of(settings, self.home, settings.serve.warm)
        opened = open_local or cache(lambda: self.open(kb))
        if not client.may_answer:
            return opened()
        return WarmKnowledgeBase(kb or settings.kb, settings, client, opened, say)


pass_state = click.make_pass_decorator(CommandState)


def print_json(value: JsonValue) -> None:
    """Print one JSON value on stdout."""
    click.echo(json_text(value, indent=2))


def complain(error: LocalCragError) -> None:
    """Print an error on stderr in one line, and its hint in the next."""
    click.echo(click.style("Error: ", fg="red") + _line(str(error)), err=True)
    if error.hint:
        click.echo(click.style("Hint: ", fg="yellow") + _line(error.hint), err=True)


def _line(text: str) -> str:
    """The message of an error on one line, without a final full stop; runs of blanks become one."""
    return " ".join(one_line(text).split()).removesuffix(".")


def print_event(event: Event) -> None:
    """Print an event as one line of JSON on stdout."""
    from localcrag.events import to_dict

    click.echo(json_text(to_dict(event)))


def print_events(events: Iterable[Event]) -> Iterator[Event]:
    """Print each event as it comes, and pass it on."""
    for event in events:
        print_event(event)
        yield event


def ignore_event(event: Event) -> None:
    """Show nothing of an event, for commands whose output is one JSON object at the end."""


def ignore_reason(reason: str) -> None:
    """Ignore why the warm process did not answer, for commands that do not show the steps."""


def print_reason(reason: str) -> None:
    """Print on stderr why the warm process did not answer, under --trace."""
    click.echo(click.style(f"done without the warm process: {one_line(reason)}", dim=True), err=True)
