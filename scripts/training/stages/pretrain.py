"""Stage `pretrain`: the language model reads running text and learns to copy."""

from __future__ import annotations

import random
import time
from itertools import islice

import torch

from .. import byte_bpe, language_batches, parallel
from ..data import read_texts
from ..job import Job, need, reporter
from ..tiny_llama import LanguageModel, Size
from ..training_loop import Budget, train

READ_EVERY = 4
"""One text of so many is read; each process reads others."""
PEAK_RATE = 2e-3


def run(job: Job) -> None:
    """Pretrain until the budget is spent. Raises StageError without a tokenizer, DataError."""
    need(job.tokenizer, "tokenizer")
    parallel.run(_work, job.workers, job)


def _work(rank: int, job: Job) -> None:
    torch.manual_seed(0)
    words = byte_bpe.load(job.tokenizer)
    texts = list(islice(read_texts(job.data), rank, None, READ_EVERY))
    model = LanguageModel(Size(words.get_vocab_size())).to(job.device)
    batches = language_batches.text_batches(texts, words, random.Random(time.time_ns() + rank))
    course = language_batches.course(model, "pretrain")
    train(course, batches, Budget(job.minutes, PEAK_RATE), job.language_model("pretrain"), reporter(rank))
