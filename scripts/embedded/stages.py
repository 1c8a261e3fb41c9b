"""The training stages, each resumable and each leaving its result under the job's `out` folder."""

from __future__ import annotations

import hashlib
import pickle
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from . import evaluator, parallel, train_language
from . import tokenizer as bpe
from .data import DataError, Example, read_questions, read_texts, split, tidy
from .headings import read_labelled
from .language_model import LanguageModel, Size
from .pairs import GroupSampler
from .tasks import TaskSampler

LEAST_MINUTES = 0.02
_LEAST_EXAMPLES = 8
_SAMPLE_EVERY = 4


@dataclass(frozen=True)
class Job:
    """What to train, on what, for how long (minutes of wall time), and where the results go."""

    data: Path
    out: Path
    minutes: float
    device: str = "cpu"
    workers: int = 1
    init: Path | None = None
    models: Path | None = None
    anyway: bool = False

    @property
    def claim(self) -> Path:
        """Says which data the results under `out` were made from."""
        return self.out / "data.sha256"

    @property
    def tokenizer(self) -> Path:
        return self.out / "tokenizer.json"

    @property
    def sampler(self) -> Path:
        return self.out / "negatives.pickle"

    @property
    def evaluator(self) -> Path:
        return self.out / "evaluator"

    def language_model(self, stage: str) -> Path:
        """The checkpoint of `pretrain` or `tasks`."""
        return self.out / "language_model" / f"{stage}.pt"


class StageError(Exception):
    """A stage cannot run; the message is one line for the user."""


def run(stage: Callable[[Job], None], job: Job) -> None:
    """Run a stage, unless what it would resume was made from other data."""
    made_from = fingerprint(job.data)
    if job.claim.exists() and job.claim.read_text() != made_from:
        raise StageError(f"{job.out} holds results from other data than {job.data}: give another --out")
    try:
        stage(job)
    except KeyboardInterrupt:
        _claim(job, made_from)
        raise
    _claim(job, made_from)


def _claim(job: Job, made_from: str) -> None:
    if job.out.is_dir():
        job.claim.write_text(made_from)


def fingerprint(data: Path) -> str:
    """A digest of the data: of a file's content, or of the names and sizes of a folder's files."""
    if data.is_file():
        return hashlib.sha256(data.read_bytes()).hexdigest()
    files = sorted(path for path in data.rglob("*.jsonl*") if path.is_file())
    listed = "".join(f"{path.relative_to(data)} {path.stat().st_size}\n" for path in files)
    return hashlib.sha256(listed.encode()).hexdigest()


def examples_of(job: Job) -> tuple[list[Example], list[Example]]:
    """Training and held-out examples; refuses a set too small to train on."""
    train, held_out = split(read_labelled(job.data))
    if len(train) < _LEAST_EXAMPLES or not any(e.relevant for e in train):
        raise DataError(f"{job.data}: too few examples to train on ({len(train)})")
    return train, held_out


def train_tokenizer(job: Job) -> None:
    """Byte-level BPE on a sample of the text and on all questions."""
    questions = [record["question"] for record in read_questions(job.data)]
    texts = islice(read_texts(job.data), 0, None, _SAMPLE_EVERY * 2)
    trained = bpe.train([*texts, *questions])
    bpe.save(trained, job.tokenizer)
    print(f"tokenizer: {trained.get_vocab_size()} pieces")


def train_evaluator(job: Job) -> None:
    """Mine negatives once, then train the cross-encoder."""
    if job.init:
        evaluator.CrossEncoder(evaluator.base_folder()).load_gguf(job.init)
    mine(job)
    parallel.run(_evaluator_worker, job.workers, job)


def mine(job: Job) -> None:
    """Leave a `GroupSampler` with mined negatives under `out`, where it is not there yet."""
    if job.sampler.exists():
        return
    train, _ = examples_of(job)
    base = evaluator.CrossEncoder(evaluator.base_folder())
    words = evaluator.PairTokenizer(evaluator.base_folder())
    began = time.monotonic()
    sampler = GroupSampler(train, random.Random(0), lambda texts: base.embed(words, texts))
    job.out.mkdir(parents=True, exist_ok=True)
    part = job.sampler.with_name(job.sampler.name + ".part")
    part.write_bytes(pickle.dumps(sampler))
    part.replace(job.sampler)
    print(f"negatives mined in {time.monotonic() - began:.0f} s")


def _mined(job: Job, seed: int) -> GroupSampler:
    sampler: GroupSampler = pickle.loads(job.sampler.read_bytes())
    sampler.reseed(random.Random(seed))
    return sampler


def _evaluator_worker(rank: int, job: Job) -> None:
    seed = time.time_ns() + rank
    folder = evaluator.base_folder()
    model = evaluator.CrossEncoder(folder)
    if job.init:
        model.load_gguf(job.init)
    batches = evaluator.group_batches(_mined(job, seed), evaluator.PairTokenizer(folder), random.Random(seed))
    budget = evaluator.Budget(job.minutes, 3e-5 if job.init else 1e-4)
    evaluator.train(model.to(job.device), batches, budget, job.evaluator, _reporter(rank))


def pretrain(job: Job) -> None:
    """Language modelling on running text."""
    _need(job.tokenizer, "tokenizer")
    parallel.run(_pretrain_worker, job.workers, job)


def _pretrain_worker(rank: int, job: Job) -> None:
    torch.manual_seed(0)
    words = bpe.load(job.tokenizer)
    texts = list(islice(read_texts(job.data), rank, None, _SAMPLE_EVERY))
    model = LanguageModel(Size(words.get_vocab_size())).to(job.device)
    batches = train_language.text_batches(texts, words, random.Random(time.time_ns() + rank))
    budget = evaluator.Budget(job.minutes, 2e-3)
    train_language.train(model, batches, budget, job.language_model("pretrain"), _reporter(rank))


def train_tasks(job: Job) -> None:
    """Rewriting, grading and condensing, from the pretrained weights."""
    _need(job.tokenizer, "tokenizer")
    _need(job.language_model("pretrain"), "pretrain")
    mine(job)
    parallel.run(_tasks_worker, job.workers, job)


def _tasks_worker(rank: int, job: Job) -> None:
    rng = random.Random(time.time_ns() + rank)
    words = bpe.load(job.tokenizer)
    train, held_out = examples_of(job)
    sampler = TaskSampler(train, _unseen(read_questions(job.data), held_out), _mined(job, rng.random()), rng)
    model = train_language.restored(job.language_model("pretrain")).to(job.device)
    batches = train_language.task_batches(sampler, words, rng)
    budget = evaluator.Budget(job.minutes, 1.5e-3)
    train_language.train(model, batches, budget, job.language_model("tasks"), _reporter(rank))


def _unseen(records: Sequence[dict], held_out: Sequence[Example]) -> list[dict]:
    """The records whose question is not held out."""
    kept_away = {e.question for e in held_out}
    return [r for r in records if tidy(r["question"]) not in kept_away]


def _need(path: Path, stage: str) -> None:
    if not path.exists():
        raise StageError(f"run the stage '{stage}' first: {path} is missing")


def _reporter(rank: int) -> Callable[[str], None] | None:
    return (lambda line: print(line, flush=True)) if rank == 0 else None
