"""A BERT sentence encoder in NumPy, written out step by step: what one in C is held against.

The model is that of Devlin et al. (arXiv 1810.04805), the pooling the mean over the tokens of Reimers
and Gurevych (arXiv 1908.10084), as the files of all-MiniLM-L6-v2 describe it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from localcrag.errors import ModelFileError

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

# The error function at equal distances, to interpolate between.
_ERF_POINTS = np.linspace(-6.0, 6.0, 32_769)
_ERF_VALUES = np.array([math.erf(x) for x in _ERF_POINTS])


class BertEncoder:
    """Encodes texts with the BERT model in ``folder``, which is read whole when this is made.

    Raises ModelFileError if the weights cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        from safetensors import SafetensorError, safe_open
        from tokenizers import Tokenizer

        config = _read_json(folder / "config.json")
        self._heads: int = config["num_attention_heads"]
        self._epsilon: float = config["layer_norm_eps"]
        self._layers = [f"encoder.layer.{i}." for i in range(config["num_hidden_layers"])]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        limit = _read_optional_json(folder / "sentence_bert_config.json").get("max_seq_length")
        self._tokenizer.enable_truncation(limit or config["max_position_embeddings"])
        try:
            with safe_open(folder / "model.safetensors", framework="numpy") as file:
                self._weights = {name: _aligned(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, OSError) as error:
            raise ModelFileError(
                f"cannot read {folder / 'model.safetensors'}: {error}", hint="bring the whole folder again"
            ) from error

    def encode(self, texts: Sequence[str]) -> Array:
        """Encode at least one text; returns unit vectors of shape (len(texts), dimension), float32."""
        return np.stack([self._embed(text) for text in texts])

    def _embed(self, text: str) -> Array:
        """The unit vector of one text, shape (dimension,)."""
        ids = self._tokenizer.encode(text.strip()).ids
        x = (
            self._weights["embeddings.word_embeddings.weight"][ids]
            + self._weights["embeddings.position_embeddings.weight"][: len(ids)]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        x = self._normalize(x, "embeddings.LayerNorm")
        for layer in self._layers:
            attended = self._attend(x, layer + "attention.")
            x = self._normalize(x + attended, layer + "attention.output.LayerNorm")
            inner = _gelu(self._linear(x, layer + "intermediate.dense"))
            x = self._normalize(x + self._linear(inner, layer + "output.dense"), layer + "output.LayerNorm")
        mean = x.mean(axis=0)
        unit: Array = (mean / max(float(np.linalg.norm(mean)), 1e-12)).astype(np.float32)
        return unit

    def _attend(self, x: Array, name: str) -> Array:
        """Multi-head self-attention over one text, shape (tokens, dimension); without padding, no mask."""
        query, key, value = (
            self._linear(x, f"{name}self.{part}").reshape(len(x), self._heads, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.float32(math.sqrt(query.shape[-1]))
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ value).transpose(1, 0, 2).reshape(len(x), -1)
        return self._linear(mixed, name + "output.dense")

    def _linear(self, x: Array, name: str) -> Array:
        """The linear layer of that name."""
        y: Array = x @ self._weights[name + ".weight"].T + self._weights[name + ".bias"]
        return y

    def _normalize(self, x: Array, name: str) -> Array:
        """The layer normalisation of that name."""
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        y: Array = centred / scale * self._weights[name + ".weight"] + self._weights[name + ".bias"]
        return y


def _aligned(tensor: Array) -> Array:
    """The tensor in aligned memory for BLAS; without it NumPy would multiply element by element."""
    return np.require(tensor, np.float32, ["ALIGNED", "C_CONTIGUOUS"])


def _gelu(x: Array) -> Array:
    """The exact GELU, with an error function that is interpolated to within 2e-8."""
    erf = np.interp(x * np.float32(math.sqrt(0.5)), _ERF_POINTS, _ERF_VALUES).astype(np.float32)
    y: Array = x * np.float32(0.5) * (np.float32(1) + erf)
    return y


def _read_json(path: Path) -> Any:
    """The content of a JSON file. Raises OSError, ValueError."""
    return json.loads(path.read_text("utf-8"))


def _read_optional_json(path: Path) -> Any:
    """The content of a JSON file, {} if there is none."""
    return _read_json(path) if path.is_file() else {}
