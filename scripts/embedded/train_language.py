"""Train the language model: a short pretraining on text, then the tasks with loss on the replies."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn

from . import parallel
from . import tokenizer as bpe
from .checkpoint import load, save
from .evaluator import Budget, resumed, snapshot
from .language_model import LanguageModel, Size
from .tasks import TaskSampler

ROW = 256
POOL = 512
BATCH_TOKENS = 1280
_Batch = tuple[torch.Tensor, torch.Tensor]


def text_batches(texts: Sequence[str], tokenizer: Tokenizer, rng: random.Random) -> Iterator[_Batch]:
    """Rows of running text, and, six times as many, chats whose reply repeats the message.

    Copying is what a rewriter does, and what a young transformer learns last: half of the messages are
    words of the text in random order, so that nothing but copying predicts the reply (induction heads,
    arXiv 2209.11895). Yields ids and weights of shape (rows, longest row).
    """
    end = tokenizer.token_to_id(bpe.END)
    while True:
        rows: list[tuple[list[int], list[float]]] = []
        for _ in range(POOL):
            text = rng.choice(texts)
            at = rng.randrange(max(1, len(text) - 600))
            piece = text[at : at + 600].split()[1:-1]
            if rng.random() < 0.15:
                ids = [*bpe.plain(tokenizer, " ".join(piece))[: ROW - 1], end]
                rows.append((ids, [1.0] * len(ids)))
                continue
            piece = piece[: rng.randint(3, 24)]
            if rng.random() < 0.5:
                rng.shuffle(piece)
            start = bpe.chat(tokenizer, " ".join(piece))
            reply = [*bpe.plain(tokenizer, " ".join(piece)), end]
            rows.append(([*start, *reply], [0.0] * len(start) + [1.0] * len(reply)))
        yield from _by_length(rows, rng)


def task_batches(sampler: TaskSampler, tokenizer: Tokenizer, rng: random.Random) -> Iterator[_Batch]:
    """Chats of about equal length; only the reply and its end carry weight."""
    end = tokenizer.token_to_id(bpe.END)
    while True:
        rows = []
        for _ in range(POOL):
            item = sampler.draw()
            start = bpe.chat(tokenizer, item.message)
            reply = [*bpe.plain(tokenizer, item.reply), end]
            worth = [0.0] * len(start) + [1.0] * len(reply)
            rows.append(([*start, *reply][: 2 * ROW], worth[: 2 * ROW]))
        yield from _by_length(rows, rng)


def _by_length(rows: list[tuple[list[int], list[float]]], rng: random.Random) -> Iterator[_Batch]:
    """Batches of rows of neighbouring length, in random order."""
    rows.sort(key=lambda row: len(row[0]))
    batches: list[list[tuple[list[int], list[float]]]] = [[]]
    for row in rows:
        if (len(batches[-1]) + 1) * len(row[0]) > BATCH_TOKENS:
            batches.append([])
        batches[-1].append(row)
    rng.shuffle(batches)
    for batch in batches:
        yield _padded([ids for ids, _ in batch], [worth for _, worth in batch])


def _padded(rows: Sequence[list[int]], worth: Sequence[list[float]]) -> _Batch:
    longest = max(map(len, rows))
    ids, weights = torch.zeros(len(rows), longest, dtype=torch.long), torch.zeros(len(rows), longest)
    for at, (row, each) in enumerate(zip(rows, worth, strict=True)):
        ids[at, : len(row)] = torch.tensor(row)
        weights[at, : len(each)] = torch.tensor(each)
    return ids, weights


def train(
    model: LanguageModel, batches: Iterator[_Batch], budget: Budget, path: Path, report=None
) -> LanguageModel:
    """Train until the wall-clock budget is spent; the checkpoint at `path` is resumed and kept up to date.

    The learning rate follows the share of the budget spent: 5 % warm-up, then a cosine to a tenth. Only the
    process that has a `report` writes.
    """
    device = model.token_embd.weight.device
    weights = list(model.parameters())
    groups = [
        {"params": [p for p in weights if p.ndim == 2], "weight_decay": 0.05},
        {"params": [p for p in weights if p.ndim == 1], "weight_decay": 0.0},
    ]
    optimiser = torch.optim.AdamW(groups, lr=budget.learning_rate, betas=(0.9, 0.95))
    spent, step, tokens = resumed(model, optimiser, path)
    began, saved, losses = time.monotonic() - spent, spent, [0.0]
    model.train()
    finished = False
    while not finished:
        spent = time.monotonic() - began
        share = min(spent / (budget.minutes * 60), 1.0)
        _set_rate(optimiser, budget.learning_rate, share)
        ids, worth = (t.to(device) for t in next(batches))
        with torch.autocast(device.type, torch.bfloat16):
            loss = model.loss(ids, worth)
        optimiser.zero_grad()
        loss.backward()
        finished = parallel.average(weights, share >= 1.0)
        nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        step, tokens = step + 1, tokens + ids.numel() * parallel.size()
        losses = [*losses[-49:], loss.item()]
        if report and step % 50 == 0:
            mean = sum(losses) / len(losses)
            report(
                f"{path.stem} step {step} loss {mean:.3f} {tokens / spent:.0f} tokens/s {spent / 60:.1f} min"
            )
        if report and (finished or spent - saved > 120):
            save(path, {**snapshot(model, optimiser, (spent, step, tokens)), "size": asdict(model.size)})
            saved = spent
    return model


def _set_rate(optimiser: torch.optim.Optimizer, peak: float, share: float) -> None:
    cosine = 0.55 + 0.45 * math.cos(math.pi * share)
    for group in optimiser.param_groups:
        group["lr"] = peak * min(share / 0.05, cosine)


def restored(path: Path) -> LanguageModel:
    """The model of a checkpoint."""
    state = load(path)
    if state is None:
        raise FileNotFoundError(f"no checkpoint at {path}")
    model = LanguageModel(Size(**state["size"]))
    model.load_state_dict(state["model"])
    return model
