"""A LLaMA or Qwen2 read from its GGUF file, its weights frozen, with low-rank adapters to train (LoRA).

LoRA (Hu et al. 2021, arXiv 2106.09685, section 4) adds `alpha / rank * B A` to a frozen matrix. The frozen
weights are those of the very file that is run, dequantised, so that the adapter absorbs what the
quantisation lost. They are kept in the format that is computed in (:mod:`number_format`); the adapters are
float32, and cast to it.

On a CPU attention is written out as two products and a softmax: its fused form spends more time in the
backward pass there than all other matrices together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from gguf import GGUFReader, dequantize
from torch import nn
from torch.nn import functional as F

from .gguf_files import ShapeError, read_adapter

Matrices = npt.NDArray[np.float32]
MASKED = -1e9
_ATTENTION = ("attn_q", "attn_k", "attn_v")
_GATED = ("ffn_gate", "ffn_up")
_SINGLE = ("attn_output", "ffn_down")
ADAPTER_RANK, ALPHA_PER_RANK = 32, 2.0
ARCHITECTURES = ("llama", "qwen2")
"""The architectures of llama.cpp that adapters can be trained for."""


@dataclass(frozen=True)
class LlamaShape:
    """What the metadata of a file say of its shape.

    ``architecture`` is llama, or qwen2, which is a LLaMA with biases. A file of a LLaMA has the rows of
    queries and keys in the rotary order of llama.cpp, one of a Qwen2 in that of transformers.
    """

    architecture: str
    layers: int
    heads: int
    kv_heads: int
    epsilon: float
    rope_base: float

    @property
    def is_permuted(self) -> bool:
        """Whether the rows of queries and keys have llama.cpp's rotary order."""
        return self.architecture == "llama"

    @staticmethod
    def of(reader: GGUFReader) -> LlamaShape:
        """The shape that a file's metadata give. Raises ShapeError if it is of another architecture."""
        architecture = str(reader.fields["general.architecture"].contents())
        if architecture not in ARCHITECTURES:
            raise ShapeError(f"adapters can be trained for {' and '.join(ARCHITECTURES)}, not {architecture}")

        def value(key: str) -> float:
            return float(reader.fields[f"{architecture}.{key}"].contents())

        return LlamaShape(
            architecture=architecture,
            layers=int(value("block_count")),
            heads=int(value("attention.head_count")),
            kv_heads=int(value("attention.head_count_kv")),
            epsilon=value("attention.layer_norm_rms_epsilon"),
            rope_base=value("rope.freq_base"),
        )


class AdaptedLinear(nn.Module):
    """Several frozen matrices that read the same input, side by side, each with an adapter of its own.

    Args:
        names: the GGUF names of the matrices.
        weights: the matrices, each (out, in).
        biases: what is added to their outputs, each (out,); none if they have no biases.
        rank: the rank of each adapter.
        alpha: the adapters' numerator: what they add is scaled by alpha / rank.
    """

    weight: torch.Tensor
    bias: torch.Tensor | None

    def __init__(
        self,
        names: tuple[str, ...],
        weights: list[torch.Tensor],
        biases: list[torch.Tensor],
        rank: int,
        alpha: float,
    ) -> None:
        super().__init__()
        self.names, self.rank, self.scale = names, rank, alpha / rank
        self.register_buffer("weight", torch.cat(weights), persistent=False)
        self.register_buffer("bias", torch.cat(biases) if biases else None, persistent=False)
        inputs = weights[0].shape[1]
        self.a = nn.Parameter(torch.randn(len(names) * rank, inputs) / math.sqrt(inputs))
        self.b = nn.ParameterList(nn.Parameter(torch.zeros(w.shape[0], rank)) for w in weights)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Outputs (…, sum of out) for inputs (…, in)."""
        low = torch.split(F.linear(x, (self.a * self.scale).to(x.dtype)), self.rank, -1)
        added = [F.linear(part, b.to(x.dtype)) for part, b in zip(low, self.b, strict=True)]
        return F.linear(x, self.weight, self.bias) + (added[0] if len(added) == 1 else torch.cat(added, -1))

    def pairs(self) -> Iterator[tuple[str, tuple[Matrices, Matrices]]]:
        """Each matrix's name with its adapter, A (rank, in) and B (out, rank)."""
        for name, a, b in zip(self.names, torch.split(self.a, self.rank), self.b, strict=True):
            yield name, (a.detach().float().cpu().numpy(), b.detach().float().cpu().numpy())

    def set_pairs(self, pairs: Mapping[str, tuple[Matrices, Matrices]]) -> None:
        """Take over adapters of the same rank. Raises KeyError or RuntimeError if they do not fit."""
        with torch.no_grad():
            for at, name in enumerate(self.names):
                a, b = pairs[name]
                self.a[at * self.rank : (at + 1) * self.rank].copy_(torch.from_numpy(a))
                self.b[at].copy_(torch.from_numpy(b))


class Block(nn.Module):
    """One layer: grouped attention and a gated feed-forward network, each after a norm."""

    attention_norm: torch.Tensor
    feed_forward_norm: torch.Tensor

    def __init__(
        self, tensors: Mapping[str, torch.Tensor], prefix: str, shape: LlamaShape, rank: int, alpha: float
    ) -> None:
        super().__init__()
        self.shape = shape

        def adapted(*kinds: str) -> AdaptedLinear:
            names = tuple(f"{prefix}.{kind}.weight" for kind in kinds)
            added = [each for kind in kinds if (each := tensors.get(f"{prefix}.{kind}.bias")) is not None]
            return AdaptedLinear(names, [tensors[name] for name in names], added, rank, alpha)

        self.attention, self.attention_out = adapted(*_ATTENTION), adapted(_SINGLE[0])
        self.feed_forward, self.feed_forward_out = adapted(*_GATED), adapted(_SINGLE[1])
        for name, kind in (("attention_norm", "attn_norm"), ("feed_forward_norm", "ffn_norm")):
            self.register_buffer(name, tensors[f"{prefix}.{kind}.weight"], persistent=False)

    def forward(
        self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, mask: torch.Tensor
    ) -> torch.Tensor:
        """States (n, tokens, width) after this layer; mask (n, 1, tokens, tokens) is added up."""
        n, tokens, width = x.shape
        heads, kv_heads = self.shape.heads, self.shape.kv_heads
        each, group = width // heads, heads // kv_heads
        read = self.attention(self._norm(x, self.attention_norm))
        q, k, v = torch.split(read, [width, kv_heads * each, kv_heads * each], -1)
        q = rotated(q.view(n, tokens, heads, each), cos, sin).transpose(1, 2)
        k = rotated(k.view(n, tokens, kv_heads, each), cos, sin).transpose(1, 2)
        v = v.view(n, tokens, kv_heads, each).transpose(1, 2)
        if x.device.type == "cpu":
            scores = q.reshape(n, kv_heads, group * tokens, each) @ k.transpose(-1, -2)
            scores = scores.view(n, kv_heads, group, tokens, tokens) * each**-0.5 + mask[:, None]
            seen = torch.softmax(scores, -1).view(n, kv_heads, group * tokens, tokens) @ v
            seen = seen.view(n, heads, tokens, each)
        else:
            k, v = (part.repeat_interleave(group, 1) for part in (k, v))
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.attention_out(seen.transpose(1, 2).reshape(n, tokens, width))
        gate, up = self.feed_forward(self._norm(x, self.feed_forward_norm)).chunk(2, -1)
        after: torch.Tensor = x + self.feed_forward_out(F.silu(gate) * up)
        return after

    def _norm(self, x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[-1],), weight, self.shape.epsilon)


def rotated(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Turn each pair (i, i + half) of the last axis of (n, tokens, heads, each) by its position's angle."""
    first, second = x.chunk(2, -1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], -1)


class AdaptedLlama(nn.Module):
    """A frozen LLaMA or Qwen2 with trainable adapters on every matrix of its layers.

    Args:
        path: the GGUF file.
        rank: the rank of the adapters; what they add is scaled by :data:`ALPHA_PER_RANK`.
        dtype: the format of the frozen weights, which is computed in.
    """

    embeddings: torch.Tensor
    output: torch.Tensor
    output_norm: torch.Tensor
    frequencies: torch.Tensor

    def __init__(self, path: Path, rank: int = ADAPTER_RANK, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        reader = GGUFReader(path)
        alpha = ALPHA_PER_RANK * rank
        self.shape, self.rank, self.alpha = LlamaShape.of(reader), rank, alpha
        tensors = dict(_tensors(reader, self.shape, dtype))
        embeddings = tensors["token_embd.weight"]
        self.register_buffer("embeddings", embeddings, persistent=False)
        self.register_buffer("output", tensors.get("output.weight", embeddings), persistent=False)
        self.register_buffer("output_norm", tensors["output_norm.weight"], persistent=False)
        half = embeddings.shape[1] // self.shape.heads // 2
        frequencies = self.shape.rope_base ** -(torch.arange(half) / half)
        self.register_buffer("frequencies", frequencies, persistent=False)
        self.blocks = nn.ModuleList(
            Block(tensors, f"blk.{number}", self.shape, rank, alpha) for number in range(self.shape.layers)
        )

    @classmethod
    def with_adapter(cls, path: Path, adapter: Path, dtype: torch.dtype = torch.float32) -> AdaptedLlama:
        """The base of a file with the adapters of another, whose rank it takes over.

        Raises ShapeError if that is no adapter, KeyError or RuntimeError if it does not fit.
        """
        shape = LlamaShape.of(GGUFReader(path))
        pairs = read_adapter(adapter, heads=shape.heads, kv_heads=shape.kv_heads, permuted=shape.is_permuted)
        model = cls(path, len(next(iter(pairs.values()))[0]), dtype)
        model.set_pairs(pairs)
        return model

    @classmethod
    def restored(cls, path: Path, state: Mapping[str, torch.Tensor]) -> AdaptedLlama:
        """The base of a file with the adapters of a checkpoint, whose rank it takes over."""
        model = cls(path, state["blocks.0.attention_out.a"].shape[0])
        model.load_state_dict(state)
        return model

    @torch.no_grad()
    def blend(self, path: Path, adapter: Path, share: float) -> None:
        """Keep a share of the adapter, in [0, 1], and take the rest of that of a GGUF which it went on from.

        Averages the factors (Wortsman et al. 2021, arXiv 2109.01903), as two adapters of one descent allow.
        Raises ShapeError if the file is no adapter, KeyError or RuntimeError if it does not fit.
        """
        before = self.with_adapter(path, adapter)
        for mine, other in zip(self.parameters(), before.parameters(), strict=True):
            mine.mul_(share).add_(other.to(mine.dtype), alpha=1 - share)

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """States (n, tokens, width) for ids and positions (n, tokens).

        `seen` (n, tokens, tokens) says which tokens each token may look at.
        """
        x = F.embedding(ids, self.embeddings)
        angles = positions[:, :, None, None] * self.frequencies
        cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
        mask = torch.zeros(seen.shape, dtype=x.dtype, device=seen.device).masked_fill(~seen, MASKED)
        for block in self.blocks:
            x = block(x, cos, sin, mask[:, None])
        return F.rms_norm(x, (x.shape[-1],), self.output_norm, self.shape.epsilon)

    def logits(self, states: torch.Tensor, tokens: list[int] | None = None) -> torch.Tensor:
        """Scores over the vocabulary, or of some tokens only, for states (…, width)."""
        rows = self.output if tokens is None else self.output[tokens]
        return F.linear(states, rows).float()

    def pairs(self) -> dict[str, tuple[Matrices, Matrices]]:
        """Every adapter, A (rank, in) and B (out, rank), by the GGUF name of its matrix."""
        return {name: pair for each in self._adapted() for name, pair in each.pairs()}

    def set_pairs(self, pairs: Mapping[str, tuple[Matrices, Matrices]]) -> None:
        """Go on from adapters of the same rank. Raises KeyError or RuntimeError if they do not fit."""
        for each in self._adapted():
            each.set_pairs(pairs)

    def _adapted(self) -> Iterator[AdaptedLinear]:
        return (module for module in self.modules() if isinstance(module, AdaptedLinear))

    def compile_layers(self) -> None:
        """Compile the layers for rows of one length: on a CPU that fuses what lies between the matrices."""
        for block in self.blocks:
            block.compile()


def _tensors(reader: GGUFReader, shape: LlamaShape, dtype: torch.dtype) -> Iterator[tuple[str, torch.Tensor]]:
    """Every tensor of a file by its name; queries and keys have the order of rows of transformers."""
    for each in reader.tensors:
        made = torch.from_numpy(dequantize(each.data, each.tensor_type).astype(np.float32))
        if shape.is_permuted and each.name.endswith(("attn_q.weight", "attn_k.weight")):
            heads = shape.heads if "attn_q" in each.name else shape.kv_heads
            half = made.shape[0] // heads // 2
            made = made.reshape(heads, half, 2, made.shape[1]).swapaxes(1, 2).reshape(made.shape)
        yield each.name, made.to(dtype)
