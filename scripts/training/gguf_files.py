"""Write models as GGUF files: architecture `bert` with rank pooling, `llama`, and LoRA adapters for it.

A file is written beside its place and renamed, so nothing half-written is ever found under its name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from gguf import (
    MODEL_ARCH,
    GGMLQuantizationType,
    GGUFReader,
    GGUFWriter,
    LlamaFileType,
    PoolingType,
    TensorNameMap,
    TokenType,
    get_tensor_name_map,
    quants,
)

Vectors = npt.NDArray[np.float32]
Measured = Mapping[str, float | Sequence[float] | str]

FORMATS = {
    "f32": (GGMLQuantizationType.F32, LlamaFileType.ALL_F32),
    "f16": (GGMLQuantizationType.F16, LlamaFileType.MOSTLY_F16),
    "q8_0": (GGMLQuantizationType.Q8_0, LlamaFileType.MOSTLY_Q8_0),
}
_ALWAYS_F32 = ("position_embd", "token_types", "norm", "bias")
_BLOCK = 32
"""How many numbers share a scale in Q8_0."""
_WORD_START = "\u2581"


@dataclass(frozen=True)
class About:
    """What a GGUF says about itself; `measured` holds localcrag's own keys: texts and float32 numbers.

    `base` is the name and the address of what it is made for, `languages` are codes such as "en".
    """

    name: str
    description: str
    licence: str = "apache-2.0"
    base: tuple[str, str] | None = None
    languages: tuple[str, ...] = ()
    measured: Measured = field(default_factory=dict)


@dataclass(frozen=True)
class Shape:
    """Layer sizes as both architectures name them."""

    context: int
    width: int
    inner: int
    layers: int
    heads: int
    norm_epsilon: float


def write_evaluator(
    path: Path,
    weights: Mapping[str, Vectors],
    shape: Shape,
    vocabulary: Mapping[str, int] | None,
    about: About,
    kind: str,
) -> None:
    """Write a cross-encoder; `weights` are PyTorch's by name (`bert.…`, `classifier.…`).

    Without a vocabulary it is one that another file carries.
    """
    writer, part = _start(path, "bert", shape, about, kind)
    writer.add_layer_norm_eps(shape.norm_epsilon)
    writer.add_causal_attention(False)
    writer.add_pooling_type(PoolingType.RANK)
    if vocabulary is not None:
        _add_wordpiece(writer, vocabulary)
    names = get_tensor_name_map(MODEL_ARCH.BERT, shape.layers)
    for name, tensor in weights.items():
        _add(writer, _evaluator_tensor(name, names), tensor, kind)
    _finish(writer, part, path)


def _evaluator_tensor(name: str, names: TensorNameMap) -> str:
    stem, suffix = name.rsplit(".", 1)
    if stem == "classifier":
        return f"cls.output.{suffix}"
    if stem == "bert.pooler.dense":
        return f"cls.{suffix}"
    mapped = names.get_name(stem.removeprefix("bert."))
    if mapped is None:
        raise KeyError(f"no GGUF name for {name}")
    return f"{mapped}.{suffix}"


class ShapeError(Exception):
    """A GGUF holds another model than the one asked for; the message is one line for the user."""


def read_evaluator(path: Path, shapes: Mapping[str, tuple[int, ...]], layers: int) -> dict[str, Vectors]:
    """The tensors of an evaluator GGUF in float32, by the PyTorch names and with the shapes asked for.

    Raises ShapeError if one is missing or of another shape.
    """
    stored = {tensor.name: tensor for tensor in GGUFReader(path).tensors}
    mapping = get_tensor_name_map(MODEL_ARCH.BERT, layers)
    found: dict[str, Vectors] = {}
    for name, shape in shapes.items():
        tensor = stored.get(_evaluator_tensor(name, mapping))
        if tensor is None or math.prod(shape) != tensor.n_elements:
            raise ShapeError(
                f"{path.name} is not an evaluator of this shape: its {name} is missing or differs"
            )
        found[name] = quants.dequantize(tensor.data, tensor.tensor_type).reshape(shape)
    return found


def _add_wordpiece(writer: GGUFWriter, vocabulary: Mapping[str, int]) -> None:
    """WordPiece as llama.cpp reads it: `##x` becomes `x`, other pieces begin with U+2581."""
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    special = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    writer.add_tokenizer_model("bert")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([_phantom(piece) for piece in pieces])
    writer.add_token_types([TokenType.CONTROL if p in special else TokenType.NORMAL for p in pieces])
    writer.add_token_type_count(2)
    writer.add_bos_token_id(vocabulary["[CLS]"])
    writer.add_eos_token_id(vocabulary["[SEP]"])
    writer.add_sep_token_id(vocabulary["[SEP]"])
    writer.add_pad_token_id(vocabulary["[PAD]"])
    writer.add_unk_token_id(vocabulary["[UNK]"])
    writer.add_mask_token_id(vocabulary["[MASK]"])


def _phantom(piece: str) -> str:
    if piece.startswith("[") and piece.endswith("]"):
        return piece
    return piece[2:] if piece.startswith("##") else _WORD_START + piece


def write_adapter(
    path: Path,
    pairs: Mapping[str, tuple[Vectors, Vectors]],
    alpha: float,
    about: About,
    *,
    heads: int,
    kv_heads: int,
    architecture: str = "llama",
    permute: bool = True,
) -> None:
    """Write a LoRA adapter (Hu et al. 2021, arXiv 2106.09685) for a base, in Q8_0 or float16.

    The adapted weight is W + alpha / rank * B A. Q8_0 has blocks of 32 numbers: a rank that they do not
    divide is written in float16.

    Args:
        path: the file to write; its folder is made.
        pairs: (A, B) by the GGUF name of the weight that they adapt, such as ``blk.0.attn_q.weight``: A of
            shape (rank, in), B of shape (out, rank), with rows in the order of transformers.
        alpha: the scale of all pairs, before it is divided by the rank.
        about: the words of the file about itself; ``measured`` goes into its metadata.
        heads: the attention heads of the base.
        kv_heads: its heads of keys and values.
        architecture: the architecture of the base.
        permute: whether to bring the rows of B of queries and keys into llama.cpp's rotary order. It turns
            neighbouring pairs (2i, 2i + 1) of a head's dimensions, where transformers turns (i, i + d / 2);
            so the rows of each head, seen as (2, d / 2), are transposed, just as convert_hf_to_gguf does
            with the whole weights. False for weights that are in that order already.

    Raises ValueError for a pair whose ranks differ.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    writer = GGUFWriter(part, architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", alpha)
    _add_about(writer, about)
    rank = len(next(iter(pairs.values()))[0])
    kind = "f16" if rank % _BLOCK else "q8_0"
    writer.add_file_type(FORMATS[kind][1])
    turned = {"attn_q": heads, "attn_k": kv_heads} if permute else {}
    for name, (a, b) in pairs.items():
        if a.shape[0] != b.shape[1]:
            raise ValueError(f"{name}: A has rank {a.shape[0]}, B {b.shape[1]}")
        matrix = name.split(".")[-2]
        rows = rotary_order(b, turned[matrix]) if matrix in turned else b
        _add(writer, f"{name}.lora_a", a, kind)
        _add(writer, f"{name}.lora_b", rows, kind)
    _finish(writer, part, path)


def read_adapter(
    path: Path, *, heads: int, kv_heads: int, permuted: bool = True
) -> dict[str, tuple[Vectors, Vectors]]:
    """The pairs of an adapter that `write_adapter` wrote, B of queries and keys in the order of transformers.

    ``permuted`` says that the file has these in llama.cpp's rotary order.

    Raises ShapeError if the file is no LoRA adapter.
    """
    try:
        stored = {t.name: quants.dequantize(t.data, t.tensor_type) for t in GGUFReader(path).tensors}
    except (ValueError, IndexError) as error:
        raise ShapeError(f"{path.name} is no GGUF, or a damaged one") from error
    turned = {"attn_q": heads, "attn_k": kv_heads} if permuted else {}
    pairs = {}
    for name in (key.removesuffix(".lora_a") for key in stored if key.endswith(".lora_a")):
        a, b, kind = stored[f"{name}.lora_a"], stored.get(f"{name}.lora_b"), name.split(".")[-2]
        if b is None:
            raise ShapeError(f"{path.name} is no whole adapter: its {name}.lora_b is missing")
        rows = (
            b.reshape(turned[kind], -1, 2, b.shape[1]).swapaxes(1, 2).reshape(b.shape)
            if kind in turned
            else b
        )
        pairs[name] = (a.astype(np.float32), np.ascontiguousarray(rows, np.float32))
    if not pairs:
        raise ShapeError(f"{path.name} is no LoRA adapter")
    return pairs


def rotary_order(rows: Vectors, heads: int) -> Vectors:
    """The rows of a query or key weight, or of its B, from the order of transformers into llama.cpp's.

    ``rows`` has the shape (heads * d, n) with an even d, and so has what is returned.
    """
    return rows.reshape(heads, 2, -1, rows.shape[1]).swapaxes(1, 2).reshape(rows.shape)


def _start(path: Path, architecture: str, shape: Shape, about: About, kind: str) -> tuple[GGUFWriter, Path]:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    writer = GGUFWriter(part, architecture)
    _add_about(writer, about)
    writer.add_file_type(FORMATS[kind][1])
    if kind == "q8_0":
        writer.add_quantization_version(2)
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_feed_forward_length(shape.inner)
    writer.add_block_count(shape.layers)
    writer.add_head_count(shape.heads)
    return writer, part


def _add_about(writer: GGUFWriter, about: About) -> None:
    """Add the words of a file about itself, and localcrag's own keys."""
    writer.add_name(about.name)
    writer.add_description(about.description)
    writer.add_license(about.licence)
    if about.languages:
        writer.add_languages(list(about.languages))
    if about.base:
        writer.add_base_model_count(1)
        writer.add_base_model_name(0, about.base[0])
        writer.add_base_model_url(0, about.base[1])
    for key, value in about.measured.items():
        _add_measured(writer, key, value)


def _add_measured(writer: GGUFWriter, key: str, value: float | Sequence[float] | str) -> None:
    if isinstance(value, str):
        writer.add_string(key, value)
    elif isinstance(value, Sequence):
        writer.add_array(key, [float(v) for v in value])
    else:
        writer.add_float32(key, float(value))


def _add(writer: GGUFWriter, name: str, tensor: Vectors, kind: str) -> None:
    """Add a tensor; vectors, norms and small tables stay in float32."""
    keep = tensor.ndim == 1 or any(word in name for word in _ALWAYS_F32)
    wanted = GGMLQuantizationType.F32 if keep else FORMATS[kind][0]
    writer.add_tensor(
        name, quants.quantize(np.ascontiguousarray(tensor, np.float32), wanted), raw_dtype=wanted
    )


def _finish(writer: GGUFWriter, part: Path, path: Path) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    part.replace(path)
