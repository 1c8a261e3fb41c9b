"""Whether a GGUF file can be used as a language model, an evaluator or an adapter.

llama.cpp may end the process over a file that is none of these, or over an adapter for another model.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from localcrag.errors import ModelFileError
from localcrag.llm.gguf import GgufInfo, parts_of, read_metadata
from localcrag.llm.model_entry import Role

_ADAPTER_WEIGHT_TYPES = {0: "F32", 1: "F16", 8: "Q8_0", 30: "BF16"}
"""The types of an adapter's weights that llama.cpp's conversion writes, and that it can multiply."""
_LORA_SUFFIXES = (".lora_a", ".lora_b")
ADAPTER_BASE_KEY = "localcrag.adapter.base_sha256"
"""The key of an adapter's metadata for the sha256 of the base that it was trained for, as it is shipped."""


def require_generator(path: Path | str) -> GgufInfo:
    """The header of a model that writes text. Raises ModelNotFound, ModelFileError (also for others)."""
    info = _require_whole(path)
    if info.evaluator:
        raise ModelFileError(
            f"{info.path.name} is an evaluator (a reranker): it judges text and cannot write any.",
            hint="Give it as the evaluator, and a chat model here.",
        )
    if not info.generator:
        raise ModelFileError(
            f"{info.path.name} is no text generator but {_kind(info)}.",
            hint="Give a GGUF of a chat model here, such as an instruct model.",
        )
    return info


def require_adapter(path: Path | str, base: GgufInfo | None = None) -> GgufInfo:
    """The header of a LoRA adapter.

    llama.cpp adds an adapter to any weights of its name and shape, and may end the process over one that it
    cannot multiply, so all of this is checked here. With ``base``, the adapter must fit that model too.
    Raises ModelNotFound, ModelFileError (also for another kind of file).
    """
    info = read_metadata(path)
    kind = info.value("adapter.type", "of no type")
    if not info.adapter:
        raise ModelFileError(
            f"{info.path.name} is no adapter but a model of its own.",
            hint="Give it as the model, and a GGUF of a LoRA adapter here.",
        )
    if kind != "lora":
        raise ModelFileError(
            f"{info.path.name} is an adapter {kind}, and only lora can be used.",
            hint="Give a GGUF of a LoRA adapter here.",
        )
    pairs = _lora_pairs(info)
    if base is not None:
        _require_fit(info, pairs, base)
    return info


def _lora_pairs(info: GgufInfo) -> dict[str, tuple[int, int]]:
    """The size (columns, rows) of each weight that an adapter changes, by name. Raises ModelFileError."""
    held = {tensor.name: tensor for tensor in info.tensors}
    names = {name.removesuffix(suffix) for name in held for suffix in _LORA_SUFFIXES if name.endswith(suffix)}
    if not names or len(held) != 2 * len(names) or len(info.tensors) != len(held):
        raise _unusable(info, "its weights are no pairs of lora_a and lora_b")
    if not math.isfinite(info.number("adapter.lora.alpha", math.nan)):
        raise _unusable(info, "it has no adapter.lora.alpha")
    sizes = {}
    for name in sorted(names):
        a, b = (held.get(name + suffix) for suffix in _LORA_SUFFIXES)
        if a is None or b is None:
            raise _unusable(info, f"{name} has no pair of lora_a and lora_b")
        if kinds := {a.kind, b.kind} - _ADAPTER_WEIGHT_TYPES.keys():
            raise _unusable(info, f"{name} has weights of type {max(kinds)}")
        if not (len(a.dimensions) == len(b.dimensions) == 2 and 0 < a.dimensions[1] == b.dimensions[0]):
            raise _unusable(info, f"lora_a and lora_b of {name} have no rank in common")
        sizes[name] = (a.dimensions[0], b.dimensions[1])
    return sizes


def _require_fit(info: GgufInfo, pairs: Mapping[str, tuple[int, int]], base: GgufInfo) -> None:
    """Require that an adapter was made for weights like those of the base. Raises ModelFileError."""
    if info.architecture != base.architecture:
        raise _misfit(info, base, f"it is for the architecture {info.architecture}, not {base.architecture}")
    files = [base, *map(read_metadata, list(parts_of(base.path, int(base.number("split.count", 1)))))]
    weights = {tensor.name: tensor.dimensions for file in files for tensor in file.tensors}
    for name, size in pairs.items():
        if name not in weights:
            raise _misfit(info, base, f"that has no {name}")
        if name == "token_embd.weight":  # looked up by row, not multiplied: llama.cpp wants it transposed
            size = (size[1], size[0])
        if weights[name] != size:
            wanted, given = (" × ".join(map(str, reversed(shape))) for shape in (weights[name], size))
            raise _misfit(info, base, f"its {name} is {given}, not {wanted}")


def _unusable(info: GgufInfo, why: str) -> ModelFileError:
    """The error for an adapter that makes no sense with any base."""
    return ModelFileError(
        f"{info.path.name} is no usable LoRA adapter: {why}.",
        hint="Convert it again with llama.cpp's convert_lora_to_gguf.py.",
    )


def _misfit(info: GgufInfo, base: GgufInfo, why: str) -> ModelFileError:
    """The error for an adapter that was made for another base."""
    return ModelFileError(
        f"the adapter {info.path.name} does not fit {base.name}: {why}.",
        hint="Name the model it was made for with --model, or take --adapter none.",
    )


def require_trained_base(info: GgufInfo, base: GgufInfo, digest: Callable[[], str]) -> None:
    """Require that an adapter that names the base it was trained for is used with that one.

    ``digest`` gives the sha256 of the base as it is shipped; it is called only if the adapter names one
    (``localcrag.adapter.base_sha256``). Raises ModelFileError.
    """
    wanted = info.value(ADAPTER_BASE_KEY, "")
    if wanted and wanted != (found := digest()):
        raise _misfit(info, base, f"it was trained for a file with sha256 {wanted}, not {found}")


def require_evaluator(path: Path | str) -> GgufInfo:
    """The header of a cross-encoder with rank pooling.

    Raises ModelNotFound, ModelFileError (also for another kind of model).
    """
    info = _require_whole(path)
    if not info.evaluator:
        kind = "a text generator" if info.generator else _kind(info)
        raise ModelFileError(
            f"{info.path.name} is no evaluator but {kind}.",
            hint="Give a GGUF of a reranker (pooling type rank) here.",
        )
    return info


def checked_role(path: Path | str) -> Role:
    """The role of a file that is sound for it. Raises ModelNotFound, ModelFileError."""
    info = read_metadata(path)
    if info.adapter:
        require_adapter(path)
        return Role.ADAPTER
    if info.evaluator:
        require_evaluator(path)
        return Role.EVALUATOR
    require_generator(path)
    return Role.LANGUAGE


def _kind(info: GgufInfo) -> str:
    """The kind of a file that is neither a text generator nor an evaluator, in words."""
    if (kind := info.value("general.type", "model")) != "model":
        return f"a file of type {kind}"
    return f"an encoder or embedding model ({info.architecture}, pooling {info.pooling or 'none'})"


def _require_whole(path: Path | str) -> GgufInfo:
    """The header of a model whose files are all whole. Raises ModelNotFound, ModelFileError."""
    info = read_metadata(path)
    parts = int(info.number("split.count", 1))
    for part in parts_of(info.path, parts):
        read_metadata(part)
    if not info.parameters:
        raise ModelFileError(
            f"{info.path.name} holds no weights.", hint="Give a whole model, not a vocabulary."
        )
    return info
