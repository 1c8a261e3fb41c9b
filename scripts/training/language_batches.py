"""What the language model learns from: running text at first, then tasks with the loss on their replies."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from tokenizers import Tokenizer

from . import byte_bpe
from .checkpoint import load
from .task_sampler import TaskSampler
from .tiny_llama import LanguageModel, Size
from .training_loop import Course

MAX_ROW_TOKENS = 256
"""Tokens of a row of running text, at most; a task may have twice as many."""
POOL_ROWS = 512
"""Rows that are drawn at a time, to make batches of like length from."""
MAX_BATCH_TOKENS = 1280
Batch = tuple[torch.Tensor, torch.Tensor]


def text_batches(texts: Sequence[str], tokenizer: Tokenizer, rng: random.Random) -> Iterator[Batch]:
    """Rows of running text, and, six times as many, chats whose reply repeats the message.

    Copying is what a rewriter does, and what a young transformer learns last: half of the messages are
    words of the text in random order, so that nothing but copying predicts the reply (induction heads,
    arXiv 2209.11895). Yields ids and weights of shape (rows, longest row).
    """
    end = byte_bpe.control_id(tokenizer, byte_bpe.END)
    while True:
        rows: list[tuple[list[int], list[float]]] = []
        for _ in range(POOL_ROWS):
            text = rng.choice(texts)
            at = rng.randrange(max(1, len(text) - 600))
            piece = text[at : at + 600].split()[1:-1]
            if rng.random() < 0.15:
                ids = [*byte_bpe.plain(tokenizer, " ".join(piece))[: MAX_ROW_TOKENS - 1], end]
                rows.append((ids, [1.0] * len(ids)))
                continue
            piece = piece[: rng.randint(3, 24)]
            if rng.random() < 0.5:
                rng.shuffle(piece)
            start = byte_bpe.chat(tokenizer, " ".join(piece))
            reply = [*byte_bpe.plain(tokenizer, " ".join(piece)), end]
            rows.append(([*start, *reply], [0.0] * len(start) + [1.0] * len(reply)))
        yield from _by_length(rows, rng)


def task_batches(sampler: TaskSampler, tokenizer: Tokenizer, rng: random.Random) -> Iterator[Batch]:
    """Chats of about equal length; only the reply and its end carry weight."""
    end = byte_bpe.control_id(tokenizer, byte_bpe.END)
    while True:
        rows = []
        for _ in range(POOL_ROWS):
            item = sampler.draw()
            start = byte_bpe.chat(tokenizer, item.message)
            reply = [*byte_bpe.plain(tokenizer, item.reply), end]
            worth = [0.0] * len(start) + [1.0] * len(reply)
            rows.append(([*start, *reply][: 2 * MAX_ROW_TOKENS], worth[: 2 * MAX_ROW_TOKENS]))
        yield from _by_length(rows, rng)


def _by_length(rows: list[tuple[list[int], list[float]]], rng: random.Random) -> Iterator[Batch]:
    """Batches of rows of neighbouring length, in random order."""
    rows.sort(key=lambda row: len(row[0]))
    batches: list[list[tuple[list[int], list[float]]]] = [[]]
    for row in rows:
        if (len(batches[-1]) + 1) * len(row[0]) > MAX_BATCH_TOKENS:
            batches.append([])
        batches[-1].append(row)
    rng.shuffle(batches)
    for batch in batches:
        yield _padded([ids for ids, _ in batch], [worth for _, worth in batch])


def _padded(rows: Sequence[list[int]], worth: Sequence[list[float]]) -> Batch:
    longest = max(map(len, rows))
    ids, weights = torch.zeros(len(rows), longest, dtype=torch.long), torch.zeros(len(rows), longest)
    for at, (row, each) in enumerate(zip(rows, worth, strict=True)):
        ids[at, : len(row)] = torch.tensor(row)
        weights[at, : len(each)] = torch.tensor(each)
    return ids, weights


def course(model: LanguageModel, name: str) -> Course[Batch]:
    """The training of a language model: 5 % of the budget is warm-up, then a cosine to a tenth of the peak.

    `name` is the stage's, for its reports.
    """
    weights = list(model.parameters())
    groups = [
        {"params": [p for p in weights if p.ndim == 2], "weight_decay": 0.05},
        {"params": [p for p in weights if p.ndim == 1], "weight_decay": 0.0},
    ]
    return Course(
        name=name,
        model=model,
        optimiser=torch.optim.AdamW(groups, betas=(0.9, 0.95)),
        loss=lambda batch: _loss(model, batch),
        tokens=lambda batch: batch[0].numel(),
        rate=lambda share: min(share / 0.05, 0.55 + 0.45 * math.cos(math.pi * share)),
        kept={"size": asdict(model.size)},
    )


def _loss(model: LanguageModel, batch: Batch) -> torch.Tensor:
    device = model.token_embd.weight.device
    ids, worth = (t.to(device) for t in batch)
    with torch.autocast(device.type, torch.bfloat16):
        return model.loss(ids, worth)


def restored(path: Path) -> LanguageModel:
    """The model of a checkpoint. Raises FileNotFoundError if there is none, CheckpointError."""
    state = load(path)
    if state is None:
        raise FileNotFoundError(f"no checkpoint at {path}")
    model = LanguageModel(Size(**state["size"]))
    model.load_state_dict(state["model"])
    return model
