"""``localcrag ingest``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from localcrag.cli.command_state import CommandState, complain, pass_state, print_events, print_json
from localcrag.cli.parameters import adapter_option, json_option, kb_option, model_option, parse_meta
from localcrag.cli.safe_output import one_line
from localcrag.errors import CorpusError, LocalCragError, PruneRefused, UsageError
from localcrag.events import (
    Advanced,
    Degraded,
    Discovered,
    Event,
    MovedSource,
    Optimizing,
    Processing,
    Progressed,
    Questioned,
    report_of,
)
from localcrag.ingestion import Prune
from localcrag.types import IngestReport, Skipped

if TYPE_CHECKING:
    from localcrag.knowledge_base import KnowledgeBase

MAX_SHOWN_SKIPS = 20
MAX_SKIPS_ALIKE = 5
"""Documents that were skipped for the same reason and are named one by one."""
MAX_NAME_CHARACTERS = 40
"""Characters of the name of a document in the progress bar."""
MIN_TABLE_COLUMNS = 76
"""The columns of a terminal from which on the counts of a report stand side by side."""


def _checked_cluster(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The value of --cluster. Raises UsageError if it is no address, for example the first document."""
    if value is not None:
        from localcrag.cluster.cluster_address import wanted_cluster

        wanted_cluster(value)
    return value


@click.command()
@click.argument("targets", nargs=-1, required=True, metavar="PATH|URL...")
@kb_option
@click.option("--meta", multiple=True, metavar="KEY=VALUE", help="Attach to every document; repeatable.")
@click.option(
    "--prune", is_flag=True, help="Forget documents below the folders that are gone, or left out now."
)
@click.option("--prune-empty", is_flag=True, help="As --prune, also if nothing is left of a folder.")
@click.option(
    "--reread", is_flag=True, help="Open every file, also those whose size and time did not change."
)
@click.option("--follow", is_flag=True, help="Read links that lead out of a folder too, or to hidden files.")
@click.option("--max-size", type=click.IntRange(1), metavar="MIB", help="Largest file read.")
@click.option(
    "--questions",
    type=click.IntRange(1, 10),
    metavar="N",
    help="Have a chat model write N questions for each passage, to find it by.",
)
@model_option
@adapter_option
@click.option("--refine", is_flag=True, help="Then embed with the real model what a static one has embedded.")
@click.option(
    "--cluster",
    is_flag=False,
    flag_value="auto",
    metavar="[HOST:PORT]",
    callback=_checked_cluster,
    help="Read and embed on a Ray cluster; without an address that in RAY_ADDRESS, or one of this machine.",
)
@click.option("--watch", is_flag=True, help="Keep running, and read what changes; Ctrl-C ends it.")
@json_option
@click.option("--jsonl", is_flag=True, help="Print the events, one JSON object a line.")
@pass_state
def ingest(
    state: CommandState,
    targets: tuple[str, ...],
    kb: str | None,
    meta: tuple[str, ...],
    prune: bool,
    prune_empty: bool,
    reread: bool,
    follow: bool,
    max_size: int | None,
    questions: int | None,
    model: str | None,
    adapter: str | None,
    refine: bool,
    cluster: str | None,
    watch: bool,
    as_json: bool,
    jsonl: bool,
) -> int:
    """Read files, folders, globs or URLs into a knowledge base; only what changed.

    `-` reads one document from stdin. Killed half-way, the same command finishes the job.
    """
    if watch and as_json:
        raise UsageError("--json prints one object, and --watch has no end", hint="use --jsonl")
    if watch and refine:
        raise UsageError("--refine ends, and --watch does not", hint="use `localcrag kb refine` beside it")
    limits = {"max_size_mb": max_size, "follow_links": follow or None}
    base = state.open(kb, ingest=limits, model={"language": model, "adapter": adapter})
    metadata = parse_meta(meta)

    def ingest_once(wanted: Prune = "empty" if prune_empty else prune) -> IngestReport:
        events = base.stream_ingestion(
            targets,
            metadata=metadata,
            prune=wanted,
            reread=reread,
            questions=questions or 0,
            cluster=cluster,
        )
        if jsonl:
            events = print_events(events)
        elif not as_json:
            events = _show_progress(events)
        return report_of(events)

    if watch:
        return _watch(state, targets, ingest_once, quiet=jsonl)
    try:
        report = ingest_once()
    except PruneRefused as refused:
        if not _agrees(refused):
            raise
        report = ingest_once("empty")
    if as_json:
        print_json(report.to_dict())
    elif not jsonl:
        _print_report(report, state.settings.model.embedding)
    if refine:
        refine_base(base, as_events=jsonl, quiet=as_json)
    return _exit_code(report)


def refine_base(base: KnowledgeBase, *, as_events: bool = False, quiet: bool = False) -> None:
    """Refine a knowledge base, with its progress on stderr, as events on stdout, or ``quiet``."""
    events = base.stream_refinement()
    if as_events:
        shown: Iterable[Event] = print_events(events)
    else:
        shown = events if quiet else _show_progress(events)
    refined = sum(isinstance(event, Optimizing) for event in shown) > 0
    if not (as_events or quiet):
        done = "searches use the vectors of" if refined else "was embedded with"
        model = base.info().embedding_model
        click.echo(one_line(f"{base.name}: {done} {model}."), err=True)


def _agrees(refused: PruneRefused) -> bool:
    """Whether the user says that a folder is to be empty; False if there is nobody to ask."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    return click.confirm(f"{refused}. Forget them?", err=True)


def _watch(
    state: CommandState, targets: tuple[str, ...], ingest_once: Callable[[], IngestReport], *, quiet: bool
) -> int:
    """Ingest after each change until Ctrl-C; returns the exit code.

    The first round must succeed, except that there may be nothing to read yet. An error of a later round
    is shown, and the next change is waited for.
    """
    from localcrag.cli.watch import changes

    last: IngestReport | None = None
    try:
        for number, _ in enumerate(changes(targets, state.settings.home)):
            try:
                report = ingest_once()
            except LocalCragError as error:
                if not (number or isinstance(error, CorpusError)):
                    raise
                complain(error)
            else:
                if not quiet and _is_news(report, last):
                    _print_report(report, state.settings.model.embedding)
                last = report
            if not number:
                click.echo("Watching; Ctrl-C ends it.", err=True)
    except KeyboardInterrupt:
        click.echo("Ended; what was finished before is kept.", err=True)
    return 0


def _is_news(report: IngestReport, last: IngestReport | None) -> bool:
    """Whether a round did anything, or skipped other documents than the one before."""
    done = report.added + report.changed + report.removed + report.questions + len(report.moved)
    same = last is not None and (report.skipped, report.gone) == (last.skipped, last.gone)
    return bool(done) or not same


def _exit_code(report: IngestReport) -> int:
    """The exit code: 1 if there was something to read and none of it could be read, else 0."""
    return 1 if report.skipped and not (report.added + report.changed + report.unchanged) else 0


def _show_progress(events: Iterable[Event]) -> Iterator[Event]:
    """The events, with a bar over the bytes read, the rate in passages and the time left.

    On a pipe there is no bar, only the warnings.
    """
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    from localcrag.cli.event_rendering import stderr_console

    console = stderr_console()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}% {task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    passages = failed = 0
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("looking", total=None, rate="")
        for event in events:
            if isinstance(event, Discovered):
                bar.update(task, description="reading", total=max(event.size, 1), completed=0)
            elif isinstance(event, Progressed):
                passages += event.passages
                elapsed = bar.tasks[task].elapsed or 0.0
                rate = f"{passages / elapsed:.0f} passages/s" if elapsed > 1 and passages else ""
                bar.update(task, description="reading", advance=event.size, rate=rate)
            elif isinstance(event, Processing):
                bar.update(task, description=f"{event.step} {_short_name(event.source)}")
            elif isinstance(event, MovedSource):
                bar.update(task, description=f"moved {_short_name(event.source)}")
            elif isinstance(event, Optimizing):
                bar.update(task, description=f"updating the {event.step}")
            elif isinstance(event, Questioned):
                bar.update(
                    task, description="questions", total=max(event.total, 1), completed=event.done, rate=""
                )
            elif isinstance(event, Advanced):
                bar.update(
                    task, description=event.step, total=max(event.total, 1), completed=event.done, rate=""
                )
            elif isinstance(event, Degraded):
                failed += 1
                if failed <= MAX_SHOWN_SKIPS:
                    console.print(Text(one_line(f"{event.part}: {event.reason}"), style="yellow"))
            yield event
    if failed > MAX_SHOWN_SKIPS:
        console.print(
            Text(f"… and {failed - MAX_SHOWN_SKIPS} more passages without questions", style="yellow")
        )


def lacking_for(not_english: int, embedding: str) -> str:
    """A line on what is not installed, or not set, for documents in other languages than English.

    It is "" if nothing lacks. A user's own embedding model may be one of many languages.
    """
    from localcrag.configured_models import MULTILINGUAL, STATIC
    from localcrag.e5_conversion import INSTALLATION, is_installed
    from localcrag.settings import ModelSettings

    if not not_english:
        return ""
    documents = "1 document is" if not_english == 1 else f"{not_english:,} documents are"
    if not is_installed():
        return f"{documents} not in English; to have answers judged as in English: {INSTALLATION}"
    if embedding not in (ModelSettings().embedding, STATIC):
        return ""
    return (
        f"{documents} not in English; to find them by what they mean, set model.embedding = "
        f'"{MULTILINGUAL}", and ingest into a new knowledge base'
    )


def vanished_lines(report: IngestReport) -> Iterator[str]:
    """A line for each document that was moved or is gone, and how to forget those that are gone."""
    for item in report.moved[:MAX_SHOWN_SKIPS]:
        yield f"moved {item.former}: now {item.source}"
    if (more := len(report.moved) - MAX_SHOWN_SKIPS) > 0:
        yield f"… and {more} more were moved; --json lists all"
    for source in report.gone[:MAX_SHOWN_SKIPS]:
        yield f"gone {source}: its file is not there, and what it said is kept"
    if (more := len(report.gone) - MAX_SHOWN_SKIPS) > 0:
        yield f"… and {more} more are gone; --json lists all"
    if report.gone:
        yield "--prune forgets what is gone; `localcrag kb relocate` says where a whole folder is now"


def skip_lines(skipped: Sequence[Skipped]) -> Iterator[str]:
    """What was skipped and why, a line each; many for one reason, as the pictures of a page, share it."""
    alike: dict[str, list[str]] = {}
    for item in skipped:
        alike.setdefault(item.reason, []).append(item.source)
    lines: list[str] = []
    for reason, sources in alike.items():
        if len(sources) > MAX_SKIPS_ALIKE:
            lines.append(f"skipped {sources[0]} and {len(sources) - 1} more: {reason}")
        else:
            lines += (f"skipped {source}: {reason}" for source in sources)
    yield from lines[:MAX_SHOWN_SKIPS]
    if (more := len(lines) - MAX_SHOWN_SKIPS) > 0:
        yield f"… and {more} more lines like these; --json lists all"


def _short_name(source: str) -> str:
    """The last part of a source, as a terminal may show it, in at most 40 characters."""
    from rich.markup import escape

    name = one_line(source.rstrip("/").rpartition("/")[2] or source)
    return escape(name if len(name) <= MAX_NAME_CHARACTERS else f"{name[: MAX_NAME_CHARACTERS - 1]}…")


def _print_report(report: IngestReport, embedding: str) -> None:
    """Print a report on stderr: the counts, and why documents were skipped.

    ``embedding`` is the setting ``model.embedding``.
    """
    from rich.table import Table
    from rich.text import Text

    from localcrag.cli.event_rendering import stderr_console

    console = stderr_console()
    counts = {
        name: getattr(report, name) for name in ("added", "changed", "unchanged", "removed", "passages")
    }
    counts |= {"moved": len(report.moved)} if report.moved else {}
    counts |= {"gone": len(report.gone)} if report.gone else {}
    if report.questions:
        counts["questions"] = report.questions
    counts["skipped"] = len(report.skipped)
    title = f"{report.kb}: {report.seconds:.1f} s"
    if console.width < MIN_TABLE_COLUMNS:
        lines = "\n".join(f"{number:8} {name}" for name, number in counts.items())
        console.print(Text(f"{title}\n{lines}"))
    else:
        table = Table(title=title, title_justify="left", show_edge=False)
        for name in counts:
            table.add_column(name, justify="right")
        table.add_row(*map(str, counts.values()))
        console.print(table)
    for line in vanished_lines(report):
        console.print(Text(one_line(line), style="dim"))
    if line := lacking_for(report.not_english, embedding):
        console.print(Text(line, style="yellow"))
    for line in skip_lines(report.skipped):
        console.print(Text(one_line(line), style="yellow"))
    for page in report.left_out[:MAX_SHOWN_SKIPS]:
        share = f"{100 * page.share:.0f} %"
        console.print(
            Text(one_line(f"{page.source}: {share} taken for navigation and left out"), style="yellow")
        )
