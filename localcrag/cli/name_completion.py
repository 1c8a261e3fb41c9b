"""Names that the shell completes: knowledge bases, conversations, models, settings.

The shell waits for them, so each is looked up with as few imports as possible; whatever cannot be read
completes to nothing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localcrag.errors import LocalCragError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from localcrag.llm.model_entry import ModelEntry


class KbName(click.ParamType[str]):
    """The name of a knowledge base."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The knowledge bases whose names begin with the text typed so far."""
        return _items(((name, "") for name in _kb_names(ctx)), incomplete)


class ThreadName(click.ParamType[str]):
    """The name of a conversation."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The conversations whose names begin with the text typed so far, the one used last first."""
        return _items(_threads(ctx), incomplete)


class ModelName(click.ParamType[str]):
    """The name of a model, or a file; ``role`` is the only role that is completed, and "" any.

    ``words`` can be given in place of a name.
    """

    name = "model"

    def __init__(self, role: str = "", *words: str) -> None:
        self._role, self._words = role, words

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names of models that begin with the text typed so far; files if there are none."""
        from click.shell_completion import CompletionItem

        entries = [entry for entry in _models(ctx) if self._role in ("", entry.role)]
        named = [(entry.name, entry.description) for entry in entries]
        found = _items([*named, *((word, "") for word in self._words)], incomplete)
        return found or [CompletionItem(incomplete, type="file")]


class SettingName(click.ParamType[str]):
    """The name of a setting."""

    name = "setting"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The settings whose names begin with the text typed so far."""
        from localcrag.settings import describe

        return _items(((name, help) for name, _, _, help in describe()), incomplete)


def _items(named: Iterable[tuple[str, str]], incomplete: str) -> list[CompletionItem]:
    """The names, each with its help, that go on from a text; without those that a shell would take apart."""
    from click.shell_completion import CompletionItem

    return [
        CompletionItem(name, help=help or None)
        for name, help in named
        if name.startswith(incomplete) and shlex.quote(name) == name
    ]


def _home(ctx: click.Context) -> Path:
    """The folder of everything that localcrag keeps, as the command line typed so far names it."""
    from localcrag.settings import default_home

    named: Path | None = ctx.find_root().params.get("home")
    return named.expanduser() if named else default_home()


def _kb_names(ctx: click.Context) -> list[str]:
    from localcrag.store.kb_folders import KnowledgeBaseFolders

    with suppress(LocalCragError):
        return KnowledgeBaseFolders(_home(ctx)).names()
    return []


def _threads(ctx: click.Context) -> Iterator[tuple[str, str]]:
    from localcrag.conversations import SqliteThreads

    with suppress(LocalCragError):
        for thread in SqliteThreads(_home(ctx) / "threads.db").threads():
            yield thread.name, f"{thread.turns} turns"


def _models(ctx: click.Context) -> list[ModelEntry]:
    from localcrag.llm.registry import Registry

    with suppress(LocalCragError):
        return Registry(_home(ctx)).entries()
    return []
