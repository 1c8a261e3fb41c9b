"""Converts an evaluator that is a plain BERT from GGUF to an ONNX graph in integers, once, for ONNX Runtime.

ONNX Runtime judges pairs on a CPU some three times as fast as llama.cpp does. The graph is that of Devlin et
al. (arXiv 1810.04805) with the pooler and the classifier of a cross-encoder, in the fused operators that ONNX
Runtime has for it. Matrices are kept in 7 bits with a scale for each column, so that sums of products of
bytes fit 16 bits on processors without instructions for them; what is multiplied with them is quantised as
it comes. The result lies in the cache under the fingerprint of its source; deleting it is harmless.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localcrag.errors import ModelError
from localcrag.llm.gguf import GgufInfo, fingerprint

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

IDS, POSITIONS, NUMBER = "ids", "positions", "number"
"""The inputs, both of shape (1, tokens), and the output of shape (1, 1)."""
_FUSED = "com.microsoft"
_OPSET, _FUSED_OPSET, _IR_VERSION = 17, 1, 9
_LARGEST_WEIGHT = 63
"""The largest weight in 7 bits."""
_LINEAR = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down")
_NORMS = ("attn_output_norm", "layer_output_norm")
_EMBEDDINGS = ("token_embd.weight", "position_embd.weight", "token_types.weight")
_HEAD = ("cls", "cls.output")
_EMBEDDING_NORM = "token_embd_norm"
_FILE_VERSION = 1
"""Counts up if the graph changes, so that one made before is not used."""


def is_plain_bert(info: GgufInfo) -> bool:
    """Whether an evaluator has just the weights of BERT with a pooler and a classifier of one output."""
    sizes = {tensor.name: tensor.dimensions for tensor in info.tensors}
    whole = [f"blk.{layer}.{name}" for layer in range(_layers(info)) for name in (*_LINEAR, *_NORMS)]
    expected = {f"{name}.{kind}" for name in (*whole, _EMBEDDING_NORM, *_HEAD) for kind in ("weight", "bias")}
    return (
        info.architecture == "bert"
        and info.evaluator
        and bool(whole)
        and sizes.keys() == expected | set(_EMBEDDINGS)
        and sizes["cls.output.bias"] == (1,)
    )


def converted(info: GgufInfo, folder: Path) -> Path:
    """The graph of an evaluator for which :func:`is_plain_bert` holds, made in ``folder`` on first use.

    It is written beside its place and renamed, and of several processes only one makes it.

    Raises ModelFileError for a file that cannot be read, ModelError if the graph cannot be written.
    """
    target = folder / f"{fingerprint(info.path)}-{_FILE_VERSION}.onnx"
    if target.is_file():
        return target
    from filelock import FileLock

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(".lock")):
            if not target.is_file():
                part = target.with_suffix(".part")
                try:
                    part.write_bytes(_graph(info))
                    part.replace(target)
                finally:
                    with suppress(OSError):
                        part.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(
            f"{info.name} cannot be converted into {folder}: {error.strerror}",
            hint="make room, or mend its permissions, and try again",
        ) from error
    return target


def _layers(info: GgufInfo) -> int:
    return int(info.number("bert.block_count", 0))


def _graph(info: GgufInfo) -> bytes:
    """The bytes of the ONNX model."""
    from gguf import GGUFReader, dequantize

    weights: dict[str, Array] = {}
    for tensor in GGUFReader(info.path).tensors:
        shape = tuple(int(size) for size in reversed(tensor.shape))
        weights[tensor.name] = dequantize(tensor.data, tensor.tensor_type).reshape(shape)
    heads = int(info.number("bert.attention.head_count", 1))
    epsilon = info.number("bert.attention.layer_norm_epsilon", 1e-12)
    return _BertGraph(weights, heads, epsilon).model(_layers(info))


class _BertGraph:
    """Builds the graph node by node; a node has the name of its output."""

    def __init__(self, weights: Mapping[str, Array], heads: int, epsilon: float) -> None:
        self._weights, self._heads, self._epsilon = weights, heads, epsilon
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def model(self, layers: int) -> bytes:
        """The bytes of the model with so many layers."""
        from onnx import TensorProto, helper

        x = self._embedded()
        for layer in range(layers):
            x = self._layer(x, f"blk.{layer}.")
        self._classified(x)
        size = (1, "tokens")
        graph = helper.make_graph(
            self._nodes,
            "evaluator",
            [helper.make_tensor_value_info(name, TensorProto.INT64, size) for name in (IDS, POSITIONS)],
            [helper.make_tensor_value_info(NUMBER, TensorProto.FLOAT, (1, 1))],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid(_FUSED, _FUSED_OPSET)]
        made: Any = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION)
        return bytes(made.SerializeToString())

    def _embedded(self) -> str:
        """The normalised sum of the embeddings of words, positions and the one kind of token."""
        import numpy as np

        words, positions, kinds = (self._weights[name] for name in _EMBEDDINGS)
        self._constant("words", words.astype(np.float16))
        self._constant("places", positions)
        self._constant("kind", kinds[0])
        self._node("Gather", ["words", IDS], "half")
        self._node("Cast", ["half"], "word", to=1)
        self._node("Gather", ["places", POSITIONS], "place")
        self._node("Add", ["word", "place"], "placed")
        self._node("Add", ["placed", "kind"], "embedded")
        scale, shift = self._of(_EMBEDDING_NORM)
        inputs = ["embedded", scale, shift]
        return self._node("LayerNormalization", inputs, "x", axis=-1, epsilon=self._epsilon)

    def _layer(self, x: str, name: str) -> str:
        """One layer: attention and the feed-forward part, each added to its input and normalised."""
        heads = [self._linear(x, name + part) for part in ("attn_q", "attn_k", "attn_v")]
        mixed = self._fused("MultiHeadAttention", heads, name + "mixed", num_heads=self._heads)
        x = self._added(x, self._linear(mixed, name + "attn_output"), name + "attn_output_norm")
        inner = self._fused("Gelu", [self._linear(x, name + "ffn_up")], name + "gelu")
        return self._added(x, self._linear(inner, name + "ffn_down"), name + "layer_output_norm")

    def _added(self, x: str, change: str, norm: str) -> str:
        inputs = [x, change, *self._of(norm)]
        return self._fused("SkipLayerNormalization", inputs, norm + ".out", epsilon=self._epsilon)

    def _linear(self, x: str, name: str) -> str:
        """A linear layer in integers."""
        import numpy as np

        matrix = self._weights[name + ".weight"].T
        scale = np.maximum(np.abs(matrix).max(axis=0) / _LARGEST_WEIGHT, np.finfo(np.float32).tiny)
        self._constant(name + ".integers", np.round(matrix / scale).astype(np.int8))
        self._constant(name + ".scale", scale.astype(np.float32))
        self._constant(name + ".zero", np.zeros(len(scale), np.int8))
        self._constant(name + ".bias", self._weights[name + ".bias"])
        inputs = [x, *(f"{name}.{part}" for part in ("integers", "scale", "zero", "bias"))]
        return self._fused("DynamicQuantizeMatMul", inputs, name + ".out")

    def _classified(self, x: str) -> None:
        """The number of the first token's pooled state; these two small layers are in floating point."""
        import numpy as np

        self._constant("first", np.array(0, np.int64))
        state = self._node("Gather", [x, "first"], "state", axis=1)
        for name, result in zip(_HEAD, ("dense", NUMBER), strict=True):
            matrix = self._weights[name + ".weight"]
            self._constant(name + ".matrix", matrix.reshape(-1, matrix.shape[-1]))
            self._constant(name + ".bias", self._weights[name + ".bias"])
            inputs = [state, name + ".matrix", name + ".bias"]
            dense = self._node("Gemm", inputs, result, transB=1)
            if result != NUMBER:
                state = self._node("Tanh", [dense], "pooled")

    def _of(self, norm: str) -> tuple[str, str]:
        """The names of the scale and the shift of a normalisation."""
        for kind in ("weight", "bias"):
            self._constant(f"{norm}.{kind}", self._weights[f"{norm}.{kind}"])
        return f"{norm}.weight", f"{norm}.bias"

    def _constant(self, name: str, value: npt.NDArray[Any]) -> None:
        from onnx import numpy_helper

        self._constants[name] = numpy_helper.from_array(value, name)

    def _fused(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        return self._node(operator, inputs, output, domain=_FUSED, **attributes)

    def _node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        from onnx import helper

        self._nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        return output
