"""Figures, and how they are shown: a table, JSON, pictures."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.picture import Chart, Line, svg


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value beside what was wanted; ``wanted`` is "" where nothing was."""

    name: str
    value: float
    unit: str
    wanted: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What one part measured."""

    figures: tuple[Figure, ...]
    charts: tuple[Chart, ...] = ()


@dataclass(frozen=True, slots=True)
class Room:
    """What a part may use: a folder that is emptied afterwards, one that is kept, how long it may take."""

    scratch: Path
    cache: Path
    rounds: int = 3
    quick: bool = False
    options: dict[str, str] = field(default_factory=dict)


def show(figures: Sequence[Figure]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("figure", "value", "unit", "wanted")
    for figure in figures:
        table.add_row(figure.name, f"{figure.value:,.3f}".rstrip("0").rstrip("."), figure.unit, figure.wanted)
    Console().print(table)


def as_json(reports: dict[str, Report]) -> str:
    return json.dumps({name: asdict(report) for name, report in reports.items()}, indent=2)


def save(part: str, report: Report, folder: Path) -> Path:
    """The figures and charts of one part as JSON, with the command that made them and the machine it ran on.

    ``scripts/docs.py --write`` makes the tables and the pictures of the manual from these files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{part}.json"
    command = " ".join(["./scripts/bench", *(shlex.quote(word) for word in sys.argv[1:])])
    saved = {
        "command": command,
        "machine": machine(),
        "figures": [asdict(figure) for figure in report.figures],
        "charts": [asdict(chart) for chart in report.charts],
    }
    path.write_text(json.dumps(saved, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return path


def machine() -> str:
    """Processor, cores, memory and versions, in words."""
    from localcrag._platform import cores

    described = Path("/proc/cpuinfo")
    lines = described.read_text("utf-8").splitlines() if described.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    versions = ", ".join(f"{name} {version(name)}" for name in ("llama-cpp-python", "torch", "lancedb"))
    python = f"Python {platform.python_version()}"
    return f"{names[0] if names else platform.processor()}, {cores()} cores, {python}, {versions}"


def charts_of(saved: Mapping[str, Any]) -> list[Chart]:
    """The charts that :func:`save` kept beside the figures."""
    return [
        Chart(
            **{
                **chart,
                "lines": tuple(
                    Line(line["name"], tuple((x, y) for x, y in line["points"])) for line in chart["lines"]
                ),
                "labels": tuple(chart["labels"]),
            }
        )
        for chart in saved["charts"]
    ]


def draw(chart: Chart, folder: Path) -> Path:
    """The picture as an SVG file in the folder."""

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{chart.name}.svg"
    path.write_text(svg(chart), "utf-8")
    return path
