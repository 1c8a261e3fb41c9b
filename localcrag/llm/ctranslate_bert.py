"""Converts an evaluator that is a plain BERT from GGUF for CTranslate2 (:mod:`localcrag.bert_network`), once.

CTranslate2 judges pairs on a CPU some three times as fast as llama.cpp does. The network is a BERT with the
pooler of a cross-encoder; its classifier, one row of weights, is kept beside it. The result lies in the cache
under the fingerprint of its source; deleting it is harmless.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.bert_network import weight_names, write_network
from localcrag.llm.gguf import GgufInfo, fingerprint
from localcrag.made_once import made_once

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

CLASSIFIER = "classifier.npy"
"""The file with the classifier beside the network: its weights, and behind them its bias."""
_OUTPUT_WEIGHT, _OUTPUT_BIAS = "cls.output.weight", "cls.output.bias"
_FORMAT_VERSION = 1
"""Counts up if what is written changes, so that what was made before is not used."""


def is_plain_bert(info: GgufInfo) -> bool:
    """Whether an evaluator has just the weights of BERT with a pooler and a classifier of one output."""
    sizes = {tensor.name: tensor.dimensions for tensor in info.tensors}
    layers = _layers(info)
    return (
        info.architecture == "bert"
        and info.evaluator
        and layers > 0
        and sizes.keys() == weight_names(layers, pooler=True) | {_OUTPUT_WEIGHT, _OUTPUT_BIAS}
        and sizes[_OUTPUT_BIAS] == (1,)
    )


def as_arrays(info: GgufInfo) -> dict[str, Array]:
    """The tensors of a file by their names, in the shapes that NumPy has for them.

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


def converted(info: GgufInfo, cache: Path) -> Path:
    """The folder of the converted evaluator, for which :func:`is_plain_bert` holds; made on first use.

    Raises ModelFileError for a file that cannot be read, OSError if the folder cannot be written.
    """
    target = cache / f"{fingerprint(info.path)}-{_FORMAT_VERSION}"
    return made_once(target, lambda folder: _convert(info, folder))


def _layers(info: GgufInfo) -> int:
    return int(info.number("bert.block_count", 0))


def _convert(info: GgufInfo, folder: Path) -> None:
    write_cross_encoder(info, as_arrays(info), folder)


def write_cross_encoder(
    info: GgufInfo, weights: Mapping[str, Array], folder: Path, *, words: Iterable[Array] | None = None
) -> None:
    """Write the network and the classifier of an evaluator. Raises OSError.

    Args:
        info: the header of its file, which says its shape.
        weights: all its weights.
        folder: the folder, which exists.
        words: the vectors of the vocabulary, some rows at a time; None if they are among the ``weights``.
    """
    import numpy as np

    write_network(
        folder,
        weights,
        words=words,
        layers=_layers(info),
        heads=int(info.number("bert.attention.head_count", 1)),
        epsilon=info.number("bert.attention.layer_norm_epsilon", 1e-12),
    )
    np.save(folder / CLASSIFIER, np.append(weights[_OUTPUT_WEIGHT].reshape(-1), weights[_OUTPUT_BIAS]))
