"""Stage `tasks`: the pretrained language model learns to rewrite, to grade and to condense."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence

from .. import byte_bpe, language_batches, parallel
from ..data import Example, Record, read_questions, tidy
from ..job import Job, examples_of, mine, mined, need, reporter
from ..task_sampler import TaskSampler
from ..training_loop import Budget, train

PEAK_RATE = 1.5e-3


def run(job: Job) -> None:
    """Train the tasks until the budget is spent. Raises StageError without a pretrained model, DataError."""
    need(job.tokenizer, "tokenizer")
    need(job.language_model("pretrain"), "pretrain")
    mine(job)
    parallel.run(_work, job.workers, job)


def _work(rank: int, job: Job) -> None:
    seed = time.time_ns() + rank
    rng = random.Random(seed)
    words = byte_bpe.load(job.tokenizer)
    examples, held_out = examples_of(job)
    records = _unseen(read_questions(job.data), held_out)
    sampler = TaskSampler(examples, records, mined(job, seed + 1), rng)
    model = language_batches.restored(job.language_model("pretrain")).to(job.device)
    batches = language_batches.task_batches(sampler, words, rng)
    course = language_batches.course(model, "tasks")
    train(course, batches, Budget(job.minutes, PEAK_RATE), job.language_model("tasks"), reporter(rank))


def _unseen(records: Sequence[Record], held_out: Sequence[Example]) -> list[Record]:
    """The records whose question is not held out."""
    kept_away = {e.question for e in held_out}
    return [r for r in records if tidy(r["question"]) not in kept_away]
