"""``localcrag eval`` and ``localcrag calibrate``."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localcrag.cli.command_state import CommandState, pass_state, print_json
from localcrag.cli.parameters import (
    Words,
    adapter_option,
    evaluator_option,
    filter_option,
    json_option,
    kb_option,
    model_option,
)
from localcrag.cli.safe_output import one_line
from localcrag.errors import EvaluationError, UsageError
from localcrag.settings import Settings, overlaid
from localcrag.types import GraderKind, JsonValue, Mode, Policy

if TYPE_CHECKING:
    from localcrag.evaluation.calibration_run import CalibrationOutcome
    from localcrag.evaluation.labels import Labelled
    from localcrag.evaluation.measures import Cutoffs
    from localcrag.evaluation.question_set import Broken, Question
    from localcrag.evaluation.results import ConfigurationComparison, Result
    from localcrag.evaluation.run import Progress
    from localcrag.knowledge_base import KnowledgeBase


class Several(click.ParamType[tuple[StrEnum, ...]]):
    """Several values of an enumeration, separated by commas; repeated ones count once."""

    name = "list"

    def __init__(self, kind: type[StrEnum]) -> None:
        self._word = Words(kind)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The values as a tuple, in the order in which they were given."""
        words = [self._word.convert(word.strip(), param, ctx) for word in value.split(",")]
        return tuple(dict.fromkeys(words))


INTERRUPTED_EXIT_CODE = 130
MAX_SHOWN_BROKEN = 10
margin_option = click.option(
    "--margin",
    type=click.FloatRange(0, 100),
    default=2.0,
    show_default=True,
    metavar="POINTS",
    help="How much less accurate than asking the language model every time is still as good, in percent.",
)
file_argument = click.argument("file", type=click.Path(path_type=Path), metavar="FILE.jsonl")


@click.command("eval")
@file_argument
@kb_option
@filter_option
@click.option("--policy", type=Words(Policy), help="Rule that turns grades into an action.")
@click.option("--grader", type=Words(GraderKind), help="Who judges the passages.")
@click.option("--mode", type=Words(Mode), help="Write answers, or quote the evidence verbatim.")
@model_option
@adapter_option
@evaluator_option
@click.option("--k", type=click.IntRange(1), help="Measure recall@K too; by default the passages graded.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask only the first N questions.")
@click.option(
    "--compare",
    nargs=2,
    type=click.Path(path_type=Path),
    metavar="A.toml B.toml",
    help="Measure two configurations, each on top of the settings, and their difference.",
)
@click.option(
    "--graders",
    type=Several(GraderKind),
    metavar="yesno,cascade,…",
    help="Compare graders instead: all judge the same passages, and no answer is made.",
)
@margin_option
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw it, as .png or .svg.")
@json_option
@pass_state
def evaluate(
    state: CommandState,
    file: Path,
    kb: str | None,
    filter_: str | None,
    policy: Policy | None,
    grader: GraderKind | None,
    mode: Mode | None,
    model: str | None,
    adapter: str | None,
    evaluator: str | None,
    k: int | None,
    limit: int | None,
    compare: tuple[Path, Path] | None,
    graders: tuple[GraderKind, ...] | None,
    margin: float,
    plot: Path | None,
    as_json: bool,
) -> int:
    """Measure localcrag on your own questions.

    Each line of FILE.jsonl is an object: "question", and what is known of its answer: "answers"
    (a list), "source" (path, name or title of the document), "page", "passage" (text that
    answers), "answerable" (true or false). What the labels allow is measured, with 95 % bootstrap
    intervals over the questions. The web is never asked. Ctrl-C shows what was measured so far.

    With --graders, e.g. `--graders yesno,evaluator,cascade`, each grader judges the same passages:
    how accurate it is, what it costs, how far it agrees with `yesno`, and whether it is as good.
    """
    if plot:
        from localcrag.evaluation.plots import require_plots

        require_plots(plot)
    settings = state.settings.with_values("model", language=model, adapter=adapter, evaluator=evaluator)
    settings = settings.with_values("loop", policy=policy, grader=grader, mode=mode)
    job = _Job(kb, filter_, limit, k)
    if graders and (compare or plot):
        raise UsageError(
            "--graders goes with neither --compare nor --plot", hint="run them one after the other"
        )
    job.read(file)
    if graders:
        return _compare_graders(job, file, settings, graders, margin / 100, as_json)
    configurations = _configurations(settings, compare) if compare else {file.stem: settings}
    shown = job.run(configurations)
    found: Result | ConfigurationComparison = shown[0]
    if len(shown) > 1:
        from localcrag.evaluation.results import comparison_of

        found = comparison_of(shown[0], shown[1], job.cutoffs(list(configurations.values())))
    if plot:
        from localcrag.evaluation.plots import plot as draw

        draw(shown, plot)
    if as_json:
        skipped: list[JsonValue] = [broken.to_dict() for broken in job.skipped]
        print_json({"file": str(file), "skipped": skipped, **found.to_dict()})
    else:
        from localcrag.cli import evaluation_tables

        evaluation_tables.show(found)
    whole = len(shown) == len(configurations) and not any(result.partial for result in shown)
    return 0 if whole else INTERRUPTED_EXIT_CODE


def _compare_graders(
    job: _Job, file: Path, settings: Settings, kinds: Sequence[GraderKind], margin: float, as_json: bool
) -> int:
    """Compare several graders on the same passages, and print the outcome; returns the exit code."""
    from localcrag.evaluation.grader_comparison import compare_graders
    from localcrag.evaluation.grader_panel import grade_all

    base = job.open(settings)
    base.models.check()
    labelled = job.labelled(base)
    with progress("grading") as report:
        panel = grade_all(base, labelled, kinds, filter=job.filter, progress=report)
    found = compare_graders(base.name, panel, margin=margin)
    if as_json:
        skipped: list[JsonValue] = [broken.to_dict() for broken in job.skipped]
        print_json({"file": str(file), "skipped": skipped, **found.to_dict()})
    else:
        from localcrag.cli.evaluation_tables import show_grader_comparison

        show_grader_comparison(found)
    return INTERRUPTED_EXIT_CODE if found.partial else 0


@dataclass
class _Job:
    """The questions of one command, which are asked under one configuration after the other.

    ``limit`` is the number of questions to ask, ``k`` the rank for recall@k, and ``skipped`` the lines that
    cannot be used.
    """

    kb: str | None
    filter: str | None
    limit: int | None
    k: int | None = None
    questions: Sequence[Question] = ()
    skipped: list[Broken] = field(default_factory=list)

    def read(self, file: Path) -> None:
        """Read the questions of a file. Raises EvaluationError."""
        from localcrag.evaluation.question_set import read_questions

        found = read_questions(file)
        self.questions = found.questions
        self._skip(found.broken)

    def open(self, settings: Settings) -> KnowledgeBase:
        """The knowledge base under these settings."""
        from localcrag import knowledge_base

        return knowledge_base.open(self.kb, settings=settings)

    def cutoffs(self, configurations: Sequence[Settings]) -> Cutoffs:
        """The ranks k of recall@k, limited to the hits that each of these configurations keeps."""
        from localcrag.evaluation.measures import Cutoffs

        wanted = {1, 4, self.k or configurations[0].loop.passages}
        reranked = min(settings.loop.passages for settings in configurations)
        return Cutoffs.within(wanted, search=min(map(_search_depth, configurations)), reranked=reranked)

    def run(self, configurations: Mapping[str, Settings]) -> list[Result]:
        """Measure the configurations in turns.

        Returns a result for each, without those that an interrupted run did not reach. Raises
        EvaluationError.
        """
        from localcrag.evaluation.results import result_of
        from localcrag.evaluation.run import measure

        sides = []
        for settings in configurations.values():
            base = self.open(settings)
            base.models.check()
            sides.append((base, self.labelled(base)))
        with progress(" and ".join(configurations)) as report:
            runs = measure(sides, filter=self.filter, progress=report)
        named = zip(configurations, sides, runs, strict=True)
        cutoffs = self.cutoffs(list(configurations.values()))
        self._report_lower_cutoffs(cutoffs)
        return [
            result_of(name, base.name, run, cutoffs) for name, (base, _), run in named if run.observations
        ]

    def _report_lower_cutoffs(self, cutoffs: Cutoffs) -> None:
        """Report on stderr which ranks replace a k beyond the number of hits that are kept."""
        stages = (("search", cutoffs.search[-1]), ("reranked", cutoffs.reranked[-1]))
        if cut := [f"recall@{most}, {stage}" for stage, most in stages if self.k and most < self.k]:
            why = "no more hits are kept (loop.candidates, loop.passages)"
            click.echo(f"instead of recall@{self.k}: {' and '.join(cut)}; {why}", err=True)

    def labelled(self, base: KnowledgeBase) -> Sequence[Labelled]:
        """The questions to ask this knowledge base, with their labels.

        Raises EvaluationError if none is left.
        """
        from localcrag.evaluation.labels import label

        labelled, unknown = label(self.questions, base.documents())
        self._skip([broken for broken in unknown if broken not in self.skipped])
        if not labelled:
            raise EvaluationError(
                f"{base.name} holds none of the documents that the questions name",
                hint="localcrag kb show lists what it holds: ingest the documents, or name them as listed",
            )
        return labelled[: self.limit]

    def _skip(self, broken: Sequence[Broken]) -> None:
        """Keep the lines that are skipped, and report them on stderr."""
        self.skipped += broken
        for item in broken[:MAX_SHOWN_BROKEN]:
            click.echo(one_line(f"skipped line {item.line}: {item.reason}"), err=True)
        if (rest := len(broken) - MAX_SHOWN_BROKEN) > 0:
            click.echo(f"… and {rest} more; --json lists all", err=True)


def _search_depth(settings: Settings) -> int:
    """The number of hits of a search that are known: with an evaluator, those that it may rerank."""
    from localcrag.configured_models import NO_EVALUATOR

    loop = settings.loop
    return loop.passages if settings.model.evaluator == NO_EVALUATOR else max(loop.candidates, loop.passages)


def _configurations(settings: Settings, files: tuple[Path, Path]) -> dict[str, Settings]:
    """The settings overlaid with each of the two files, by their names in tables.

    Raises SettingsError, UsageError.
    """
    names = [path.stem for path in files] if files[0].stem != files[1].stem else [str(p) for p in files]
    if names[0] == names[1]:
        raise UsageError("--compare names the same file twice", hint="give two files that differ")
    return {name: overlaid(settings, path) for name, path in zip(names, files, strict=True)}


@contextmanager
def progress(name: str) -> Iterator[Progress]:
    """Show a bar over the questions on stderr, unless that is a pipe."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from localcrag.cli.event_rendering import stderr_console

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=stderr_console(), transient=True, disable=not sys.stderr.isatty())
    with bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@click.command()
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE.jsonl", required=False)
@kb_option
@filter_option
@click.option("--grader", type=Words(GraderKind), help="Whose grades to fit; by default the one in use.")
@model_option
@adapter_option
@evaluator_option
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Use only the first N questions.")
@margin_option
@click.option(
    "--write/--dry-run",
    default=None,
    help="Store what was fitted whatever it is worth, or never; by default where it is better.",
)
@click.option("--forget", is_flag=True, help="Remove what was fitted for the models in use.")
@json_option
@pass_state
def calibrate(
    state: CommandState,
    file: Path | None,
    kb: str | None,
    filter_: str | None,
    grader: GraderKind | None,
    model: str | None,
    adapter: str | None,
    evaluator: str | None,
    limit: int | None,
    margin: float,
    write: bool | None,
    forget: bool,
    as_json: bool,
) -> int:
    """Fit the grades and the thresholds to your own questions.

    FILE.jsonl is as for `localcrag eval`; a question needs a "source" or a "passage", or
    "answerable" false. What is printed of the quality comes from folds that never saw the same
    question. It is stored for exactly these model files, and used from then on. For `--grader
    cascade` the band is fitted in which the language model is asked: the narrowest that leaves the
    grades as accurate as asking it every time, to within --margin.
    """
    settings = state.settings.with_values("model", language=model, adapter=adapter, evaluator=evaluator)
    settings = settings.with_values("loop", grader=grader, parts=False, tables=False)
    job = _Job(kb, filter_, limit)
    if forget:
        return _forget(job.open(settings))
    if file is None:
        raise UsageError("which questions?", hint="localcrag calibrate FILE.jsonl, or --forget")
    from localcrag.evaluation.calibration_run import calibrate as fit

    job.read(file)
    base = job.open(settings)
    labelled = job.labelled(base)
    with progress("grading") as report:
        outcomes = fit(base, labelled, filter=filter_, progress=report, margin=margin / 100)
    kept = [each for each in outcomes if (each.fitted.better if write is None else write)]
    if kept:
        base.models.keep([outcome.calibration for outcome in kept])
    if as_json:
        skipped: list[JsonValue] = [broken.to_dict() for broken in job.skipped]
        fitted: list[JsonValue] = [{**o.to_dict(), "stored": o in kept} for o in outcomes]
        print_json({"skipped": skipped, "stored": bool(kept), "fitted": fitted})
    else:
        from localcrag.cli.evaluation_tables import show_calibration

        show_calibration(outcomes)
        click.echo(_verdict(outcomes, kept, write), err=True)
    return 0


def _verdict(
    outcomes: Sequence[CalibrationOutcome], kept: Sequence[CalibrationOutcome], write: bool | None
) -> str:
    """A sentence on whether a calibration was stored."""
    if not kept and write is None:
        return "Not stored: the grades in use are as good. `--write` stores it all the same."
    if not kept:
        return "Nothing was stored."
    names = " and ".join(outcome.calibration.judge for outcome in kept)
    some = "" if len(kept) == len(outcomes) else f" {names}; of the rest, what is in use is as good"
    return f"Stored{some}; `localcrag calibrate --forget` removes it."


def _forget(base: KnowledgeBase) -> int:
    """Remove the calibrations of the models in use, and report them; returns the exit code."""
    removed = base.models.forget()
    for entry in removed:
        about = f"Forgot {entry.judge}, fitted on {entry.questions} questions on {entry.made}."
        click.echo(one_line(about), err=True)
    if not removed:
        click.echo("Nothing was fitted for these models.", err=True)
    return 0
