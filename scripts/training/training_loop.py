"""The loop that every training stage shares: a wall-clock budget, checkpoints, reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import nn

from . import parallel
from .checkpoint import Progress, resume, save, snapshot

Batch = TypeVar("Batch")
Report = Callable[[str], None]

STEPS_BETWEEN_REPORTS = 10
SECONDS_BETWEEN_CHECKPOINTS = 120.0
MAX_GRADIENT_NORM = 1.0


@dataclass(frozen=True)
class Budget:
    """How long to train, in minutes of wall time with earlier runs counted in, and the peak learning rate."""

    minutes: float
    learning_rate: float


@dataclass(frozen=True)
class Course(Generic[Batch]):
    """What is trained, and how one step goes.

    `losses` gives the parts of a batch's loss, scalar tensors whose gradients are added up, one at a time, so
    that a batch may be larger than memory; `tokens` says how many tokens it holds. `rate` gives the learning
    rate, as a share of the peak, for the share of the budget that is spent. `kept` goes into the checkpoint
    as is.
    """

    name: str
    model: nn.Module
    optimiser: torch.optim.Optimizer
    losses: Callable[[Batch], Iterable[torch.Tensor]]
    tokens: Callable[[Batch], int]
    rate: Callable[[float], float]
    kept: dict[str, Any] = field(default_factory=dict)


def train(
    course: Course[Batch], batches: Iterator[Batch], budget: Budget, checkpoint: Path, report: Report | None
) -> None:
    """Train until the budget is spent; the checkpoint is resumed if it exists, and kept up to date.

    Only the process that has a `report` writes. Raises CheckpointError.
    """
    weights = [p for group in course.optimiser.param_groups for p in group["params"]]
    done = resume(course.model, course.optimiser, checkpoint)
    began, saved, losses = time.monotonic() - done.seconds, done.seconds, [0.0]
    course.model.train()
    finished = False
    while not finished:
        spent = time.monotonic() - began
        share = min(spent / (budget.minutes * 60), 1.0)
        for group in course.optimiser.param_groups:
            group["lr"] = budget.learning_rate * course.rate(share)
        batch = next(batches)
        course.optimiser.zero_grad()
        whole = 0.0
        for loss in course.losses(batch):
            torch.autograd.backward(loss)
            whole += loss.item()
        finished = parallel.average(weights, share >= 1.0)
        nn.utils.clip_grad_norm_(weights, MAX_GRADIENT_NORM)
        course.optimiser.step()
        done = Progress(spent, done.steps + 1, done.tokens + course.tokens(batch) * parallel.size())
        losses = [*losses[-49:], whole]
        if report and done.steps % STEPS_BETWEEN_REPORTS == 0:
            report(_line(course.name, done, sum(losses) / len(losses)))
        if report and (finished or spent - saved > SECONDS_BETWEEN_CHECKPOINTS):
            save(checkpoint, {**snapshot(course.model, course.optimiser, done), **course.kept})
            saved = spent


def _line(name: str, done: Progress, loss: float) -> str:
    speed = done.tokens / done.seconds if done.seconds else 0.0
    return f"{name} step {done.steps} loss {loss:.4f} {speed:.0f} tokens/s {done.seconds / 60:.1f} min"
