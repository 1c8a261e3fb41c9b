"""An embedder without a model: a text's vector counts the hashes of its words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
DIMENSION = 32


@dataclass(frozen=True)
class HashingEmbedder:
    """Texts that share words have similar vectors, and the same text always has the same one."""

    tokenizer: Path
    name: str = "hashed words"
    dimension: int = DIMENSION

    def tokenizer_file(self) -> Path:
        """The tokenizer with which documents are split."""
        return self.tokenizer

    def model_files(self) -> list[Path]:
        """It has no files."""
        return []

    def warm(self) -> None:
        """There is nothing to load."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors of texts, shape (texts, dimension)."""
        vectors = np.zeros((len(texts), self.dimension), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in re.findall(r"\w+", text.lower()) or [""]:
                vector[zlib.crc32(word.encode("utf-8", "surrogatepass")) % self.dimension] += 1.0
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(norms, 1e-9)
        return unit

    encode_questions = encode
