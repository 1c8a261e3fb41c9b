"""The options of a question, for the commands that ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from localcrag.cli.parameters import (
    FILTER_HELP,
    Words,
    adapter_option,
    evaluator_option,
    model_option,
    single_option,
)
from localcrag.types import CorrectionKind, GraderKind, Grounding, Layout, Mode, Policy, StripKind, WebPolicy

NO_CORRECTION = "none"
LOCAL_CORRECTIONS = [kind.value for kind in CorrectionKind if kind is not CorrectionKind.WEB]


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
    single_option("--filter", metavar="EXPR", help=FILTER_HELP),
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
    click.option("-k", "--k", "k", type=click.IntRange(1, 200), help="Passages graded per search."),
    model_option,
    adapter_option,
    evaluator_option,
)


def with_ask_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a question to a command, each under the name of its field in AskOptions."""
    for option in reversed(_ASK_OPTIONS):
        command = option(command)
    return command
