"""How the chat model is trained: tasks as tokens, the loss, and the course of a training."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import torch
from torch.nn import functional as F

from localcrag.llm.chat_template import ChatFormat
from localcrag.llm.llama_backend import Model

from .adapted_llama import AdaptedLlama
from .chat_tasks import NO, YES, ChatTasks, Task
from .packed_rows import ROW_TOKENS, Decided, Row, Sequenced, Shared, Written, rows
from .training_loop import Course

ROWS_A_STEP = 3
LISTWISE_WEIGHT = 0.3
WRITTEN_WEIGHT = 1.0
WARM_UP, LAST_SHARE = 0.04, 0.02


class ChatTokens:
    """Tasks as token sequences, by the product's own chat format.

    Args:
        model: the base, loaded in llama.cpp, for its vocabulary and template.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._format = model, ChatFormat(model, model.template())
        self.end = model.last
        self.yes, self.no = (model.tokenize(word, special=False)[0] for word in (YES, NO))

    def of(self, task: Task) -> Shared:
        """The sequences of a task."""
        return Shared(tuple(self._sequences(task)))

    def _sequences(self, task: Task) -> Iterator[Sequenced]:
        for prompt, reply in task.items:
            ids = self._format.tokens(prompt)
            if task.decided:
                yield Decided(tuple(ids), float(reply == YES))
            else:
                written = [*self._model.tokenize(reply, special=False), self.end]
                yield Written((*ids, *written), len(written))


def row_batches(tasks: ChatTasks, tokens: ChatTokens) -> Iterator[list[Row]]:
    """The rows of each step."""

    def drawn() -> Iterator[Shared]:
        while True:
            yield tokens.of(tasks.draw())

    filled = rows(drawn())
    while True:
        yield list(islice(filled, ROWS_A_STEP))


def course(model: AdaptedLlama, tokens: ChatTokens) -> Course[list[Row]]:
    """The training of an adapter: a short warm-up, then the rate falls linearly."""
    weights = [p for p in model.parameters() if p.requires_grad]
    return Course(
        name="chat",
        model=model,
        optimiser=torch.optim.AdamW(weights, weight_decay=0.0, betas=(0.9, 0.98)),
        losses=lambda batch: losses(model, tokens, batch),
        tokens=lambda batch: sum(len(row.ids) for row in batch),
        rate=lambda share: min(share / WARM_UP, max(LAST_SHARE, (1 - share) / (1 - WARM_UP))),
    )


def losses(model: AdaptedLlama, tokens: ChatTokens, batch: Sequence[Row]) -> Iterator[torch.Tensor]:
    """The loss of each row of a step, as its share of the step's mean: one row is in memory at a time."""
    decisions = max(1, sum(len(row.decisions) for row in batch))
    written = max(1, sum(len(row.written) for row in batch))
    device = model.embeddings.device
    for row in batch:
        ids, positions, seen = (t[None].to(device) for t in row.padded(ROW_TOKENS))
        states = model(ids, positions, seen)[0]
        loss = states.sum() * 0.0
        if row.decisions:
            loss = loss + _decision_loss(model, tokens, states, row) / decisions
        if row.written:
            places, wanted = (
                torch.tensor(column, device=device) for column in zip(*row.written, strict=True)
            )
            each = F.cross_entropy(model.logits(states[places]), wanted, reduction="sum")
            loss = loss + WRITTEN_WEIGHT * each / written
        yield loss


def _decision_loss(model: AdaptedLlama, tokens: ChatTokens, states: torch.Tensor, row: Row) -> torch.Tensor:
    """Binary cross-entropy of logit(yes) - logit(no), and a listwise term for tasks with one that is yes."""
    places = [place for place, _, _ in row.decisions]
    pair = model.logits(states[places], [tokens.yes, tokens.no])
    margins = pair[:, 0] - pair[:, 1]
    labels = torch.tensor([label for _, label, _ in row.decisions], device=margins.device)
    loss = F.binary_cross_entropy_with_logits(margins, labels, reduction="sum")
    numbers = torch.tensor([task for _, _, task in row.decisions], device=margins.device)
    for number in torch.unique(numbers):
        mine = numbers == number
        if labels[mine].any() and not labels[mine].all():
            best = F.log_softmax(margins[mine], 0)[labels[mine] > 0].mean()
            loss = loss - LISTWISE_WEIGHT * best * mine.sum()
    return loss
