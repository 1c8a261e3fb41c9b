"""How the chat model is trained: the loss of packed rows, and the course of a training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch
from torch.nn import functional as F

from .adapted_llama import AdaptedLlama
from .job import Job
from .listwise import log_softmax_within
from .number_format import working_format
from .packed_rows import Decisions, Row, RowBatch
from .training_loop import Course

LISTWISE_WEIGHT = 0.3
WRITTEN_WEIGHT = 1.0
WARM_UP, LAST_SHARE = 0.04, 0.02


@dataclass(frozen=True)
class StepSize:
    """How many rows a step has, and how many of them are in memory at a time."""

    rows: int
    at_once: int


STEP_SIZES = {"cpu": StepSize(3, 1), "cuda": StepSize(32, 32)}


def begun(job: Job, base: Path) -> AdaptedLlama:
    """The base of a file with fresh adapters, or with those that the job goes on from.

    Raises ShapeError, LocalCragError.
    """
    dtype = working_format(job.device)
    if job.init is None:
        return AdaptedLlama(base, job.rank, dtype)
    return AdaptedLlama.with_adapter(base, job.init, dtype)


def row_batches(filled: Iterator[Row], size: StepSize) -> Iterator[list[Row]]:
    """The rows of each step."""
    while batch := list(islice(filled, size.rows)):
        yield batch


def course(model: AdaptedLlama, decisions: Decisions, size: StepSize) -> Course[list[Row]]:
    """The training of an adapter: a short warm-up, then the rate falls linearly."""
    weights = [p for p in model.parameters() if p.requires_grad]
    return Course(
        name="chat",
        model=model,
        optimiser=torch.optim.AdamW(weights, weight_decay=0.0, betas=(0.9, 0.98)),
        losses=lambda batch: losses(model, decisions, batch, size.at_once),
        tokens=lambda batch: sum(len(row.ids) for row in batch),
        rate=lambda share: min(share / WARM_UP, max(LAST_SHARE, (1 - share) / (1 - WARM_UP))),
    )


def losses(
    model: AdaptedLlama, decisions: Decisions, batch: Sequence[Row], at_once: int = 1
) -> Iterator[torch.Tensor]:
    """The loss of a step in parts, each its share of the step's mean, of `at_once` rows each."""
    decided = max(1, sum(len(row.decisions) for row in batch))
    written = max(1, sum(len(row.written) for row in batch))
    for first in range(0, len(batch), at_once):
        part = RowBatch.of(batch[first : first + at_once]).to(model.embeddings.device)
        states = model(part.ids, part.positions, part.seen()).flatten(0, 1)
        loss = states.sum() * 0.0
        if len(part.decided):
            loss = loss + _decision_loss(model, decisions, states, part) / decided
        if len(part.written):
            scores = model.logits(states[part.written])
            each = F.cross_entropy(scores, part.following, reduction="sum")
            loss = loss + WRITTEN_WEIGHT * each / written
        yield loss


def _decision_loss(
    model: AdaptedLlama, decisions: Decisions, states: torch.Tensor, batch: RowBatch
) -> torch.Tensor:
    """Binary cross-entropy of logit(yes) - logit(no), and a listwise term for tasks with one that is yes."""
    pair = model.logits(states[batch.decided], [decisions.yes, decisions.no])
    margins, labels = pair[:, 0] - pair[:, 1], batch.labels
    loss = F.binary_cross_entropy_with_logits(margins, labels, reduction="sum")
    _, group = torch.unique(batch.groups, return_inverse=True)
    size, right = (torch.bincount(group, each) for each in (torch.ones_like(labels), labels))
    mixed = (right > 0) & (right < size)
    weight = torch.where(mixed, size / right.clamp(min=1), 0.0)[group] * labels
    return loss - LISTWISE_WEIGHT * (weight * log_softmax_within(margins, group)).sum()
