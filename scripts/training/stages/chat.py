"""Stage `chat`: low-rank adapters over a chat model, for every task of the loop.

With `--init` the adapters of a GGUF are trained further, on the data folder or on one's own pairs.
"""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

import torch

from localcrag.llm.llama_backend import Model

from ..adapted_llama import AdaptedLlama
from ..base_model import base_of
from ..chat_tasks import ChatTasks
from ..chat_training import ChatTokens, course, row_batches
from ..data import Example, Record, read_questions, tidy
from ..gguf_files import read_adapter
from ..job import Job, examples_of, mine, mined, reporter
from ..number_format import working_format
from ..pairs import CHAT_MIXTURE
from ..training_loop import Budget, train
from ..written_answers import read_answers

PEAK_RATE, FINE_TUNING_RATE = 5e-4, 2e-4
"""Peak learning rates, from nothing and from trained adapters."""
MIN_COMPILED_MINUTES = 5.0
"""Compiling the layers takes a minute or two, and pays off only in a longer training."""


def run(job: Job) -> None:
    """Train until the budget is spent.

    Raises DataError, StageError, ShapeError (an unfit `init` or base), LocalCragError (no base).
    """
    torch.manual_seed(0)
    base = base_of(job.base)
    model = AdaptedLlama(base.file, dtype=working_format(job.device))
    if job.init:
        model.set_pairs(read_adapter(job.init, heads=model.shape.heads, kv_heads=model.shape.kv_heads))
    mine(job)
    tasks = _tasks(job, time.time_ns())
    tokens = ChatTokens(Model(base.file))
    if job.device == "cpu" and job.minutes >= MIN_COMPILED_MINUTES:
        model.compile_layers()
    usual = FINE_TUNING_RATE if job.init else PEAK_RATE
    budget = Budget(job.minutes, job.learning_rate or usual)
    train(course(model.to(job.device), tokens), row_batches(tasks, tokens), budget, job.chat, reporter(0))


def _tasks(job: Job, seed: int) -> ChatTasks:
    """What there is to learn from the data: of one's own pairs, only grades."""
    rng = random.Random(seed)
    examples, held_out = examples_of(job)
    if job.data.is_file():
        return ChatTasks(examples, [], mined(job, seed + 1, CHAT_MIXTURE), [], rng)
    records = _unseen(read_questions(job.data), held_out)
    groups = mined(job, seed + 1, CHAT_MIXTURE)
    return ChatTasks(examples, records, groups, read_answers(job.data, examples), rng)


def _unseen(records: Sequence[Record], held_out: Sequence[Example]) -> list[Record]:
    """The records whose question is not held out."""
    kept_away = {e.question for e in held_out}
    return [r for r in records if tidy(r["question"]) not in kept_away]
