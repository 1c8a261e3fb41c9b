"""Stage `evaluator`: negatives are mined once, then the cross-encoder is trained, from a GGUF or anew.

What `draw` wrote is read as it stands.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from .. import cross_encoder, parallel
from ..drawn import in_rounds, read_groups, save_groups
from ..encoded_groups import Encoded, encoded_groups, group_batches
from ..evaluator_base import EvaluatorBase
from ..fused_attention import use_kernels_of_any_shape
from ..job import Job, mine, mined, reporter, switched
from ..pair_tokenizer import PairTokenizer
from ..pairs import FIRST_MIXTURE, Mixture
from ..product_evaluator import product_evaluator
from ..training_loop import Budget, train

PEAK_RATE, FINE_TUNING_RATE = 1e-4, 3e-5
"""Peak learning rates, from the base model and from a trained evaluator, if the job says no other."""
BATCH_TOKENS = {"cpu": 4096, "cuda": 24_576}
POOLED_GROUPS = {"cpu": 320, "cuda": 2400}
"""Groups that are sorted by length before they are put into batches."""
DROPOUT = 0.1
"""The share of activations left out where everything is read several times."""


def run(job: Job) -> None:
    """Train until the budget is spent. Raises DataError, ShapeError, LocalCragError (a damaged `init`)."""
    if job.init:  # a file that cannot be used is refused before the negatives are mined
        cross_encoder.CrossEncoder(job.evaluator_base).load_gguf(job.init)
    if not job.drawn:
        mine(job)
        if job.multilingual:
            switched(job)
    parallel.run(_work, job.workers, job)


def draw(job: Job, file: Path, tokens: int) -> None:
    """Write what a training reads, so many tokens of it. Raises DataError, StageError, LocalCragError."""
    mine(job)
    with ExitStack() as held:
        groups = _drawing(job, job.evaluator_base, random.Random(time.time_ns()), held)
        save_groups(file, groups, tokens, reporter(0))


def _work(rank: int, job: Job) -> None:
    use_kernels_of_any_shape()
    rng = random.Random(time.time_ns() + rank)
    base = job.evaluator_base
    model = cross_encoder.CrossEncoder(base, fused=job.device != "cpu", dropout=DROPOUT if job.drawn else 0.0)
    if job.init:
        model.load_gguf(job.init)
    budget = Budget(job.minutes, job.learning_rate or (FINE_TUNING_RATE if job.init else PEAK_RATE))
    with ExitStack() as held:
        groups = in_rounds(read_groups(job.drawn), rng) if job.drawn else _drawing(job, base, rng, held)
        batches = group_batches(groups, rng, BATCH_TOKENS[job.device], POOLED_GROUPS[job.device])
        train(cross_encoder.course(model.to(job.device)), batches, budget, job.evaluator, reporter(rank))


def _drawing(job: Job, base: EvaluatorBase, rng: random.Random, held: ExitStack) -> Iterator[Encoded]:
    """Groups that are drawn for ever; the teacher, if there is one, is closed with `held`."""
    words = PairTokenizer(base.folder)
    teacher = held.enter_context(product_evaluator(job.teacher)).numbers if job.teacher else None
    vary = partial(switched(job), rng=rng) if job.multilingual else str
    mixture = FIRST_MIXTURE if job.multilingual else Mixture()
    return encoded_groups(mined(job, rng.getrandbits(60), mixture), words, teacher, vary)
