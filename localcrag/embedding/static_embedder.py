"""Static embeddings: a text's vector is the sum of its tokens' vectors, without a network.

It embeds a hundred times as many passages a second as its teacher, the model that the token vectors were
distilled from, and finds worse by meaning alone. So it is for the first ingestion of a large corpus: words
and reranking make up for most of that, until the passages are embedded again with the teacher.

The token vectors are made of the teacher on first use, see :mod:`localcrag.embedding.distillation`. They lie
in ``cache/models`` of the home folder under the sha256 of the teacher's weights; deleting them is harmless.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from functools import cached_property
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.embedding.embedder import WEIGHTS_SHA256, SentenceTransformerEmbedder
from localcrag.errors import ModelError, ModelFileError
from localcrag.token_sums import TOKEN_VECTORS, TokenSums
from localcrag.types.passages import STATIC_MODEL_PREFIX
from localcrag.word_cache import WordCache, supports

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

MAX_COMPONENTS = 256
"""The components of a vector, unless the teacher's have fewer."""
_FORMAT = "1"
"""The version of the file of token vectors."""


class StaticEmbedder:
    """Embeds texts with token vectors that are distilled from a sentence-transformers model.

    Making one does no work; the token vectors are made, or read, on first use.

    Args:
        teacher: the model that they are distilled from.
        folder: the folder for the file of token vectors, ``cache/models``.
    """

    def __init__(self, teacher: SentenceTransformerEmbedder, folder: Path) -> None:
        self.teacher, self._folder = teacher, folder
        self._lock = threading.RLock()

    @cached_property
    def name(self) -> str:
        """The name that a knowledge base records. Raises ModelNotFound."""
        return STATIC_MODEL_PREFIX + self.teacher.name

    @cached_property
    def dimension(self) -> int:
        """The components of a vector. Raises ModelNotFound, ModelFileError."""
        return min(MAX_COMPONENTS, self.teacher.dimension)

    @cached_property
    def file(self) -> Path:
        """The file of the token vectors, which may not exist yet. Raises ModelNotFound, ModelFileError."""
        return self._folder / f"{self._teacher_sha256()}-static-{self.dimension}.safetensors"

    def model_files(self) -> list[Path]:
        """The teacher's files, and that of the token vectors if it is made. Raises ModelNotFound."""
        return [*self.teacher.model_files(), *([self.file] if self.file.is_file() else [])]

    def tokenizer_file(self) -> Path:
        """The path of the teacher's ``tokenizer.json``. Raises ModelNotFound if it has none."""
        return self.teacher.tokenizer_file()

    def prepare(self) -> Iterator[tuple[int, int]]:
        """Make the token vectors if there are none; yields how many tokens of how many are done.

        Of several processes only one makes them; the others wait for it. Raises ModelNotFound,
        ModelFileError, and ModelError if the file cannot be written.
        """
        from filelock import FileLock

        if _is_whole(self.file):
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.file.with_suffix(".lock")):
                if not _is_whole(self.file):
                    yield from self._distil()
        except OSError as error:
            raise ModelError(
                f"the token vectors of {self.name} cannot be written to {self._folder}: {error.strerror}",
                hint="make room, or mend its permissions, and try again",
            ) from error

    def warm(self) -> None:
        """Load the token vectors; may be called from any thread.

        Raises ModelNotFound, ModelFileError, ModelError.
        """
        with self._lock:
            _ = self._loaded

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension), float32.

        A text without any token that the model knows has the vector of the first component alone. Raises
        ModelNotFound, ModelFileError, ModelError.
        """
        with self._lock:
            return self._loaded.vectors(texts)

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """The same vectors as :meth:`encode` gives: a sum of tokens treats questions and passages alike."""
        return self.encode(texts)

    @cached_property
    def _loaded(self) -> TokenSums:
        """The token vectors in memory, made before if there are none."""
        for _ in self.prepare():
            pass
        from tokenizers import Tokenizer

        tokenizer: Tokenizer = Tokenizer.from_file(str(self.tokenizer_file()))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        return TokenSums(self.file, tokenizer, WordCache(tokenizer) if supports(tokenizer) else None)

    def _distil(self) -> Iterator[tuple[int, int]]:
        """Make the file of token vectors, beside its place; then it is renamed."""
        import numpy as np
        from safetensors.numpy import save_file

        from localcrag.embedding import distillation

        model = self.teacher.loaded()
        total, parts, done = len(model.tokenizer), [], 0
        yield 0, total
        for part in distillation.token_outputs(model):
            parts.append(part)
            done += len(part)
            yield done, total
        vectors = distillation.distilled(np.concatenate(parts), self.dimension).astype(np.float16)
        scratch = self.file.with_suffix(f".{os.getpid()}")
        try:
            save_file(
                {TOKEN_VECTORS: vectors}, scratch, {"format": _FORMAT, "sha256": _digest(vectors.tobytes())}
            )
            scratch.replace(self.file)
        finally:
            scratch.unlink(missing_ok=True)

    def _teacher_sha256(self) -> str:
        """The sha256 of the teacher's weights. Raises ModelNotFound, ModelFileError."""
        if self.teacher.is_packaged:
            return WEIGHTS_SHA256
        weights = sorted(
            path for path in self.teacher.model_files() if path.suffix in (".safetensors", ".bin")
        )
        if not weights:
            raise ModelFileError(
                f"the embedding model in {self.teacher.folder} has no weights",
                hint="bring the whole folder again, or choose another model",
            )
        with weights[0].open("rb") as file:
            return file_digest(file, "sha256").hexdigest()


def _is_whole(file: Path) -> bool:
    """Whether there is a file of token vectors that is as it was written."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="numpy") as held:
            recorded = held.metadata() or {}
            content = held.get_tensor(TOKEN_VECTORS).tobytes()
    except (OSError, SafetensorError):
        return False
    return recorded.get("format") == _FORMAT and recorded.get("sha256") == _digest(content)


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()
