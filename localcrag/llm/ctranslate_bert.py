"""Converts an evaluator that is a plain BERT from GGUF to the format of CTranslate2, once.

CTranslate2 judges pairs on a CPU some three times as fast as llama.cpp does. The network is that of Devlin et
al. (arXiv 1810.04805) with the pooler of a cross-encoder; its classifier, one row of weights, is kept beside
it. Matrices are in 8 bits with a scale for each row, and what is multiplied with them is quantised token by
token, so that a pair's number does not depend on the pairs beside it. The result lies in the cache under the
fingerprint of its source; deleting it is harmless.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localcrag.llm.gguf import GgufInfo, fingerprint
from localcrag.made_once import made_once

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

CLASSIFIER = "classifier.npy"
"""The file with the classifier beside the network: its weights, and behind them its bias."""
INTEGERS = "int8"
"""CTranslate2's name of the type that matrices are kept and multiplied in."""
_LINEAR = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down")
_NORMS = ("attn_output_norm", "layer_output_norm")
_WORDS, _POSITIONS, _KINDS = _EMBEDDINGS = (
    "token_embd.weight",
    "position_embd.weight",
    "token_types.weight",
)
_EMBEDDING_NORM, _POOLER, _OUTPUT = "token_embd_norm", "cls", "cls.output"
_FORMAT_VERSION = 1
"""Counts up if what is written changes, so that what was made before is not used."""


def is_plain_bert(info: GgufInfo) -> bool:
    """Whether an evaluator has just the weights of BERT with a pooler and a classifier of one output."""
    sizes = {tensor.name: tensor.dimensions for tensor in info.tensors}
    whole = [f"blk.{layer}.{name}" for layer in range(_layers(info)) for name in (*_LINEAR, *_NORMS)]
    parts = (*whole, _EMBEDDING_NORM, _POOLER, _OUTPUT)
    expected = {f"{name}.{kind}" for name in parts for kind in ("weight", "bias")}
    return (
        info.architecture == "bert"
        and info.evaluator
        and bool(whole)
        and sizes.keys() == expected | set(_EMBEDDINGS)
        and sizes[f"{_OUTPUT}.bias"] == (1,)
    )


def converted(info: GgufInfo, cache: Path) -> Path:
    """The folder of the converted evaluator, for which :func:`is_plain_bert` holds; made on first use.

    Raises ModelFileError for a file that cannot be read, OSError if the folder cannot be written.
    """
    target = cache / f"{fingerprint(info.path)}-{_FORMAT_VERSION}"
    return made_once(target, lambda folder: _convert(info, folder))


def _layers(info: GgufInfo) -> int:
    return int(info.number("bert.block_count", 0))


def _convert(info: GgufInfo, folder: Path) -> None:
    """Write the network and the classifier. Raises OSError."""
    import numpy as np

    weights = _weights(info)
    heads = int(info.number("bert.attention.head_count", 1))
    network = _network(weights, _layers(info), heads)
    network.config.layer_norm_epsilon = info.number("bert.attention.layer_norm_epsilon", 1e-12)
    network.validate()
    network.optimize(quantization=INTEGERS)
    network.save(str(folder))
    np.save(
        folder / CLASSIFIER, np.append(weights[f"{_OUTPUT}.weight"].reshape(-1), weights[f"{_OUTPUT}.bias"])
    )


def _weights(info: GgufInfo) -> dict[str, Array]:
    """The tensors of the file by their names, in the shapes that NumPy has for them.

    The reader of the package ``gguf`` would take two seconds for the vocabulary.
    """
    import numpy as np
    from gguf import GGMLQuantizationType, dequantize
    from gguf.quants import quant_shape_to_byte_shape

    file = np.memmap(info.path, np.uint8, "r")
    weights: dict[str, Array] = {}
    for tensor in info.tensors:
        shape, kind = tensor.dimensions[::-1], GGMLQuantizationType(tensor.kind)
        in_bytes = quant_shape_to_byte_shape(shape, kind)
        stored = file[tensor.start : tensor.start + math.prod(in_bytes)].reshape(in_bytes)
        weights[tensor.name] = dequantize(stored, kind).reshape(shape).astype(np.float32)
    return weights


def _network(weights: Mapping[str, Array], layers: int, heads: int) -> Any:
    """CTranslate2's description of the network, with its weights."""
    import numpy as np
    from ctranslate2.specs import common_spec
    from ctranslate2.specs.transformer_spec import TransformerEncoderModelSpec, TransformerEncoderSpec

    encoder: Any = TransformerEncoderSpec(
        layers,
        heads,
        pre_norm=False,
        activation=common_spec.Activation.GELU,
        layernorm_embedding=True,
        num_source_embeddings=2,
        embeddings_merge=common_spec.EmbeddingsMerge.ADD,
    )
    network = TransformerEncoderModelSpec(encoder, pooling_layer=True)
    words, kinds = weights[_WORDS], np.atleast_2d(weights[_KINDS])
    encoder.scale_embeddings = False
    encoder.embeddings[0].weight, encoder.embeddings[1].weight = words, kinds
    encoder.position_encodings.encodings = weights[_POSITIONS]
    _set_norm(encoder.layernorm_embedding, weights, _EMBEDDING_NORM)
    _set_linear(network.pooler_dense, weights, _POOLER)
    for number, layer in enumerate(encoder.layer):
        block = f"blk.{number}."
        attention = layer.self_attention
        _set_linear(attention.linear[0], weights, *(block + name for name in _LINEAR[:3]))
        _set_linear(attention.linear[1], weights, block + "attn_output")
        _set_norm(attention.layer_norm, weights, block + "attn_output_norm")
        _set_linear(layer.ffn.linear_0, weights, block + "ffn_up")
        _set_linear(layer.ffn.linear_1, weights, block + "ffn_down")
        _set_norm(layer.ffn.layer_norm, weights, block + "layer_output_norm")
    network.register_vocabulary([str(number) for number in range(len(words))])  # only ids are ever given
    network.config.unk_token = "0"
    return network


def _set_linear(part: Any, weights: Mapping[str, Array], *names: str) -> None:
    """The weights of one linear layer, or of several that are computed as one."""
    import numpy as np

    matrices = [weights[f"{name}.weight"] for name in names]
    part.weight = np.concatenate([matrix.reshape(-1, matrix.shape[-1]) for matrix in matrices])
    part.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def _set_norm(part: Any, weights: Mapping[str, Array], name: str) -> None:
    part.gamma, part.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]
