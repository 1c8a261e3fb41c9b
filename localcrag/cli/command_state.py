"""What every command starts from: ``--home`` and ``--offline``, the knowledge base they lead to, output."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
    """The options of the whole command, and the settings they lead to."""

    home: Path | None
    offline: bool

    @cached_property
    def settings(self) -> Settings:
        """Read once; going offline happens here, before any library that might connect is imported."""
        from localcrag.settings import load

        settings = load(home=self.home)
        if self.offline or settings.offline:
            settings = replace(settings, offline=True)
            go_offline()
        return settings

    @property
    def ledger(self) -> Ledger:
        """Everything that left this machine."""
        from localcrag import knowledge_base

        return knowledge_base.open(settings=self.settings).ledger

    def open(self, kb: str | None, **sections: Mapping[str, Any]) -> KnowledgeBase:
        """The knowledge base named, or the default one; ``sections`` hold what flags override."""
        from localcrag import knowledge_base

        settings = self.settings
        for section, values in sections.items():
            settings = settings.with_values(section, **values)
        return knowledge_base.open(kb, settings=settings)

    def open_askable(self, kb: str | None, say: Callable[[str], None]) -> AskableKnowledgeBase:
        """The knowledge base to search and to ask: in the warm process if one may answer, else in this one.

        ``say`` is told why a warm process that should have answered did not.
        """
        from localcrag.serve.client import WarmClient, WarmKnowledgeBase

        settings = self.settings
        client = WarmClient.of(settings, self.home, settings.serve.warm)
        if not client.may_answer:
            return self.open(kb)
        return WarmKnowledgeBase(kb or settings.kb, settings, client, cache(lambda: self.open(kb)), say)


pass_state = click.make_pass_decorator(CommandState)


def print_json(value: JsonValue) -> None:
    """One JSON value on stdout."""
    import json

    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def complain(error: LocalCragError) -> None:
    """An error on stderr: what and why in one line, what to do in the next."""
    click.echo(click.style("Error: ", fg="red") + _line(str(error)), err=True)
    if error.hint:
        click.echo(click.style("Hint: ", fg="yellow") + _line(error.hint), err=True)


def _line(text: str) -> str:
    """One line, without a library's full stop, and without what would steer a terminal."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    return " ".join(shown.split()).removesuffix(".")


def printed(events: Iterable[Event]) -> Iterator[Event]:
    """The events, each printed as one line of JSON on stdout as it happens."""
    import json

    from localcrag.events import to_dict

    for event in events:
        click.echo(json.dumps(to_dict(event), ensure_ascii=False))
        yield event


def quiet(reason: str) -> None:
    """Why the warm process did not answer, where nobody asked to see the steps."""


def traced(reason: str) -> None:
    """Why the warm process did not answer, under --trace."""
    click.echo(click.style(f"done without the warm process: {reason}", dim=True), err=True)
