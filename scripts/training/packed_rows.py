"""Rows of a fixed length, packed with token sequences that share beginnings, under a block mask.

Sequences of one task (the texts behind one question) share the beginning that is the same in all of them: it
stands in the row once, and each sequence goes on from it, with the positions that it would have alone. A
token sees what its own sequence would show it, and nothing of its neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields

import torch

ROW_TOKENS = 768


@dataclass(frozen=True)
class Decisions:
    """The tokens that say yes and no."""

    yes: int
    no: int


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


@dataclass(frozen=True)
class RowBatch:
    """Rows as tensors, padded to one length: what a step reads, and where in it what is to be learnt.

    `ids`, `positions`, `tasks` and `sequences` have the shape (n, length); the padding has the task -1. Each
    decision has its place in the flat batch, its label and its group, a number that those of one task share;
    each written token has its place in the flat batch and the token that follows.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    tasks: torch.Tensor
    sequences: torch.Tensor
    decided: torch.Tensor
    labels: torch.Tensor
    groups: torch.Tensor
    written: torch.Tensor
    following: torch.Tensor

    @staticmethod
    def of(filled: Sequence[Row], length: int = ROW_TOKENS) -> RowBatch:
        """The tensors of some rows."""

        def padded(columns: Sequence[Sequence[int]], fill: int) -> torch.Tensor:
            made = torch.full((len(columns), length), fill)
            for row, column in zip(made, columns, strict=True):
                row[: len(column)] = torch.tensor(column)
            return made

        decisions = [
            (at * length + place, label, at * length + task)
            for at, row in enumerate(filled)
            for place, label, task in row.decisions
        ]
        written = [
            (at * length + place, token) for at, row in enumerate(filled) for place, token in row.written
        ]
        return RowBatch(
            padded([row.ids for row in filled], 0),
            padded([row.positions for row in filled], 0),
            padded([row.tasks for row in filled], -1),
            padded([row.sequences for row in filled], 0),
            torch.tensor([place for place, _, _ in decisions], dtype=torch.long),
            torch.tensor([label for _, label, _ in decisions], dtype=torch.float32),
            torch.tensor([group for _, _, group in decisions], dtype=torch.long),
            torch.tensor([place for place, _ in written], dtype=torch.long),
            torch.tensor([token for _, token in written], dtype=torch.long),
        )

    def seen(self) -> torch.Tensor:
        """Who sees whom, (n, length, length): what stands before in the same sequence or is shared by all."""
        length = self.ids.shape[1]
        before = torch.ones(length, length, dtype=torch.bool, device=self.ids.device).tril()
        same_task = self.tasks[:, :, None] == self.tasks[:, None]
        own = self.sequences[:, :, None] == self.sequences[:, None]
        shown = before & same_task & (own | (self.sequences == 0)[:, None])
        return shown | torch.eye(length, dtype=torch.bool, device=self.ids.device)

    def to(self, device: torch.device) -> RowBatch:
        """The same tensors on a device."""
        return RowBatch(*(getattr(self, each.name).to(device) for each in fields(self)))


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
