"""What ten million, a hundred million and a billion passages would cost, from the saved measurements.

It measures nothing: it reads what ``scale``, ``ingest`` and ``memory`` saved with ``--save``. Each cost is a
simple function of the number of passages, fitted to the sizes that were measured:

- a constant for each passage: reading and writing (``memory``), embedding (``ingest``), bytes on disk;
- a power law ``a · n^b``: building the indexes, which sorts;
- a straight line ``a + b · n`` from the size on from which there is a vector index: memory and latency, since
  a search reads a constant share of the partitions, and lists of words grow with the passages.

How far such a function can be trusted is told by leaving out the largest measured size, fitting the others,
and comparing: the figures "error at …". ``--set sizes=1e7,1e8,1e9`` chooses the sizes, ``--set cores=16`` and
``--set nodes=32`` the machines, and ``--set shard=5000000`` the passages of one knowledge base of several.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.picture import Chart, Line
from benchmarks.report import Figure, Report, Room

RESULTS = Path(__file__).resolve().parent / "results"
MEASURED_CORES = 2
"""The cores of the machine that the saved measurements were made on."""
FIRST_INDEXED = 100_000
"""The smallest measured size with a vector index; a smaller one is searched vector by vector."""
SECONDS_A_DAY = 86_400
_SIZED = re.compile(r"(?P<size>[\d,]+): (?P<what>.+)")
Points = Sequence[tuple[float, float]]
Law = Callable[[float], float]


class MissingResults(SystemExit):
    """Raised if a part was never saved; the message names the command that saves it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One cost as a function of the number of passages, and what it was fitted to."""

    name: str
    unit: str
    points: Points
    fit: Callable[[Points], Law]

    @property
    def law(self) -> Law:
        """The function, fitted to all points."""
        return self.fit(self.points)

    @property
    def error(self) -> float | None:
        """The relative error at the largest size if only the smaller ones are fitted; None for too few."""
        *smaller, (size, value) = sorted(self.points)
        return self.fit(smaller)(size) / value - 1 if len(smaller) > 1 else None


@dataclass(frozen=True, slots=True)
class Costs:
    """All costs: processor seconds for each passage, and those that depend on the size."""

    read_and_write: float
    embed: float
    index: Cost
    disk: Cost
    memory: Cost
    search: Cost
    written_a_second: float

    def sized(self) -> tuple[Cost, ...]:
        """The costs that were measured at several sizes."""
        return self.index, self.disk, self.memory, self.search


@dataclass(frozen=True, slots=True)
class Machines:
    """What the plan is for: one machine with so many cores, and a cluster of such nodes."""

    cores: int
    nodes: int
    shard: int


def measure(room: Room) -> Report:
    costs = costs_of({part: saved(part) for part in ("scale", "ingest", "memory")})
    sizes = [float(size) for size in room.options.get("sizes", "1e7,1e8,1e9").split(",")]
    machines = Machines(
        int(room.options.get("cores", 16)),
        int(room.options.get("nodes", 32)),
        int(room.options.get("shard", 5_000_000)),
    )
    figures = [*_trust(costs)]
    for size in sizes:
        figures += _planned(costs, size, machines)
    known = tuple(costs.search.points)
    planned = tuple((size, costs.search.law(size)) for size in (known[-1][0], *sizes))
    lines = (Line("measured", known), Line("extrapolated", planned))
    chart = Chart(
        "simulate", "A hybrid search in one knowledge base", "passages", "p50, ms", lines, logarithmic=True
    )
    return Report(tuple(figures), (chart,))


def saved(part: str) -> Mapping[str, float]:
    """The values of the figures that a part saved, by their names with their units.

    Raises MissingResults if there are none.
    """
    path = RESULTS / f"{part}.json"
    if not path.is_file():
        raise MissingResults(f"bench: nothing is saved of {part}: run ./scripts/bench {part} --save first")
    figures = json.loads(path.read_text("utf-8"))["figures"]
    return {f"{figure['name']}, {figure['unit']}": float(figure["value"]) for figure in figures}


def costs_of(found: Mapping[str, Mapping[str, float]]) -> Costs:
    """The costs in the saved figures of ``scale``, ``ingest`` and ``memory``."""
    scale, memory = found["scale"], found["memory"]
    text = "ingest of 1 GiB of text, scripted vectors"
    written = memory[f"{text}, passages"] / memory[f"{text}, s"]
    whole = MEASURED_CORES / found["ingest"]["ingestion, passages/s"]
    read_and_write = MEASURED_CORES / written
    return Costs(
        read_and_write=read_and_write,
        embed=max(0.0, whole - read_and_write),
        index=Cost(
            "building the indexes", "s of CPU", _points(scale, "the same, of all cores, s of CPU"), power_law
        ),
        disk=Cost("on disk", "bytes a passage", _points(scale, "on disk, bytes a passage"), constant),
        memory=Cost(
            "memory of the searching process", "MiB",
            _points(scale, "memory of the searching process, peak, MiB", FIRST_INDEXED), straight_line,
        ),
        search=Cost(
            "hybrid search, p50", "ms", _points(scale, "hybrid search, p50, ms", FIRST_INDEXED), straight_line
        ),
        written_a_second=written,
    )  # fmt: skip


def _points(figures: Mapping[str, float], what: str, least: int = 0) -> Points:
    """The sizes and the values of one figure, by size."""
    found = []
    for name, value in figures.items():
        match = _SIZED.fullmatch(name)
        if match and match["what"] == what and (size := int(match["size"].replace(",", ""))) >= least:
            found.append((float(size), value))
    return sorted(found)


# ---------------------------------------------------------------------------------- functions of the size


def constant(points: Points) -> Law:
    """The value at the largest size, for every size."""
    (_, value) = max(points)
    return lambda size: value


def straight_line(points: Points) -> Law:
    """``a + b · n`` by least squares of the relative errors; through the only point if there is one."""
    if len(points) == 1:
        return constant(points)
    sizes, values = (np.array(column) for column in zip(*points, strict=True))
    slope, start = np.polyfit(sizes, values, 1, w=1 / values)
    return lambda size: float(start + slope * size)


def power_law(points: Points) -> Law:
    """``a · n^b`` by least squares of the logarithms (its relative errors)."""
    if len(points) == 1:
        ((size, value),) = points
        return lambda other: value * other / size
    sizes, values = (np.log(column) for column in zip(*points, strict=True))
    exponent, start = np.polyfit(sizes, values, 1)
    return lambda size: float(math.exp(start + exponent * math.log(size)))


# ---------------------------------------------------------------------------------- the plan


def _trust(costs: Costs) -> Iterator[Figure]:
    """What the functions are worth: their errors at the largest size, which they had not seen."""
    for cost in costs.sized():
        largest = int(max(cost.points)[0])
        if cost.error is not None:
            yield Figure(f"error at {largest:,}: {cost.name}", 100 * cost.error, "%")


def _planned(costs: Costs, size: float, machines: Machines) -> Iterator[Figure]:
    """The figures of a plan for so many passages."""
    name = f"{size:,.0f}"
    work = size * (costs.read_and_write + costs.embed)
    index = costs.index.law(size)
    yield Figure(f"{name}: read, embed, write", work / 3600, "core hours")
    yield Figure(
        f"{name}: the same on one machine of {machines.cores} cores",
        work / machines.cores / SECONDS_A_DAY,
        "days",
    )
    on_nodes = max(work / (machines.cores * machines.nodes), size / costs.written_a_second)
    yield Figure(
        f"{name}: the same on {machines.nodes} such nodes, one of which writes",
        on_nodes / SECONDS_A_DAY,
        "days",
    )
    yield Figure(
        f"{name}: of it the writer is the limit",
        float(on_nodes > work / (machines.cores * machines.nodes)),
        "1: yes",
    )
    yield Figure(f"{name}: building the indexes", index / 3600, "core hours")
    yield Figure(f"{name}: on disk", size * costs.disk.law(size) / 1e9, "GB")
    yield Figure(f"{name}: memory of the searching process", costs.memory.law(size) / 1024, "GiB")
    yield Figure(f"{name}: hybrid search in one knowledge base, p50", costs.search.law(size), "ms")
    shards = math.ceil(size / machines.shard)
    yield Figure(f"{name}: knowledge bases of {machines.shard:,} passages", shards, "")
    yield Figure(
        f"{name}: a search in each of them, one after the other",
        shards * costs.search.law(min(size, machines.shard)),
        "ms",
    )
