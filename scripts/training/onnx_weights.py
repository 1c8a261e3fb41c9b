"""The weights of a BERT cross-encoder out of ONNX, also where they are stored in 8 bits.

Dynamic quantisation (`onnxruntime.quantization`) makes each product with a matrix a `MatMulInteger`, and
keeps the matrix as `W_quantized` with `W_scale` and `W_zero_point`; its name W is that of the product, a
number. Which one it is is told by the bias added to the product: that kept the name it had in PyTorch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .cross_encoder import CrossEncoder
from .evaluator_base import english_base
from .gguf_files import About, ShapeError, write_evaluator
from .groups import Vectors
from .pair_tokenizer import PairTokenizer

if TYPE_CHECKING:
    from onnx import GraphProto, NodeProto

_PRODUCTS = frozenset({"MatMul", "MatMulInteger"})
_QUANTIZED, _SCALE, _ZERO_POINT = "_quantized", "_scale", "_zero_point"
_LAYER = re.compile(r"bert\.encoder\.layer\.(\d+)\.")
_UNUSED = ("bert.embeddings.position_ids",)


def convert(path: Path, out: Path, base: tuple[str, str]) -> None:
    """Write an evaluator GGUF in float32, to train from, with the name and the address of its model.

    Raises ShapeError if the model is no BERT cross-encoder as wide as all-MiniLM-L6-v2.
    """
    weights = read_onnx(path)
    layers = 1 + max((int(number[1]) for name in weights if (number := _LAYER.match(name))), default=-1)
    known = replace(english_base(), layers=layers)
    model = CrossEncoder(known)
    own = {name: each.shape for name, each in model.weights().items()}
    if own != {name: each.shape for name, each in weights.items()}:
        raise ShapeError(f"{path.name} is no BERT cross-encoder as wide as {known.name}")
    about = About(out.stem, "A cross-encoder to train an evaluator from.", base=base)
    vocabulary = PairTokenizer(known.folder).vocabulary
    write_evaluator(out, weights, model.shape, vocabulary, about, "f32")


def read_onnx(path: Path) -> dict[str, Vectors]:
    """Every weight of the graph in float32 by its PyTorch name, matrices as PyTorch has them: (out, in).

    Raises ShapeError if a matrix has no bias that names it, or the file is no ONNX.
    """
    import onnx
    from google.protobuf.message import DecodeError
    from onnx.numpy_helper import to_array

    try:
        graph = onnx.load(path).graph
    except DecodeError as error:
        raise ShapeError(f"{path.name} is not ONNX") from error
    stored = {each.name: to_array(each) for each in graph.initializer}
    plain = {_plain_name(name): _dequantised(stored, name) for name in stored if _is_weight(name)}
    named = {name: weights for name, weights in plain.items() if name.startswith(("bert.", "classifier."))}
    for matrix, bias in _matrices(graph, plain):
        named[f"{bias.removesuffix('.bias')}.weight"] = np.ascontiguousarray(plain[matrix].T)
    return {name: weights for name, weights in named.items() if name not in _UNUSED}


def _is_weight(name: str) -> bool:
    return not name.endswith((_SCALE, _ZERO_POINT))


def _plain_name(name: str) -> str:
    return name.removesuffix(_QUANTIZED)


def _dequantised(stored: dict[str, Vectors], name: str) -> Vectors:
    if not name.endswith(_QUANTIZED):
        return stored[name].astype(np.float32)
    plain = _plain_name(name)
    shifted = stored[name].astype(np.float32) - stored[plain + _ZERO_POINT].astype(np.float32)
    weights: Vectors = shifted * stored[plain + _SCALE]
    return weights


def _matrices(graph: GraphProto, plain: dict[str, Vectors]) -> Iterator[tuple[str, str]]:
    """The names of each matrix of a product, and of the bias that is added to the product."""
    followers: dict[str, list[NodeProto]] = {}
    for node in graph.node:
        for name in node.input:
            followers.setdefault(name, []).append(node)
    for node in graph.node:
        matrix = next((name for name in map(_plain_name, node.input) if name in plain), "")
        if node.op_type in _PRODUCTS and matrix:
            yield matrix, _bias_after(node, followers, plain)


def _bias_after(node: NodeProto, followers: dict[str, list[NodeProto]], plain: dict[str, Vectors]) -> str:
    while node.op_type != "Add":
        after = followers.get(node.output[0], [])
        if len(after) != 1:
            raise ShapeError("the product with a matrix has no bias to name it by")
        node = after[0]
    bias = next((name for name in node.input if name in plain), "")
    if not bias.endswith(".bias"):
        raise ShapeError("the product with a matrix has no bias to name it by")
    return bias
