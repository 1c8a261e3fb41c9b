"""Models of real size with random weights: the tokenizer, template and layers of Qwen3.

What a query costs depends on the shape of a model and on its tokenizer, not on what it knows. So
the cost can be measured without a download: each file has the size of the model it stands for, is
written once, and is kept.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from gguf import GGMLQuantizationType

from tests.shape_models import SHAPES, Shape, Size, made

Q4_0 = GGMLQuantizationType.Q4_0
_QWEN3 = replace(SHAPES["qwen3"], name="mini-qwen3", context=8192)
MODELS: dict[str, Shape] = {
    "qwen3": _QWEN3,
    "0.6b": replace(
        _QWEN3, name="0.6b", size=Size(28, 1024, 3072, heads=16, kv_heads=8, head=128, weights=Q4_0)
    ),
    "1.7b": replace(
        _QWEN3, name="1.7b", size=Size(28, 2048, 6144, heads=16, kv_heads=8, head=128, weights=Q4_0)
    ),
}


def model(name: str, cache: Path) -> Path:
    """The GGUF of "0.6b" or "1.7b" (0.4 and 1.1 GB), or "qwen3" (small), in the folder ``cache/shapes``.

    Raises NoVocabulariesError where the source archive of llama-cpp-python cannot be had: pip keeps
    it from the installation, otherwise a package index is needed once.
    """
    return made(MODELS[name], cache / "shapes")
