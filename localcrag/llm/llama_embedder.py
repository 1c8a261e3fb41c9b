"""Sentence embeddings by llama.cpp: the multilingual model, for a knowledge base in other languages.

It reads some hundred languages into one space, so that a question in one finds a passage in another. It was
trained with "query: " and "passage: " before each text.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from localcrag.llm.e5_conversion import E5Files, converted

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from tokenizers import Tokenizer

    from localcrag.llm.llama_backend import Model
    from localcrag.llm.llama_context import Context

    Vectors = npt.NDArray[np.float32]

MODEL_NAME = "multilingual-e5-small-q4"
DIMENSION = 384
WINDOW_TOKENS = 512
"""The most tokens of a text; the rest of a longer one is not read."""
MAX_STEP_TEXTS = 16
"""The most texts that are computed at once; together they have no more tokens than the window."""
_QUERY, _PASSAGE = "query: ", "passage: "
_FIRST, _LAST = 0, 2
"""The tokens before and after each text."""


class LlamaEmbedder:
    """Embeds texts with multilingual-e5-small; its files are made and loaded on first use.

    Args:
        folder: the folder for the files that are made of the installed package, ``cache/models``.
        threads: the threads of a computation; None for the default.
    """

    name = MODEL_NAME
    dimension = DIMENSION

    def __init__(self, folder: Path, *, threads: int | None = None) -> None:
        self._folder, self._threads = folder, threads
        self._lock = threading.RLock()
        self._resident: _LoadedEmbedder | None = None

    @cached_property
    def files(self) -> E5Files:
        """The model's files. Raises ModelNotInstalled, ModelFileError, ModelError."""
        return converted(self._folder)

    def model_files(self) -> list[Path]:
        """The files that the model is loaded from. Raises ModelNotInstalled, ModelFileError, ModelError."""
        return [self.files.weights, self.files.tokenizer]

    def tokenizer_file(self) -> Path:
        """The path of the ``tokenizer.json``. Raises ModelNotInstalled, ModelFileError, ModelError."""
        return self.files.tokenizer

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
        with self._lock:
            self._loaded()

    def close(self) -> None:
        """Free the model's memory; the next use loads it again."""
        with self._lock:
            loaded, self._resident = self._resident, None
            if loaded:
                loaded.context.close()
                loaded.model.close()

    def _encode(self, texts: Sequence[str]) -> Vectors:
        """The unit vectors of texts with their prefixes."""
        import numpy as np

        from localcrag.llm.llama_context import Span

        vectors = np.empty((len(texts), DIMENSION), np.float32)
        if not texts:
            return vectors
        with self._lock:
            loaded = self._loaded()
            tokens = [self._tokens(loaded.tokenizer, text) for text in texts]
            for step in _steps([len(ids) for ids in tokens]):
                spans = [Span(at, 0, tokens[number]) for at, number in enumerate(step)]
                vectors[step] = loaded.context.embed(spans, DIMENSION)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit

    def _tokens(self, tokenizer: Tokenizer, text: str) -> list[int]:
        """The token ids of a text, cut at the window."""
        ids = tokenizer.encode(text.strip(), add_special_tokens=False).ids
        return [_FIRST, *ids[: WINDOW_TOKENS - 2], _LAST]

    def _loaded(self) -> _LoadedEmbedder:
        """The loaded model."""
        if self._resident is None:
            from tokenizers import Tokenizer

            from localcrag.llm.llama_backend import Model, default_threads
            from localcrag.llm.llama_context import Context, ContextSize

            model = Model(self.files.weights)
            room = ContextSize(
                cells=WINDOW_TOKENS,
                sequences=MAX_STEP_TEXTS,
                batch=WINDOW_TOKENS,
                step=WINDOW_TOKENS,
                threads=self._threads or default_threads(),
                outputs=WINDOW_TOKENS,
                mean=True,
            )
            tokenizer = Tokenizer.from_file(str(self.files.tokenizer))
            self._resident = _LoadedEmbedder(model, Context(model, room), tokenizer)
        return self._resident


class _LoadedEmbedder(NamedTuple):
    """A loaded embedding model."""

    model: Model
    context: Context
    tokenizer: Tokenizer


def _steps(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The numbers of the texts that are computed at once, those of similar length together."""
    step: list[int] = []
    used = 0
    for number in sorted(range(len(lengths)), key=lambda number: lengths[number]):
        if step and (len(step) == MAX_STEP_TEXTS or used + lengths[number] > WINDOW_TOKENS):
            yield step
            step, used = [], 0
        step.append(number)
        used += lengths[number]
    if step:
        yield step
