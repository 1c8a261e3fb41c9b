"""A BERT, computed by CTranslate2 in 8 bits: written once from named weights, and read.

The network is that of Devlin et al. (arXiv 1810.04805). Matrices are in 8 bits with a scale for each row, and
what is multiplied with them is quantised token by token. A text is computed by itself on one thread, several
texts at a time: no thread waits for another, and a number does not depend on the texts beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

T = TypeVar("T")
Number = TypeVar("Number", bound="np.generic")

_INTEGERS = "int8"
"""CTranslate2's name of the type that matrices are kept and multiplied in."""
_LARGEST_INTEGER = 127.0
ROWS_PER_PART = 8192
"""Rows of a matrix that are brought into 8 bits at a time."""
_LINEAR = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down")
_NORMS = ("attn_output_norm", "layer_output_norm")
_WORDS, _POSITIONS, _KINDS = _EMBEDDINGS = (
    "token_embd.weight",
    "position_embd.weight",
    "token_types.weight",
)
_EMBEDDING_NORM, _POOLER = "token_embd_norm", "cls"


def weight_names(layers: int, *, pooler: bool) -> set[str]:
    """The names of all weights of a BERT, as llama.cpp has them."""
    whole = [f"blk.{layer}.{name}" for layer in range(layers) for name in (*_LINEAR, *_NORMS)]
    parts = (*whole, _EMBEDDING_NORM, *([_POOLER] if pooler else []))
    return {f"{name}.{kind}" for name in parts for kind in ("weight", "bias")} | set(_EMBEDDINGS)


def write_network(
    folder: Path,
    weights: Mapping[str, Array],
    *,
    words: Iterable[Array] | None = None,
    layers: int,
    heads: int,
    epsilon: float,
) -> None:
    """Write a network into a folder. Raises OSError.

    Args:
        folder: the folder, which exists.
        weights: those of :func:`weight_names`, which are changed in place; with those of the pooler, the
            network has one.
        words: the vectors of the vocabulary, some rows at a time: those of a large one would take a gigabyte
            while they are brought into 8 bits. None if they are among the ``weights``.
        layers: the number of layers.
        heads: the number of attention heads.
        epsilon: the ε of the layer normalisation.
    """
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
    pooler = f"{_POOLER}.weight" in weights
    network: Any = TransformerEncoderModelSpec(encoder, pooling_layer=pooler)
    _set_weights(network, weights, pooler=pooler)
    vocabulary = encoder.embeddings[0]
    vocabulary.weight, vocabulary.weight_scale = _in_integers(words or parts_of(weights[_WORDS]))
    ids = range(len(vocabulary.weight))  # texts are given as ids, so that these are the tokens
    network.register_vocabulary(list(map(str, ids)))
    network.config.unk_token = "0"
    network.config.layer_norm_epsilon = epsilon
    network.validate()
    for layer in (*encoder.layer, encoder.embeddings[1], *([network.pooler_dense] if pooler else [])):
        layer.optimize(quantization=_INTEGERS)
    network.save(str(folder))


def parts_of(matrix: npt.NDArray[Number]) -> Iterator[npt.NDArray[Number]]:
    """The rows of a matrix, ``ROWS_PER_PART`` at a time."""
    for start in range(0, len(matrix), ROWS_PER_PART):
        yield matrix[start : start + ROWS_PER_PART]


def _in_integers(parts: Iterable[Array]) -> tuple[npt.NDArray[np.int8], Array]:
    """The rows in 8 bits, and what each was multiplied with, as CTranslate2 does it."""
    import numpy as np

    integers, scales = [], []
    for part in parts:
        peaks = np.abs(part).max(axis=1)
        peaks[peaks == 0] = _LARGEST_INTEGER
        scales.append(_LARGEST_INTEGER / peaks)
        integers.append(np.rint(part * scales[-1][:, None]).astype(np.int8))
    return np.concatenate(integers), np.concatenate(scales)


def _set_weights(network: Any, weights: Mapping[str, Array], *, pooler: bool) -> None:
    import numpy as np

    encoder = network.encoder
    encoder.scale_embeddings = False
    encoder.embeddings[1].weight = np.atleast_2d(weights[_KINDS])
    encoder.position_encodings.encodings = weights[_POSITIONS]
    _set_norm(encoder.layernorm_embedding, weights, _EMBEDDING_NORM)
    if pooler:
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


def _set_linear(part: Any, weights: Mapping[str, Array], *names: str) -> None:
    """The weights of one linear layer, or of several that are computed as one."""
    import numpy as np

    matrices = [weights[f"{name}.weight"] for name in names]
    part.weight = np.concatenate([matrix.reshape(-1, matrix.shape[-1]) for matrix in matrices])
    part.bias = np.concatenate([weights[f"{name}.bias"] for name in names])


def _set_norm(part: Any, weights: Mapping[str, Array], name: str) -> None:
    part.gamma, part.beta = weights[f"{name}.weight"], weights[f"{name}.bias"]


class BertNetwork:
    """A network that :func:`write_network` wrote.

    Args:
        folder: what was written; RuntimeError is raised if it is damaged.
        threads: the texts that are computed at a time.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        from ctranslate2 import Encoder  # type: ignore[attr-defined]

        self._encoder = Encoder(str(folder), compute_type=_INTEGERS, inter_threads=threads, intra_threads=1)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="bert") if threads > 1 else None

    def each(self, texts: Sequence[Sequence[int]], read: Callable[[Any], T]) -> list[T]:
        """What ``read`` makes of the output for each text (token ids), in order.

        The output is CTranslate2's for one text: ``last_hidden_state`` of shape (1, tokens, width), and with
        a pooler ``pooler_output`` of shape (1, width).
        """

        def computed(text: Sequence[int]) -> T:
            return read(self._encoder.forward_batch([list(text)]))

        if self._threads is None or len(texts) == 1:
            return list(map(computed, texts))
        order = sorted(range(len(texts)), key=lambda at: -len(texts[at]))  # the long ones are begun first
        running = {at: self._threads.submit(computed, texts[at]) for at in order}
        try:
            return [running[at].result() for at in range(len(texts))]
        finally:
            for future in running.values():
                future.cancel()

    def close(self) -> None:
        """End the threads and free the memory."""
        if self._threads:
            self._threads.shutdown(cancel_futures=True)
        del self._encoder
