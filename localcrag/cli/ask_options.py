"""The options of every command that asks questions, gathered into one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from localcrag.cli.command_state import Words, filter_option
from localcrag.types import CorrectionKind, GraderKind, Grounding, Layout, Mode, Policy, StripKind, WebPolicy

if TYPE_CHECKING:
    from localcrag.options import AskOptions

NO_CORRECTION = "none"
LOCAL = [kind.value for kind in CorrectionKind if kind is not CorrectionKind.WEB]


class Corrections(click.ParamType[tuple[CorrectionKind, ...]]):
    """Local corrections in the order they are tried, separated by commas; ``none`` for none."""

    name = "kinds"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[CorrectionKind, ...]:
        if isinstance(value, tuple):
            return value
        words = [word.strip() for word in value.split(",") if word.strip()]
        if words == [NO_CORRECTION]:
            return ()
        if unknown := [word for word in words if word not in LOCAL]:
            self.fail(f"{unknown[0]!r} is none of {', '.join(LOCAL)}, {NO_CORRECTION}", param, ctx)
        return tuple(CorrectionKind(word) for word in words)


_OPTIONS = {
    "filter_": filter_option,
    "policy": click.option("--policy", type=Words(Policy), help="Rule that turns grades into an action."),
    "grader": click.option("--grader", type=Words(GraderKind), help="Who judges the passages."),
    "mode": click.option("--mode", type=Words(Mode), help="Write an answer, or quote the evidence verbatim."),
    "web": click.option("--web", type=Words(WebPolicy), help="May the question be sent to your SearXNG?"),
    "corrections": click.option(
        "--corrections",
        type=Corrections(),
        metavar="KINDS",
        help=f"Local corrections, in order, of {', '.join(LOCAL)}; `none` for none.",
    ),
    "strips": click.option("--strips", type=Words(StripKind), help="What relevant passages are cut into."),
    "layout": click.option(
        "--layout", type=Words(Layout), help="How passages lie before a chat model: a prompt each, or one."
    ),
    "grounding": click.option(
        "--grounding", type=Words(Grounding), help="Written sentences that the evidence does not bear out."
    ),
    "agent": click.option("--agent", is_flag=True, help="Plan the searches, one bounded step at a time."),
}


def asking(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a question; it takes them as one AskOptions named ``options``."""

    @wraps(command)
    def wrapper(*args: Any, **values: Any) -> Any:
        given = {name.rstrip("_"): values.pop(name) for name in _OPTIONS}
        return command(*args, options=_options(given), **values)

    for option in reversed(_OPTIONS.values()):
        wrapper = option(wrapper)
    return wrapper


def _options(given: dict[str, Any]) -> AskOptions:
    from localcrag.options import AskOptions

    return AskOptions(**given)
