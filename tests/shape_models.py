"""Models with real tokenizers, real chat templates and random weights.

The source distribution of llama-cpp-python carries llama.cpp's test vocabularies and the chat
templates of well-known models. Around each a GGUF of two thin layers with random weights is
written: everything but the weights is as users have it, so templates, tokenisation, constraints
and token counts can be tested without a download of gigabytes. What is made stays in ``.cache/``.
"""

from __future__ import annotations

import hashlib
import struct
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
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
_RECIPE = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:8]


def vendored() -> Path:
    """The folder with llama.cpp's vocabularies and templates; skips the test where it cannot be had."""
    folder = CACHE / f"llama.cpp-{version('llama_cpp_python')}"
    if not (folder / "complete").exists() and (reason := _fetch(folder)):
        pytest.skip(f"llama.cpp's vocabularies cannot be had: {reason}")
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
class Shape:
    """One model to make: vocabulary, template file ("" for none, None for the vocabulary's own), layers."""

    name: str
    vocabulary: str
    template: str | None
    architecture: str = "llama"
    context: int = 2048
    tokens: Mapping[int, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


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
    """The GGUF of a shape, made on first use."""
    wanted = SHAPES[name]
    path = CACHE / "shapes" / f"{name}-{_RECIPE}.gguf"
    with _alone(f"shape-{name}"):
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            for old in path.parent.glob(f"{name}-*.gguf"):
                old.unlink()
            part = path.with_suffix(".part")
            _write(wanted, part)
            part.rename(path)
    return path


WIDTH, INNER, LAYERS, HEADS, HEAD = 64, 128, 2, 2, 32


def _write(wanted: Shape, path: Path) -> None:
    writer = gguf.GGUFWriter(path, wanted.architecture)
    size = _copy_tokenizer(writer, wanted)
    writer.add_name(f"shape of {wanted.name}")
    writer.add_context_length(wanted.context)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    random = np.random.default_rng(7)
    tensors = (
        _mamba(writer, random) if wanted.architecture == "mamba" else _transformer(writer, wanted, random)
    )
    _add(writer, "token_embd.weight", random.normal(0, 0.6, (size, WIDTH)), gguf.GGMLQuantizationType.Q8_0)
    norm = "token_embd_norm.weight" if wanted.architecture == "lfm2" else "output_norm.weight"
    _add(writer, norm, np.ones(WIDTH))
    for name, values in tensors.items():
        _add(writer, name, values)
    _finish(writer)


def _transformer(
    writer: gguf.GGUFWriter, wanted: Shape, random: np.random.Generator
) -> dict[str, np.ndarray[Any, Any]]:
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv([0, HEADS] if wanted.architecture == "lfm2" else HEADS)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_rope_dimension_count(HEAD)
    writer.add_layer_norm_rms_eps(1e-6)
    tensors: dict[str, np.ndarray[Any, Any]] = {}
    if wanted.architecture == "gemma2":
        writer.add_attn_logit_softcapping(50.0)
        writer.add_final_logit_softcapping(30.0)
        writer.add_sliding_window(16)
    if wanted.architecture == "lfm2":
        writer.add_shortconv_l_cache(3)
    for number in range(LAYERS):
        layer = _layer(wanted, random)
        if wanted.architecture == "lfm2" and number == 0:  # a hybrid: a convolution, then attention
            layer = {name: values for name, values in layer.items() if not name.startswith("attn_")}
            layer |= _convolution(random)
        tensors |= {f"blk.{number}.{name}": values for name, values in layer.items()}
    return tensors


def _convolution(random: np.random.Generator) -> dict[str, np.ndarray[Any, Any]]:
    return {
        "attn_norm.weight": np.ones(WIDTH),
        "shortconv.conv.weight": random.normal(0, 0.5, (WIDTH, 3)),
        "shortconv.in_proj.weight": random.normal(0, WIDTH**-0.5, (3 * WIDTH, WIDTH)),
        "shortconv.out_proj.weight": random.normal(0, WIDTH**-0.5, (WIDTH, WIDTH)),
    }


def _layer(wanted: Shape, random: np.random.Generator) -> dict[str, np.ndarray[Any, Any]]:
    def matrix(rows: int, columns: int) -> np.ndarray[Any, Any]:
        return random.normal(0, columns**-0.5, (rows, columns))

    inner = HEADS * HEAD
    layer = {
        "attn_norm.weight": np.ones(WIDTH),
        "attn_output.weight": matrix(WIDTH, inner),
        "ffn_norm.weight": np.ones(WIDTH),
        "ffn_down.weight": matrix(WIDTH, INNER),
    }
    if wanted.architecture == "phi3":
        return layer | {
            "attn_qkv.weight": matrix(3 * inner, WIDTH),
            "ffn_up.weight": matrix(2 * INNER, WIDTH),
        }
    layer |= {f"attn_{part}.weight": matrix(inner, WIDTH) for part in "qkv"}
    layer |= {"ffn_gate.weight": matrix(INNER, WIDTH), "ffn_up.weight": matrix(INNER, WIDTH)}
    if wanted.architecture in ("qwen3", "lfm2"):
        layer |= {"attn_q_norm.weight": np.ones(HEAD), "attn_k_norm.weight": np.ones(HEAD)}
    if wanted.architecture == "gemma2":
        layer |= {"post_attention_norm.weight": np.ones(WIDTH), "post_ffw_norm.weight": np.ones(WIDTH)}
    return layer


def _mamba(writer: gguf.GGUFWriter, random: np.random.Generator) -> dict[str, np.ndarray[Any, Any]]:
    inner, state, rank, kernel = 2 * WIDTH, 16, 4, 4
    writer.add_feed_forward_length(0)
    writer.add_head_count(0)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_ssm_conv_kernel(kernel)
    writer.add_ssm_inner_size(inner)
    writer.add_ssm_state_size(state)
    writer.add_ssm_time_step_rank(rank)
    tensors: dict[str, np.ndarray[Any, Any]] = {}
    for layer in range(LAYERS):
        tensors |= {
            f"blk.{layer}.{name}": values
            for name, values in {
                "attn_norm.weight": np.ones(WIDTH),
                "ssm_in.weight": random.normal(0, WIDTH**-0.5, (2 * inner, WIDTH)),
                "ssm_conv1d.weight": random.normal(0, 0.5, (inner, kernel)),
                "ssm_conv1d.bias": np.zeros(inner),
                "ssm_x.weight": random.normal(0, inner**-0.5, (rank + 2 * state, inner)),
                "ssm_dt.weight": random.normal(0, rank**-0.5, (inner, rank)),
                "ssm_dt.bias": np.full(inner, -3.0),
                "ssm_a": -np.tile(np.arange(1, state + 1, dtype=np.float64), (inner, 1)),
                "ssm_d": np.ones(inner),
                "ssm_out.weight": random.normal(0, inner**-0.5, (WIDTH, inner)),
            }.items()
        }
    return tensors


def _copy_tokenizer(writer: gguf.GGUFWriter, wanted: Shape) -> int:
    """The vocabulary's own tokenizer, with the shape's changes; returns how many tokens it has."""
    size = 0
    for key, kinds, value in _pairs((vendored() / f"ggml-vocab-{wanted.vocabulary}.gguf").read_bytes()):
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
    return (vendored() / "templates" / name).read_text() if name.endswith(".jinja") else name


def _add(
    writer: gguf.GGUFWriter,
    name: str,
    values: np.ndarray[Any, Any],
    kind: gguf.GGMLQuantizationType = gguf.GGMLQuantizationType.F32,
) -> None:
    data = gguf.quants.quantize(np.ascontiguousarray(values, dtype=np.float32), kind)
    writer.add_tensor(name, data, raw_dtype=kind)


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def encoder(path: Path, *, pooling: gguf.PoolingType, metadata: Mapping[str, float] | None = None) -> Path:
    """A tiny random encoder with the real BERT vocabulary: a reranker (RANK) or an embedding model."""
    writer = gguf.GGUFWriter(path, "bert")
    size = _copy_tokenizer(writer, Shape("bert", "bert-bge", ""))
    writer.add_name("tiny encoder")
    writer.add_context_length(128)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(INNER)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
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
        _add(writer, f"{name}.weight", np.ones(WIDTH))
        _add(writer, f"{name}.bias", np.zeros(WIDTH))

    _add(writer, "token_embd.weight", random.normal(0, 1, (size, WIDTH)))
    _add(writer, "position_embd.weight", random.normal(0, 0.1, (128, WIDTH)))
    _add(writer, "token_types.weight", np.zeros((2, WIDTH)))
    norm("token_embd_norm")
    for layer in range(LAYERS):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            dense(f"blk.{layer}.{part}", WIDTH, WIDTH)
        norm(f"blk.{layer}.attn_output_norm")
        dense(f"blk.{layer}.ffn_up", INNER, WIDTH)
        dense(f"blk.{layer}.ffn_down", WIDTH, INNER)
        norm(f"blk.{layer}.layer_output_norm")
    if pooling == gguf.PoolingType.RANK:
        dense("cls", WIDTH, WIDTH)
        dense("cls.output", 1, WIDTH)
    _finish(writer)
    return path
