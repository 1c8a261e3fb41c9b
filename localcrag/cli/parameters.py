"""The options that several commands share, and the types of their values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import click

from localcrag.errors import UsageError
from localcrag.types import CorrectionKind, GraderKind, Grounding, Layout, Mode, Policy, StripKind, WebPolicy

if TYPE_CHECKING:
    from localcrag.types import MetaValue

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
"""A number on the command line: digits, with an optional sign and point."""
NO_CORRECTION = "none"
LOCAL_CORRECTIONS = [kind.value for kind in CorrectionKind if kind is not CorrectionKind.WEB]

kb_option = click.option("--kb", metavar="NAME", help="Knowledge base; by default the one in the settings.")
FILTER_HELP = 'Only documents like this: \'team = "x" and title != "Draft"\'.'
filter_option = click.option("--filter", "filter_", metavar="EXPR", help=FILTER_HELP)
json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
model_option = click.option(
    "--model", metavar="NAME|FILE", help="Language model: a name of `localcrag models list`, or a GGUF."
)
evaluator_option = click.option(
    "--evaluator", metavar="NAME|FILE|none", help="Evaluator that reranks and judges; `none` for none."
)


class Words(click.Choice[str]):
    """A choice among the values of an enumeration."""

    def __init__(self, kind: type[StrEnum]) -> None:
        super().__init__([item.value for item in kind])
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The member of the enumeration."""
        return self._kind(super().convert(value, param, ctx))


class Corrections(click.ParamType[tuple[CorrectionKind, ...]]):
    """Local corrections in the order in which they are tried, separated by commas; ``none`` for none."""

    name = "kinds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[CorrectionKind, ...]:
        """The corrections in their order."""
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in value.split(",") if word.strip()]
        if words == [NO_CORRECTION]:
            return ()
        if unknown := [word for word in words if word not in LOCAL_CORRECTIONS]:
            self.fail(
                f"{unknown[0]!r} is none of {', '.join(LOCAL_CORRECTIONS)}, {NO_CORRECTION}", param, ctx
            )
        return tuple(CorrectionKind(word) for word in words)


_ASK_OPTIONS = (
    click.option("--filter", metavar="EXPR", help=FILTER_HELP),
    click.option("--policy", type=Words(Policy), help="Rule that turns grades into an action."),
    click.option("--grader", type=Words(GraderKind), help="Who judges the passages."),
    click.option("--mode", type=Words(Mode), help="Write an answer, or quote the evidence verbatim."),
    click.option("--web", type=Words(WebPolicy), help="May the question be sent to your SearXNG?"),
    click.option(
        "--corrections",
        type=Corrections(),
        metavar="KINDS",
        help=f"Local corrections, in order, of {', '.join(LOCAL_CORRECTIONS)}; `none` for none.",
    ),
    click.option("--strips", type=Words(StripKind), help="What relevant passages are cut into."),
    click.option(
        "--layout", type=Words(Layout), help="How passages lie before a chat model: a prompt each, or one."
    ),
    click.option(
        "--grounding", type=Words(Grounding), help="Written sentences that the evidence does not bear out."
    ),
    click.option("--agent", is_flag=True, help="Plan the searches, one bounded step at a time."),
    model_option,
    evaluator_option,
)


def with_ask_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a question to a command, each under the name of its field in AskOptions."""
    for option in reversed(_ASK_OPTIONS):
        command = option(command)
    return command


def parse_meta(pairs: tuple[str, ...]) -> dict[str, MetaValue]:
    """Metadata from ``key=value`` pairs; true, false and plain numbers are typed, the rest stays text.

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
        meta[key] = _meta_value(value)
    return meta


def _meta_value(value: str) -> MetaValue:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not _NUMBER.fullmatch(value) or not math.isfinite(float(value)):
        return value
    return float(value) if "." in value else int(value)
