"""Stage `evaluator`: negatives are mined once, then the cross-encoder is trained, from a GGUF or anew."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from functools import partial

from .. import cross_encoder, parallel
from ..job import Job, mine, mined, reporter, switched
from ..pairs import FIRST_MIXTURE, Mixture
from ..product_evaluator import product_evaluator
from ..training_loop import Budget, train

PEAK_RATE, FINE_TUNING_RATE = 1e-4, 3e-5
"""Peak learning rates, from the base model and from a trained evaluator, if the job says no other."""


def run(job: Job) -> None:
    """Train until the budget is spent. Raises DataError, ShapeError, LocalCragError (a damaged `init`)."""
    if job.init:  # a file that cannot be used is refused before the negatives are mined
        cross_encoder.CrossEncoder(job.evaluator_base).load_gguf(job.init)
    mine(job)
    if job.multilingual:
        switched(job)
    parallel.run(_work, job.workers, job)


def _work(rank: int, job: Job) -> None:
    seed = time.time_ns() + rank
    base = job.evaluator_base
    model = cross_encoder.CrossEncoder(base)
    if job.init:
        model.load_gguf(job.init)
    words = cross_encoder.PairTokenizer(base.folder)
    budget = Budget(job.minutes, job.learning_rate or (FINE_TUNING_RATE if job.init else PEAK_RATE))
    mixture = FIRST_MIXTURE if job.multilingual else Mixture()
    with ExitStack() as held:
        teacher = held.enter_context(product_evaluator(job.teacher)).numbers if job.teacher else None
        rng = random.Random(seed)
        vary = partial(switched(job), rng=rng) if job.multilingual else str
        batches = cross_encoder.group_batches(mined(job, seed, mixture), words, rng, teacher, vary)
        train(cross_encoder.course(model.to(job.device)), batches, budget, job.evaluator, reporter(rank))
