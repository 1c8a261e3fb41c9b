"""The results of an evaluation as one picture, PNG or SVG by the suffix of the file.

Needs the extra ``plots`` (matplotlib).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localcrag.errors import EvaluationError, UsageError
from localcrag.evaluation.measures import pairs_of, recall
from localcrag.evaluation.observations import Ranks
from localcrag.evaluation.results import Result
from localcrag.evaluation.statistics import CALIBRATION_BINS, Pairs, bins
from localcrag.types import Status

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PLOT_SUFFIXES = (".png", ".svg")
CONFIGURATION_COLOURS = ("#1b6ca8", "#d1603d")
"""The colours of the first and the second configuration."""
STATUS_COLOURS = {
    Status.ANSWERED: "#2a9d6f",
    Status.UNSURE: "#e3b23c",
    Status.NOT_FOUND: "#9aa0a6",
    Status.TRUNCATED: "#b03a5b",
}
"""The colour of the bar of each status."""


def require_plots(path: Path) -> None:
    """Check that a picture can be made at this path.

    Raises UsageError for a suffix other than .png and .svg, EvaluationError if matplotlib or the folder is
    missing.
    """
    if path.suffix.lower() not in PLOT_SUFFIXES:
        raise UsageError(
            f"--plot {path}: the ending must be .png or .svg", hint="for example --plot report.svg"
        )
    if not path.absolute().parent.is_dir():
        raise EvaluationError(
            f"there is no folder {path.absolute().parent} for the plot",
            hint="make the folder, or name another place",
        )
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise EvaluationError(
            f"plots need matplotlib: {error}", hint="install it: pip install 'localcrag[plots]'"
        ) from error


def plot(results: Sequence[Result], path: Path) -> None:
    """Draw the results of one or two configurations into one picture.

    Raises EvaluationError if the file cannot be written, and the errors of :func:`require_plots`.
    """
    require_plots(path)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 8.5), layout="constrained")
    panels = figure.subplots(2, 2).flat
    for draw, axes in zip((_reliability, _trade, _statuses, _recall), panels, strict=True):
        draw(axes, results)
        axes.spines[["top", "right"]].set_visible(False)
    try:
        figure.savefig(path, dpi=144)
    except OSError as error:
        raise EvaluationError(
            f"cannot write {path}: {error.strerror or error}", hint="name another place with --plot"
        ) from error


def _reliability(axes: Axes, results: Sequence[Result]) -> None:
    """Draw the reliability diagram: for the passages of each bin of P, the share that is right.

    The size of a point grows with the number of passages in its bin.
    """
    axes.plot([0, 1], [0, 1], color="0.7", linestyle="--", linewidth=1)
    for result, colour in zip(results, CONFIGURATION_COLOURS, strict=False):
        pairs = pairs_of(result.observations)
        member = bins(pairs.p)
        full = [b for b in range(CALIBRATION_BINS) if (member == b).any()]
        shares = [(member == b).mean() for b in full]
        axes.scatter(
            [pairs.p[member == b].mean() for b in full],
            [pairs.right[member == b].mean() for b in full],
            s=[30 + 400 * share for share in shares],
            color=colour,
            alpha=0.7,
            label=result.name,
        )
    _finish(axes, "Are the grades to be believed?", "P(the passage helps), as graded", "share that does")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    if len(results) > 1:
        _legend(axes, loc="upper left")


def _trade(axes: Axes, results: Sequence[Result]) -> None:
    """Draw precision and recall over the threshold on P."""
    for result, colour in zip(results, CONFIGURATION_COLOURS, strict=False):
        threshold, precision, found = precision_recall(pairs_of(result.observations))
        prefix = f"{result.name}: " if len(results) > 1 else ""
        axes.step(threshold, precision, color=colour, label=f"{prefix}precision")
        axes.step(threshold, found, color=colour, linestyle=":", label=f"{prefix}recall")
    _finish(axes, "Where to put the threshold", "threshold on P", "precision, recall")
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
    _legend(axes)


def precision_recall(pairs: Pairs) -> tuple[list[float], list[float], list[float]]:
    """Thresholds, precision and recall at every P that occurs, in ascending order of P."""
    order = np.argsort(-pairs.p, kind="stable")
    p, right = pairs.p[order], pairs.right[order]
    last = np.flatnonzero(np.append(p[1:] != p[:-1], True)) if len(p) else np.array([], int)
    above = np.cumsum(right)[last]
    total = max(right.sum(), 1)
    columns = (p[last], above / (last + 1), above / total)
    threshold, precision, found = ([float(v) for v in column[::-1]] for column in columns)
    return threshold, precision, found


def _statuses(axes: Axes, results: Sequence[Result]) -> None:
    """Draw the shares of the statuses, by whether the documents hold an answer."""
    rows = [(result, kind) for result in results for kind in result.statuses]
    names = [f"{kind}\n{result.name}" if len(results) > 1 else kind for result, kind in rows]
    left = np.zeros(len(rows))
    for status, colour in STATUS_COLOURS.items():
        counts = np.array([result.statuses[kind][status] for result, kind in rows], float)
        totals = np.array([sum(result.statuses[kind].values()) for result, kind in rows], float)
        bars = axes.barh(names, counts / totals, left=left, color=colour, label=str(status))
        axes.bar_label(bars, [f"{c:.0f}" if c else "" for c in counts], label_type="center")
        left += counts / totals
    axes.invert_yaxis()
    _finish(axes, "How the answers stand", "share of the questions", "")
    _legend(axes, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.12))


def _recall(axes: Axes, results: Sequence[Result]) -> None:
    """Draw recall@k over k."""
    from matplotlib.ticker import MaxNLocator

    curves = [
        (f"{result.name}: {stage}" if len(results) > 1 else stage, style, colour, ranks)
        for result, colour in zip(results, CONFIGURATION_COLOURS, strict=False)
        for stage, style, ranks in (
            ("search", "--", [o.searched for o in result.observations if o.searched]),
            ("reranked", "-", [o.reranked for o in result.observations if o.reranked]),
        )
        if ranks
    ]
    found = [rank for *_, ranks in curves for each in ranks for rank in each if rank is not None]
    depth = max(found, default=1)
    for name, style, colour, ranks in curves:
        curve = recall_curve(ranks, depth)
        axes.plot(range(1, depth + 1), curve, style, color=colour, marker="o", markersize=3, label=name)
    _finish(axes, "How soon the right passage comes", "k", "recall@k")
    axes.set(ylim=(-0.03, 1.03))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes, loc="lower right")


def recall_curve(ranks: Sequence[Ranks], deepest: int) -> list[float]:
    """Recall@k for k = 1 to ``deepest``."""
    return [sum(recall(each, k) for each in ranks) / len(ranks) for k in range(1, deepest + 1)]


def _finish(axes: Axes, title: str, x: str, y: str) -> None:
    """Set the title and the labels of the axes."""
    axes.set_title(title, loc="left")
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def _legend(axes: Axes, **place: Any) -> None:
    """Add a legend if there is anything to name; its points are all of one size."""
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        for handle in axes.legend(handles, labels, frameon=False, **place).legend_handles:
            if handle is not None and hasattr(handle, "set_sizes"):
                handle.set_sizes([40])
