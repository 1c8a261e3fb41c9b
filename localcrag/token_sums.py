"""Sums of token vectors: the vector of a text, computed without a network.

:mod:`localcrag.embedding.static_embedder` makes the token vectors, and embeds with them. The processes that
read documents do so too: then several work at once, and the words of a text are looked up in one cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    from localcrag.word_cache import WordCache

    Vectors = npt.NDArray[np.float32]
    Ids = npt.NDArray[np.int32]
    Ends = npt.NDArray[np.int64]

TOKEN_VECTORS = "vectors"
"""The name of the token vectors in their file, an array of shape (tokens, dimension)."""
MAX_SUMMED_TEXTS = 1024
"""The texts whose vectors are computed at once."""


class TokenSums:
    """Unit vectors of texts, which are sums of the vectors of their tokens; for one thread at a time.

    Args:
        file: the token vectors, in the safetensors format.
        tokenizer: gives their rows; without truncation and padding.
        words: the cache of this tokenizer, None if it does not tokenize word by word.
    """

    def __init__(self, file: Path, tokenizer: Tokenizer, words: WordCache | None) -> None:
        import numpy as np
        from safetensors.numpy import load_file

        self._vectors = load_file(file)[TOKEN_VECTORS].astype(np.float32)
        self._tokenizer, self._words = tokenizer, words
        unknown = getattr(tokenizer.model, "unk_token", None)
        if unknown is not None and (row := tokenizer.token_to_id(unknown)) is not None:
            self._vectors[row] = 0.0  # a token that stands for any word says nothing

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension), float32.

        A text without any token that the model knows has the vector of the first component alone.
        """
        import numpy as np

        found = np.empty((len(texts), self._vectors.shape[1]), np.float32)
        for start in range(0, len(texts), MAX_SUMMED_TEXTS):
            part = slice(start, start + MAX_SUMMED_TEXTS)
            found[part] = self._sums(texts[part])
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        found[lengths[:, 0] == 0, 0] = 1.0
        lengths[lengths == 0] = 1.0
        found /= lengths
        return found

    def _sums(self, texts: Sequence[str]) -> Vectors:
        """The sum of the vectors of each text's tokens, shape (len(texts), dimension), float32."""
        import numpy as np

        rows, ends = self._tokens(texts)
        found = np.empty((len(texts), self._vectors.shape[1]), np.float32)
        start = 0
        for sum_, end in zip(found, ends.tolist(), strict=True):
            np.add.reduce(self._vectors.take(rows[start:end], axis=0), axis=0, out=sum_)
            start = end
        return found

    def _tokens(self, texts: Sequence[str]) -> tuple[Ids, Ends]:
        """The ids of the tokens of all texts, one after the other, and the place at which each text ends."""
        import numpy as np

        if self._words is not None:
            return self._words.ids(texts)
        encodings = self._tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)
        ids = [encoding.ids for encoding in encodings]
        flat = np.fromiter(chain.from_iterable(ids), np.int32)
        return flat, np.cumsum([len(item) for item in ids])
