"""The evaluator: an encoder fine-tuned as a cross-encoder with one logit.

The input is `[CLS] question [SEP] text [SEP]`, or as the encoder joins pairs, with token types all zero
(llama.cpp knows no others). The score is the classifier over the tanh pooler of the first token (Nogueira and
Cho 2019; the retrieval evaluator of CRAG, arXiv 2401.15884).
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F
from transformers import BertConfig, BertModel
from transformers.utils import logging as transformers_logging

from localcrag.llm.model_file_checks import require_evaluator

from .encoded_groups import Encoded
from .evaluator_base import EvaluatorBase
from .fused_attention import PADDED_TO
from .gguf_files import Shape, read_evaluator
from .groups import Vectors
from .listwise import log_softmax_within
from .number_format import mixed
from .pair_tokenizer import PairTokenizer
from .training_loop import Course

MAX_BATCH_TOKENS = 4096
LISTWISE_WEIGHT = 0.3
transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]


def padded(ids: Sequence[Sequence[int]]) -> tuple[torch.Tensor, torch.Tensor]:
    """Ids and mask of shape (n, tokens), padded with [PAD] = 0 to a multiple of :data:`PADDED_TO`."""
    longest = -(-max(map(len, ids)) // PADDED_TO) * PADDED_TO
    batch = torch.zeros(len(ids), longest, dtype=torch.long)
    for row, each in enumerate(ids):
        batch[row, : len(each)] = torch.tensor(each)
    mask = torch.arange(longest) < torch.tensor([len(each) for each in ids])[:, None]
    return batch, mask.long()


class CrossEncoder(nn.Module):
    """BERT with its pooler and a classifier of one output; the word embeddings stay frozen.

    Args:
        base: the encoder; with frozen layers, all that lies below them is frozen too.
        fused: whether attention is one operation, which is slow backwards in bfloat16 on a CPU.
        dropout: the share of activations that are left out in training.
    """

    def __init__(self, base: EvaluatorBase, *, fused: bool = False, dropout: float = 0.0) -> None:
        super().__init__()
        self.base = base
        config = BertConfig.from_pretrained(base.folder)
        config.hidden_dropout_prob, config.attention_probs_dropout_prob = dropout, 0.0
        config.num_hidden_layers = base.layers or config.num_hidden_layers
        config._attn_implementation = "sdpa" if fused else "eager"
        # an evaluator of other layers than its encoder has takes all its weights from its own file
        self.bert = (
            BertModel(config) if base.layers else BertModel.from_pretrained(base.folder, config=config)
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


def loss_of(model: CrossEncoder, batch: Sequence[Encoded]) -> torch.Tensor:
    """Binary cross-entropy over all pairs, plus a listwise term over the groups that have a positive."""
    device = model.classifier.weight.device
    logits = _logits_by_length(model, [each for group in batch for each in group.ids])
    labels = torch.tensor([label for group in batch for label in group.labels], device=device)
    targets = torch.tensor([target for group in batch for target in group.targets], device=device)
    group = torch.tensor([at for at, each in enumerate(batch) for _ in each.ids], device=device)
    pairwise = F.binary_cross_entropy_with_logits(logits, targets)
    answered = max(1, sum(any(each.labels) for each in batch))
    listwise = -(log_softmax_within(logits, group) * labels).sum() / answered
    return pairwise + LISTWISE_WEIGHT * listwise


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
