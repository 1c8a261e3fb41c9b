"""A LLaMA of a few thousand random weights in float32, and LoRA adapters for it: no download, no vocabulary.

Its tokens are the 256 bytes, one merge, and the control tokens. Queries and keys are stored in
llama.cpp's rotary order, as in any GGUF of this architecture, and several queries share a key. As a Qwen2 it
has biases and an output of its own, and stores queries and keys as transformers does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt
from training.gguf_files import About, Measured, rotary_order, write_adapter

Matrix = npt.NDArray[np.float32]
Pairs = dict[str, tuple[Matrix, Matrix]]

RANK, ALPHA = 4, 8.0
MERGE = ("t", "h")
CONTROL = ("<|im_start|>", "<|im_end|>")
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class TinySize:
    """The sizes of the layers."""

    width: int = 64
    inner: int = 96
    layers: int = 2
    heads: int = 4
    kv_heads: int = 2
    context: int = 2048

    @property
    def shapes(self) -> dict[str, tuple[int, int]]:
        """The matrices of a layer as (out, in)."""
        head = self.width // self.heads
        return {
            "attn_q": (self.width, self.width),
            "attn_k": (self.kv_heads * head, self.width),
            "attn_v": (self.kv_heads * head, self.width),
            "attn_output": (self.width, self.width),
            "ffn_gate": (self.inner, self.width),
            "ffn_up": (self.inner, self.width),
            "ffn_down": (self.width, self.inner),
        }

    def heads_of(self, name: str) -> int:
        """The heads of a matrix whose rows are in rotary order, else 0."""
        return {"attn_q": self.heads, "attn_k": self.kv_heads}.get(name, 0)


SIZE = TinySize()


def base_weights(size: TinySize = SIZE, seed: int = 5, architecture: str = "llama") -> dict[str, Matrix]:
    """The weights by GGUF name, queries and keys in the order of transformers."""
    random = np.random.default_rng(seed)
    weights = {"token_embd.weight": random.normal(0, 0.5, (257 + len(CONTROL), size.width))}
    for layer in range(size.layers):
        for name, (rows, columns) in size.shapes.items():
            weights[f"blk.{layer}.{name}.weight"] = random.normal(0, columns**-0.5, (rows, columns))
        for name in ("attn_norm", "ffn_norm"):
            weights[f"blk.{layer}.{name}.weight"] = np.ones(size.width)
    weights["output_norm.weight"] = np.ones(size.width)
    if architecture == "qwen2":
        weights["output.weight"] = random.normal(0, 0.5, weights["token_embd.weight"].shape)
        for layer in range(size.layers):
            for name in ("attn_q", "attn_k", "attn_v"):
                weights[f"blk.{layer}.{name}.bias"] = random.normal(0, 0.5, size.shapes[name][0])
    return {name: values.astype(np.float32) for name, values in weights.items()}


def write_base(
    path: Path, size: TinySize = SIZE, *, name: str = "tiny base", architecture: str = "llama"
) -> Path:
    """Write the base as GGUF."""
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_name(name)
    writer.add_context_length(size.context)
    writer.add_embedding_length(size.width)
    writer.add_feed_forward_length(size.inner)
    writer.add_block_count(size.layers)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv(size.kv_heads)
    writer.add_rope_dimension_count(size.width // size.heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    _add_bytes(writer)
    for tensor, values in base_weights(size, architecture=architecture).items():
        heads = size.heads_of(tensor.split(".")[-2]) if architecture == "llama" else 0
        writer.add_tensor(tensor, np.ascontiguousarray(rotary_order(values, heads) if heads else values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_bytes(writer: gguf.GGUFWriter) -> None:
    """A byte-level vocabulary: GPT-2's letters for the 256 bytes, a merge, and the control tokens."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {byte: chr(byte) for byte in printable}
    letters |= {byte: chr(256 + at) for at, byte in enumerate(others)}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([*(letters[byte] for byte in range(256)), "".join(MERGE), *CONTROL])
    kinds = [gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL] * len(CONTROL)
    writer.add_token_types(kinds)
    writer.add_token_merges([" ".join(MERGE)])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(258)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)


def random_pairs(size: TinySize = SIZE, seed: int = 3) -> Pairs:
    """LoRA pairs for every matrix, large enough to change every logit; exact in float16."""
    random = np.random.default_rng(seed)

    def matrix(rows: int, columns: int) -> Matrix:
        return random.normal(0, 0.7 * columns**-0.5, (rows, columns)).astype(np.float16).astype(np.float32)

    return {
        f"blk.{layer}.{name}.weight": (matrix(RANK, columns), matrix(rows, RANK))
        for layer in range(size.layers)
        for name, (rows, columns) in size.shapes.items()
    }


def write_lora(
    path: Path, pairs: Pairs | None = None, measured: Measured | None = None, *, size: TinySize = SIZE
) -> Path:
    """Write an adapter for the base; by default a random one."""
    about = About("tiny adapter", "random", measured=measured or {})
    write_adapter(path, pairs or random_pairs(size), ALPHA, about, heads=size.heads, kv_heads=size.kv_heads)
    return path


def merged(pairs: Mapping[str, tuple[Matrix, Matrix]], size: TinySize = SIZE) -> dict[str, Matrix]:
    """The weights of the base with these pairs in them, W + alpha / rank * B A."""
    weights = base_weights(size)
    scale = np.float32(ALPHA / RANK)
    return weights | {name: weights[name] + scale * (b @ a) for name, (a, b) in pairs.items()}
