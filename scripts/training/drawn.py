"""What a training reads, drawn beforehand into one file.

A machine with an accelerator reads in minutes what takes a core as long to draw and to encode, and it needs
neither the data folder nor the product for it: `scripts/train draw` writes the file, and a stage that is
given it as `--data` trains on it. It holds flat arrays, as `numpy.savez` writes them, in one xz stream with a
window that is wide enough to find a passage again that many questions are asked about.
"""

from __future__ import annotations

import io
import lzma
import random
import zipfile
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .data import DataError
from .encoded_groups import Encoded
from .packed_rows import Decisions, Row
from .training_loop import Report

Arrays = Mapping[str, npt.NDArray[Any]]
WINDOW_BYTES = 2**28
TOKENS_BETWEEN_REPORTS = 5_000_000
_PRECISION = 1000
"""Probabilities that are aimed at are kept in steps of one over this."""
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": WINDOW_BYTES}]


@dataclass(frozen=True)
class DrawnRows:
    """Rows for the chat model, and the tokens that say yes and no to it."""

    decisions: Decisions
    rows: Sequence[Row]


def save_rows(
    path: Path, rows: Iterable[Row], tokens: int, decisions: Decisions, report: Report | None = None
) -> None:
    """Write rows of so many tokens; the file is whole or absent."""
    columns = _Columns("ids", "positions", "tasks", "sequences", "place", "label", "task", "at", "next")
    for row in _until(rows, tokens, lambda row: len(row.ids), report):
        columns.add(("ids", row.ids), ("positions", row.positions), ("tasks", row.tasks))
        columns.add(("sequences", row.sequences))
        places, labels, numbers = _columns_of(row.decisions, 3)
        columns.add(("place", places), ("label", [int(each) for each in labels]), ("task", numbers))
        at, following = _columns_of(row.written, 2)
        columns.add(("at", at), ("next", following))
        columns.close("rows", len(row.ids), len(row.decisions), len(row.written))
    _write(path, {**columns.arrays(3), "words": np.array([decisions.yes, decisions.no])})


def read_rows(path: Path) -> DrawnRows:
    """The rows of a file. Raises DataError if it is none."""
    stored = _read(path, "rows", "words")
    ends = np.vstack([np.zeros((1, 3), int), stored["rows"].astype(int).cumsum(0)])
    decisions = Decisions(*stored["words"].tolist())
    return DrawnRows(decisions, _Lazily(len(ends) - 1, lambda at: _row(stored, ends[at], ends[at + 1])))


def save_groups(path: Path, groups: Iterable[Encoded], tokens: int, report: Report | None = None) -> None:
    """Write groups of so many tokens for the evaluator; the file is whole or absent."""
    columns = _Columns("ids", "lengths", "labels", "targets")
    for group in _until(groups, tokens, lambda group: sum(map(len, group.ids)), report):
        columns.add(*(("ids", each) for each in group.ids), ("lengths", [len(each) for each in group.ids]))
        columns.add(("labels", [int(each) for each in group.labels]))
        columns.add(("targets", [round(each * _PRECISION) for each in group.targets]))
        columns.close("groups", len(group.ids))
    _write(path, columns.arrays(1))


def read_groups(path: Path) -> Sequence[Encoded]:
    """The groups of a file. Raises DataError if it is none."""
    stored = _read(path, "groups", "lengths")
    members = np.concatenate([[0], stored["groups"][:, 0].astype(int).cumsum()])
    ends = np.concatenate([[0], stored["lengths"].astype(int).cumsum()])

    def group(at: int) -> Encoded:
        first, last = int(members[at]), int(members[at + 1])
        return Encoded(
            [stored["ids"][ends[each] : ends[each + 1]].tolist() for each in range(first, last)],
            tuple(stored["labels"][first:last].astype(float).tolist()),
            tuple((stored["targets"][first:last] / _PRECISION).tolist()),
        )

    return _Lazily(len(members) - 1, group)


def in_rounds(drawn: Sequence[Any], rng: random.Random) -> Iterator[Any]:
    """All that was drawn, again and again, each round in another order."""
    while True:
        yield from (drawn[at] for at in rng.sample(range(len(drawn)), len(drawn)))


class _Columns:
    """Flat columns of small numbers that grow, and how far each piece of them goes."""

    def __init__(self, *names: str) -> None:
        self._columns = {name: array("H") for name in names}
        self._sizes: dict[str, array[int]] = {}

    def add(self, *pieces: tuple[str, Sequence[int]]) -> None:
        for name, numbers in pieces:
            self._columns[name].extend(numbers)

    def close(self, name: str, *sizes: int) -> None:
        self._sizes.setdefault(name, array("H")).extend(sizes)

    def arrays(self, sizes: int) -> dict[str, npt.NDArray[Any]]:
        flat = {name: np.array(column, np.uint16) for name, column in self._columns.items()}
        return flat | {
            name: np.array(each, np.uint16).reshape(-1, sizes) for name, each in self._sizes.items()
        }


class _Lazily(Sequence[Any]):
    """A sequence whose members are made when they are asked for."""

    def __init__(self, length: int, make: Callable[[int], Any]) -> None:
        self._length, self._make = length, make

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, at: Any) -> Any:
        if not 0 <= at < self._length:
            raise IndexError(at)
        return self._make(at)


def _row(stored: Arrays, start: npt.NDArray[Any], end: npt.NDArray[Any]) -> Row:
    tokens, decisions, written = (slice(int(a), int(b)) for a, b in zip(start, end, strict=True))
    ids, positions, tasks, sequences = (
        stored[name][tokens].tolist() for name in ("ids", "positions", "tasks", "sequences")
    )
    place, label, task = (stored[name][decisions].tolist() for name in ("place", "label", "task"))
    at, following = (stored[name][written].tolist() for name in ("at", "next"))
    decided = list(zip(place, map(float, label), task, strict=True))
    return Row(ids, positions, tasks, sequences, decided, list(zip(at, following, strict=True)))


def _columns_of(rows: Sequence[tuple[Any, ...]], width: int) -> list[list[Any]]:
    return [[row[at] for row in rows] for at in range(width)]


def _until(
    drawn: Iterable[Any], tokens: int, size: Callable[[Any], int], report: Report | None
) -> Iterator[Any]:
    """What is drawn, until it has so many tokens."""
    read, told = 0, 0
    for each in drawn:
        yield each
        read += size(each)
        if report and read >= told + TOKENS_BETWEEN_REPORTS:
            told = read
            report(f"{read / 1e6:.0f} of {tokens / 1e6:.0f} million tokens drawn")
        if read >= tokens:
            return


def _write(path: Path, arrays: Arrays) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    plain = io.BytesIO()
    np.savez(plain, allow_pickle=False, **arrays)
    with lzma.open(part, "wb", filters=_FILTERS) as packed:
        packed.write(plain.getbuffer())
    part.replace(path)


def _read(path: Path, *needed: str) -> Arrays:
    try:
        with lzma.open(path) as packed, np.load(io.BytesIO(packed.read())) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except (lzma.LZMAError, zipfile.BadZipFile, ValueError, EOFError) as error:
        raise DataError(f"{path} was not written by `draw`, or is damaged") from error
    if not all(name in arrays for name in needed):
        raise DataError(f"{path} was drawn for another stage")
    return arrays
