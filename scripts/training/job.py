"""What every stage of training is given, and what the stages share: data, claims on a folder, reports."""

from __future__ import annotations

import hashlib
import pickle
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from localcrag.embedding.multilingual_embedder import MultilingualEmbedder

from .adapted_llama import ADAPTER_RANK
from .code_switching import SWITCHED_QUESTIONS, CodeSwitching, code_switching
from .cross_encoder import CrossEncoder
from .data import DataError, Example, split
from .evaluator_base import EvaluatorBase, english_base, multilingual_base
from .groups import Embed
from .headings import read_labelled
from .how_to_groups import HowToGroups, read_manuals
from .instructions import INSTRUCTIONS_SET
from .labelled_documents import DocumentGroups, document_folders, own_folders, read_labelled_documents
from .pair_tokenizer import PairTokenizer
from .pairs import GroupSampler, Mixture
from .text_kinds import TextKinds
from .training_loop import Report

DRAWN_SUFFIX = ".drawn"
MIN_MINUTES = 0.02
MIN_EXAMPLES = 8
MINING_TOKENS = 48
"""Tokens of a text that its neighbours are found by; more cost much and find hardly others."""
UNSEEN_SETS = frozenset({INSTRUCTIONS_SET})
"""Sets that the evaluator is not trained on at all, to measure it on texts it knows nothing of."""


@dataclass(frozen=True)
class Job:
    """What to train on, for how long, and where the results go.

    `data` is a data folder, a user's own JSONL or what `draw` wrote, `out` holds checkpoints and results,
    `minutes` is wall time with earlier runs counted in, `device` is cpu or cuda, `workers` are processes that
    train together. `init` is an evaluator or an adapter GGUF to go on from, `base` the chat model that
    adapters are trained for (by default the one that travels in a package), and `rank` that of adapters that
    begin from nothing. `models` is where export writes,
    and `anyway` exports an evaluator that judges no better than cosine similarity. `learning_rate` is the
    peak learning rate, if it is not to be the usual one. `blend` is an evaluator GGUF whose weights export
    averages those that were trained with, of which `share` counts. `multilingual` says that the evaluator is
    that for other languages than English, and `teacher` is an evaluator GGUF whose probabilities are aimed at
    beside the labels. `manuals` is a folder of manuals whose headings are asked about.
    """

    data: Path
    out: Path
    minutes: float
    device: str = "cpu"
    workers: int = 1
    init: Path | None = None
    base: Path | None = None
    rank: int = ADAPTER_RANK
    models: Path | None = None
    anyway: bool = False
    learning_rate: float | None = None
    blend: Path | None = None
    share: float = 1.0
    multilingual: bool = False
    switched: float = SWITCHED_QUESTIONS
    teacher: Path | None = None
    manuals: Path | None = None

    @property
    def drawn(self) -> Path | None:
        """The data, if they are a file that `draw` wrote."""
        return self.data if self.data.suffix == DRAWN_SUFFIX else None

    @property
    def claim(self) -> Path:
        """The file that says which data the results under `out` were made from."""
        return self.out / "data.sha256"

    @property
    def sampler(self) -> Path:
        """The pickled `GroupSampler` with its mined negatives."""
        return self.out / "negatives.pickle"

    @property
    def how_to(self) -> Path:
        """The pickled `HowToGroups` of the manuals."""
        return self.out / "manuals.pickle"

    @property
    def evaluator(self) -> Path:
        """The evaluator's checkpoint."""
        return self.out / ("multilingual" if self.multilingual else "evaluator") / "checkpoint.pt"

    @property
    def evaluator_base(self) -> EvaluatorBase:
        """The encoder that the evaluator is fine-tuned from. Raises ModelNotFound, ModelFileError."""
        return multilingual_base(self.out / "base") if self.multilingual else english_base(self.init)

    @property
    def chat(self) -> Path:
        """The checkpoint of the chat model's adapters."""
        return self.out / "chat" / "checkpoint.pt"

    @property
    def tables(self) -> Path:
        """The checkpoint of the adapters that read questions over tables."""
        return self.out / "tables" / "checkpoint.pt"


Stage = Callable[[Job], None]
Drawing = Callable[[Job, Path, int], None]


class StageError(Exception):
    """A stage cannot run; the message is one line for the user."""


def run(stage: Stage, job: Job) -> None:
    """Run a stage, unless what it would resume was made from other data. Raises StageError, DataError."""
    made_from = digest(job.data)
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


def digest(data: Path) -> str:
    """A digest of the data: of a file's content, or of the names and sizes of a folder's files."""
    if data.is_file():
        return hashlib.sha256(data.read_bytes()).hexdigest()
    files = sorted(path for path in data.rglob("*.jsonl*") if path.is_file())
    listed = "".join(f"{path.relative_to(data)} {path.stat().st_size}\n" for path in files)
    return hashlib.sha256(listed.encode()).hexdigest()


def need(path: Path, stage: str) -> None:
    """Raise StageError if the file that another stage leaves is not there."""
    if not path.exists():
        raise StageError(f"run the stage '{stage}' first: {path} is missing")


def reporter(rank: int) -> Report | None:
    """How the process of this rank reports its progress: the first prints lines, the others are silent."""
    return (lambda line: print(line, flush=True)) if rank == 0 else None


def examples_of(job: Job) -> tuple[list[Example], list[Example]]:
    """Training and held-out examples. Raises DataError if the set is too small to train on."""
    train, held_out = split(read_labelled(job.data))
    if len(train) < MIN_EXAMPLES or not any(e.relevant for e in train):
        raise DataError(f"{job.data}: too few examples to train on ({len(train)})")
    return train, held_out


def mine(job: Job) -> None:
    """Leave a `GroupSampler` and a `HowToGroups` with mined negatives under `out`, if they are not there."""
    if job.manuals and not job.how_to.exists():
        _mine_manuals(job, job.manuals)
    if job.sampler.exists():
        return
    train, _ = examples_of(job)
    train = [e for e in train if e.dataset not in UNSEEN_SETS]
    embed = _embedding()
    began = time.monotonic()
    rng = random.Random(0)
    kinds, documents = None, None
    if job.data.is_dir() and (job.data / "text").is_dir():
        kinds = TextKinds(job.data, rng, embed)
    if job.data.is_dir():
        asked = read_labelled_documents(document_folders(job.data))
        own = {folder.name for folder in own_folders(job.data)}
        documents = DocumentGroups([each for each in asked if not each.held_out], embed, own)
    sampler = GroupSampler(train, rng, embed, kinds, documents=documents)
    _keep(job.sampler, sampler)
    print(f"negatives mined in {time.monotonic() - began:.0f} s")


def _mine_manuals(job: Job, folder: Path) -> None:
    began = time.monotonic()
    groups = HowToGroups(read_manuals(folder), random.Random(0), _embedding())
    _keep(job.how_to, groups)
    print(f"{len(groups):,} questions of manuals in {time.monotonic() - began:.0f} s", flush=True)


def _embedding() -> Embed:
    """What finds the semantic neighbours of questions: the encoder that the English evaluator began as."""
    known = english_base()
    base, words = CrossEncoder(known), PairTokenizer(known.folder)
    return lambda texts: base.embed(words, texts, MINING_TOKENS)


def _keep(path: Path, mined: object) -> None:
    """Write what was mined, all or nothing; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(pickle.dumps(mined))
    part.replace(path)


def switched(job: Job) -> CodeSwitching:
    """What puts words of questions in other languages; its dictionary lies under `out`.

    Raises ModelNotInstalled, ModelFileError.
    """
    train, _ = examples_of(job)
    embedder = MultilingualEmbedder(job.out / "base")
    try:
        return code_switching(job.out / "substitutes.json", train, embedder, job.switched)
    finally:
        embedder.close()


def mined(job: Job, seed: int, mixture: Mixture | None = None) -> GroupSampler:
    """The sampler that `mine` left, starting over in an order of its own. Raises StageError."""
    manuals: HowToGroups | None = None
    try:
        sampler: GroupSampler = pickle.loads(job.sampler.read_bytes())
        if job.manuals:
            manuals = pickle.loads(job.how_to.read_bytes())
    except (pickle.UnpicklingError, ImportError, AttributeError, EOFError) as error:
        raise StageError(f"{job.sampler} was made by another version: remove it to mine again") from error
    sampler.reseed(random.Random(seed), mixture or Mixture(), manuals)
    return sampler
