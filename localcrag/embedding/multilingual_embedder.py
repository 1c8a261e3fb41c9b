"""Sentence embeddings of multilingual-e5-small, for a knowledge base in other languages.

It reads some hundred languages into one space, so that a question in one finds a passage in another. It was
trained with "query: " and "passage: " before each text. It is computed by CTranslate2 in 8 bits
(:mod:`localcrag.bert_network`), which embeds four times as many passages a second as llama.cpp did; the
cosine of a vector to llama.cpp's was 0.999 and more for 96 passages.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from localcrag._platform import cores
from localcrag.bert_network import BertNetwork
from localcrag.e5_conversion import TOKENIZER, converted
from localcrag.embedding.ctranslate_encoder import unit
from localcrag.made_once import read_or_remade
from localcrag.sentence_pieces import SentencePieces

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

MODEL_NAME = "multilingual-e5-small-q4"
DIMENSION = 384
WINDOW_TOKENS = 512
"""The most tokens of a text; the rest of a longer one is not read."""
_QUERY, _PASSAGE = "query: ", "passage: "
_FIRST, _LAST = 0, 2
"""The tokens before and after each text."""


class MultilingualEmbedder:
    """Embeds texts with multilingual-e5-small; its files are made and loaded on first use.

    Args:
        cache: the folder for the files that are made of the installed package, ``cache/models``.
        threads: the texts that are computed at a time; None for the processors of this process.
    """

    name = MODEL_NAME
    dimension = DIMENSION

    def __init__(self, cache: Path, *, threads: int | None = None) -> None:
        self._cache, self._threads = cache, threads
        self._lock = threading.RLock()
        self._resident: _LoadedEmbedder | None = None

    @cached_property
    def folder(self) -> Path:
        """The folder of the model's files. Raises ModelNotInstalled, ModelFileError, ModelError."""
        return converted(self._cache)

    def model_files(self) -> list[Path]:
        """The files of the model's folder. Raises ModelNotInstalled, ModelFileError, ModelError."""
        return list(self.folder.iterdir())

    def tokenizer_file(self) -> Path:
        """The path of the ``tokenizer.json``. Raises ModelNotInstalled, ModelFileError, ModelError."""
        return self.folder / TOKENIZER

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of passages, shape (len(texts), dimension), float32.

        Raises ModelNotInstalled, ModelFileError, ModelError.
        """
        return self._encode([_PASSAGE + text for text in texts])

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of questions, shape (len(texts), dimension), float32.

        Raises ModelNotInstalled, ModelFileError, ModelError.
        """
        return self._encode([_QUERY + text for text in texts])

    def warm(self) -> None:
        """Load the model; may be called from any thread. Raises as :meth:`encode` does."""
        self._loaded()

    def close(self) -> None:
        """Free the model's memory; the next use loads it again."""
        with self._lock:
            loaded, self._resident = self._resident, None
            if loaded:
                loaded.network.close()

    def _encode(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors of texts with their prefixes."""
        import numpy as np

        if not texts:
            return np.empty((0, DIMENSION), np.float32)
        loaded = self._loaded()
        framed = [[_FIRST, *ids[: WINDOW_TOKENS - 2], _LAST] for ids in loaded.pieces.ids(texts)]
        return np.stack(loaded.network.each(framed, _mean))

    def _loaded(self) -> _LoadedEmbedder:
        """The loaded model; one that is damaged is made again."""
        with self._lock:
            if self._resident is None:
                self._resident = read_or_remade(
                    lambda: converted(self._cache), self._read, damaged=(RuntimeError, OSError)
                )
            return self._resident

    def _read(self, folder: Path) -> _LoadedEmbedder:
        return _LoadedEmbedder(BertNetwork(folder, self._threads or cores()), SentencePieces(folder))


class _LoadedEmbedder(NamedTuple):
    """A loaded embedding model."""

    network: BertNetwork
    pieces: SentencePieces


def _mean(output: Any) -> Vectors:
    """The unit vector of one text: the mean of its tokens, scaled."""
    import numpy as np

    return unit(np.asarray(output.last_hidden_state)[0].mean(axis=0))
