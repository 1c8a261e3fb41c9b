"""``localcrag ask``."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
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
from localcrag.cli.parameters import json_option, kbs_option
from localcrag.cli.safe_output import one_line
from localcrag.cli.standard_input import all_of_stdin, piped_text
from localcrag.errors import UsageError
from localcrag.events import answer_of
from localcrag.types import GivenText

if TYPE_CHECKING:
    from localcrag.events import Event
    from localcrag.protocols import Consent
    from localcrag.report import AskedQuestion

NO_ANSWER_EXIT_CODE = 3
STDIN_SOURCE = "stdin"
"""The source of a text that is piped in, in citations."""


@click.command()
@click.argument("question", nargs=-1, required=True)
@kbs_option
@with_ask_options
@click.option(
    "--schema",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Answer as a JSON value in the form of this JSON Schema.",
)
@click.option("--choices", metavar="A,B,…", help="Answer with one of these values.")
@click.option(
    "--trace", is_flag=True, help="Show every passage, its grade, and why the loop went where it went."
)
@click.option(
    "--report",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    metavar="FILE.html",
    help="Write a report for filing: answer, evidence as pictures, grades, models, settings.",
)
@click.option("--show-evidence", is_flag=True, help="Show the passages cited, with the quotes highlighted.")
@click.option("-q", "--quiet", is_flag=True, help="Print the answer and nothing else, unless it fails.")
@json_option
@click.option("--jsonl", is_flag=True, help="Print the events, one JSON object a line.")
@pass_state
def ask(
    state: CommandState,
    /,
    question: tuple[str, ...],
    kb: str | None,
    trace: bool,
    report: Path | None,
    show_evidence: bool,
    quiet: bool,
    as_json: bool,
    jsonl: bool,
    schema: Path | None,
    choices: str | None,
    **how: Any,
) -> int:
    """Answer QUESTION from your documents; `-` reads it from stdin.

    Several words are one question, so it needs no quotation marks unless the shell reads one of its
    characters, as `?`, `'` or `*`; put `--` before a question that begins with a dash.

    A text that is piped in is context: evidence for this question only, cited as stdin.

    The answer is printed on stdout; the steps and the sources go to stderr. The exit code is 0 for
    an answer, 3 where the documents hold none. With --schema or --choices stdout holds the value alone.
    """
    from localcrag.options import AskOptions

    if report:
        _require_folder(report)
    if quiet and (trace or show_evidence):
        raise UsageError("--quiet shows the answer alone", hint="leave out --trace and --show-evidence")
    from_stdin = question == ("-",)
    text = all_of_stdin() if from_stdin else " ".join(question)
    piped = "" if from_stdin else piped_text(quiet=quiet)
    context = GivenText(piped, STDIN_SOURCE) if piped.strip() else None
    if context and not quiet:
        click.echo(f"Context from standard input: {len(piped):,} characters.", err=True)
    base = state.open_askable(kb, print_reason if trace else ignore_reason)
    if jsonl:
        show = print_event
    elif as_json:
        show = ignore_event
    else:
        from localcrag.cli.event_rendering import StepRenderer

        show = StepRenderer(trace, show_evidence, text, quiet).show
    output = requested_output(schema, choices)
    began = datetime.now(UTC)
    options = AskOptions(consent=consent(), context=context, output=output, **how)
    events: list[Event] = []
    for event in base.stream(text, options):
        show(event)
        events.append(event)
    answer = answer_of(events)
    if report:
        from localcrag.report import AskedQuestion

        _write_report(state, report, AskedQuestion(base.name, text, options, began, events))
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


def _require_folder(report: Path) -> None:
    """Check that there is a folder for the report, before the question is asked. Raises UsageError."""
    if not report.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {report.parent} for the report", hint="make it first")


def _write_report(state: CommandState, report: Path, asked: AskedQuestion) -> None:
    """Write the report, and say where. Raises UsageError if the file cannot be written."""
    from localcrag._platform import replace_text
    from localcrag.report import report_html

    page = report_html(asked, state.settings, state.ledger)
    try:
        replace_text(report, page)
    except OSError as error:
        raise UsageError(
            f"the report cannot be written to {report}: {error.strerror or error}",
            hint="name another place with --report",
        ) from error
    click.echo(click.style(f"report: {one_line(str(report))}", dim=True), err=True)


def consent() -> Consent | None:
    """The function that asks for consent at the terminal; None if there is no terminal."""
    return _ask_consent if sys.stdin.isatty() and sys.stderr.isatty() else None


def _ask_consent(query: str) -> str | None:
    """Show the exact line that would be sent, and ask; returns the line, or None without consent."""
    click.echo(f"Send this line to your SearXNG?\n    {one_line(query)}", err=True)
    return query if click.confirm("Send", default=False, err=True) else None
