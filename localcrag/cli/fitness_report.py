"""Printing a fitness check of a chat model on stdout."""

from __future__ import annotations

from collections.abc import Iterator

import click

from localcrag.cli.safe_output import one_line
from localcrag.evaluation.model_check import ModelCheck
from localcrag.fitness.fitness_result import FitnessCosts
from localcrag.fitness.fitness_verdicts import Fitness, fitness_of_model, verdicts
from localcrag.fitness.model_defaults import ModelDefaults

_COLOURS = {Fitness.FIT: "green", Fitness.PARTLY: "yellow", Fitness.UNFIT: "red", Fitness.UNKNOWN: None}
_TASK_COLUMNS, _FITNESS_COLUMNS = 21, 9
"""The widths of the first two columns."""
_VERDICTS = {
    Fitness.FIT: "fit for this work",
    Fitness.PARTLY: "fit for a part of this work",
    Fitness.UNFIT: "unfit for this work",
    Fitness.UNKNOWN: "not measured: give it more time with --seconds",
}


def show_check(check: ModelCheck) -> None:
    """Print the verdict on each task with its figures, the costs, the hints, and the defaults."""
    result = check.result
    click.echo(f"{click.style(one_line(result.model), bold=True)} ({one_line(check.described)})")
    for each in verdicts(result):
        mark = click.style(each.fitness.ljust(_FITNESS_COLUMNS), fg=_COLOURS[each.fitness])
        click.echo(f"{each.task.ljust(_TASK_COLUMNS)}{mark}{one_line(each.sentence)}")
    for task, line in _costs(result.costs):
        click.echo(f"{task.ljust(_TASK_COLUMNS)}{line}")
    for failure in result.failures:
        click.echo(f"{'failed'.ljust(_TASK_COLUMNS)}{one_line(failure)}")
    for hint in check.hints:
        click.echo(f"{'hint'.ljust(_TASK_COLUMNS)}{one_line(hint)}")
    if not result.complete:
        why = "interrupted" if check.interrupted else "the time was up"
        click.echo(f"{'not all measured'.ljust(_TASK_COLUMNS)}{why}; --seconds gives it more")
    click.echo(f"{'defaults'.ljust(_TASK_COLUMNS)}{_defaults(check.defaults)}")
    verdict = fitness_of_model(result)
    click.echo(f"{'verdict'.ljust(_TASK_COLUMNS)}{click.style(_VERDICTS[verdict], fg=_COLOURS[verdict])}")


def _costs(costs: FitnessCosts) -> Iterator[tuple[str, str]]:
    """Speed and memory, each with its name."""
    reads, writes = (
        "unknown" if speed is None else f"{speed:,.0f} tokens a second"
        for speed in (costs.read_per_second, costs.written_per_second)
    )
    yield "speed", f"reads {reads}, writes {writes}"
    memory = (
        "" if costs.peak_bytes is None else f"{costs.peak_bytes / 2**20:,.0f} MiB of memory at the peak; "
    )
    yield (
        "cost of this check",
        f"{memory}{costs.load_seconds:.1f} s to load, {costs.seconds:.0f} s for {costs.tokens_read:,} tokens "
        f"read and {costs.tokens_written:,} written",
    )


def _defaults(defaults: ModelDefaults) -> str:
    """The defaults that follow, in the words of the settings."""
    own_words = ", search lines and follow-ups in your own words" if defaults.extractive else ""
    by_rule = ", questions of several parts divided by rule" if defaults.divide_by_rule else ""
    return (
        f"grader {defaults.grader}, mode {defaults.mode}, corrections {', '.join(defaults.corrections)}, "
        f"grounding {defaults.grounding}{own_words}{by_rule}"
    )
