"""Stage `chat`: low-rank adapters over a chat model, for every task of the loop.

With `--init` the adapters of a GGUF are trained further, on the data folder or on one's own pairs.
What `draw` wrote is read as it stands.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from ..base_model import base_of
from ..chat_tasks import ChatTasks
from ..chat_training import STEP_SIZES, begun, course, row_batches
from ..data import Example, Record, read_questions, tidy
from ..drawn import in_rounds, read_rows, save_rows
from ..fused_attention import use_kernels_of_any_shape
from ..job import Job, examples_of, mine, mined, reporter
from ..labelled_documents import document_folders, read_labelled_documents
from ..packed_rows import Decisions, Row, rows
from ..pairs import CHAT_MIXTURE
from ..training_loop import Budget, train
from ..written_answers import document_answers, read_answers

PEAK_RATE, FINE_TUNING_RATE = 5e-4, 2e-4
"""Peak learning rates, from nothing and from trained adapters."""
MIN_COMPILED_MINUTES = 5.0
"""Compiling the layers takes a minute or two, and pays off only in a longer training."""


def run(job: Job) -> None:
    """Train until the budget is spent.

    Raises DataError, StageError, ShapeError (an unfit `init` or base), LocalCragError (no base).
    """
    torch.manual_seed(0)
    use_kernels_of_any_shape()
    base = base_of(job.base).file
    model = begun(job, base)
    size = STEP_SIZES[job.device]
    decisions, read = _drawn(job.drawn) if job.drawn else _drawing(job, base)
    if job.device == "cpu" and job.minutes >= MIN_COMPILED_MINUTES:
        model.compile_layers()
    usual = FINE_TUNING_RATE if job.init else PEAK_RATE
    budget = Budget(job.minutes, job.learning_rate or usual)
    training = course(model.to(job.device), decisions, size)
    train(training, row_batches(read, size), budget, job.chat, reporter(0))


def draw(job: Job, file: Path, tokens: int) -> None:
    """Write what a training reads, so many tokens of it. Raises DataError, StageError, LocalCragError."""
    decisions, read = _drawing(job, base_of(job.base).file)
    save_rows(file, read, tokens, decisions, reporter(0))


def _drawn(file: Path) -> tuple[Decisions, Iterator[Row]]:
    """The tokens that decide, and the rows of a file, again and again."""
    drawn = read_rows(file)
    return drawn.decisions, in_rounds(drawn.rows, random.Random(time.time_ns()))


def _drawing(job: Job, base: Path) -> tuple[Decisions, Iterator[Row]]:
    """The tokens that decide, and rows that are drawn for ever."""
    from localcrag.llm.llama_model import Model  # a machine that trains on what was drawn has no llama.cpp

    from ..chat_tokens import ChatTokens

    mine(job)
    tokens = ChatTokens(Model(base))
    return tokens.decisions, rows(tokens.drawn(_tasks(job, time.time_ns())))


def _tasks(job: Job, seed: int) -> ChatTasks:
    """What there is to learn from the data: of one's own pairs, only grades."""
    rng = random.Random(seed)
    examples, held_out = examples_of(job)
    if job.data.is_file():
        return ChatTasks(examples, [], mined(job, seed + 1, CHAT_MIXTURE), [], rng)
    records = _unseen(read_questions(job.data), held_out)
    groups = mined(job, seed + 1, CHAT_MIXTURE)
    asked = [each for each in read_labelled_documents(document_folders(job.data)) if not each.held_out]
    answers = [*read_answers(job.data, examples), *document_answers(asked)]
    return ChatTasks(examples, records, groups, answers, rng)


def _unseen(records: Sequence[Record], held_out: Sequence[Example]) -> list[Record]:
    """The records whose question is not held out."""
    kept_away = {e.question for e in held_out}
    return [r for r in records if tidy(r["question"]) not in kept_away]
