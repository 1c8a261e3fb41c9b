"""A LLaMA of some three million weights, trained from scratch (arXiv 2302.13971; rotary: 2104.09864).

Names follow GGUF, and the rotation turns neighbouring pairs of a head's dimensions as llama.cpp does for
this architecture, so that the weights are exported as they are. Input and output embeddings are tied.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Size:
    """Layer sizes; `context` in tokens."""

    vocabulary: int
    width: int = 192
    inner: int = 512
    layers: int = 4
    heads: int = 3
    context: int = 2048
    epsilon: float = 1e-5


class Block(nn.Module):
    """Pre-norm attention and SwiGLU, each added to the stream."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.attn_norm = nn.RMSNorm(size.width, eps=size.epsilon)
        self.attn_q = nn.Linear(size.width, size.width, bias=False)
        self.attn_k = nn.Linear(size.width, size.width, bias=False)
        self.attn_v = nn.Linear(size.width, size.width, bias=False)
        self.attn_output = nn.Linear(size.width, size.width, bias=False)
        self.ffn_norm = nn.RMSNorm(size.width, eps=size.epsilon)
        self.ffn_gate = nn.Linear(size.width, size.inner, bias=False)
        self.ffn_up = nn.Linear(size.width, size.inner, bias=False)
        self.ffn_down = nn.Linear(size.inner, size.width, bias=False)

    def forward(self, x: torch.Tensor, angles: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        """States (n, tokens, width) to states of the same shape."""
        normed = self.attn_norm(x)
        q, k, v = (self._split(f(normed)) for f in (self.attn_q, self.attn_k, self.attn_v))
        mixed = F.scaled_dot_product_attention(rotate(q, angles), rotate(k, angles), v, is_causal=True)
        x = x + self.attn_output(mixed.transpose(1, 2).flatten(2))
        normed = self.ffn_norm(x)
        added: torch.Tensor = self.ffn_down(F.silu(self.ffn_gate(normed)) * self.ffn_up(normed))
        return x + added

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        """(n, tokens, width) to (n, heads, tokens, width / heads)."""
        return x.view(*x.shape[:-1], self.heads, -1).transpose(1, 2)


def rotate(x: torch.Tensor, angles: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """Turn each pair (2i, 2i + 1) of the last axis by the angle of its position and frequency."""
    cos, sin = (a[: x.shape[2]].to(x.dtype) for a in angles)
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)


class LanguageModel(nn.Module):
    """The whole model; `forward` gives states, `logits` turns chosen states into token scores."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        self.token_embd = nn.Embedding(size.vocabulary, size.width)
        self.blk = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.output_norm = nn.RMSNorm(size.width, eps=size.epsilon)
        half = size.width // size.heads // 2
        rates = 10000.0 ** -(torch.arange(half) / half)
        turns = torch.arange(size.context)[:, None] * rates
        self.register_buffer("cos", turns.cos(), persistent=False)
        self.register_buffer("sin", turns.sin(), persistent=False)
        self._initialise()

    def _initialise(self) -> None:
        """Normal weights of about 1 / sqrt(width), so that a copied embedding is a confident prediction.

        What adds to the stream is scaled down by its depth (GPT-2).
        """
        std = 0.75 * self.size.width**-0.5
        for name, parameter in self.named_parameters():
            if parameter.ndim == 2:
                deep = name.endswith(("attn_output.weight", "ffn_down.weight"))
                nn.init.normal_(parameter, std=std / (2 * self.size.layers) ** 0.5 if deep else std)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """States (n, tokens, width) for ids (n, tokens)."""
        x = self.token_embd(ids)
        for block in self.blk:
            x = block(x, (self.cos, self.sin))
        states: torch.Tensor = self.output_norm(x)
        return states

    def logits(self, states: torch.Tensor) -> torch.Tensor:
        """Scores over the vocabulary for states (…, width)."""
        return F.linear(states, self.token_embd.weight)

    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """Every tensor in float32 by its GGUF name; the tied output is left to the reader."""
        return {name: tensor.detach().cpu().numpy() for name, tensor in self.named_parameters()}

    def loss(self, ids: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Mean cross-entropy of each next token, weighted; `weights` (n, tokens) belong to the predicted."""
        states = self(ids[:, :-1])
        wanted = weights[:, 1:] > 0
        each = F.cross_entropy(self.logits(states[wanted]).float(), ids[:, 1:][wanted], reduction="none")
        share = weights[:, 1:][wanted]
        return (each * share).sum() / share.sum()
