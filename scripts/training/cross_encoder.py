"""The evaluator: an encoder fine-tuned as a cross-encoder with one logit.

The input is `[CLS] question [SEP] text [SEP]`, or as the encoder joins pairs, with token types all zero
(llama.cpp knows no others). The score is the classifier over the tanh pooler of the first token (Nogueira and
Cho 2019; the retrieval evaluator of CRAG, arXiv 2401.15884).
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig, BertModel
from transformers.utils import logging as transformers_logging

from localcrag.calibration.scale import sigmoid
from localcrag.llm.model_file_checks import require_evaluator

from .evaluator_base import EvaluatorBase
from .gguf_files import Shape, read_evaluator
from .groups import Group, Vectors
from .number_format import mixed
from .pairs import GroupSampler
from .training_loop import Course

MAX_PAIR_TOKENS = 384
MAX_BATCH_TOKENS = 4096
LISTWISE_WEIGHT = 0.3
TEACHER_SHARE = 0.5
"""The weight of a teacher's probabilities beside that of the labels."""
transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]


class PairTokenizer:
    """The tokenizer of an encoder's folder, for pairs, cut at `MAX_PAIR_TOKENS` from the end of the text."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self.vocabulary: dict[str, int] = self._tokenizer.get_vocab()

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> list[list[int]]:
        """Token ids of each (question, text)."""
        return [_cut(encoding.ids, MAX_PAIR_TOKENS) for encoding in self._tokenizer.encode_batch(list(pairs))]

    def texts(self, texts: Sequence[str], limit: int = 128) -> list[list[int]]:
        """Token ids of single texts, cut at `limit` tokens."""
        return [_cut(encoding.ids, limit) for encoding in self._tokenizer.encode_batch(list(texts))]


def _cut(ids: list[int], limit: int) -> list[int]:
    """At most `limit` ids, the last of them kept: it is [SEP]."""
    return ids if len(ids) <= limit else ids[: limit - 1] + ids[-1:]


def padded(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask of shape (n, longest), padded with [PAD] = 0."""
    longest = max(map(len, ids))
    batch = torch.zeros(len(ids), longest, dtype=torch.long)
    for row, each in enumerate(ids):
        batch[row, : len(each)] = torch.tensor(each)
    mask = torch.arange(longest) < torch.tensor([len(each) for each in ids])[:, None]
    return batch, mask.long()


class CrossEncoder(nn.Module):
    """BERT with its pooler and a classifier of one output; the word embeddings stay frozen.

    With frozen layers, all that lies below them is frozen too.
    """

    def __init__(self, base: EvaluatorBase) -> None:
        super().__init__()
        self.base = base
        config = BertConfig.from_pretrained(base.folder)
        config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
        config.num_hidden_layers = base.layers or config.num_hidden_layers
        self.bert = BertModel.from_pretrained(
            base.folder,
            config=config,
            attn_implementation="eager",  # the fused attention is slow backwards in bfloat16 on a CPU
        )
        self.bert.embeddings.word_embeddings.weight.requires_grad_(False)
        if base.frozen_layers:
            self.bert.embeddings.requires_grad_(False)
            self.bert.encoder.layer[: base.frozen_layers].requires_grad_(False)
        self.classifier = nn.Linear(self.bert.config.hidden_size, 1)
        nn.init.normal_(self.classifier.weight, std=0.02)
        nn.init.zeros_(self.classifier.bias)

    @property
    def shape(self) -> Shape:
        """The layer sizes, as GGUF wants them."""
        c = self.bert.config
        sizes = (c.max_position_embeddings, c.hidden_size, c.intermediate_size, c.num_hidden_layers)
        return Shape(*sizes, c.num_attention_heads, c.layer_norm_eps)

    def weights(self) -> dict[str, Vectors]:
        """Every tensor in float32 by its PyTorch name; only the trained ones if there are frozen layers."""
        return {
            name: tensor.detach().cpu().numpy()
            for name, tensor in self.named_parameters()
            if tensor.requires_grad or not self.base.frozen_layers
        }

    def load_gguf(self, path: Path) -> None:
        """Take the weights of an evaluator GGUF. Raises ModelError if it is damaged, ShapeError."""
        require_evaluator(path)
        shapes = {name: weights.shape for name, weights in self.weights().items()}
        tensors = read_evaluator(path, shapes, self.shape.layers)
        self.load_state_dict({name: torch.from_numpy(t.copy()) for name, t in tensors.items()}, strict=False)

    @torch.no_grad()
    def blend(self, path: Path, share: float) -> None:
        """Keep a share of the weights, in [0, 1], and take the rest of those of an evaluator GGUF.

        A model that was fine-tuned keeps more of what it knew if its weights are averaged with those from
        before (Wortsman et al. 2021, arXiv 2109.01903). Raises ModelError if the file is damaged, ShapeError.
        """
        before = copy.deepcopy(self)
        before.load_gguf(path)
        for mine, other in zip(self.parameters(), before.parameters(), strict=True):
            mine.mul_(share).add_(other, alpha=1 - share)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Logits of shape (n,) for ids and mask of shape (n, tokens)."""
        with mixed(ids.device.type, enabled=self.training):
            pooled = self.bert(input_ids=ids, attention_mask=mask).pooler_output
            logits: torch.Tensor = self.classifier(pooled)[:, 0].float()
        return logits

    @torch.inference_mode()
    def score(self, tokenizer: PairTokenizer, pairs: Sequence[tuple[str, str]]) -> Vectors:
        """Logits (n,) of (question, text) pairs in full precision, batched by length."""
        self.eval()
        ids = tokenizer.pairs(pairs)
        scores = np.zeros(len(ids), np.float32)
        for batch in _length_batches(ids):
            tensors = padded([ids[i] for i in batch])
            scores[batch] = self(*(t.to(self.classifier.weight.device) for t in tensors)).cpu().numpy()
        return scores

    @torch.inference_mode()
    def embed(self, tokenizer: PairTokenizer, texts: Sequence[str], limit: int = 128) -> Vectors:
        """Mean-pooled unit vectors (n, d), as the base model makes them: the product's vectors, in the format
        that training computes in.

        Mining negatives embeds tens of thousands of texts, and measuring thousands: what the product's
        embedder computes in full precision would take several times as long. Texts are cut at `limit` tokens.
        """
        self.eval()
        ids = tokenizer.texts(texts, limit)
        vectors = np.zeros((len(ids), self.bert.config.hidden_size), np.float32)
        device = self.classifier.weight.device
        for batch in _length_batches(ids):
            tokens, mask = (t.to(device) for t in padded([ids[i] for i in batch]))
            with mixed(device.type):
                states = self.bert(input_ids=tokens, attention_mask=mask).last_hidden_state.float()
            mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
            vectors[batch] = F.normalize(mean, dim=-1).cpu().numpy()
        return vectors


def _length_batches(ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indices in batches of neighbouring length, at most `MAX_BATCH_TOKENS` padded tokens each."""
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    batch: list[int] = []
    for i in order:
        if batch and (len(batch) + 1) * len(ids[i]) > MAX_BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


@dataclass(frozen=True)
class Encoded:
    """A group as token ids of its pairs, with their labels and the probabilities that are aimed at."""

    ids: list[list[int]]
    labels: tuple[float, ...]
    targets: tuple[float, ...]

    @property
    def width(self) -> int:
        """Tokens of the longest pair."""
        return max(map(len, self.ids))


Teacher = Callable[[str, Sequence[str]], Sequence[float]]
"""The raw numbers that another evaluator gives a question and texts."""
Vary = Callable[[str], str]
"""Puts a question in other words."""


def group_batches(
    sampler: GroupSampler,
    tokenizer: PairTokenizer,
    rng: random.Random,
    teacher: Teacher | None = None,
    vary: Vary = str,
    pool: int = 320,
) -> Iterator[list[Encoded]]:
    """Batches of whole groups, of about equal length within a batch, in random order.

    With a teacher the targets are halfway between the labels and its probabilities, so that a text that
    answers though it was taken for a negative counts less (Hinton et al. 2015, arXiv 1503.02531). The teacher
    is asked before the question is varied.
    """
    while True:
        groups = [_encode(sampler.draw(), tokenizer, teacher, vary) for _ in range(pool)]
        groups.sort(key=lambda g: g.width)
        batches: list[list[Encoded]] = [[]]
        for group in groups:
            members = sum(len(g.ids) for g in batches[-1]) + len(group.ids)
            if batches[-1] and members * group.width > MAX_BATCH_TOKENS:
                batches.append([])
            batches[-1].append(group)
        rng.shuffle(batches)
        yield from batches


def _encode(group: Group, tokenizer: PairTokenizer, teacher: Teacher | None, vary: Vary) -> Encoded:
    question = vary(group.question)
    ids = tokenizer.pairs([(question, text) for text in group.texts])
    if teacher is None:
        return Encoded(ids, group.labels, group.labels)
    taught = (sigmoid(number) for number in teacher(group.question, group.texts))
    targets = [
        (1 - TEACHER_SHARE) * label + TEACHER_SHARE * p for label, p in zip(group.labels, taught, strict=True)
    ]
    return Encoded(ids, group.labels, tuple(targets))


def loss_of(model: CrossEncoder, batch: Sequence[Encoded]) -> torch.Tensor:
    """Binary cross-entropy over all pairs, plus a listwise term over the groups that have a positive."""
    device = model.classifier.weight.device
    logits = _logits_by_length(model, [each for group in batch for each in group.ids])
    labels = torch.tensor([label for group in batch for label in group.labels], device=device)
    targets = torch.tensor([target for group in batch for target in group.targets], device=device)
    pairwise = F.binary_cross_entropy_with_logits(logits, targets)
    sizes = [len(group.ids) for group in batch]
    lists = zip(torch.split(logits, sizes), torch.split(labels, sizes), strict=True)
    listwise = [-(F.log_softmax(x, 0) * y).sum() for x, y in lists if y.any()]
    return pairwise + LISTWISE_WEIGHT * torch.stack(listwise or [pairwise.detach() * 0]).mean()


def _logits_by_length(model: CrossEncoder, ids: Sequence[list[int]], parts: int = 3) -> torch.Tensor:
    """Logits of all pairs, the short and the long ones in separate passes so that little is padding."""
    device = model.classifier.weight.device
    order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
    cuts = [order[len(order) * p // parts : len(order) * (p + 1) // parts] for p in range(parts)]
    with mixed(device.type):  # around all passes: weights are cast once for them
        logits = [model(*(t.to(device) for t in padded([ids[i] for i in cut]))) for cut in cuts if cut]
    back = torch.tensor(order, device=device).argsort()
    return torch.cat(logits)[back]


def course(model: CrossEncoder) -> Course[list[Encoded]]:
    """The training of a cross-encoder: 4 % of the budget is warm-up, then the rate falls linearly to zero."""
    weights = [p for p in model.parameters() if p.requires_grad]
    return Course(
        name="evaluator",
        model=model,
        optimiser=torch.optim.AdamW(weights, weight_decay=0.01, fused=True),
        losses=lambda batch: [loss_of(model, batch)],
        tokens=lambda batch: sum(len(ids) for group in batch for ids in group.ids),
        rate=lambda share: min(share / 0.04, (1 - share) / 0.96),
    )
