"""``localcrag ask``."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localcrag.cli.ask_options import with_ask_options
from localcrag.cli.command_state import (
    CommandState,
    ignore_event,
    ignore_reason,
    pass_state,
    print_event,
    print_json,
    print_reason,
)
from localcrag.cli.parameters import json_option, kb_option
from localcrag.cli.safe_output import one_line
from localcrag.errors import UsageError
from localcrag.events import answer_of

if TYPE_CHECKING:
    from localcrag.protocols import Consent

NO_ANSWER_EXIT_CODE = 3


@click.command()
@click.argument("question", nargs=-1, required=True)
@kb_option
@with_ask_options
@click.option(
    "--schema",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Answer as a JSON value in the form of this JSON Schema.",
)
@click.option("--choices", metavar="A,B,…", help="Answer with one of these values.")
@click.option(
    "--trace", is_flag=True, help="Show every passage, its grade, and why the loop went where it went."
)
@click.option("--show-evidence", is_flag=True, help="Show the passages cited, with the quotes highlighted.")
@json_option
@click.option("--jsonl", is_flag=True, help="Print the events, one JSON object a line.")
@pass_state
def ask(
    state: CommandState,
    /,
    question: tuple[str, ...],
    kb: str | None,
    trace: bool,
    show_evidence: bool,
    as_json: bool,
    jsonl: bool,
    schema: Path | None,
    choices: str | None,
    **how: Any,
) -> int:
    """Answer QUESTION from your documents; `-` reads it from stdin.

    Several words are one question, so it needs no quotation marks unless the shell reads one of its
    characters, as `?`, `'` or `*`; put `--` before a question that begins with a dash.

    The answer is printed on stdout; the steps and the sources go to stderr. The exit code is 0 for
    an answer, 3 where the documents hold none. With --schema or --choices stdout holds the value alone.
    """
    from localcrag.options import AskOptions

    text = _stdin_text() if question == ("-",) else " ".join(question)
    base = state.open_askable(kb, print_reason if trace else ignore_reason)
    if jsonl:
        show = print_event
    elif as_json:
        show = ignore_event
    else:
        from localcrag.cli.event_rendering import StepRenderer

        show = StepRenderer(trace, show_evidence, text).show
    options = AskOptions(consent=consent(), output=requested_output(schema, choices), **how)
    for event in base.stream(text, options):
        show(event)
    answer = answer_of([event])
    if as_json:
        print_json(answer.to_dict())
    return 0 if answer.found else NO_ANSWER_EXIT_CODE


def requested_output(schema: Path | None, choices: str | None) -> str | None:
    """The JSON Schema of the answer that was asked for, None if none was. Raises UsageError."""
    from localcrag.output_schema.schema_reading import choice_schema, schema_file

    if schema is not None and choices is not None:
        raise UsageError("--schema and --choices exclude each other", hint="give an enum in the schema")
    if schema is not None:
        return schema_file(schema)
    if choices is None:
        return None
    values = tuple(dict.fromkeys(word.strip() for word in choices.split(",") if word.strip()))
    if len(values) < 2:
        raise UsageError("--choices needs two values or more", hint="for example --choices yes,no,unclear")
    return choice_schema(values)


def _stdin_text() -> str:
    """All of standard input; bytes that are not text become replacement characters."""
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    return sys.stdin.read()


def consent() -> Consent | None:
    """The function that asks for consent at the terminal; None if there is no terminal."""
    return _ask_consent if sys.stdin.isatty() and sys.stderr.isatty() else None


def _ask_consent(query: str) -> str | None:
    """Show the exact line that would be sent, and ask; returns the line, or None without consent."""
    click.echo(f"Send this line to your SearXNG?\n    {one_line(query)}", err=True)
    return query if click.confirm("Send", default=False, err=True) else None
