"""Rows of a fixed length, packed with token sequences that share beginnings, under a block mask.

Sequences of one task (the texts behind one question) share the beginning that is the same in all of them: it
stands in the row once, and each sequence goes on from it, with the positions that it would have alone. A
token sees what its own sequence would show it, and nothing of its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import torch

ROW_TOKENS = 768


@dataclass(frozen=True)
class Written:
    """A sequence whose last `reply` tokens are to be predicted."""

    ids: tuple[int, ...]
    reply: int


@dataclass(frozen=True)
class Decided:
    """A prompt after which yes (1) or no (0) is to be said."""

    ids: tuple[int, ...]
    label: float


Sequenced = Written | Decided


@dataclass(frozen=True)
class Shared:
    """Sequences of one task with the beginning that they share."""

    sequences: tuple[Sequenced, ...]

    @property
    def beginning(self) -> int:
        """How many tokens all sequences have in common; each keeps at least one of its own."""
        first = self.sequences[0].ids
        if len(self.sequences) == 1:
            return 0
        most = min(len(each.ids) - _own(each) for each in self.sequences)
        return next(
            (i for i in range(most) if len({s.ids[i] for s in self.sequences}) > 1), min(most, len(first))
        )

    @property
    def size(self) -> int:
        """The tokens that they take in a row."""
        shared = self.beginning
        return shared + sum(len(each.ids) - shared for each in self.sequences)


def _own(sequence: Sequenced) -> int:
    """The tokens at the end of a sequence that stay its own: the predicted ones and the one before them."""
    return sequence.reply + 1 if isinstance(sequence, Written) else 1


@dataclass
class Row:
    """One row while it is filled, and where in it what is to be learnt."""

    ids: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    sequences: list[int] = field(default_factory=list)
    decisions: list[tuple[int, float, int]] = field(default_factory=list)
    """(place, label, task) of each decision."""
    written: list[tuple[int, int]] = field(default_factory=list)
    """(place, next token) of each token to predict."""

    def add(self, shared: Shared) -> None:
        """Append the sequences of one task."""
        task, beginning = (self.tasks[-1] + 1 if self.tasks else 0), shared.beginning
        self._extend(shared.sequences[0].ids[:beginning], 0, task, 0)
        for number, each in enumerate(shared.sequences, 1):
            ids = each.ids
            if isinstance(each, Decided):
                self._extend(ids[beginning:], beginning, task, number)
                self.decisions.append((len(self.ids) - 1, each.label, task))
            else:
                before = len(self.ids) - beginning
                self._extend(ids[beginning:-1], beginning, task, number)
                start = len(ids) - each.reply
                self.written += [(before + at - 1, ids[at]) for at in range(start, len(ids))]

    def _extend(self, ids: Sequence[int], position: int, task: int, sequence: int) -> None:
        self.ids += ids
        self.positions += range(position, position + len(ids))
        self.tasks += [task] * len(ids)
        self.sequences += [sequence] * len(ids)

    def padded(self, length: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Ids (length,), positions (length,) and who sees whom (length, length)."""
        fill = length - len(self.ids)
        ids = torch.tensor(self.ids + [0] * fill)
        positions = torch.tensor(self.positions + [0] * fill)
        tasks = torch.tensor(self.tasks + [-1] * fill)
        sequences = torch.tensor(self.sequences + [0] * fill)
        same = (sequences[:, None] == sequences[None]) | (sequences[None] == 0)
        seen = torch.ones(length, length, dtype=torch.bool).tril() & (tasks[:, None] == tasks[None]) & same
        return ids, positions, seen | torch.eye(length, dtype=torch.bool)


def rows(tasks: Iterable[Shared], length: int = ROW_TOKENS, open_rows: int = 6) -> Iterator[Row]:
    """Fill rows first-fit with `open_rows` open; a task that fits no row loses sequences from its end.

    A task of one sequence that is longer than a row is left out.
    """
    filling = [Row() for _ in range(open_rows)]
    for task in tasks:
        fitting = cut_to(task, length)
        if fitting is None:
            continue
        size = fitting.size
        place = next((i for i, row in enumerate(filling) if len(row.ids) + size <= length), None)
        if place is None:
            place = max(range(open_rows), key=lambda i: len(filling[i].ids))
            yield filling[place]
            filling[place] = Row()
        filling[place].add(fitting)


def cut_to(task: Shared, length: int) -> Shared | None:
    """The task with as many of its sequences, from the first, as fit into a row; None if none does."""
    sequences = task.sequences
    while sequences and Shared(sequences).size > length:
        sequences = sequences[:-1]
    return Shared(sequences) if sequences else None
