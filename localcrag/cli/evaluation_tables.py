"""Printing an evaluation or a calibration as tables on stdout."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from localcrag.cli.safe_output import one_line
from localcrag.evaluation.cross_validation import FittedBand
from localcrag.evaluation.grader_comparison import GraderComparison, verdict
from localcrag.evaluation.measures import Confusion, Group
from localcrag.evaluation.results import ConfigurationComparison, Result
from localcrag.evaluation.statistics import Interval
from localcrag.types import Status

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from localcrag.calibration.calibration_file import Calibration
    from localcrag.evaluation.calibration_run import CalibrationOutcome

COST_GROUPS = (Group.TOKENS, Group.SECONDS)
PIPE_COLUMNS = 120
DIFFERENCE_MARK = "≠"
"""Printed beside a difference whose interval does not hold zero."""


def show(found: Result | ConfigurationComparison) -> None:
    """Print the measures, and below them the statuses of the questions."""
    console = _console()
    if isinstance(found, ConfigurationComparison):
        console.print(_comparison_table(found))
        console.print(f"{DIFFERENCE_MARK} the 95 % interval of the difference does not hold 0", style="dim")
    else:
        console.print(_measures_table(found))
        console.print(_cost_table(found))
    for result in found.results:
        _print_outcomes(console, result)


def show_calibration(outcomes: Sequence[CalibrationOutcome]) -> None:
    """Print the quality of each calibration beside that of the grades in use."""
    console = _console()
    for outcome in outcomes:
        fitted, made = outcome.fitted, outcome.calibration
        if isinstance(fitted, FittedBand):
            _print_band(console, fitted)
            continue
        title = f"{made.judge}, {made.questions} questions, {made.passages} graded passages"
        table = _empty_table(title, "in use", "fitted")
        rows = (
            ("calibration error", fitted.before.calibration_error, fitted.after.calibration_error),
            ("log loss", fitted.before.log_loss, fitted.after.log_loss),
            ("AUC", fitted.before.auc, fitted.after.auc),
            (
                "right, of those at or above upper",
                fitted.before.precision_above,
                fitted.after.precision_above,
            ),
            ("below lower, of those right", fitted.before.missed_below, fitted.after.missed_below),
        )
        for name, before, after in rows:
            table.add_row(name, _number(before, False), _number(after, False))
        table.add_row("passages at or above upper", str(fitted.before.above), str(fitted.after.above))
        console.print(table)
        bounds = f"upper {made.thresholds.upper:.3f}, lower {made.thresholds.lower:.3f}"
        console.print(f"{_formula(made)}; {bounds}", style="dim")


def _print_band(console: Console, fitted: FittedBand) -> None:
    """Print the quality of a band, measured on questions it was not fitted to, beside the one in use."""
    title = f"cascade, {fitted.questions} questions, {fitted.passages} graded passages"
    table = _empty_table(title, "in use", "fitted")
    sides = (fitted.before, fitted.after)
    table.add_row("language model asked", *(_number(side.asked.value, False) for side in sides))
    table.add_row("accuracy", *(_number(side.accuracy.value, False) for side in sides))
    table.add_row("  against asking every time", *(_number(s.difference.value, False, "+") for s in sides))
    table.add_row("  95 % interval", *(_bounds(side.difference, False, "+") for side in sides))
    console.print(table)
    alone = f"alone: evaluator {fitted.evaluator:.3f}, language model {fitted.model:.3f}"
    band = f"asked where the evaluator's P is from {fitted.band.lower:.3f} to {fitted.band.upper:.3f}"
    console.print(f"{band}; {alone}", style="dim")


MEAN_PER_QUESTION = {"tokens, language model": True, "tokens, evaluator": True, "seconds": False}
"""Figures that are means per question; True for those read without decimals."""


def show_grader_comparison(found: GraderComparison) -> None:
    """Print the figures of all graders side by side, and a sentence on each compared with the reference."""
    console = _console()
    part = " (partial)" if found.partial else ""
    share = f"{found.right} of {found.passages} passages help"
    names = [str(standing.kind) for standing in found.graders]
    table = _empty_table(f"{found.kb}{part}: {found.questions} questions, {share}", *names)
    for name in dict.fromkeys(name for standing in found.graders for name in standing.figures):
        figures = [standing.figures.get(name) for standing in found.graders]
        label = f"{name} per question" if name in MEAN_PER_QUESTION else name
        whole = MEAN_PER_QUESTION.get(name, False)
        if name == "accuracy":
            table.add_row(label, *(_with_bounds(each) if each else "–" for each in figures))
        else:
            table.add_row(label, *(_number(each.value, whole) if each else "–" for each in figures))
    others = [standing.against for standing in found.graders]
    rows = (
        ("same verdict", [_with_bounds(each.agreement) if each else "" for each in others]),
        ("Cohen's kappa", [_with_bounds(each.kappa) if each else "" for each in others]),
        ("accuracy, difference", [_with_bounds(each.difference, "+") if each else "" for each in others]),
        ("right where it is wrong", [str(each.gained) if each else "" for each in others]),
        ("wrong where it is right", [str(each.lost) if each else "" for each in others]),
        ("McNemar's exact p", [_p_value(each.chance) if each else "" for each in others]),
    )
    table.add_section()
    table.add_row(f"[bold]against {found.reference}")
    for label, cells in rows:
        table.add_row(f"  {label}", *cells)
    console.print(table)
    for standing in found.graders:
        if standing.against:
            console.print(verdict(standing.kind, found.reference, standing.against))
    for broken in found.failed:
        console.print(one_line(f"line {broken.line} failed: {broken.reason}"), style="red", markup=False)
    if found.partial:
        console.print("interrupted, this is a part of the questions", style="yellow")


def _p_value(p: float) -> str:
    return "< 0.001" if p < 0.001 else _number(p, False)


def _with_bounds(interval: Interval, sign: str = "") -> str:
    value = _number(interval.value, False, sign)
    return f"{value}\n{_bounds(interval, False, sign)}".rstrip()


def _formula(made: Calibration) -> str:
    """The fitted calibration as a formula."""
    if made.weights:
        evaluator, model, similarity, bias = made.weights
        return (
            f"log-odds = {evaluator:.3f} × evaluator's + {model:.3f} × model's "
            f"+ {similarity:.3f} × cosine {bias:+.3f}"
        )
    return f"log-odds / {made.scale.temperature:.3f} {made.scale.bias:+.3f}"


def _measures_table(result: Result) -> Table:
    table = _empty_table(f"{_title(result)}, {len(result.observations)} questions", "", "95 % interval", "n")
    shown = [figure for figure in result.figures if figure.group not in COST_GROUPS]
    for group, rows in groupby(shown, key=lambda figure: figure.group):
        table.add_section()
        table.add_row(f"[bold]{group}")
        for figure in rows:
            bounds = figure.interval
            table.add_row(
                f"  {figure.name}", _number(bounds.value, False), _bounds(bounds, False), str(figure.n)
            )
    return table


def _cost_table(result: Result) -> Table:
    """A table of tokens and seconds, with the mean and two quantiles side by side."""
    table = _empty_table(f"{result.name}: costs", "mean", "p50", "p95")
    for group in COST_GROUPS:
        table.add_section()
        table.add_row(f"[bold]{group}")
        costs = [figure for figure in result.figures if figure.group is group]
        for name, rows in groupby(costs, key=lambda figure: figure.name.rpartition(", ")[0]):
            table.add_row(f"  {name}", *(_number(row.interval.value, _is_whole(group)) for row in rows))
    return table


def _comparison_table(comparison: ConfigurationComparison) -> Table:
    first, second = comparison.first, comparison.second
    title = f"{_title(first)} against {_title(second)}, {comparison.questions} questions of both"
    table = _empty_table(title, first.name, second.name, "difference", "95 % interval", "")
    for group, rows in groupby(comparison.measures, key=lambda measure: measure.first.group):
        table.add_section()
        table.add_row(f"[bold]{group}")
        for row in rows:
            whole = _is_whole(group)
            table.add_row(
                f"  {row.first.name}",
                _number(row.first.interval.value, whole),
                _number(row.second.interval.value, whole),
                _number(row.difference.value, whole, sign="+"),
                _bounds(row.difference, whole, sign="+"),
                DIFFERENCE_MARK if row.difference.excludes_zero else "",
            )
    return table


def _print_outcomes(console: Console, result: Result) -> None:
    """Print the statuses, the confusion matrix of the action, the failures, and whether the run was cut."""
    statuses = _empty_table(f"{result.name}: statuses", *Status)
    for kind, row in result.statuses.items():
        statuses.add_row(kind, *(str(row[status]) for status in Status))
    console.print(statuses)
    if any(_cells(result.confusion)):
        console.print(_confusion_table(result.name, result.confusion))
    degraded = sum(bool(o.answer.degraded) for o in result.observations)
    if degraded:
        console.print(f"{result.name}: {degraded} answers were degraded (--json says how)", style="yellow")
    for broken in result.failed:
        failed = one_line(f"{result.name}: line {broken.line} failed: {broken.reason}")
        console.print(failed, style="red", markup=False)
    if result.partial:
        console.print(f"{result.name}: interrupted, this is a part of the questions", style="yellow")


def _confusion_table(name: str, counted: Confusion) -> Table:
    table = _empty_table(f"{name}: should it have been corrected?", "corrected", "not corrected")
    cells = _cells(counted)
    table.add_row("needed (nothing right among the first)", *map(str, cells[:2]))
    table.add_row("not needed", *map(str, cells[2:]))
    return table


def _cells(counted: Confusion) -> Sequence[int]:
    return (
        counted.needed_made,
        counted.needed_not_made,
        counted.unneeded_made,
        counted.unneeded_not_made,
    )


def _title(result: Result) -> str:
    return f"{result.name} (partial)" if result.partial else result.name


def _is_whole(group: Group) -> bool:
    """Whether the figures of a group are large numbers, to be read without decimals."""
    return group is Group.TOKENS


def _number(value: float, whole: bool, sign: str = "") -> str:
    if math.isnan(value):
        return "–"
    return f"{value:{sign},.0f}" if whole else f"{value:{sign}.3f}"


def _bounds(interval: Interval, whole: bool, sign: str = "") -> str:
    if math.isnan(interval.low):
        return ""
    return f"{_number(interval.low, whole, sign)} … {_number(interval.high, whole, sign)}"


def _empty_table(title: str, *columns: str) -> Table:
    from rich.table import Table

    table = Table(title=title, title_justify="left", show_edge=False, title_style="bold")
    table.add_column("", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", overflow="fold")
    return table


def _console() -> Console:
    """A console as wide as the terminal; on a pipe wide enough for every column."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_COLUMNS)
