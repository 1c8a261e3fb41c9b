"""``localcrag ask``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from localcrag.cli.common import (
    State,
    Words,
    evaluator_option,
    filter_option,
    json_option,
    kb_option,
    model_option,
    pass_state,
    print_json,
    printed,
)
from localcrag.events import Event, answer_of
from localcrag.types import GraderKind, Mode, Policy, Status, WebPolicy

NO_ANSWER = 3


@click.command()
@click.argument("question")
@kb_option
@filter_option
@click.option("--policy", type=Words(Policy), help="Rule that turns grades into an action.")
@click.option("--grader", type=Words(GraderKind), help="Who judges the passages.")
@click.option("--mode", type=Words(Mode), help="Write an answer, or quote the evidence verbatim.")
@click.option("--web", type=Words(WebPolicy), help="May the question be sent to your SearXNG?")
@model_option
@evaluator_option
@click.option(
    "--trace", is_flag=True, help="Show every passage, its grade, and why the loop went where it went."
)
@json_option
@click.option("--jsonl", is_flag=True, help="Print the events, one JSON object a line.")
@pass_state
def ask(
    state: State,
    question: str,
    kb: str | None,
    filter_: str | None,
    policy: Policy | None,
    grader: GraderKind | None,
    mode: Mode | None,
    web: WebPolicy | None,
    model: str | None,
    evaluator: str | None,
    trace: bool,
    as_json: bool,
    jsonl: bool,
) -> int:
    """Answer QUESTION from your documents; `-` reads it from stdin.

    The answer is printed on stdout; the steps and the sources go to stderr. The exit code is 0 for
    an answer, 3 where the documents hold none.
    """
    from localcrag.app import AskOptions

    text = sys.stdin.read() if question == "-" else question
    base = state.open(kb, model={"language": model, "evaluator": evaluator})
    options = AskOptions(
        filter=filter_,
        policy=policy,
        mode=mode,
        web=web,
        grader=grader,
        consent=_consent if sys.stdin.isatty() and sys.stderr.isatty() else None,
    )
    events = base.stream(text, options)
    if jsonl:
        answer = answer_of(printed(events))
    elif as_json:
        answer = answer_of(events)
        print_json(answer.to_json())
    else:
        answer = answer_of(_shown(events, trace))
    return NO_ANSWER if answer.status is Status.NOT_FOUND else 0


def _shown(events: Iterable[Event], trace: bool) -> Iterator[Event]:
    from localcrag.cli.render import Steps

    steps = Steps(trace)
    for event in events:
        steps.show(event)
        yield event


def _consent(query: str) -> str | None:
    """Show the exact line that would be sent, and ask."""
    click.echo(f"Send this line to your SearXNG?\n    {query}", err=True)
    return query if click.confirm("Send", default=False, err=True) else None
