"""Stage `tables`: low-rank adapters over a chat model that make it read a question over a table as a query.

The questions lie beside this code (:mod:`table_questions`), some about tables of the data folder.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

import torch

from ..base_model import base_of
from ..chat_training import STEP_SIZES, begun, course, row_batches
from ..data import DataError
from ..fused_attention import use_kernels_of_any_shape
from ..job import Job, reporter
from ..packed_rows import rows
from ..table_questions import is_held_out, read_tables
from ..table_tasks import TableTasks
from ..training_loop import Budget, train

PEAK_RATE, FINE_TUNING_RATE = 5e-4, 2e-4
MIN_COMPILED_MINUTES = 5.0
OPEN_ROWS = 16


def run(job: Job) -> None:
    """Train until the budget is spent. Raises DataError, ShapeError, LocalCragError (no base)."""
    from localcrag.llm.llama_model import Model

    from ..chat_tokens import ChatTokens

    torch.manual_seed(0)
    use_kernels_of_any_shape()
    known = [each for each in read_tables(job.data) if not is_held_out(each.key)]
    if not known:
        raise DataError("no tables with questions to learn from")
    base = base_of(job.base).file
    model = begun(job, base)
    if job.device == "cpu" and job.minutes >= MIN_COMPILED_MINUTES:
        model.compile_layers()
    size = STEP_SIZES[job.device]
    tokens = ChatTokens(Model(base))
    tasks = TableTasks(known, random.Random(time.time_ns()))
    read = rows((tokens.of(task) for task in _drawn(tasks)), open_rows=OPEN_ROWS)
    usual = FINE_TUNING_RATE if job.init else PEAK_RATE
    training = course(model.to(job.device), tokens.decisions, size)
    train(
        training,
        row_batches(read, size),
        Budget(job.minutes, job.learning_rate or usual),
        job.tables,
        reporter(0),
    )


def _drawn(tasks: TableTasks) -> Iterator:  # type: ignore[type-arg]
    while True:
        yield from tasks.round()
