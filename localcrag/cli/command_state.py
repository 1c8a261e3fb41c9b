"""What several commands share: the state behind ``--home`` and ``--offline``, options, output."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from localcrag.egress import go_offline
from localcrag.errors import LocalCragError, UsageError

if TYPE_CHECKING:
    from localcrag.events import Event
    from localcrag.knowledge_base import KnowledgeBase
    from localcrag.serve.client import AskableKnowledgeBase
    from localcrag.settings import Settings
    from localcrag.types import JsonValue, MetaValue
    from localcrag.web.ledger import Ledger

F = TypeVar("F", bound=Callable[..., Any])
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
"""What is a number on the command line: digits, with a sign and a point at most."""


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

    def warm(
        self, kb: str | None, *, say: Callable[[str], None], **sections: Mapping[str, Any]
    ) -> AskableKnowledgeBase:
        """The same to be asked and searched: in the warm process, and in this one where that fails.

        ``say`` is told why, where a warm process should have answered.
        """
        from localcrag.serve.client import WarmClient, WarmKnowledgeBase

        settings = self.settings
        for section, values in sections.items():
            settings = settings.with_values(section, **values)
        caller = WarmClient.of(self.settings, self.home, settings.serve.warm)
        return WarmKnowledgeBase(kb or settings.kb, settings, caller, partial(self.open, kb, **sections), say)


pass_state = click.make_pass_decorator(CommandState)

kb_option = click.option("--kb", metavar="NAME", help="Knowledge base; by default the one in the settings.")
filter_option = click.option(
    "--filter",
    "filter_",
    metavar="EXPR",
    help='Only documents like this: \'team = "x" and title != "Draft"\'.',
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
model_option = click.option(
    "--model", metavar="NAME|FILE", help="Language model: a name of `localcrag models list`, or a GGUF."
)
evaluator_option = click.option(
    "--evaluator", metavar="NAME|FILE|none", help="Evaluator that reranks and judges; `none` for none."
)


class Words(click.Choice[str]):
    """The values of an enumeration, as users write them."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([item.value for item in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return self._kind(super().convert(value, param, ctx))


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

    from localcrag.events import to_json

    for event in events:
        click.echo(json.dumps(to_json(event), ensure_ascii=False))
        yield event


def quiet(reason: str) -> None:
    """Why the warm process did not answer, where nobody asked to see the steps."""


def traced(reason: str) -> None:
    """Why the warm process did not answer, under --trace."""
    click.echo(click.style(f"done without the warm process: {reason}", dim=True), err=True)


def parse_meta(pairs: tuple[str, ...]) -> dict[str, MetaValue]:
    """``key=value`` pairs; true/false and plain numbers become what they look like, the rest stays text.

    Raises UsageError for a pair without ``=`` or with a key that is not a name.
    """
    from localcrag.filters import is_key

    meta: dict[str, MetaValue] = {}
    for pair in pairs:
        key, sign, value = pair.partition("=")
        if not sign or not is_key(key):
            raise UsageError(
                f"--meta {pair!r} is not key=value", hint="for example --meta team=x --meta year=2024"
            )
        meta[key] = _typed(value)
    return meta


def _typed(value: str) -> MetaValue:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not _NUMBER.fullmatch(value) or not math.isfinite(float(value)):
        return value
    return float(value) if "." in value else int(value)
