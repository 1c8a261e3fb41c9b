"""Models with real tokenizers, real chat templates and random weights.

The source distribution of llama-cpp-python carries llama.cpp's test vocabularies and the chat
templates of well-known models. Around each a GGUF of two thin layers with random weights is
written: everything but the weights is as users have it, so templates, tokenisation, constraints
and token counts can be tested without a download of gigabytes. What is made stays in ``.cache/``.
A shape may have the layers of the real model too: then it also costs what the real one costs.
"""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
from filelock import FileLock

CACHE = Path(__file__).resolve().parent.parent / ".cache"
_PACKAGE = "llama-cpp-python"
_Values = np.ndarray[Any, Any]
_Tensors = Iterable[tuple[str, _Values]]
_RECIPE = Path(__file__).read_bytes()


class NoVocabulariesError(Exception):
    """llama.cpp's vocabularies and templates cannot be had here, and why."""


def vendored() -> Path:
    """The folder with llama.cpp's vocabularies and templates; skips the test where it cannot be had."""
    try:
        return _vendored()
    except NoVocabulariesError as error:
        pytest.skip(str(error))


def _vendored() -> Path:
    folder = CACHE / f"llama.cpp-{version('llama_cpp_python')}"
    if not (folder / "complete").exists() and (reason := _fetch(folder)):
        raise NoVocabulariesError(f"llama.cpp's vocabularies cannot be had: {reason}")
    return folder


@cache
def _fetch(folder: Path) -> str:
    """Fill the folder, once; returns why it could not be done, "" where it could."""
    with _alone("llama.cpp"):
        if (folder / "complete").exists():
            return ""
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            if reason := _download(Path(scratch)):
                return reason
            _unpack(next(Path(scratch).glob("*.tar.gz")), folder)
        (folder / "complete").touch()
    return ""


def _alone(name: str) -> FileLock:
    """Test runs may come side by side; each thing is made by one of them."""
    CACHE.mkdir(exist_ok=True)
    return FileLock(CACHE / f"{name}.lock")


def _download(target: Path) -> str:
    """The source archive; pip keeps what it downloaded to build the installed package: seconds."""
    wanted = f"{_PACKAGE}=={version('llama_cpp_python')}"
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--retries", "1", "--no-deps"]
    done = subprocess.run(
        [*command, "--no-binary", _PACKAGE, "--dest", str(target), wanted],
        capture_output=True,
        text=True,
        check=False,
    )
    return (done.stderr.strip() or "pip failed")[-200:] if done.returncode else ""


def _unpack(archive: Path, folder: Path) -> None:
    (folder / "templates").mkdir(parents=True, exist_ok=True)
    wanted = {f"ggml-vocab-{made.vocabulary}.gguf" for made in SHAPES.values()} | {"ggml-vocab-bert-bge.gguf"}
    with tarfile.open(archive) as tar:
        for member in tar:
            path = Path(member.name)
            template = path.suffix == ".jinja" and path.parent.name == "templates"
            if not (template or path.name in wanted):
                continue
            source = tar.extractfile(member)
            if source is not None:
                (folder / ("templates" if template else "") / path.name).write_bytes(source.read())


@dataclass(frozen=True)
class Size:
    """The layers of a model; ``weights`` is how their matrices are stored."""

    layers: int = 2
    width: int = 64
    inner: int = 128
    heads: int = 2
    kv_heads: int = 2
    head: int = 32
    weights: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32


@dataclass(frozen=True)
class Shape:
    """One model to make: vocabulary, template file ("" for none, None for the vocabulary's own), layers."""

    name: str
    vocabulary: str
    template: str | None
    architecture: str = "llama"
    context: int = 2048
    tokens: Mapping[int, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    size: Size = Size()


# The added tokens of Qwen3 over the vocabulary of Qwen2, which lists their places as padding.
_QWEN3_ADDED = (
    "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>", "<|box_end|>", "<|quad_start|>",
    "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>", "<|image_pad|>", "<|video_pad|>",
    "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>",
    "<|repo_name|>", "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>",
)  # fmt: skip
_QWEN3 = dict(enumerate(_QWEN3_ADDED, start=151646))
_LLAMA2 = (
    "{% if messages[0]['role'] == 'system' %}{% set system = '<<SYS>>\\n' + messages[0]['content'] + "
    "'\\n<</SYS>>\\n\\n' %}{% set messages = messages[1:] %}{% else %}{% set system = '' %}{% endif %}"
    "{% for message in messages %}"
    "{{ bos_token + '[INST] ' + system + message['content'].strip() + ' [/INST]' }}"
    "{% endfor %}"
)
SHAPES = {
    shape.name: shape
    for shape in (
        Shape("qwen3", "qwen2", "Qwen-Qwen3-0.6B.jinja", architecture="qwen3", tokens=_QWEN3,
              settings={"tokenizer.ggml.eos_token_id": 151645, "tokenizer.ggml.add_bos_token": False}),
        Shape("llama3", "llama-bpe", "meta-llama-Llama-3.2-3B-Instruct.jinja",
              settings={"tokenizer.ggml.eos_token_id": 128009}),
        Shape("phi3", "phi-3", "microsoft-Phi-3.5-mini-instruct.jinja", architecture="phi3"),
        Shape("gemma", "gemma-4", "google-gemma-2-2b-it.jinja", architecture="gemma2",
              tokens={105: "<start_of_turn>", 106: "<end_of_turn>"}),
        Shape("gemma4", "gemma-4", None, architecture="gemma2"),
        Shape("llama2", "llama-spm", _LLAMA2),
        Shape("base", "llama-spm", ""),
        Shape("mamba", "gpt-neox", "", architecture="mamba"),
        Shape("lfm2", "gpt-neox", "LFM2-8B-A1B.jinja", architecture="lfm2"),
    )
}  # fmt: skip


def shape(name: str) -> Path:
    """The GGUF of one of the small shapes, made on first use; skips the test where it cannot be made."""
    try:
        return made(SHAPES[name], CACHE / "shapes")
    except NoVocabulariesError as error:
        pytest.skip(str(error))


def made(wanted: Shape, folder: Path) -> Path:
    """The GGUF of a shape, written on first use, whole or not at all.

    Raises NoVocabulariesError where there is neither a kept copy of llama.cpp's vocabularies nor a
    package index.
    """
    recipe = hashlib.sha256(_RECIPE + repr(wanted).encode()).hexdigest()[:8]
    path = folder / f"{wanted.name}-{recipe}.gguf"
    with _alone(f"shape-{wanted.name}"):
        if not path.exists():
            _vendored()
            path.parent.mkdir(parents=True, exist_ok=True)
            for old in path.parent.glob(f"{wanted.name}-*.gguf"):
                old.unlink()
            part = path.with_suffix(".part")
            _write(wanted, part)
            part.rename(path)
    return path


def _write(wanted: Shape, path: Path) -> None:
    size, random = wanted.size, np.random.default_rng(7)
    packed = size.weights in _BLOCKS
    writer = gguf.GGUFWriter(path, wanted.architecture, use_temp_file=packed)
    tokens = _copy_tokenizer(writer, wanted)
    writer.add_name(f"shape of {wanted.name}")
    writer.add_context_length(wanted.context)
    writer.add_embedding_length(size.width)
    writer.add_block_count(size.layers)
    if wanted.architecture == "mamba":
        tensors: _Tensors = _mamba(writer, random, size).items()
    else:
        _describe(writer, wanted)
        tensors = _transformer(wanted, random)
    if packed:
        embedding = _blocks(random, (tokens, size.width), 0.02, _EMBEDDING)
    else:
        embedding = random.normal(0, 0.6, (tokens, size.width))
    _add(writer, "token_embd.weight", embedding, _EMBEDDING)
    norm = "token_embd_norm.weight" if wanted.architecture == "lfm2" else "output_norm.weight"
    _add(writer, norm, np.ones(size.width))
    for name, values in tensors:
        _add(writer, name, values, size.weights)
    _finish(writer)


_EMBEDDING = gguf.GGMLQuantizationType.Q8_0
# Bytes of numbers in a block of 32, and the spread of those numbers where the bytes are random.
_BLOCKS = {gguf.GGMLQuantizationType.Q4_0: (16, 4.6), gguf.GGMLQuantizationType.Q8_0: (32, 73.9)}


def _blocks(
    random: np.random.Generator, shape: tuple[int, int], spread: float, kind: gguf.GGMLQuantizationType
) -> _Values:
    """A random matrix as llama.cpp packs it: a scale of random sign, then random numbers, a block of 32."""
    rows, columns = shape
    count, unit = _BLOCKS[kind]
    packed = np.empty((rows * columns // 32, 2 + count), np.uint8)
    scales = random.choice(np.array([-1, 1], np.float16), len(packed)) * np.float16(spread / unit)
    packed[:, :2] = scales.view(np.uint8).reshape(-1, 2)
    packed[:, 2:] = np.frombuffer(random.bytes(len(packed) * count), np.uint8).reshape(-1, count)
    return packed.reshape(rows, -1)


def _describe(writer: gguf.GGUFWriter, wanted: Shape) -> None:
    size = wanted.size
    writer.add_feed_forward_length(size.inner)
    writer.add_head_count(size.heads)
    writer.add_head_count_kv([0, size.kv_heads] if wanted.architecture == "lfm2" else size.kv_heads)
    writer.add_key_length(size.head)
    writer.add_value_length(size.head)
    writer.add_rope_dimension_count(size.head)
    writer.add_layer_norm_rms_eps(1e-6)
    if wanted.architecture == "gemma2":
        writer.add_attn_logit_softcapping(50.0)
        writer.add_final_logit_softcapping(30.0)
        writer.add_sliding_window(16)
    if wanted.architecture == "lfm2":
        writer.add_shortconv_l_cache(3)


def _transformer(wanted: Shape, random: np.random.Generator) -> Iterator[tuple[str, _Values]]:
    """The tensors of the layers; made as they are asked for, since all at once may be gigabytes."""
    for number in range(wanted.size.layers):
        layer = _layer(wanted, random)
        if wanted.architecture == "lfm2" and number == 0:  # a hybrid: a convolution, then attention
            layer = {name: values for name, values in layer.items() if not name.startswith("attn_")}
            layer |= _convolution(random, wanted.size.width)
        yield from ((f"blk.{number}.{name}", values) for name, values in layer.items())


def _convolution(random: np.random.Generator, width: int) -> dict[str, _Values]:
    return {
        "attn_norm.weight": np.ones(width),
        "shortconv.conv.weight": random.normal(0, 0.5, (width, 3)),
        "shortconv.in_proj.weight": random.normal(0, width**-0.5, (3 * width, width)),
        "shortconv.out_proj.weight": random.normal(0, width**-0.5, (width, width)),
    }


def _layer(wanted: Shape, random: np.random.Generator) -> dict[str, _Values]:
    size = wanted.size

    def matrix(rows: int, columns: int) -> _Values:
        if size.weights in _BLOCKS:
            return _blocks(random, (rows, columns), columns**-0.5, size.weights)
        return random.normal(0, columns**-0.5, (rows, columns))

    queries, keys = size.heads * size.head, size.kv_heads * size.head
    layer = {
        "attn_norm.weight": np.ones(size.width),
        "attn_output.weight": matrix(size.width, queries),
        "ffn_norm.weight": np.ones(size.width),
        "ffn_down.weight": matrix(size.width, size.inner),
    }
    if wanted.architecture == "phi3":
        return layer | {
            "attn_qkv.weight": matrix(queries + 2 * keys, size.width),
            "ffn_up.weight": matrix(2 * size.inner, size.width),
        }
    for part, rows in {"q": queries, "k": keys, "v": keys}.items():
        layer[f"attn_{part}.weight"] = matrix(rows, size.width)
    for part in ("gate", "up"):
        layer[f"ffn_{part}.weight"] = matrix(size.inner, size.width)
    if wanted.architecture in ("qwen3", "lfm2"):
        layer |= {f"attn_{part}_norm.weight": np.ones(size.head) for part in "qk"}
    if wanted.architecture == "gemma2":
        layer |= {f"post_{part}_norm.weight": np.ones(size.width) for part in ("attention", "ffw")}
    return layer


def _mamba(writer: gguf.GGUFWriter, random: np.random.Generator, size: Size) -> dict[str, _Values]:
    width, inner, state, rank, kernel = size.width, 2 * size.width, 16, 4, 4
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_ssm_conv_kernel(kernel)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(rank)
    tensors: dict[str, _Values] = {}
    for layer in range(size.layers):
        tensors |= {
            f"blk.{layer}.{name}": values
            for name, values in {
                "attn_norm.weight": np.ones(width),
                "ssm_in.weight": random.normal(0, width**-0.5, (2 * inner, width)),
                "ssm_conv1d.weight": random.normal(0, 0.5, (inner, kernel)),
                "ssm_conv1d.bias": np.zeros(inner),
                "ssm_x.weight": random.normal(0, inner**-0.5, (rank + 2 * state, inner)),
                "ssm_dt.weight": random.normal(0, rank**-0.5, (inner, rank)),
                "ssm_dt.bias": np.full(inner, -3.0),
                "ssm_a": -np.tile(np.arange(1, state + 1, dtype=np.float64), (inner, 1)),
                "ssm_d": np.ones(inner),
                "ssm_out.weight": random.normal(0, inner**-0.5, (width, inner)),
            }.items()
        }
    return tensors


def _copy_tokenizer(writer: gguf.GGUFWriter, wanted: Shape) -> int:
    """The vocabulary's own tokenizer, with the shape's changes; returns how many tokens it has."""
    size = 0
    for key, kinds, value in _pairs((_vendored() / f"ggml-vocab-{wanted.vocabulary}.gguf").read_bytes()):
        if not key.startswith("tokenizer.") or key in wanted.settings:
            continue
        if key == "tokenizer.chat_template" and wanted.template is not None:
            continue
        if key == "tokenizer.ggml.tokens":
            value = [wanted.tokens.get(i, token) for i, token in enumerate(value)]
            size = len(value)
        writer.add_key_value(key, value, *kinds)
    for key, value in wanted.settings.items():
        add = writer.add_bool if isinstance(value, bool) else writer.add_uint32
        add(key, value)
    if wanted.template:
        writer.add_chat_template(_template(wanted.template))
    return size


def _pairs(raw: bytes) -> Iterator[tuple[str, list[gguf.GGUFValueType], Any]]:
    """Key, value types and value of a header; gguf's own reader takes 20 seconds for the largest."""
    numbers = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
    at = 24

    def scalar(code: str) -> Any:
        nonlocal at
        value = struct.unpack_from("<" + code, raw, at)[0]
        at += struct.calcsize(code)
        return value

    def string() -> bytes:
        nonlocal at
        length = scalar("Q")
        at += length
        return raw[at - length : at]

    def value_of(kind: gguf.GGUFValueType) -> Any:
        return string().decode() if kind == gguf.GGUFValueType.STRING else scalar(numbers[kind])

    for _ in range(struct.unpack_from("<Q", raw, 16)[0]):
        key, kinds = string().decode(), [gguf.GGUFValueType(scalar("I"))]
        if kinds[0] == gguf.GGUFValueType.ARRAY:
            kinds.append(gguf.GGUFValueType(scalar("I")))
            yield key, kinds, [value_of(kinds[1]) for _ in range(scalar("Q"))]
        else:
            yield key, kinds, value_of(kinds[0])


def _template(name: str) -> str:
    return (_vendored() / "templates" / name).read_text() if name.endswith(".jinja") else name


def _add(
    writer: gguf.GGUFWriter,
    name: str,
    values: _Values,
    kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
) -> None:
    """One tensor: packed already (bytes), or to be packed if it is a matrix of a packed kind."""
    if values.dtype != np.uint8:
        kind = gguf.GGMLQuantizationType.F32 if values.ndim == 1 else kind
        values = gguf.quants.quantize(np.ascontiguousarray(values, dtype=np.float32), kind)
    writer.add_tensor(name, values, raw_dtype=kind)


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def encoder(path: Path, *, pooling: gguf.PoolingType, metadata: Mapping[str, float] | None = None) -> Path:
    """A tiny random encoder with the real BERT vocabulary: a reranker (RANK) or an embedding model."""
    writer, small = gguf.GGUFWriter(path, "bert"), Size()
    size = _copy_tokenizer(writer, Shape("bert", "bert-bge", ""))
    writer.add_name("tiny encoder")
    writer.add_context_length(128)
    writer.add_embedding_length(small.width)
    writer.add_feed_forward_length(small.inner)
    writer.add_block_count(small.layers)
    writer.add_head_count(small.heads)
    writer.add_layer_norm_eps(1e-12)
    writer.add_causal_attention(False)
    writer.add_pooling_type(pooling)
    for key, value in (metadata or {}).items():
        writer.add_float32(key, value)
    random = np.random.default_rng(11)

    def dense(name: str, rows: int, columns: int) -> None:
        _add(writer, f"{name}.weight", random.normal(0, columns**-0.5, (rows, columns)))
        _add(writer, f"{name}.bias", np.zeros(rows))

    def norm(name: str) -> None:
        _add(writer, f"{name}.weight", np.ones(small.width))
        _add(writer, f"{name}.bias", np.zeros(small.width))

    _add(writer, "token_embd.weight", random.normal(0, 1, (size, small.width)))
    _add(writer, "position_embd.weight", random.normal(0, 0.1, (128, small.width)))
    _add(writer, "token_types.weight", np.zeros((2, small.width)))
    norm("token_embd_norm")
    for layer in range(small.layers):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            dense(f"blk.{layer}.{part}", small.width, small.width)
        norm(f"blk.{layer}.attn_output_norm")
        dense(f"blk.{layer}.ffn_up", small.inner, small.width)
        dense(f"blk.{layer}.ffn_down", small.width, small.inner)
        norm(f"blk.{layer}.layer_output_norm")
    if pooling == gguf.PoolingType.RANK:
        dense("cls", small.width, small.width)
        dense("cls.output", 1, small.width)
    _finish(writer)
    return path
